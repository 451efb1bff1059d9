import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import type { CommandIo } from "../terminal/index.ts";
import { chooseModel } from "../work/index.ts";
import { parseCommand } from "./arguments.ts";
import { runCommandLine } from "./index.ts";

const folder = mkdtempSync(join(tmpdir(), "holdfast-arguments-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function fakeIo(
	environment: Record<string, string> = {},
): CommandIo & { said: { out: string; err: string } } {
	const said = { out: "", err: "" };
	const output = (name: "out" | "err") => ({
		write: (text: string) => {
			said[name] += text;
		},
		isTerminal: false,
		hasColours: false,
		columns: 80,
		rows: 24,
	});
	return {
		said,
		stdout: output("out"),
		stderr: output("err"),
		environment,
		folder,
		readPiped: async () => undefined,
		openQuestions: () => undefined,
		onInterrupt: () => () => {},
		quit: () => {},
	};
}

describe("wrong usage gets one line and exit code 2", () => {
	test.each<[string[], RegExp]>([
		[["--frobnicate"], /Unknown option '--frobnicate'/],
		[["run", "x", "--frobnicate"], /Unknown option/],
		[["run", "x", "--dir"], /--dir/],
		[["run", "x", "--dir="], /--dir needs a value/],
		[["run", ""], /task is empty/],
		[["run", "x", "--dir", "/no/such/folder"], /The folder \/no\/such\/folder does not exist/],
		[["run", "x", "--dir", import.meta.filename], /is not a folder/],
		[["run", "x", "--model", "gpt"], /"gpt" is not a model/],
		[["run", "x", "--model", "openai:"], /is not a model/],
		[["run", "x", "--model", "openai-compatible:llama"], /needs the server's address/],
		[["run", "x", "--json=yes"], /--json/],
		[["resume", "s", "--approve", "c@1", "--deny", "c"], /to --approve and to --deny/],
		[["resume", "s", "--reason", "no"], /add --deny CALL/],
		[["serve", "--allow-write"], /has no option --allow-write/],
		[["serve", "--allow-shell"], /has no option --allow-shell/],
		[["chat", "--allow-command", "npm test"], /add --allow-shell/],
		[["chat", "--allow-shell", "--allow-command", "npm test; rm"], /cannot allow "npm test; rm"/],
		[["serve", "--prot", "1"], /Unknown option '--prot'\. See: holdfast serve --help\./],
		[
			["serve", "--agent", "a.ts", "--model", "offline"],
			/--model applies only to the assistant.*Omit one of them/,
		],
		[["serve", "agent.ts"], /holdfast serve --agent agent\.ts/],
		[["dev", "--dir", "a"], /has no option --dir\. .*holdfast dev DIR, or --project DIR/],
		[["dev", "--api-key", "k"], /has no option --api-key\. .*holdfast serve DIR/],
		[["fork", "a", ""], /takes two session keys/],
		[["db", "frobnicate"], /There is no task "frobnicate"\. Tasks: check/],
		[["show"], /Which session\?/],
		[["show", "nobody"], /There is no session "nobody"/],
		[["resume", "nobody"], /There is no session "nobody"/],
		[["show", "a", "b"], /one session key/],
		[["dev", "a", "--project", "b"], /takes one project: "a" or "b"\. Leave one of them out/],
		[["serve", "a", "--project", "b"], /takes one project: "a" or "b"/],
		[["pack", "x", "--dir", "a", "--project", "b"], /takes one project: "b" or "a"/],
		[["sessions", "--dir", "."], /has no option --dir/],
		[["what is this?"], /There is no command "what is this\?".*holdfast run/],
		[["help", "frobnicate"], /There is no command/],
	])("%j", async (argv, expected) => {
		const io = fakeIo();
		expect(await runCommandLine(argv, io)).toBe(2);
		expect(io.said.err).toMatch(expected);
		expect(io.said.err.trimEnd().split("\n")).toHaveLength(1);
		expect(io.said.out).toBe("");
	});
});

test.each([[["--help"]], [["help"]], [[]], [["run", "--help"]], [["resume", "-h"]], [["--version"]]])(
	"%j is answered on stdout with exit code 0",
	async (argv) => {
		const io = fakeIo();
		expect(await runCommandLine(argv, io)).toBe(0);
		expect(io.said.out).toMatch(/holdfast/);
		expect(io.said.err).toBe("");
	},
);

test("with --json the last line has the outcome, even if the run never started", async () => {
	const io = fakeIo();
	expect(await runCommandLine(["run", "x", "--json", "--dir", "/no/such/folder"], io)).toBe(2);
	expect(JSON.parse(io.said.out)).toMatchObject({ type: "end", outcome: "failed", exitCode: 2 });
	const nothing = fakeIo();
	expect(await runCommandLine(["resume", "--json"], nothing)).toBe(0);
	expect(JSON.parse(nothing.said.out)).toMatchObject({ type: "end", outcome: "nothing", exitCode: 0 });
});

test("paths are relative to the folder of the user, also through npm start", () => {
	const direct = parseCommand(["run", "x", "--dir", "sub"], { folder: "/here", environment: {} });
	expect(direct).toMatchObject({ dir: "/here/sub", db: "/here/.holdfast/holdfast.db" });
	const environment = { npm_lifecycle_event: "start", INIT_CWD: "/user" };
	const npm = parseCommand(["run", "x", "--dir", "sub"], { folder: "/here", environment });
	expect(npm).toMatchObject({ dir: "/user/sub", db: "/here/.holdfast/holdfast.db" });
});

test.each([
	["init", [], []],
	["check", [], []],
	["dev", [], []],
	["pack", ["agent"], ["--dir"]],
	["unpack", ["package"], ["--dir"]],
] as const)("a project is named in the same way for %s as for the others", (name, names, others) => {
	const at = { folder: "/home/ann", environment: {} };
	const ways = [["--project", "desk"], ...others.map((option) => [option, "desk"])];
	if (names.length === 0) ways.push(["desk"]);
	for (const way of ways)
		expect(parseCommand([name, ...names, ...way], at)).toMatchObject({ name, directory: "/home/ann/desk" });
});

test("a project to serve is named with or without the option", () => {
	const at = { folder: "/home/ann", environment: { HOLDFAST_PROJECT: "other" } };
	for (const way of [["desk"], ["--project", "desk"]])
		expect(parseCommand(["serve", ...way], at)).toMatchObject({ project: "/home/ann/desk" });
});

test("a worker reads the same environment as a server, and options take precedence", () => {
	const environment = {
		HOLDFAST_AGENT: "agent.ts",
		HOLDFAST_DB: "postgres://app@db/app",
		HOLDFAST_DRAIN: "20",
		HOLDFAST_MODELS: "",
	};
	const at = { folder: "/home/ann", environment };
	for (const name of ["serve", "worker"])
		expect(parseCommand([name], at)).toMatchObject({
			agent: "/home/ann/agent.ts",
			models: undefined,
			project: undefined,
			db: "postgres://app@db/app",
			dbGiven: "postgres://app@db/app",
			drain: 20_000,
		});
	expect(parseCommand(["worker", "--agent", "/a.ts", "--db", "b.db", "--drain", "1"], at)).toMatchObject({
		agent: "/a.ts",
		db: "/home/ann/b.db",
		drain: 1_000,
	});
	const desk = { folder: "/home/ann", environment: { HOLDFAST_PROJECT: "desk" } };
	expect(parseCommand(["worker"], desk)).toMatchObject({ project: "/home/ann/desk", agent: undefined });
});

test("a task can be given without quotes", () => {
	expect(parseCommand(["run", "what", "is", "this"], { folder: "/", environment: {} })).toMatchObject({
		task: "what is this",
	});
});

describe("the model", () => {
	test.each<[string | undefined, Record<string, string>, string, string | undefined]>([
		[undefined, {}, "offline", "no key is set"],
		[undefined, { OPENAI_API_KEY: "k" }, "openai:gpt-5.2", "OPENAI_API_KEY is set"],
		[undefined, { ANTHROPIC_API_KEY: "k" }, "anthropic:claude-sonnet-4-5", "ANTHROPIC_API_KEY is set"],
		[
			undefined,
			{ GOOGLE_GENERATIVE_AI_API_KEY: "k" },
			"google:gemini-2.5-pro",
			"GOOGLE_GENERATIVE_AI_API_KEY is set",
		],
		[undefined, { HOLDFAST_MODEL: "offline", OPENAI_API_KEY: "k" }, "offline", "HOLDFAST_MODEL"],
		["google:gemini-x", { HOLDFAST_MODEL: "offline" }, "google:gemini-x", undefined],
		["offline", { OPENAI_API_KEY: "k" }, "offline", undefined],
	])("for %j with %j is %s", (asked, environment, name, reason) => {
		expect(chooseModel(asked, environment)).toMatchObject({ name, reason });
	});

	test("has the price from the environment, and no price otherwise", () => {
		expect(chooseModel("offline", {}).price).toBeUndefined();
		expect(chooseModel("offline", { HOLDFAST_PRICE: "1.25,10" }).price).toEqual({ input: 1.25, output: 10 });
		for (const HOLDFAST_PRICE of ["1", "a,b", "1,2,3", "-1,2"]) {
			expect(() => chooseModel("offline", { HOLDFAST_PRICE })).toThrow(/HOLDFAST_PRICE/);
		}
	});

	test("of a compatible server can have an @ in its name", () => {
		const { reference } = chooseModel("openai-compatible:org@llama:3@http://host:1234/v1", {});
		expect(reference).toMatchObject({ modelId: "org@llama:3", options: { baseURL: "http://host:1234/v1" } });
	});
});
