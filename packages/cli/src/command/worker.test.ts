// `holdfast worker` in separate processes: it continues the work of dead processes, once, and ends as requested.
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { commandsOfATest, modelOf } from "./commands-of-a-test.fixture.ts";
import { type ModelServer, type Reply, run, slowness } from "./spawn.fixture.ts";

// Every test starts real processes, which takes its time on a busy machine.
const ownAgent = join(import.meta.dirname, "own-agent.fixture.ts");
const commands = commandsOfATest();
const { begin } = commands;
let server: ModelServer;

/** A model server, which first holds one request back: that of the process that is to die. */
async function serve(replies: readonly Reply[]): Promise<Record<string, string>> {
	server = await commands.serveModel(["hang", ...replies]);
	return modelOf(server);
}

/** Leaves a run of session "parcels" whose process was killed during a model call. */
async function leaveRun(): Promise<void> {
	const left = begin(["run", "How many parcels?", "--session", "parcels", "--model", server.model]);
	await server.asked(1);
	left.child.kill("SIGKILL");
	await left.finished;
}

const events = (stdout: string): Record<string, unknown>[] =>
	stdout
		.trim()
		.split("\n")
		.map((line) => JSON.parse(line));

describe("a worker", () => {
	test("continues a run whose process is killed, in under two seconds, and reports the outcome", async () => {
		await serve([{ text: "There are 7." }]);
		const worker = begin(["worker"]);
		await worker.until(/^worker \d+ · the assistant/);
		const left = begin(["run", "How many parcels?", "--session", "parcels", "--model", server.model]);
		await server.asked(1);
		left.child.kill("SIGKILL");
		const killedAt = performance.now();
		await worker.until(/works on {2}session parcels/);
		const took = performance.now() - killedAt;
		console.log(`a killed run was resumed after ${Math.round(took)} ms`);
		expect(took).toBeLessThan(2_000 * slowness());
		await worker.until(/^completed {1}session parcels · run \S+ · 1 step in /m);
		worker.child.kill("SIGTERM");
		const { code, stdout, stderr } = await worker.finished;
		expect([code, stderr]).toEqual([0, ""]);
		expect(stdout).toMatch(/\nstopped\n$/);
	});

	test("works with the user's own agent, reported as JSON, and with --once ends when nothing is due", async () => {
		const environment = await serve([{ tool: "count", arguments: {} }, { text: "There are 7." }]);
		await leaveRun();
		const argv = ["worker", "--agent", ownAgent, "--once", "--json"];
		const { code, stdout } = await begin(argv, environment).finished;
		expect(code).toBe(0);
		expect(events(stdout)).toMatchObject([
			{ type: "begin", agent: `the agent of ${ownAgent}`, until: "done" },
			{ type: "run_taken", session: "parcels" },
			{ type: "run_over", session: "parcels", outcome: "completed", text: "There are 7.", steps: 2 },
			{ type: "end", outcome: "done", exitCode: 0, runs: 1 },
		]);
		expect(JSON.stringify(server.requests.at(-1))).toContain("7 parcels");
		const again = await begin(argv, environment).finished;
		expect(events(again.stdout).map(({ type }) => type)).toEqual(["begin", "end"]);
	});

	test("suspends unfinished work after its time, and another resumes it", async () => {
		await serve(["hang", { text: "There are 7." }]);
		await leaveRun();
		const worker = begin(["worker", "--drain", "0", "--json"]);
		await server.asked(2);
		worker.child.kill("SIGTERM");
		const stopped = await worker.finished;
		expect(stopped.code).toBe(0);
		expect(events(stopped.stdout).map(({ type, outcome }) => [type, outcome])).toEqual([
			["begin", undefined],
			["run_taken", undefined],
			["stopping", undefined],
			["run_over", "suspended"],
			["end", "stopped"],
		]);
		const other = await begin(["worker", "--once", "--json"]).finished;
		expect(events(other.stdout)[2]).toMatchObject({ outcome: "completed", text: "There are 7." });
	});

	test("lets active work finish within its time", async () => {
		const answers = Promise.withResolvers<void>();
		await serve([{ text: "There are 7.", after: answers.promise }]);
		await leaveRun();
		const worker = begin(["worker", "--drain", "30", "--json"]);
		await server.asked(2);
		worker.child.kill("SIGINT");
		await worker.until(/"stopping"/);
		answers.resolve();
		const { code, stdout } = await worker.finished;
		expect(code).toBe(0);
		expect(events(stdout)[3]).toMatchObject({ type: "run_over", outcome: "completed" });
	});

	test("works in the folder in which a session was started, and reports a missing one", async () => {
		await serve(["hang"]);
		for (const name of ["here", "gone"]) {
			mkdirSync(join(commands.folder, name));
			writeFileSync(
				join(commands.folder, name, "NEWS.md"),
				`# News\n\n## 2.0.0\n\n### Breaking Changes\n\n- The ${name} lamp.\n`,
			);
			const argv = ["run", "Which breaking changes does NEWS.md list?", "--session", name, "--dir", name];
			const left = begin([...argv, "--model", server.model]);
			await server.asked(name === "here" ? 1 : 2);
			left.child.kill("SIGKILL");
			await left.finished;
		}
		rmSync(join(commands.folder, "gone"), { recursive: true });
		const worker = begin(["worker", "--json"]);
		await server.asked(3);
		await worker.until(/"problem"/);
		worker.child.kill("SIGKILL");
		const { stdout } = await worker.finished;
		expect(
			events(stdout).toSorted((one, other) => (String(one.type) < String(other.type) ? -1 : 1)),
		).toMatchObject([
			{ type: "begin" },
			{ type: "problem", session: "gone", error: { message: expect.stringContaining("does not exist") } },
			{ type: "run_taken", session: "here" },
		]);
	});
});

