// Processes of an earlier version are killed in the middle of their work, and processes of this version continue it: a served
// agent with its followers, a served project, a worker, and a runner.
import { type ChildProcess, spawn } from "node:child_process";
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "@holdfast/client";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { hasEarlierBuild, install, writeEarlierBuild } from "./earlier-build.fixture.ts";

const thisBuild = join(import.meta.dirname, "../..");
const isInHistory = await hasEarlierBuild();
if (!isInHistory)
	console.log("Upgrades are not tested: the history of this clone lacks the earlier version.");

let folder: string;
let earlierBuild: string;
let project: string;
let running: Started[] = [];
beforeAll(async () => {
	folder = mkdtempSync(join(process.env.HOLDFAST_DISK ?? tmpdir(), "holdfast-upgrade-"));
	earlierBuild = join(folder, "earlier");
	if (isInHistory) await writeEarlierBuild(earlierBuild);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));
beforeEach(() => {
	project = mkdtempSync(join(folder, "project-"));
	for (const name of ["clerk", "follower", "runner"])
		copyFileSync(join(import.meta.dirname, `${name}.fixture.ts`), join(project, `${name}.ts`));
	writeFileSync(join(project, "package.json"), JSON.stringify({ private: true, type: "module" }));
	install(project, earlierBuild);
});
afterEach(async () => {
	await Promise.all(running.map(kill));
	running = [];
});

interface Started {
	readonly child: ChildProcess;
	readonly ended: Promise<void>;
	output(): string;
	/** Settles with the first match in its output. */
	until(pattern: RegExp): Promise<RegExpExecArray>;
}

/** Starts a program of the project, with the packages that are installed at this moment. */
function start(argv: readonly string[], environment: Readonly<Record<string, string>> = {}): Started {
	const child = spawn(process.execPath, ["--conditions=holdfast-source", "--no-warnings", ...argv], {
		cwd: project,
		env: { ...process.env, HOLDS: undefined, OPENAI_API_KEY: undefined, ...environment },
		stdio: ["ignore", "pipe", "pipe"],
	});
	let output = "";
	const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
	const looks = new Set<() => void>();
	for (const stream of [child.stdout, child.stderr])
		stream.setEncoding("utf8").on("data", (text: string) => {
			output += text;
			for (const look of looks) look();
		});
	const started: Started = {
		child,
		ended,
		output: () => output,
		until: (pattern) =>
			new Promise((resolve, reject) => {
				const look = (): void => {
					const found = pattern.exec(output);
					if (found !== null) resolve(found);
				};
				looks.add(look);
				look();
				void ended.then(() => reject(new Error(`${argv.join(" ")} ended without ${pattern}:\n${output}`)));
			}),
	};
	running.push(started);
	return started;
}

const holds = { HOLDS: "1" };
const holdfast = (argv: readonly string[], environment?: Record<string, string>): Started =>
	start([join(project, "node_modules/@holdfast/cli/bin/holdfast.js"), ...argv], environment);

async function kill({ child, ended }: Started): Promise<void> {
	child.kill("SIGKILL");
	await ended;
}

/** Starts a server, and waits for its address. */
async function serve(argv: readonly string[], port: string, environment?: Record<string, string>) {
	const server = holdfast(["serve", ...argv, "--port", port, "--json"], environment);
	const [, url = ""] = await server.until(/"type":"begin".*?"url":"([^"]*)"/);
	return { ...server, url };
}

/** The lines of a file of the project, as JSON. */
function linesOf(file: string): readonly Record<string, unknown>[] {
	const path = join(project, file);
	if (!existsSync(path)) return [];
	const lines = readFileSync(path, "utf8").trim().split("\n");
	return lines.map((line) => JSON.parse(line));
}

