import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";
import { type ModelServer, run, start, startModelServer } from "./spawn.fixture.ts";

// Every test starts real processes, which takes its time on a busy machine.
let folder: string;
let server: ModelServer | undefined;

beforeEach(() => {
	folder = temporaryFolder();
	mkdirSync(join(folder, "project"));
	writeFileSync(
		join(folder, "project/NEWS.md"),
		"# News\n\n## 2.0.0\n\n### Breaking Changes\n\n- The lamp is green.\n\n### Fixed\n\n- Less smoke.\n",
	);
});
afterEach(async () => {
	await server?.close();
	server = undefined;
});

const question = ["run", "Which breaking changes does NEWS.md list?", "--dir", "project"];
const keyOf = (stdout: string): string => /session (\S+)/.exec(stdout)?.[1] ?? "";
const jsonLines = (stdout: string): Record<string, unknown>[] =>
	stdout
		.trim()
		.split("\n")
		.map((line) => JSON.parse(line));

describe("run in a pipe", () => {
	test("answers from the files without control codes, and reports its usage and how to continue", async () => {
		const { code, stdout, stderr } = await run(question, { folder });
		expect(code).toBe(0);
		expect(stderr).toBe("");
		expect(stdout).toContain("- The lamp is green. (NEWS.md:7)");
		expect(stdout).not.toContain("Less smoke");
		expect(stdout).toContain("model offline (no key is set)");
		expect(stdout).toMatch(/✓ search_text pattern=break.* · \d+ ms · \d+ matching lines? in 1 file/);
		expect(stdout).toContain("offline: no tokens, no cost");
		expect(stdout).toContain(`--session ${keyOf(stdout)}`);
		expect(stripVTControlCharacters(stdout)).toBe(stdout);
		expect(existsSync(join(folder, ".holdfast/holdfast.db"))).toBe(true);
	});

	test("writes one event per line with --json, and the outcome last", async () => {
		const { code, stdout } = await run([...question, "--json"], { folder });
		const events = jsonLines(stdout);
		expect(code).toBe(0);
		expect(events.filter(({ type }) => type === "tool_end").length).toBeGreaterThan(2);
		expect(events.at(-1)).toMatchObject({ type: "end", outcome: "completed", exitCode: 0, cost: 0 });
		expect(events.at(-1)?.text).toContain("The lamp is green.");
	});

	test("has its own exit code if the model does not answer", async () => {
		const model = "openai-compatible:llama@http://127.0.0.1:9/v1";
		const { code, stdout } = await run([...question, "--model", model, "--json"], { folder });
		expect(jsonLines(stdout).at(-1)).toMatchObject({ type: "end", exitCode: 5 });
		expect(code).toBe(5);
	});

	test("does not crash if the reader has gone", async () => {
		const { child, finished } = start(question, { folder });
		child.stdout?.destroy();
		const { code, stderr } = await finished;
		expect([code, stderr]).toEqual([0, ""]);
	});

	test("without a task it introduces the project and suggests what to try next", async () => {
		const { code, stdout } = await run(["run", "--dir", "project"], {
			folder,
			environment: { npm_lifecycle_event: "start", INIT_CWD: folder },
		});
		expect(code).toBe(0);
		expect(stdout).toMatch(/No task was given[\s\S]*NEWS\.md:1[\s\S]*Try next:\n {2}npm start -- /);
	});

	test("uses piped input as its task, also without a trailing line end", async () => {
		for (const piped of [`${question[1]}\n`, `\n${question[1]}`]) {
			const { code, stdout } = await run(["run", "--dir", "project"], { folder, piped });
			expect(code).toBe(0);
			expect(stdout).not.toContain("No task was given");
			expect(stdout).toContain("The lamp is green.");
		}
		const { stdout } = await run(["run", "-", "--dir", "project"], { folder, piped: question[1] as string });
		expect(stdout).toContain("The lamp is green.");
	});

	test("with a pipe that stays open and empty it has no task, and ends", async () => {
		const { child, finished } = start(["run", "--dir", "project"], { folder, piped: { open: true } });
		const { code, stdout } = await finished;
		expect(code).toBe(0);
		expect(stdout).toContain("No task was given");
		child.stdin?.destroy();
	});

	test("rejects invalid tasks: an empty one that it would have to wait for, and one that is too long", async () => {
		const nothing = await run(["run", "-"], { folder });
		expect([nothing.code, nothing.stderr]).toEqual([2, expect.stringContaining("The piped input is empty")]);
		const much = await run(["run"], { folder, piped: "word ".repeat(300_000) });
		expect([much.code, much.stderr]).toEqual([2, expect.stringContaining("1000000 characters")]);
	});
});