describe("a worker that cannot work", () => {
	test.for([
		[["--agent", "nowhere.ts"], /The file .*nowhere\.ts does not exist\. Give a module/],
		[["--agent", "broken.mjs"], /broken\.mjs cannot be imported\. .*no-such-package/],
		[["--agent", "other.mjs"], /other\.mjs exports no agent\. Its default export must be/],
		[["--agent", "throws.mjs"], /throws\.mjs cannot be imported\. No key was given\. \(.*deep\.mjs:2\)/],
		[["--agent", "empty.mjs"], /empty\.mjs exports no agent: it has no `model`\./],
		[["--agent", "typo.mjs"], /The agent of .*typo\.mjs cannot be made\. An agent has no option `systm`/],
		[["--agent", "models.mjs"], /The models of .*models\.mjs must be an object/],
		[["--agent", "limits.mjs"], /limits\.mjs has `checkpoints`, which apply only to calls/],
		[["--drain", "soon"], /--drain takes a number of seconds, not "soon"/],
		[["--dir", "."], /"holdfast worker" has no option --dir/],
		[["key", "other"], /takes one project; remove "other"/],
		[["nowhere"], /nowhere/],
		[["agent.ts"], /Pass a file with an agent as: holdfast worker --agent agent\.ts/],
		[["nowhere", "--agent", "other.mjs"], /Give a project or --agent/],
		[["nowhere", "--models", "models.json"], /--models does not apply to projects/],
		[["--models", "models.json"], /--models applies to a served agent\. Add --agent/],
	] as const)("reports it in one line, and creates no database: %o", async ([argv, said]) => {
		writeFileSync(join(commands.folder, "broken.mjs"), 'import "no-such-package";');
		writeFileSync(join(commands.folder, "other.mjs"), "export default 5;");
		writeFileSync(join(commands.folder, "throws.mjs"), 'import "./deep.mjs";\nexport default {};\n');
		writeFileSync(join(commands.folder, "deep.mjs"), '\nthrow new Error("No key was given.");\n');
		writeFileSync(join(commands.folder, "empty.mjs"), "export default { modle: 3 };");
		writeFileSync(
			join(commands.folder, "limits.mjs"),
			'export default { model: { modelId: "m" }, checkpoints: {} };',
		);
		writeFileSync(
			join(commands.folder, "typo.mjs"),
			'export default { model: { modelId: "m" }, systm: "x" };',
		);
		writeFileSync(
			join(commands.folder, "models.mjs"),
			'export default { model: { modelId: "m" } };\nexport const models = [];\n',
		);
		const { code, stdout, stderr } = await run(["worker", ...argv], { folder: commands.folder });
		expect([code, stdout]).toEqual([2, ""]);
		expect(stderr).toMatch(said);
		expect(stderr.trim().split("\n")).toHaveLength(1);
		expect(existsSync(join(commands.folder, ".holdfast"))).toBe(false);
	});
});
