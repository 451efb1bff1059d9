import { spawn } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";
import { runCommand } from "./run-command.ts";
import { beginningOf, createShell, isAllowed } from "./shell.ts";

const run = (
	command: string,
	more: { readonly timeoutMs?: number; readonly signal?: AbortSignal } = {},
	dir = temporaryFolder(),
) => runCommand(command, { dir, timeoutMs: 60_000, signal: undefined, environment: process.env, ...more });

/** Whether a process lives; a zombie does not. */
function lives(pid: number): boolean {
	try {
		return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
	} catch {
		return false;
	}
}

describe.skipIf(process.platform === "win32")("a command", () => {
	test("runs in the folder and reports its output and exit code", async () => {
		const dir = temporaryFolder();
		writeFileSync(join(dir, "a.txt"), "green\n");
		expect(await run("cat a.txt; echo oops >&2; exit 3", {}, dir)).toMatchObject({
			output: "green\noops\n",
			exitCode: 3,
			ended: "exited",
		});
	});

	test("reads nothing, and gets no credentials", async () => {
		const environment = {
			PATH: process.env.PATH,
			OPENAI_API_KEY: "k1",
			GITHUB_TOKEN: "k2",
			DB_PASSWORD: "k3",
			KEYBOARD: "us",
		};
		const { output } = await runCommand("cat; env", {
			dir: temporaryFolder(),
			timeoutMs: 60_000,
			signal: undefined,
			environment,
		});
		expect(output).not.toMatch(/k[123]/);
		expect(output).toContain("KEYBOARD=us");
		expect(output).toContain("NO_COLOR=1");
	});

	test("keeps the beginning and the end of a huge output", async () => {
		const { output } = await run("echo first; yes lamp | head -c 20000000; echo last");
		expect(output.length).toBeLessThan(40_000);
		expect(output.startsWith("first\nlamp")).toBe(true);
		expect(output.endsWith("last\n")).toBe(true);
		expect(output).toMatch(/\n… \d+ characters omitted …\n/);
	});

	test("reports its output while it runs, and of much output only the end", async () => {
		const dir = temporaryFolder();
		const file = join(dir, "go");
		const heard: string[] = [];
		const running = runCommand(
			`yes lamp | head -c 2000000; echo one; while [ ! -e ${file} ]; do sleep 0.1; done`,
			{
				dir,
				timeoutMs: 60_000,
				signal: undefined,
				environment: process.env,
				onOutput: (text) => heard.push(text),
			},
		);
		await expect.poll(() => heard.join("")).toMatch(/lamp\none\n$/);
		expect(heard.every((text) => text.length <= 1_000)).toBe(true);
		writeFileSync(file, "");
		expect(await running).toMatchObject({ ended: "exited", exitCode: 0 });
	});

	test("cannot control the terminal, and overwritten progress is omitted", async () => {
		const { output } = await run(String.raw`printf '\033[2J\033]0;t\007a\r\nb 1%%\rb 2%%\rb 3%%\n'`);
		expect(output).toBe("a\nb 3%\n");
	});

	test.each(["x", "\\r"])("may print a long line of %j, which is read in linear time", async (character) => {
		const before = process.cpuUsage();
		const { output } = await run(
			`printf 'a\\rb\\r'; head -c 200000 /dev/zero | tr '\\0' '${character}'; echo b`,
		);
		const { user } = process.cpuUsage(before);
		expect(output.endsWith(character === "x" ? "xxb\n" : "\nb\n")).toBe(true);
		expect(user).toBeLessThan(200_000);
	});

	test("ends with all of its processes when it is cancelled, even if they ignore the request", async () => {
		const dir = temporaryFolder();
		const pids = join(dir, "pids");
		const cancelling = new AbortController();
		const loop = `sh -c 'trap "" TERM; echo $$ >> ${pids}; while :; do sleep 0.1; done'`;
		const running = run(`${loop} & ${loop} & echo $$ >> ${pids}; wait`, { signal: cancelling.signal }, dir);
		const started = (): number[] =>
			existsSync(pids) ? readFileSync(pids, "utf8").trim().split("\n").map(Number) : [];
		await expect.poll(started).toHaveLength(3);
		expect(started().every(lives)).toBe(true);
		cancelling.abort();
		expect(await running).toMatchObject({ ended: "cancelled", exitCode: undefined });
		await expect.poll(() => started().filter(lives)).toEqual([]);
	});

	test("ends with all of its processes when the process that runs it is killed", async () => {
		const dir = temporaryFolder();
		const pids = join(dir, "pids");
		const program = join(import.meta.dirname, "command-process.fixture.ts");
		const loop = `sh -c 'trap "" TERM HUP; echo $$ >> ${pids}; while :; do sleep 0.1; done'`;
		const argv = ["--conditions=holdfast-source", program, `${loop} & echo $$ >> ${pids}; wait`];
		const parent = spawn(process.execPath, argv, { cwd: dir, stdio: "ignore" });
		const started = (): number[] =>
			existsSync(pids) ? readFileSync(pids, "utf8").trim().split("\n").map(Number) : [];
		await expect.poll(started).toHaveLength(2);
		expect(started().every(lives)).toBe(true);
		parent.kill("SIGKILL");
		await expect.poll(() => started().filter(lives)).toEqual([]);
	});

	test("ends when its time is up, together with its background processes", async () => {
		expect(await run("sleep 600", { timeoutMs: 50 })).toMatchObject({ ended: "timed out" });
		const dir = temporaryFolder();
		const { output, ended } = await run("sleep 600 & echo $!", {}, dir);
		expect(ended).toBe("exited");
		await expect.poll(() => lives(Number(output))).toBe(false);
	});

	test("that cannot be started is reported", async () => {
		expect(await run("true", {}, join(temporaryFolder(), "missing"))).toMatchObject({ ended: "not started" });
	});
});