const script = "/usr/bin/script";

describe.skipIf(!existsSync(script))("run in a terminal", () => {
	test("shows tools with marks and colours, and the answer", async () => {
		const { stdout, code } = await run(question, {
			folder,
			through: script,
			environment: { TERM: "xterm-256color", NO_COLOR: "" },
		});
		expect(code).toBe(0);
		expect(stdout).toContain("\x1b[");
		expect(stripVTControlCharacters(stdout)).toContain("The lamp is green. (NEWS.md:7)");
	});

	test("shows a spinner while the model thinks", async () => {
		server = await startModelServer(["hang"]);
		const { child, finished, until } = start([...question, "--model", server.model], {
			folder,
			through: script,
			environment: { TERM: "xterm-256color", NO_COLOR: "" },
		});
		await until(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]\S* thinking/);
		child.kill("SIGTERM");
		await finished;
	});

	test.each([{ NO_COLOR: "1" }, { TERM: "dumb" }])("writes no control codes with %o", async (environment) => {
		const { stdout } = await run(question, {
			folder,
			through: script,
			environment: { TERM: "xterm", ...environment },
		});
		expect(stdout).toContain("The lamp is green.");
		expect(stdout).not.toContain("\x1b[");
	});
});

describe("another model", () => {
	test("runs the requested tools, counts its tokens and reports that the cost is unknown", async () => {
		server = await startModelServer([
			{ tool: "read_file", arguments: { path: "NEWS.md" } },
			{ text: "The lamp is green (NEWS.md:7)." },
		]);
		const { code, stdout } = await run([...question, "--model", server.model], { folder });
		expect(code).toBe(0);
		expect(stdout).toContain("✓ read_file path=NEWS.md");
		expect(stdout).toContain("The lamp is green (NEWS.md:7).");
		expect(stdout).toMatch(/10 tokens in, 2 out · cost unknown/);
		expect(JSON.stringify(server.requests[1])).toContain("### Breaking Changes");
	});

	test("reports its cost if its price is known", async () => {
		server = await startModelServer([{ text: "Nothing is read." }]);
		const environment = { HOLDFAST_PRICE: "1000000,2000000" };
		const { stdout } = await run([...question, "--model", server.model], { folder, environment });
		expect(stdout).toMatch(/tokens in, \d+ out · \$\d/);
	});

	test("that refuses fails the run with exit code 1 and a reason", async () => {
		server = await startModelServer([{ status: 401 }]);
		const { code, stderr, stdout } = await run([...question, "--model", server.model], { folder });
		expect(code).toBe(1);
		expect(stderr).toMatch(/^holdfast: .*AUTHENTICATION_FAILED/);
		expect(stdout).toContain("failed in");
	});

	test("that is retried after a failure is shown with its retry", async () => {
		server = await startModelServer([{ status: 500 }, { text: "Here it is." }]);
		const { code } = await run([...question, "--model", server.model, "--session", "again"], { folder });
		expect(code).toBe(0);
		const { stdout } = await run(["show", "again"], { folder });
		expect(stdout).toMatch(/retry +1 of the model, after /);
	});

	test("reads no file outside the folder", async () => {
		writeFileSync(join(folder, "secret.txt"), "swordfish");
		server = await startModelServer([
			{ tool: "read_file", arguments: { path: "../secret.txt" } },
			{ text: "No." },
		]);
		const { stdout } = await run([...question, "--model", server.model], { folder });
		expect(stdout).toContain("✗ read_file path=../secret.txt");
		expect(JSON.stringify(server.requests)).not.toContain("swordfish");
	});

	test("is offered fetch_url only if the network is allowed", async () => {
		server = await startModelServer([{ text: "Yes." }]);
		await run([...question, "--model", server.model], { folder });
		await run([...question, "--model", server.model, "--allow-network"], { folder });
		const offered = server.requests.map((request) => JSON.stringify(request).includes("fetch_url"));
		expect(offered).toEqual([false, true]);
	});
});

