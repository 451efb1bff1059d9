// The connector for programs: what reaches them, where they run, and that nothing of them is left.
import childProcess from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { afterEach, describe, expect, test, vi } from "vitest";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";
import { finish, made, use } from "../agent/agent.fixture.ts";
import type { ToolOutput } from "../contract/index.ts";
import { contextOf } from "./connectors.fixture.ts";
import { type ShellConnectorOptions, shellConnector } from "./index.ts";

afterEach(() => {
	vi.restoreAllMocks();
	syncBuiltinESMExports();
	vi.unstubAllEnvs();
});

/** Counts the processes that are started from here on. */
function watchedSpawn() {
	const spawn = vi.spyOn(childProcess, "spawn");
	syncBuiltinESMExports();
	return spawn;
}

const folder = (): string => realpathSync(temporaryFolder());

interface Output {
	readonly exitCode: number | null;
	readonly signal: string | null;
	readonly stdout: string;
	readonly stderr: string;
}

async function run(
	input: unknown,
	options: Partial<ShellConnectorOptions> = {},
	signal?: AbortSignal,
): Promise<ToolOutput & { readonly output: Output }> {
	const shell = shellConnector({ root: folder(), ...options });
	return (await shell.run(input, contextOf(signal === undefined ? {} : { signal }))) as never;
}

const node = (program: string, ...rest: string[]): { readonly argv: readonly string[] } => ({
	argv: [process.execPath, "-e", program, ...rest],
});