describe("the shell tool", () => {
	const tool = createShell(import.meta.dirname, ["npm test", "git status"], process.env);
	const asks = (command: string) => tool.needsApproval?.({ command });

	test("requires approval for every command except those that start with the words of an allowed one", async () => {
		for (const command of ["npm test", "npm  test -- src/a.test.ts", "git status"])
			expect(await asks(command)).toBe(false);
		for (const command of [
			"npm testing",
			"npm run test",
			"npm test; rm -rf x",
			"npm test && rm x",
			"npm test | sh",
			"npm test > x",
			"npm test `rm x`",
			"npm test $(rm x)",
			"npm test $HOME",
			"npm test *",
			"npm test\nrm x",
			"npm test 'a'",
			"npm test ~/x",
			"A=1 npm test",
			"npm",
			"",
		])
			expect(await asks(command), command).toBe(true);
	});

	test("no shell metacharacter lets a command bypass the approval", () => {
		const special = fc.constantFrom(...";&|<>$`(){}*?~#!\\\"'[]^\n\r\t\u0000");
		fc.assert(
			fc.property(special, fc.string(), fc.string(), (character, before, after) => {
				expect(isAllowed(`npm test ${before}${character}${after}x`, ["npm test"])).toBe(false);
			}),
		);
	});

	test("a rule covers the program and its action, and never a command that a wrapper runs", () => {
		expect(beginningOf("npm test -- a")).toBe("npm test");
		expect(beginningOf("npm run build")).toBe("npm run build");
		expect(beginningOf("git status")).toBe("git status");
		for (const command of [
			"rm x",
			"sudo ls",
			"env ls",
			"/bin/sh x",
			"CI=1 npm test",
			"CI=1 sh x",
			"PATH=/tmp/x git status",
			"command sh x",
			"setsid sh x",
			"ls",
			"cat a.ts",
			"ls -la",
			"npm run",
			"git log | cat",
		])
			expect(beginningOf(command), command).toBeUndefined();
	});

	test("exists only if it is enabled, rejects invalid commands, and limits their time", async () => {
		for (const params of [
			{ command: " " },
			{ command: "a\0b" },
			{ command: "a".repeat(20_000) },
			{ command: "ls", timeout_seconds: 0 },
		])
			await expect(tool.run(params)).rejects.toMatchObject({ code: "tool_input_invalid" });
		expect(await tool.run({ command: "exit 2" })).toMatch(/^exit code 2 after \d+\.\d s, no output$/);
	});
});