describe.runIf(isInHistory)("work of an earlier version continues in this version", () => {
	test("a served agent: an approval that waits, a call that was killed, and a client that stays connected", async () => {
		const clerk = ["--agent", "clerk.ts", "--db", "agent.db", "--no-inspector"];
		const before = await serve(clerk, "0", holds);
		const { port } = new URL(before.url);
		const execution = { sessionId: "paid", input: "pay A-7", context: {} };
		const { status } = await createClient({ url: before.url }).execute(execution).result();
		expect(status).toBe("awaiting_tool_execution");
		const follower = start(["follower.ts", before.url, "killed", "book Porto"]);
		await follower.until(/"tool_execution_start"/);
		await expect.poll(() => linesOf("bookings.jsonl").length).toBe(1);
		await kill(before);

		install(project, thisBuild);
		const { url } = await serve(clerk, port);
		// The client of the earlier version was connected to the earlier server, and reads the rest from this one.
		await follower.until(/"type":"result","status":"completed"/);
		expect(follower.output()).toContain("Done: booked in Porto");
		const bookings = linesOf("bookings.jsonl");
		expect(bookings.map(({ attempt }) => attempt)).toEqual([1, 2]);
		expect(new Set(bookings.map(({ key }) => key)).size).toBe(1);

		const client = createClient({ url });
		const [call] = (await client.session("paid")).pendingToolCalls ?? [];
		expect(call).toMatchObject({ name: "pay", arguments: { invoice: "A-7" } });
		await client.approve("paid", call?.id ?? "");
		await expect
			.poll(async () => JSON.stringify((await client.session("paid")).messages))
			.toContain("Done: A-7 is paid");
	});

	test("a served project: a thread that was killed in the middle of an answer, and its history", async () => {
		await holdfast(["init", "shop"]).ended;
		// Its model stops in the middle of the second answer.
		const file = join(project, "shop/agents/providers/offline.ts");
		const streamed = 'yield { type: "content-delta", delta };';
		const holding = `{
		${streamed}
		if (process.env.HOLDS !== "1" || !content?.endsWith("7")) continue;
		console.error("held");
		await new Promise(() => setInterval(() => {}, 1_000));
	}`;
		const text = readFileSync(file, "utf8");
		expect(text).toContain(streamed);
		writeFileSync(file, text.replace(streamed, holding));
		const before = await serve(["--project", "shop"], "0", holds);
		const post = async (url: string, path: string, body: unknown): Promise<Record<string, unknown>> => {
			const headers = { "content-type": "application/json" };
			const response = await fetch(`${url}/api/threads${path}`, {
				method: "POST",
				headers,
				body: JSON.stringify(body),
			});
			expect(response.ok).toBe(true);
			return response.json() as Promise<Record<string, unknown>>;
		};
		const said = async (url: string): Promise<readonly string[]> => {
			const list = await fetch(`${url}/api/threads/${id}/messages?order=asc`);
			const { messages } = (await list.json()) as { messages: { role: string; content: string }[] };
			return messages.flatMap(({ role, content }) => (role === "assistant" && content ? [content] : []));
		};
		const { id } = await post(before.url, "", { agent_id: "assistant" });
		await post(before.url, `/${id}/messages`, { content: "What is 1 + 1?" });
		await expect.poll(() => said(before.url)).toEqual(["The tool add says: 2"]);
		await post(before.url, `/${id}/messages`, { content: "What is 3 + 4?" });
		await before.until(/held/);
		await kill(before);

		install(project, thisBuild);
		const { url } = await serve(["--project", "shop"], "0");
		await expect.poll(() => said(url)).toEqual(["The tool add says: 2", "The tool add says: 7"]);
		await post(url, `/${id}/messages`, { content: "What is 5 + 6?" });
		await expect.poll(() => said(url)).toHaveLength(3);
	});

	test("a worker: a call that the worker of the earlier version was killed in", async () => {
		const agentAndFile = ["--agent", "clerk.ts", "--db", "agent.db"];
		const asked = holdfast(["run", "book Braga", "--session", "trip", ...agentAndFile], holds);
		await expect.poll(() => linesOf("bookings.jsonl").length).toBe(1);
		await kill(asked);
		const earlier = holdfast(["worker", ...agentAndFile], holds);
		await expect.poll(() => linesOf("bookings.jsonl").length).toBe(2);
		await kill(earlier);

		install(project, thisBuild);
		const worker = holdfast(["worker", "--once", "--json", ...agentAndFile]);
		await worker.ended;
		expect(worker.output()).toContain('"text":"Done: booked in Braga"');
		const bookings = linesOf("bookings.jsonl");
		expect(bookings.map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
		expect(new Set(bookings.map(({ key }) => key)).size).toBe(1);
	});

	test("a runner: the rest of a plan, under the key of the call that was killed", async () => {
		const earlier = start(["runner.ts", "start"], holds);
		await expect.poll(() => linesOf("runner.jsonl").length).toBe(2);
		await kill(earlier);

		install(project, thisBuild);
		const runner = start(["runner.ts", "recover"]);
		await runner.ended;
		expect(runner.output()).toContain('"outcome":"completed","text":"All is shipped."');
		const calls = linesOf("runner.jsonl");
		expect(calls.map(({ id }) => id)).toEqual(["weigh", "ship", "ship"]);
		expect(calls[2]?.key).toBe(calls[1]?.key);
	});
});
