// The folders of examples/: each does what its page describes. Examples that kill processes, start a Postgres or control a
// browser are tested next to other tests of that kind.
import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { start as startExpress } from "../examples/express/main.ts";
import { start as startFastify } from "../examples/fastify/main.ts";
import { start as startHono } from "../examples/hono/main.ts";
import { killed } from "../tools/images/diagrams.ts";
import { runCommand } from "../tools/run-command.ts";

const root = join(import.meta.dirname, "..");
const { Request, Response } = globalThis;
// Hono's adapter for Node replaces them when it serves.
afterAll(() => Object.assign(globalThis, { Request, Response }));

let folder: string;

beforeEach(() => {
	folder = mkdtempSync(join(tmpdir(), "holdfast-example-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const command = (file: string, ...words: readonly string[]): [string, ...string[]] => [
	process.execPath,
	"--conditions=holdfast-source",
	"--no-warnings",
	join(root, file),
	...words,
];

/** Runs an example in an empty folder, and returns its output. */
async function run(file: string, ...words: readonly string[]): Promise<string> {
	const { code, output } = await runCommand(command(`examples/${file}`, ...words), {
		folder,
		timeout: 100_000,
	});
	expect(code, output).toBe(0);
	return output;
}

test("chat-with-tools answers each line with tools, and remembers earlier messages", async () => {
	const [program, ...parameters] = command("examples/chat-with-tools/main.ts");
	const child = spawn(program, parameters, { cwd: folder, stdio: ["pipe", "pipe", "inherit"] });
	onTestFinished(() => void child.kill("SIGKILL"));
	let output = "";
	child.stdout.setEncoding("utf8").on("data", (text: string) => {
		output += text;
	});
	const ended = new Promise((resolve) => child.once("close", resolve));
	child.stdin.end("Is it warm in Oslo?\nWhat are 21 °C?\nHello\n");
	expect(await ended).toBe(0);
	expect(output.split("\n")).toEqual([
		'> [weather {"city":"Oslo"}]',
		'That is {"city":"Oslo","celsius":-3}.',
		'> [convert {"celsius":21}]',
		'That is {"fahrenheit":69.8}.',
		expect.stringContaining("> This conversation has 9 messages."),
		"> ",
		"",
	]);
});

test("human-approval refunds small sums at once, and waits for a person with others, across processes", async () => {
	const file = "human-approval/main.ts";
	expect(await run(file, "ask", "Refund order A-7, 15 euros")).toBe('Done: "refunded 15 euros for A-7"\n');
	expect(await run(file, "ask", "Refund order A-8, 50 euros")).toContain("It waits for approval.");
	expect(await run(file, "approve")).toBe(
		'approve: refund {"order":"A-8","euros":50}\nDone: "refunded 50 euros for A-8"\n',
	);
	expect(await run(file, "ask", "Refund order A-9, 70 euros")).toContain("It waits for approval.");
	expect(await run(file, "deny", "too dear")).toContain("was not approved: too dear");
});

test("background-research answers at once, and reports the findings of its sub-agents in the next turn", async () => {
	expect(await run("background-research/main.ts")).toMatch(
		/^> Which is larger, Bern or Oslo\?\n(asked researcher in the background\n){2}[\s\S]*Two researchers are on it\.\n[\s\S]*> And\?\n[\s\S]*Bern has 147,000 inhabitants\. Oslo has 717,000 inhabitants\.\n$/,
	);
});

test("rag-on-memory answers with the matching line, and states if there is none", async () => {
	expect(await run("rag-on-memory/main.ts")).toBe(
		[
			"> My lamp flickers",
			"Lamps: a lamp that flickers is reported at the desk and replaced within two days. (line 3)",
			"> Who may book flights?",
			"Travel: trains are booked in second class; flights need the consent of the team lead. (line 2)",
			"> Parking",
			"The handbook does not say.",
			"",
		].join("\n"),
	);
});

test("mcp-client calls the tool of a server in another process", async () => {
	expect(await run("mcp-client/main.ts")).toBe("tools: stock\nThere are 3 left.\n");
});

test("slack-webhook replies to a delivery once, continues a thread, and rejects a wrong signature", async () => {
	const lines = (await run("slack-webhook/main.ts")).trim().split("\n");
	expect(lines.toSorted()).toEqual([
		"C7 1.1: You said: and now? (message 2 of this thread)",
		"C7 1.1: You said: hello (message 1 of this thread)",
		"signed by another: 401",
		"the same again: 200",
	]);
});

test("workers continues a session after a restart of the runtime", async () => {
	const [first, second] = (await run("workers/main.ts")).split("--\n");
	expect(first).toContain("You said: hello (message 1)");
	expect(second).toContain("You said: hello (message 1)");
	expect(second).toContain("You said: and now? (message 3)");
});

test("evals runs every scenario with a full score", async () => {
	const report = join(folder, "report.json");
	const argv = command("packages/cli/bin/holdfast.js", "eval", join(root, "examples/evals/scenarios.ts"));
	const { code, output } = await runCommand([...argv, "--repetitions", "3", "--save", report], {
		folder,
		timeout: 100_000,
	});
	expect(code, output).toBe(0);
	const { scenarios } = JSON.parse(readFileSync(report, "utf8"));
	expect(scenarios).toMatchObject([
		{ name: "counts", runs: 3, successRate: 1, scores: { contains: 1, short: 1 } },
		{ name: "none left", runs: 3, successRate: 1, scores: { contains: 1, short: 1 } },
		{ name: "asks back", runs: 3, successRate: 1, scores: { contains: 1, short: 1 } },
	]);
});

test("kill-9 prints the output in its picture: after a crash only the interrupted call runs again, under the same key", async () => {
	const shown: string[][] = [];
	for (const { command: line, killed: end } of killed) {
		const words = line.split(" ").slice(2);
		const { code, output } = await runCommand(command("examples/kill-9/main.ts", ...words), { folder });
		expect(code === 0).toBe(end === undefined);
		shown.push(output.trim().split("\n"));
	}
	// The first part of a key is random.
	const withoutRandom = (each: string) => each.replace(/key [0-9a-f]+\./, "key …");
	expect(shown.map((lines) => lines.map(withoutRandom))).toEqual(
		killed.map(({ lines }) => lines.map(withoutRandom)),
	);
	const keys = shown.map(
		(lines) => / key (\S+),/.exec(lines.find((each) => each.includes("Braga")) ?? "")?.[1],
	);
	expect(keys[0]).toBe(keys[1]);
});

describe.each([
	["express", startExpress],
	["fastify", startFastify],
	["hono", startHono],
] as const)("%s", (_, start) => {
	test("serves the application's own routes, and gives each user of the agent separate sessions", async () => {
		const { url, close } = await start(0);
		onTestFinished(close);
		expect(await (await fetch(url)).text()).toBe("The shop is open.");
		const ask = (user: string | undefined) =>
			fetch(`${url}/api/agent/execute`, {
				method: "POST",
				headers: { "content-type": "application/json", ...(user === undefined ? {} : { "x-user": user }) },
				body: JSON.stringify({ sessionId: "one", context: {}, input: "Hello" }),
			});
		expect((await ask(undefined)).status).toBe(401);
		const answer = await ask("ann");
		expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "text/event-stream"]);
		expect(await answer.text()).toContain("You said: Hello");
		const sessionOf = (user: string) =>
			fetch(`${url}/api/agent/session/one`, { headers: { "x-user": user } });
		expect((await sessionOf("ann")).status).toBe(200);
		expect((await sessionOf("bob")).status).toBe(404);
	});
});

test("the README names every folder, and each example can be read in five minutes", () => {
	const page = readFileSync(join(root, "examples/README.md"), "utf8");
	const folders = readdirSync(join(root, "examples"), { withFileTypes: true }).filter((entry) =>
		entry.isDirectory(),
	);
	// Examples with their own README are projects of several files.
	for (const { name } of folders) {
		expect(page).toContain(`](${name}/`);
		const files = readdirSync(join(root, "examples", name)).filter((file) => /\.tsx?$/.test(file));
		if (readdirSync(join(root, "examples", name)).includes("README.md")) continue;
		const lines = files.map(
			(file) => readFileSync(join(root, "examples", name, file), "utf8").split("\n").length,
		);
		expect([name, lines.reduce((sum, count) => sum + count, 0) <= 150]).toEqual([name, true]);
	}
});
