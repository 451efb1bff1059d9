import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type ScriptedReply, scriptedModel } from "@holdfast/testing";
import { isToolResultMessage } from "@holdfast/upp";
import { Agent, memoryHost, tool } from "holdfast";
import type { SessionValues } from "holdfast/plugins";
import { sqliteHost } from "holdfast/sqlite";
import { beforeEach, describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";
import { agentsMd, readAgentsMd } from "./agents-md.ts";

let outside: string;
let root: string;
beforeEach(() => {
	outside = temporaryFolder();
	root = join(outside, "repository");
	mkdirSync(join(root, ".git"), { recursive: true });
});
const write = (path: string, text: string | Uint8Array): void => {
	mkdirSync(dirname(join(root, path)), { recursive: true });
	writeFileSync(join(root, path), text);
};
const codesIn = async (folder: string): Promise<readonly (readonly [string, unknown])[]> =>
	(await readAgentsMd({ folder })).notices.map(({ code, data }) => [code, data?.path]);

describe("readAgentsMd()", () => {
	test("returns the files from the root down to the folder, the nearest last, and none from above", async () => {
		writeFileSync(join(outside, "AGENTS.md"), "Outside.");
		write("AGENTS.md", "\uFEFFUse tabs.\n");
		write("packages/AGENTS.md", "  \n");
		write("packages/core/AGENTS.md", "Test it.");
		expect(await readAgentsMd({ folder: join(root, "packages/core") })).toEqual({
			files: [
				{ path: "../../AGENTS.md", text: "Use tabs." },
				{ path: "AGENTS.md", text: "Test it." },
			],
			notices: [],
		});
		expect((await readAgentsMd({ folder: outside })).files).toEqual([
			{ path: "AGENTS.md", text: "Outside." },
		]);
		expect((await readAgentsMd({ folder: root, root: outside })).files).toHaveLength(2);
	});

	test("cuts long files, with a notice", async () => {
		write("AGENTS.md", `${"a".repeat(15_999)}😀${"b".repeat(100)}`);
		const { files, notices } = await readAgentsMd({ folder: root });
		expect(files[0]?.text).toBe("a".repeat(15_999));
		expect(notices).toMatchObject([{ code: "agents_md_cut", data: { size: 16_101, limit: 16_000 } }]);
	});

	const unusable: readonly (readonly [string, () => void, RegExp])[] = [
		["too large", () => write("AGENTS.md", "x".repeat(1_000_001)), /1000001 bytes/],
		["a folder", () => mkdirSync(join(root, "AGENTS.md")), /it is a folder/],
		["binary", () => write("AGENTS.md", "a\0b"), /binary/],
		["not UTF-8", () => write("AGENTS.md", new Uint8Array([0x61, 0xff, 0xfe])), /UTF-8/],
		[
			"a link that leads outside",
			() => {
				writeFileSync(join(outside, "secret"), "A secret.");
				symlinkSync(join(outside, "secret"), join(root, "AGENTS.md"));
			},
			/leads out of the repository/,
		],
		["a broken link", () => symlinkSync(join(root, "none"), join(root, "AGENTS.md")), /does not exist/],
		["a circular link", () => symlinkSync(join(root, "AGENTS.md"), join(root, "AGENTS.md")), /ELOOP/],
	];
	test.each(unusable)("leaves out a file that is %s, with a notice", async (_, make, message) => {
		make();
		expect(await readAgentsMd({ folder: root })).toMatchObject({
			files: [],
			notices: [
				{ code: "agents_md_unusable", message: expect.stringMatching(message), data: { path: "AGENTS.md" } },
			],
		});
	});

	test.skipIf(process.getuid?.() === 0)("leaves out a file that cannot be read, with a notice", async () => {
		write("AGENTS.md", "Secret.");
		chmodSync(join(root, "AGENTS.md"), 0o000);
		expect(await codesIn(root)).toEqual([["agents_md_unusable", "AGENTS.md"]]);
	});

	test("follows a link within the repository", async () => {
		write("CLAUDE.md", "Use tabs.");
		symlinkSync("CLAUDE.md", join(root, "AGENTS.md"));
		expect((await readAgentsMd({ folder: root })).files).toEqual([{ path: "AGENTS.md", text: "Use tabs." }]);
	});

	test.each([{}, { folder: "" }, { folder: ".", maxCharacters: 0 }, { folder: ".", more: 1 }])(
		"refuses the options %j",
		async (options) => {
			await expect(readAgentsMd(options as never)).rejects.toMatchObject({ code: "invalid_option" });
			expect(() => agentsMd(options as never)).toThrow(expect.objectContaining({ code: "invalid_option" }));
		},
	);
});

describe("agentsMd()", () => {
	const fileTool = (
		name: string,
		run: (input: Readonly<Record<string, unknown>>) => unknown = () => "done",
	) =>
		tool<Record<string, unknown>>({
			name,
			description: "Uses files.",
			parameters: { type: "object", properties: {}, additionalProperties: true },
			run,
		});
	const ask = (id: string, name: string, args: object): ScriptedReply => ({
		toolCalls: [{ id, name, arguments: args } as never],
	});
	const agentOf = (
		script: readonly (string | ScriptedReply)[],
		{ tools = [fileTool("use")], host = memoryHost(), onNotice = (_: Error): void => {} } = {},
	) => {
		const model = scriptedModel(script);
		const plugins = [agentsMd({ folder: root, onNotice })];
		return { model, agent: new Agent({ model, instructions: "You code.", tools, plugins, host }) };
	};
	const turn = async (agent: Agent): Promise<readonly unknown[]> => {
		await (await agent.session("ann").send("go")).result();
		const { messages } = await agent.session("ann").state();
		return messages.filter(isToolResultMessage).flatMap((each) => each.results.map(({ result }) => result));
	};
	const below = "done\n\n[Instructions for packages/core in packages/core/AGENTS.md:\nTest it.]";

	test("adds the files to the instructions, read again before each run", async () => {
		write("AGENTS.md", "Use tabs.");
		const { agent, model } = agentOf(["done", "done"]);
		await turn(agent);
		write("AGENTS.md", "Use spaces.");
		await turn(agent);
		expect(model.requests.map(({ system }) => system)).toEqual([
			"You code.\n\nThe repository's instructions in AGENTS.md:\nUse tabs.",
			"You code.\n\nThe repository's instructions in AGENTS.md:\nUse spaces.",
		]);
	});

	const touches: readonly (readonly [string, object])[] = [
		["reads a file", { path: "packages/core/src/index.ts" }],
		["writes a file that does not exist yet", { file_path: "packages/core/new/deep.ts", content: "" }],
		["lists a folder", { prefix: "packages/core" }],
		["searches with a pattern", { pattern: "x", glob: "packages/core/**/*.ts" }],
		["runs a command in a folder", { command: "npm test", cwd: "packages/core" }],
		["changes to a folder in a command", { command: "cd packages/core && npm test" }],
		["names a file in a command", { command: "cat 'packages/core/index.ts' | wc" }],
		["names several files", { edits: [{ paths: ["README.md", "./packages/core/a.ts"] }] }],
	];
	test.each(touches)("adds the file of a folder to the result of a call that %s", async (_, args) => {
		write("AGENTS.md", "Use tabs.");
		write("packages/core/AGENTS.md", "Test it.");
		const { agent, model } = agentOf([ask("c1", "use", args), ask("c2", "use", args), "done"]);
		expect(await turn(agent)).toEqual([below, "done"]);
		expect(new Set(model.requests.map(({ system }) => system)).size).toBe(1);
	});

	test.each([
		{ path: "packages/index.ts" },
		{ path: "AGENTS.md" },
		{ path: "../outside/x.ts" },
		{ query: "packages/core" },
		{ command: "npm test" },
		{ path: "packages/core\0/x" },
	])("adds nothing to the result of a call with %j", async (args) => {
		writeFileSync(join(outside, "AGENTS.md"), "Outside.");
		write("AGENTS.md", "Use tabs.");
		write("packages/core/AGENTS.md", "Test it.");
		const { agent } = agentOf([ask("c1", "use", args), "done"]);
		expect(await turn(agent)).toEqual(["done"]);
	});

	test("lets the output of a running tool pass", async () => {
		write("packages/core/AGENTS.md", "Test it.");
		const use = fileTool("use", async function* () {
			yield "do";
			yield "ne";
		});
		const { agent, model } = agentOf([ask("c1", "use", { path: "packages/core" }), "done"], { tools: [use] });
		const output: string[] = [];
		const run = await agent.session("ann").send("go");
		for await (const event of run.watch()) if (event.type === "tool_delta") output.push(event.delta);
		expect(output).toEqual(["do", "ne"]);
		expect(model.requests[1]?.messages.at(-1)?.text).toContain("Test it.");
	});

	test("adds a file again once it has changed, and after results of every form", async () => {
		write("packages/core/AGENTS.md", "Test it.");
		const forms = [{ count: 1 }, [{ type: "text", text: "a" }], { status: "success", result: "b" }];
		let at = 0;
		const use = fileTool("use", () => {
			write("packages/core/AGENTS.md", `Version ${at}.`);
			return forms[at++];
		});
		const args = { path: "packages/core" };
		const { agent } = agentOf([ask("1", "use", args), ask("2", "use", args), ask("3", "use", args), "done"], {
			tools: [use],
		});
		const text = (version: number): string =>
			`[Instructions for packages/core in packages/core/AGENTS.md:\nVersion ${version}.]`;
		expect(await turn(agent)).toEqual([
			{ result: { count: 1 }, instructions: text(0) },
			[
				{ type: "text", text: "a" },
				{ type: "text", text: text(1) },
			],
			{ status: "success", result: `b\n\n${text(2)}` },
		]);
	});

	test("adds a file once if several calls of one answer touch its folder", async () => {
		write("packages/core/AGENTS.md", "Test it.");
		const args = { path: "packages/core/a.ts" } as never;
		const toolCalls = ["c1", "c2", "c3"].map((id) => ({ id, name: "use", arguments: args }));
		// As a database does, the host answers later.
		const inMemory = memoryHost();
		const later = (own: SessionValues): SessionValues => ({
			...own,
			async get(name) {
				const found = await own.get(name);
				await new Promise((resolve) => setImmediate(resolve));
				return found;
			},
		});
		const { values } = inMemory;
		const own: typeof values.values = (...of) => later(values.values(...of));
		const host = { ...inMemory, values: { ...values, values: own } };
		const { agent } = agentOf([{ toolCalls }, "done"], { host });
		expect((await turn(agent)).filter((result) => result === below)).toHaveLength(1);
	});

	test("looks for no file below a path that is too long to exist, and reports nothing", async () => {
		mkdirSync(join(root, "packages"));
		const notices: string[] = [];
		const { agent } = agentOf([ask("1", "use", { path: `packages/${"x".repeat(300)}` }), "done"], {
			onNotice: ({ message }) => notices.push(message),
		});
		expect(await turn(agent)).toEqual(["done"]);
		expect(notices).toEqual([]);
	});

	test("reports each file that cannot be used once, also below the folder", async () => {
		write("AGENTS.md", "a\0");
		mkdirSync(join(root, "packages/core/AGENTS.md"), { recursive: true });
		const notices: string[] = [];
		const args = { path: "packages/core/x.ts" };
		const { agent } = agentOf([ask("1", "use", args), ask("2", "use", args), "done", "done"], {
			onNotice: ({ message }) => notices.push(message),
		});
		await turn(agent);
		await turn(agent);
		expect(notices).toEqual([
			expect.stringMatching(/^AGENTS\.md is not used/),
			expect.stringMatching(/^packages\/core\/AGENTS\.md is not used/),
		]);
	});

	test("a run that continues in another process keeps the text that it began with", async () => {
		write("AGENTS.md", "Use tabs.");
		const path = join(temporaryFolder(), "sessions.db");
		const remote = tool({ name: "confirm", description: "Asks the user." });
		const tools = [remote as never];
		const one = agentOf([ask("c1", "confirm", {})], { tools, host: sqliteHost(path) });
		await (await one.agent.session("ann").send("go")).result();
		await one.agent.close();
		write("AGENTS.md", "Use spaces.");
		const two = agentOf(["done", "done"], { tools, host: sqliteHost(path) });
		await two.agent.session("ann").answer([{ toolCallId: "c1", output: "yes" }]);
		await expect.poll(() => two.model.requests.length).toBe(1);
		await (await two.agent.session("ann").send("more")).result();
		expect(two.model.requests.map(({ system }) => /Use \w+/.exec(system ?? "")?.[0])).toEqual([
			"Use tabs",
			"Use spaces",
		]);
		await two.agent.close();
	});
});