function isAlive(pid: number): boolean {
	try {
		process.kill(pid, 0);
	} catch {
		return false;
	}
	// What ended and was not collected by its parent counts as gone.
	return !/^\d+ \(.*\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
}

test("declares that it needs the shell and is not safe by default [RUN-071]", () => {
	expect(shellConnector({ root: folder() })).toMatchObject({
		id: "shell",
		description: expect.stringMatching(/./),
		safeByDefault: false,
		requires: "shell",
	});
});

describe("its arguments", () => {
	test.each([
		["ls"],
		[{ argv: "ls -l" }],
		[{ argv: [] }],
		[{ argv: ["ls", 5] }],
		[{ argv: [""] }],
		[{ argv: ["a\0b"] }],
		[{}],
		[{ command: "ls" }],
	])("such as %j are TOOL_INPUT_INVALID, and nothing is started [RUN-088]", async (input) => {
		const spawn = watchedSpawn();
		expect(await run(input)).toMatchObject({ ok: false, meta: { code: "TOOL_INPUT_INVALID" } });
		expect(spawn).not.toHaveBeenCalled();
	});

	test("reach the program literally [RUN-088]", async () => {
		const root = folder();
		const hostile = [
			"; touch bad",
			"$(id)",
			"`id`",
			"| cat",
			"a b",
			"*",
			"&& ls",
			"'\"",
			"\n",
			"--",
			"%PATH%",
		];
		const { ok, output } = await run(
			node("console.log(JSON.stringify(process.argv.slice(1)))", "--", ...hostile),
			{ root },
		);
		expect(ok).toBe(true);
		expect(JSON.parse(output.stdout)).toEqual(hostile);
		expect((await run({ argv: ["echo", ";", "$(id)"] }, { root })).output.stdout).toBe("; $(id)\n");
		expect(readdirSync(root)).toEqual([]);
	});
});

describe("its folder", () => {
	test("is the root, or one inside it, with links resolved [RUN-089]", async () => {
		const root = folder();
		mkdirSync(join(root, "a/b"), { recursive: true });
		mkdirSync(join(root, "..c"));
		symlinkSync(join(root, "a"), join(root, "link"));
		const where = async (cwd?: string) =>
			(
				await run({ argv: ["pwd", "-P"], ...(cwd === undefined ? {} : { cwd }) }, { root })
			).output?.stdout.trim();
		expect(await where()).toBe(root);
		expect(await where("a/b")).toBe(join(root, "a/b"));
		expect(await where("..c")).toBe(join(root, "..c"));
		expect(await where("link")).toBe(join(root, "a"));
		expect(await where(join(root, "a"))).toBe(join(root, "a"));
	});

	test("is never outside, by dots, by a link, by a path or by a name with the same prefix [RUN-089]", async () => {
		const outside = folder();
		const root = join(outside, "root");
		mkdirSync(root);
		mkdirSync(join(outside, "root-2"));
		writeFileSync(join(root, "file"), "");
		symlinkSync(outside, join(root, "up"));
		symlinkSync("/", join(root, "top"));
		const spawn = watchedSpawn();
		for (const cwd of [
			"..",
			"../root-2",
			"/",
			"/tmp",
			"up",
			"up/root-2",
			"top/etc",
			"a/../..",
			"missing",
			"file",
			"a\0b",
			outside,
		])
			expect([cwd, (await run({ argv: ["pwd"], cwd }, { root })).meta?.code]).toEqual([cwd, "CWD_REFUSED"]);
		expect(spawn).not.toHaveBeenCalled();
	});
});

describe("its environment", () => {
	test("contains only PATH and LANG, unless others are named [RUN-092]", async () => {
		vi.stubEnv("SECRET_KEY", "secret");
		vi.stubEnv("LANG", "C.UTF-8");
		const names = async (options: Partial<ShellConnectorOptions>) => {
			const { output } = await run({ argv: ["env"] }, options);
			return output.stdout
				.split("\n")
				.filter((line) => line !== "")
				.map((line) => line.split("=")[0])
				.sort();
		};
		expect(await names({})).toEqual(["LANG", "PATH"]);
		expect(await names({ env: ["PATH", "SECRET_KEY", "NOT_SET"], variables: { CI: "1" } })).toEqual([
			"CI",
			"PATH",
			"SECRET_KEY",
		]);
		expect(await names({ env: [], variables: { PATH: process.env.PATH as string } })).toEqual(["PATH"]);
	});

	test("an exit code other than 0 is a failure with the complete output [RUN-092]", async () => {
		const result = await run(node("console.log('out'); console.error('err'); process.exit(3)"));
		expect(result).toMatchObject({
			ok: false,
			output: { exitCode: 3, stdout: "out\n", stderr: "err\n" },
			meta: { code: "SHELL_EXIT" },
		});
		expect(await run({ argv: ["true"] })).toMatchObject({
			ok: true,
			output: { exitCode: 0, signal: null, stdout: "", stderr: "" },
		});
		expect(await run(node("process.kill(process.pid, 'SIGKILL')"))).toMatchObject({
			ok: false,
			output: { exitCode: null, signal: "SIGKILL" },
		});
		expect(await run({ argv: ["no-such-program"] })).toMatchObject({
			ok: false,
			meta: { code: "SHELL_NOT_STARTED" },
		});
	});
});

/** Starts a child that starts a grandchild; both ignore SIGTERM, and write who they are. */
const stubborn = `
	const { spawn } = require("node:child_process");
	process.on("SIGTERM", () => {});
	if (process.argv[1] === "leaf") console.log(process.pid);
	else {
		console.log(process.pid);
		spawn(process.execPath, ["-e", process.env.PROGRAM, "leaf"], { stdio: "inherit" });
	}
	setInterval(() => {}, 1000);`;
const stubbornOptions = { variables: { PROGRAM: stubborn } };
const pids = ({ output }: { readonly output: Output }): readonly number[] =>
	output.stdout
		.split("\n")
		.filter((line) => line !== "")
		.map(Number);

describe("no process is left", () => {
	test("after a timeout, if it ends on request [RUN-090]", async () => {
		const began = performance.now();
		const result = await run(
			{ argv: ["sh", "-c", "sleep 100 & echo $! $$ | tr ' ' '\\n'; wait"] },
			{ timeoutMs: 500 },
		);
		expect(result).toMatchObject({
			ok: false,
			meta: { code: "SHELL_TIMEOUT" },
			output: { signal: "SIGTERM" },
		});
		expect(performance.now() - began).toBeLessThan(2_400);
		expect(pids(result).map(isAlive)).toEqual([false, false]);
	});

	test("after a timeout, if it ignores SIGTERM, including its children: killed after 2 seconds [RUN-090]", async () => {
		const began = performance.now();
		const result = await run(node(stubborn), { timeoutMs: 1_500, ...stubbornOptions });
		const took = performance.now() - began;
		expect(result).toMatchObject({
			ok: false,
			meta: { code: "SHELL_TIMEOUT" },
			output: { signal: "SIGKILL" },
		});
		expect(took).toBeGreaterThanOrEqual(3_490);
		expect(took).toBeLessThan(6_500);
		expect(pids(result)).toHaveLength(2);
		expect(pids(result).map(isAlive)).toEqual([false, false]);
	});

	test("after a timeout, if it left the group with its own session [RUN-090]", async () => {
		const result = await run(
			{ argv: ["sh", "-c", "setsid sh -c 'echo $$; exec sleep 100' & wait"] },
			{ timeoutMs: 1_000 },
		);
		expect(result).toMatchObject({ ok: false, meta: { code: "SHELL_TIMEOUT" } });
		expect(pids(result)).toHaveLength(1);
		expect(pids(result).map(isAlive)).toEqual([false]);
	});

	test("after an abort [RUN-090]", async () => {
		const controller = new AbortController();
		setTimeout(() => controller.abort(), 1_000);
		const result = await run(node(stubborn), stubbornOptions, controller.signal);
		expect(result).toMatchObject({ ok: false, meta: { code: "ABORTED" } });
		expect(pids(result)).toHaveLength(2);
		expect(pids(result).map(isAlive)).toEqual([false, false]);
	});

	test("after a program that ended and left others running [RUN-090]", async () => {
		const result = await run({ argv: ["sh", "-c", "sleep 100 & echo $!"] });
		expect(result).toMatchObject({ ok: true, output: { exitCode: 0 } });
		expect(pids(result).map(isAlive)).toEqual([false]);
	});

	test("and the timeout is 30 seconds by default, within that of the tool [RUN-090]", async () => {
		const timers = vi.spyOn(globalThis, "setTimeout");
		await run({ argv: ["true"] });
		expect(timers.mock.calls.map(([, milliseconds]) => milliseconds)).toContain(30_000);
		expect(shellConnector({ root: folder() }).timeoutMs).toBeGreaterThan(32_000);
	});
});

describe("its output", () => {
	test("over the limit, in total, ends the program; the first bytes are kept [RUN-091]", async () => {
		const result = await run(
			node("console.error('e'.repeat(10)); setInterval(() => process.stdout.write('x'.repeat(1000)), 1)"),
			{ maxOutputBytes: 5_000 },
		);
		expect(result).toMatchObject({ ok: false, meta: { code: "OUTPUT_LIMIT", truncated: true } });
		const { stdout, stderr } = result.output;
		expect(stdout.length + stderr.length).toBe(5_000);
		expect(stdout).toMatch(/^x+$/);
		const first = await run({ argv: ["printf", "abcdef"] }, { maxOutputBytes: 3 });
		expect(first.output.stdout).toBe("abc");
	});

	test("is limited to 1 MiB by default, and complete at the limit [RUN-091]", async () => {
		const whole = await run({ argv: ["head", "-c", "1048576", "/dev/zero"] });
		expect([whole.ok, whole.output.stdout.length]).toEqual([true, 1_048_576]);
		const more = await run({ argv: ["head", "-c", "1048577", "/dev/zero"] });
		expect(more).toMatchObject({ ok: false, meta: { code: "OUTPUT_LIMIT" } });
		expect(more.output.stdout.length).toBe(1_048_576);
	});

	test("is cut between characters", async () => {
		const result = await run({ argv: ["printf", "aüü"] }, { maxOutputBytes: 4 });
		expect(result).toMatchObject({ meta: { code: "OUTPUT_LIMIT" }, output: { stdout: "aü" } });
	});
});

test("without allowShell a runner starts no process; with it, it does [RUN-158]", async () => {
	const spawn = watchedSpawn();
	const action = async (allowShell: boolean) => {
		const tools = [shellConnector({ root: folder() })];
		return (await made([use("shell", { argv: ["true"] }), finish], { tools, allowShell }).runOnce())
			.actions?.[0];
	};
	expect(await action(false)).toMatchObject({ ok: false, error: { code: "SHELL_DISABLED" } });
	expect(spawn).not.toHaveBeenCalled();
	expect(await action(true)).toMatchObject({ ok: true });
	expect(spawn).toHaveBeenCalledTimes(1);
});

test("invalid options are rejected", () => {
	for (const options of [
		{},
		{ root: "" },
		{ root: "/no/such/folder" },
		{ root: import.meta.filename },
		{ root: "/", timeoutMs: -1 },
	])
		expect(() => shellConnector(options as never)).toThrow(
			expect.objectContaining({ code: "CONFIG_INVALID" }),
		);
});
