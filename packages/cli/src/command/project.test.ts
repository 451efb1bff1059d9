import {
	cpSync,
	existsSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	renameSync,
	rmSync,
	writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";
import { run, start } from "./spawn.fixture.ts";

const _root = join(import.meta.dirname, "../../../..");
/** A new project, created once: each test works on a copy. */
const fresh = mkdtempSync(join(tmpdir(), "holdfast-init-"));
let folder: string;
let project: string;
beforeAll(async () => {
	const made = await run(["init", "shop"], { folder: fresh });
	expect([made.code, made.stderr]).toEqual([0, ""]);
});
beforeEach(() => {
	folder = temporaryFolder();
	project = join(folder, "shop");
	cpSync(join(fresh, "shop"), project, { recursive: true });
});
afterAll(() => rmSync(fresh, { recursive: true, force: true, maxRetries: 3 }));

/** Replaces a file atomically, so that no process sees half of it. */
function write(path: string, text: string): void {
	writeFileSync(join(folder, "saved"), text);
	renameSync(join(folder, "saved"), join(project, path));
}

describe("init", () => {
	test("creates a valid project, and overwrites nothing", async () => {
		const checked = await run(["check", "shop"], { folder });
		expect(checked).toEqual({
			code: 0,
			stdout: `1 agent, 1 prompt, 2 tools, 1 model, 1 hook, 1 effect, 1 endpoint
Types of their names are in shop/agents/holdfast.d.ts.
`,
			stderr: "",
		});
		expect(readFileSync(join(project, "agents/holdfast.d.ts"), "utf8")).toContain('"add": true');
		const again = await run(["init", "shop"], { folder });
		expect([again.code, again.stderr]).toEqual([2, expect.stringContaining("already")]);
		expect((await run(["init"], { folder })).code).toBe(2);
	});
});

describe("check", () => {
	test("lists all problems, and exits with 1", async () => {
		write("agents/tools/add.ts", "export const add = 1;");
		write("agents/hooks/count_tool_calls.ts", "export default {{");
		const checked = await run(["check", "shop"], { folder });
		expect([checked.code, checked.stdout]).toEqual([1, ""]);
		expect(checked.stderr).toMatch(
			/^2 problems:\n {2}agents\/hooks\/count_tool_calls\.ts: .* \(line 1\)\n {2}agents\/tools\/add\.ts: .*\n$/,
		);
		const json = await run(["check", "--json"], { folder: project });
		expect(json.code).toBe(1);
		expect(JSON.parse(json.stdout)).toMatchObject({
			type: "check",
			ok: false,
			problems: [
				{ file: join(project, "agents/hooks/count_tool_calls.ts") },
				{ message: expect.any(String) },
			],
		});
		const none = await run(["check", folder], { folder });
		expect([none.code, none.stderr]).toEqual([2, expect.stringContaining("holdfast init")]);
	});
});

test("check reports tools of MCP servers that the project does not name, as serve does", async () => {
	const prompt = join(project, "agents/prompts", readdirSync(join(project, "agents/prompts"))[0] as string);
	writeFileSync(prompt, readFileSync(prompt, "utf8").replace("tools: [", 'tools: ["mcp:nothing", '));
	const checked = await run(["check", "shop"], { folder });
	expect([checked.code, checked.stderr]).toEqual([1, expect.stringContaining('no MCP server "nothing"')]);
	write("mcp.json", JSON.stringify({ mcpServers: { nothing: { url: "https://a.example" } } }));
	expect((await run(["check", "shop"], { folder })).code).toBe(0);
});

/** A thread of the template's agent, over HTTP. */
async function talk(url: string): Promise<{
	readonly id: string;
	readonly say: (content: string) => Promise<void>;
	readonly answer: () => Promise<string>;
}> {
	const json = { "content-type": "application/json" };
	const made = await fetch(`${url}/api/threads`, {
		method: "POST",
		headers: json,
		body: JSON.stringify({ agent_id: "assistant" }),
	});
	const { id } = (await made.json()) as { readonly id: string };
	return {
		id,
		async say(content) {
			const body = JSON.stringify({ content });
			const said = await fetch(`${url}/api/threads/${id}/messages`, { method: "POST", headers: json, body });
			expect(said.ok).toBe(true);
		},
		async answer() {
			const list = await fetch(`${url}/api/threads/${id}/messages?order=desc`);
			const { messages } = (await list.json()) as {
				readonly messages: readonly { role: string; content: string }[];
			};
			const [last] = messages;
			return last?.role === "assistant" ? last.content : "";
		},
	};
}

describe("dev", () => {
	test("serves the project and applies each change: threads stay, types are updated, and it ends on a signal", async () => {
		const { child, until, output, finished } = start(["dev", "shop", "--port", "0", "--json"], { folder });
		try {
			await until(/"type":"begin","url":"[^"]*"/);
			const url = /"url":"(?<url>[^"]*)"/.exec(output())?.groups?.url ?? "";
			const thread = await talk(url);
			await thread.say("What is 2 + 3?");
			await expect.poll(thread.answer).toBe("The tool add says: 5");
			const tool = readFileSync(join(project, "agents/tools/add.ts"), "utf8");
			write("agents/tools/add.ts", tool.replace("String(", '"exactly " + String('));
			await until(/"files":\["agents\/tools\/add\.ts"\]/);
			await thread.say("And 3 + 4?");
			await expect.poll(thread.answer).toBe("The tool add says: exactly 7");
			write("agents/tools/subtract.ts", tool);
			await until(/"files":\["agents\/tools\/subtract\.ts"\]/);
			await expect
				.poll(() => readFileSync(join(project, "agents/holdfast.d.ts"), "utf8"))
				.toContain('"subtract": true');
			write("agents/tools/subtract.ts", "\nexport default {{");
			await until(
				/"problems":\[\{"file":"[^"]*subtract\.ts","message":"It cannot be loaded: [^?"]* \(line 2\)"/,
			);
			await thread.say("And 4 + 5?");
			await expect.poll(thread.answer).toBe("The tool add says: exactly 9");
			child.kill("SIGTERM");
			expect(await finished).toMatchObject({ code: 0, stderr: "" });
		} finally {
			child.kill("SIGKILL");
		}
	});
});

test("dev reports once that there is no project", async () => {
	const { code, stdout, stderr } = await run(["dev", "nowhere"], { folder });
	expect([code, stdout]).toEqual([2, ""]);
	expect(stderr).toMatch(
		/^holdfast: The folder .*nowhere\/agents.*does not exist\. Make a project with: holdfast init DIR\.\n$/,
	);
});

describe("serve", () => {
	test("serves a project's threads and its own endpoints, and has them after a restart", async () => {
		let id = "";
		for (const sum of [5, 9]) {
			const argv = ["serve", "--project", "shop", "--port", "0", "--json"];
			const { child, until, output, finished } = start(argv, { folder });
			try {
				await until(/"type":"begin","url":"[^"]*"/);
				const { url } = JSON.parse(output()) as { readonly url: string };
				if (id === "") {
					const thread = await talk(url);
					id = thread.id;
					await thread.say("What is 2 + 3?");
					await expect.poll(thread.answer).toBe(`The tool add says: ${sum}`);
				}
				const status = await fetch(`${url}/api/threads/${id}/status`);
				expect(await status.json()).toEqual({ messages: 4, toolCalls: 1 });
				child.kill(sum === 5 ? "SIGKILL" : "SIGTERM");
				expect((await finished).code).toBe(sum === 5 ? null : 0);
			} finally {
				child.kill("SIGKILL");
			}
		}
	});

	test("an execution that a killed server left is ended by a worker of the same project", async () => {
		write(
			"agents/tools/add.ts",
			`import { existsSync, writeFileSync } from "node:fs";
import { defineTool } from "@holdfast/threads";
import { z } from "zod";

const held = ${JSON.stringify(join(folder, "held"))};
export default defineTool({
	description: "Adds numbers.",
	args: z.object({ numbers: z.array(z.number()) }),
	execute: async () => {
		if (existsSync(held)) return { status: "success", result: "5" };
		writeFileSync(held, "");
		return new Promise(() => {});
	},
});
`,
		);
		const serve = () => start(["serve", "shop", "--port", "0", "--json"], { folder });
		const worker = start(["worker", "shop"], { folder });
		const first = serve();
		let second: ReturnType<typeof start> | undefined;
		try {
			await worker.until(/worker \d+ · the project /);
			await first.until(/"type":"begin".*\n/);
			const thread = await talk((JSON.parse(first.output()) as { readonly url: string }).url);
			await thread.say("What is 2 + 3?");
			await expect.poll(() => existsSync(join(folder, "held"))).toBe(true);
			first.child.kill("SIGKILL");
			await first.finished;
			await worker.until(/completed session /);
			worker.child.kill("SIGTERM");
			expect((await worker.finished).code).toBe(0);
			second = serve();
			await second.until(/"type":"begin".*\n/);
			const { url } = JSON.parse(second.output()) as { readonly url: string };
			const list = await fetch(`${url}/api/threads/${thread.id}/messages?order=desc`);
			const { messages } = (await list.json()) as { readonly messages: readonly { role: string }[] };
			expect(messages.map(({ role }) => role)).toEqual(["assistant", "tool", "assistant", "user"]);
		} finally {
			for (const each of [worker, first, second]) each?.child.kill("SIGKILL");
		}
	});

	test("rejects a project with problems, and two things to serve", async () => {
		write("agents/tools/add.ts", "export const add = 1;");
		const broken = await run(["serve", "--project", "shop", "--port", "0"], { folder });
		expect([broken.code, broken.stderr]).toEqual([2, expect.stringContaining("agents/tools/add.ts")]);
		const both = await run(["serve", "--project", "shop", "--agent", "a.ts"], { folder });
		expect([both.code, both.stderr]).toEqual([2, expect.stringContaining("Give a project or --agent")]);
	});
});

describe("pack and unpack", () => {
	test("carry an agent from one project to another", async () => {
		const packed = await run(
			[
				"pack",
				"assistant",
				"--name",
				"@a/help",
				"--out",
				"help",
				"--dir",
				"shop",
				"--release",
				"2.0.0",
				"--json",
			],
			{ folder },
		);
		expect(packed.code).toBe(0);
		expect(JSON.parse(packed.stdout)).toMatchObject({
			type: "pack",
			name: "@a/help",
			items: expect.arrayContaining(["agent assistant", "effect remove_note", "tool note"]),
		});
		const place = join(project, "agents/packed/help");
		mkdirSync(join(project, "agents/packed"));
		renameSync(join(folder, "help"), place);
		expect((await run(["check", "shop"], { folder })).stdout).toMatch(/^2 agents, 2 prompts, 4 tools/);
		const taken = await run(["unpack", "@a/help", "--dir", "shop"], { folder });
		expect([taken.code, taken.stderr]).toEqual([2, expect.stringContaining("already")]);
		rmSync(join(project, "agents/tools/add.ts"));
		expect(existsSync(join(project, "agents/tools/add.js"))).toBe(false);
		const unknown = await run(["pack", "nobody", "--name", "x", "--dir", "shop"], { folder });
		expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining('"add"')]);
	});
});