describe("an interrupted run", () => {
	test("exits with 3 on Ctrl-C, stays, and is finished by resume", async () => {
		server = await startModelServer([
			{ tool: "read_file", arguments: { path: "NEWS.md" } },
			"hang",
			{ text: "Green." },
		]);
		const { child, finished } = start([...question, "--session", "lamp", "--model", server.model], {
			folder,
		});
		await server.asked(2);
		child.kill("SIGINT");
		const { code, stdout } = await finished;
		expect(code).toBe(3);
		expect(stdout).toContain("holdfast resume lamp");
		const resumed = await run(["resume", "lamp"], { folder });
		expect(resumed.code).toBe(0);
		expect(resumed.stdout).toMatch(/resumed \(attempt 2\)[\s\S]*Green\./);
		expect(resumed.stdout).not.toContain("read_file");
		expect(server.requests.length).toBe(3);
		expect(server.requests[2]?.messages).toEqual(server.requests[1]?.messages);
	});

	test("is reported as JSON", async () => {
		server = await startModelServer(["hang"]);
		const { child, finished } = start([...question, "--json", "--model", server.model], { folder });
		await server.asked(1);
		child.kill("SIGINT");
		const { code, stdout } = await finished;
		expect(code).toBe(3);
		expect(jsonLines(stdout).at(-1)).toMatchObject({ type: "end", outcome: "interrupted", exitCode: 3 });
	});

	test("that was killed is found by resume without a key, and show names the crash", async () => {
		server = await startModelServer([
			{ tool: "read_file", arguments: { path: "NEWS.md" } },
			"hang",
			{ text: "Green." },
		]);
		const { child, finished } = start([...question, "--session", "lamp", "--model", server.model], {
			folder,
		});
		await server.asked(2);
		child.kill("SIGKILL");
		await finished;
		expect((await run(["sessions"], { folder })).stdout).toMatch(/lamp +interrupted/);
		const { code, stdout } = await run(["resume"], { folder });
		expect([code, stdout.includes("Green.")]).toEqual([0, true]);
		const context = await run(["context", "lamp"], { folder });
		expect([context.code, context.stdout]).toEqual([0, expect.stringMatching(/results of tools +about \d/)]);
		const [data] = jsonLines((await run(["context", "lamp", "--json"], { folder })).stdout);
		expect(data).toMatchObject({ type: "context", sections: expect.any(Array), cache: { calls: [{}, {}] } });
		const shown = await run(["show", "lamp"], { folder });
		expect(shown.stdout).toMatch(/you +Which breaking/);
		expect(shown.stdout).toMatch(/tool +✓ read_file path=NEWS.md · \d+ ms/);
		expect(shown.stdout).toMatch(/resumed +attempt 2, after a crash/);
		expect(shown.stdout).toMatch(/ended +completed/);
	});

	test("is not part of a fork of its session, which continues independently", async () => {
		server = await startModelServer([{ text: "Green." }, { text: "Blue." }]);
		const model = ["--model", server.model];
		await run([...question, "--session", "lamp", ...model], { folder });
		const forked = await run(["fork", "lamp", "lamp-2"], { folder });
		expect([forked.code, forked.stdout]).toEqual([0, expect.stringContaining("--session lamp-2")]);
		expect((await run(["run", "And then?", "--session", "lamp-2", ...model], { folder })).stdout).toContain(
			"Blue.",
		);
		expect((await run(["show", "lamp-2"], { folder })).stdout).toMatch(/Green[\s\S]*Blue/);
		expect((await run(["show", "lamp"], { folder })).stdout).not.toContain("Blue");
		const again = await run(["fork", "lamp", "lamp-2"], { folder });
		expect([again.code, again.stderr]).toEqual([1, expect.stringContaining("session_exists")]);
		expect((await run(["fork", "lamp"], { folder })).code).toBe(2);
	});

	test("is finished before the next task of its session", async () => {
		server = await startModelServer(["hang", { text: "First." }, { text: "Second." }]);
		const { child, finished } = start([...question, "--session", "lamp", "--model", server.model], {
			folder,
		});
		await server.asked(1);
		child.kill("SIGKILL");
		await finished;
		const { code, stdout } = await run(["run", "And then?", "--session", "lamp"], { folder });
		expect(code).toBe(0);
		expect(stdout).toMatch(/First\.\n[\s\S]*Second\./);
	});

	test("that another process works on is shown by resume until it has ended", async () => {
		const held = Promise.withResolvers<void>();
		server = await startModelServer([{ text: "Green.", after: held.promise }]);
		const first = start([...question, "--session", "lamp", "--model", server.model], { folder });
		await server.asked(1);
		const second = start(["resume", "lamp"], { folder });
		await second.until(/The run continues in another process\./);
		held.resolve();
		for (const { finished } of [first, second]) {
			const { code, stdout } = await finished;
			expect([code, stdout.match(/Green\./g)?.length]).toEqual([0, 1]);
		}
		expect(server.requests).toHaveLength(1);
	});

	test("is not disturbed by another process that uses its session, and continues as it was started", async () => {
		server = await startModelServer(["hang", { text: "Green." }]);
		const { child, finished } = start([...question, "--session", "lamp", "--model", server.model], {
			folder,
		});
		await server.asked(1);
		const other = await run(["run", "And then?", "--session", "lamp", "--model", "offline"], { folder });
		expect([other.code, other.stderr]).toEqual([
			1,
			"holdfast: Session lamp is running in another process. Wait until it is done.\n",
		]);
		child.kill("SIGKILL");
		await finished;
		expect((await run(["resume", "lamp"], { folder })).stdout).toContain("Green.");
	});

	test("is shown with a command that a shell can run", async () => {
		server = await startModelServer(["hang"]);
		const { child, finished } = start(
			[...question, "--session", "a lamp", "--db", "my.db", "--model", server.model],
			{ folder },
		);
		await server.asked(1);
		child.kill("SIGKILL");
		await finished;
		const { stdout } = await run(["show", "a lamp", "--db", "my.db"], { folder });
		expect(stdout).toContain("holdfast resume 'a lamp' --db my.db");
	});
});

