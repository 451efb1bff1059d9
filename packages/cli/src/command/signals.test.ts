// A signal ends the command within a second, whatever it waits for, and the run continues elsewhere.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { commandsOfATest } from "./commands-of-a-test.fixture.ts";
import { type Finished, type ModelServer, type Reply, run, type Started, slowness } from "./spawn.fixture.ts";

const commands = commandsOfATest();
const { begin } = commands;
let server: ModelServer;

beforeEach(() => {
	writeFileSync(join(commands.folder, "NEWS.md"), "# News\n\nThe lamp is green.\n");
});

/** Sends a signal; returns how the command ended, and after how many milliseconds. */
async function ended(
	{ child, finished }: Started,
	signal: NodeJS.Signals,
): Promise<Finished & { took: number }> {
	const at = performance.now();
	child.kill(signal);
	return { ...(await finished), took: performance.now() - at };
}

const ask = ["run", "What is the lamp?", "--session", "lamp", "--model"];
/** Loaded before the command: the first read of NEWS.md never completes. */
const slowDisk = {
	HOLD_FILE_CALL: "open:before:NEWS.md",
	NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ""} --import=${new URL("./hold-file-calls.fixture.ts", import.meta.url)}`,
};
const readNews = { tool: "read_file", arguments: { path: "NEWS.md" } };

describe.each(["SIGTERM", "SIGINT"] as const)("%s ends a run within a second", (signal) => {
	async function check(begun: Started): Promise<void> {
		const { code, stdout, took } = await ended(begun, signal);
		console.log(`${signal}: ${Math.round(took)} ms`);
		expect(code).toBe(3);
		expect(took).toBeLessThan(1_000 * slowness());
		expect(stdout).toContain("holdfast resume lamp");
		const resumed = await run(["resume", "lamp"], { folder: commands.folder });
		expect([resumed.code, resumed.stdout]).toEqual([0, expect.stringContaining("Green.")]);
	}
	const serve = async (replies: readonly Reply[]): Promise<string> => {
		server = await commands.serveModel(replies);
		return server.model;
	};

	test("while its model does not answer", async () => {
		const begun = begin([...ask, await serve(["hang", { text: "Green." }])]);
		await server.asked(1);
		await check(begun);
	});

	test("while the disk does not answer", async () => {
		const begun = begin([...ask, await serve([readNews, { text: "Green." }])], slowDisk);
		await begun.until(/^held before open/m);
		await check(begun);
	});

	test("while it searches with an expression that never finishes", async () => {
		mkdirSync(join(commands.folder, "deep"));
		for (let index = 0; index < 400; index++)
			writeFileSync(join(commands.folder, `deep/${index}.txt`), `${"a".repeat(60)}!\n`);
		const search = { tool: "search_text", arguments: { pattern: "(a|a)*$", regex: true } };
		const begun = begin([...ask, await serve([search, { text: "Green." }])]);
		await server.asked(1);
		await new Promise((resolve) => setTimeout(resolve, 150));
		const { code, took } = await ended(begun, signal);
		console.log(`${signal} in a search: ${Math.round(took)} ms`);
		expect(code).toBe(3);
		expect(took).toBeLessThan(1_000 * slowness());
	});
});

test("a second Ctrl-C ends a worker at once, and its active work continues in another", async () => {
	server = await commands.serveModel(["hang", "hang", { text: "Green." }]);
	const left = begin([...ask, server.model]);
	await server.asked(1);
	left.child.kill("SIGKILL");
	await left.finished;
	const worker = begin(["worker", "--drain", "30", "--json"]);
	await server.asked(2);
	worker.child.kill("SIGINT");
	await worker.until(/"stopping"/);
	await new Promise((resolve) => setTimeout(resolve, 150));
	const { code, took } = await ended(worker, "SIGINT");
	console.log(`second SIGINT: ${Math.round(took)} ms`);
	expect(code).toBe(3);
	expect(took).toBeLessThan(500 * slowness());
	expect((await run(["worker", "--once"], { folder: commands.folder })).stdout).toMatch(
		/completed +session lamp/,
	);
});

test("work that does not stop is abandoned when the time is up, also on a disk that never answers", async () => {
	const pipe = join(commands.folder, "pipe");
	execFileSync("mkfifo", [pipe]);
	const program = join(commands.folder, "holds.mjs");
	const io = new URL("../terminal/io.ts", import.meta.url).href;
	writeFileSync(
		program,
		`import { open } from "node:fs/promises";
		import { processIo } from ${JSON.stringify(io)};
		void open(${JSON.stringify(pipe)});
		const late = () => console.log("late");
		processIo().onInterrupt(() => console.log("heard"), { within: 700, code: 3, late });
		setInterval(() => {}, 1_000);
		console.log("begun");`,
	);
	const child = spawn(process.execPath, [program], { stdio: ["ignore", "pipe", "inherit"] });
	onTestFinished(() => void child.kill("SIGKILL"));
	let said = "";
	child.stdout.setEncoding("utf8").on("data", (text: string) => {
		said += text;
		if (said === "begun\n") child.kill("SIGTERM");
	});
	const gone = once(child, "close");
	const began = performance.now();
	const [code] = await gone;
	expect([code, said]).toEqual([3, "begun\nheard\nlate\n"]);
	expect(performance.now() - began).toBeLessThan(1_500 * slowness());
});