describe("sessions and show", () => {
	test("list sessions and print a timeline, as text and as JSON", async () => {
		await run([...question, "--session", "one"], { folder });
		await run(["run", "How many lines does NEWS.md have?", "--session", "one"], { folder });
		const list = await run(["sessions", "--json"], { folder });
		expect(jsonLines(list.stdout)).toMatchObject([{ key: "one", state: "completed", task: question[1] }]);
		const text = await run(["show", "one"], { folder });
		expect(text.stdout).toMatch(/run 1[\s\S]*The lamp is green[\s\S]*run 2[\s\S]*NEWS\.md has 11 lines/);
		const entries = jsonLines((await run(["show", "one", "--json"], { folder })).stdout);
		expect(entries.map(({ seq }) => seq)).toEqual(entries.map((_entry, index) => index + 1));
	});

	test("show keys on one line, without anything that could control a terminal", async () => {
		const key = "one\n\u001b[31mred";
		const { stdout } = await run([...question, "--session", key], { folder });
		expect(stdout).toMatch(/^session one red · model/);
		expect((await run(["sessions"], { folder })).stdout).toMatch(/\none red +completed/);
		expect((await run(["show", key], { folder })).stdout).toMatch(/^session one red\n/);
	});

	test("create no database if it is missing", async () => {
		const { code, stdout } = await run(["sessions"], { folder });
		expect([code, existsSync(join(folder, ".holdfast"))]).toEqual([0, false]);
		expect(stdout).toMatch(/^There are no sessions yet/);
		expect((await run(["resume"], { folder })).code).toBe(0);
	});

	test.each([
		["sessions"],
		["show", "s"],
		["context", "s"],
		["resume"],
		["release", "s"],
		["fork", "s", "t"],
		["db", "check"],
	])("reject the path of a file that is not a database, and create none: %s", async (...argv) => {
		const { code, stdout, stderr } = await run([...argv, "--db", "no/such.db"], { folder });
		expect([code, stdout, existsSync(join(folder, "no"))]).toEqual([2, "", false]);
		expect(stderr).toMatch(/The database \S+no\/such\.db does not exist\. Give its path: --db PATH\.$/m);
	});
});

test.runIf(process.platform === "linux")("a folder that cannot be created ends the command", async () => {
	const { code, stderr } = await run([...question, "--db", "/proc/holdfast/x.db"], { folder });
	expect([code, stderr]).toEqual([2, expect.stringContaining("/proc/holdfast/x.db cannot be used. ENOENT")]);
});

test("the address of a database that cannot store sessions is rejected, and no folder is created for it", async () => {
	const { code, stderr } = await run([...question, "--db", "mysql://localhost/x"], { folder });
	expect([code, stderr, existsSync(join(folder, "mysql:"))]).toEqual([
		2,
		expect.stringContaining("Give the path of a file, or the address of a Postgres database: postgres://…."),
		false,
	]);
});

test("a file that is not a database is unchanged", async () => {
	writeFileSync(join(folder, "notes.txt"), "my notes");
	const { code, stderr } = await run([...question, "--db", "notes.txt"], { folder });
	expect([code, stderr.trim().split("\n").length]).toEqual([2, 1]);
	expect(readFileSync(join(folder, "notes.txt"), "utf8")).toBe("my notes");
});
