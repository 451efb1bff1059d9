// Processes that share a store, work on one thread, and die in its steps.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { sqliteHost } from "holdfast/sqlite";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../files/files.fixture.ts";
import { start } from "./threads.fixture.ts";
import { lastSteps, readMarks, sharedProject, threadId, whoIsInStep } from "./two-processes.fixture.ts";

const program = join(import.meta.dirname, "two-processes.fixture.ts");

test("two processes on one store never run steps of a thread at the same time, even if they are killed in one [SA-127]", async () => {
	const folder = temporaryFolder();
	const [path, file] = [join(folder, "threads.db"), join(folder, "marks.jsonl")];
	writeFileSync(file, "");
	const host = sqliteHost(path);
	onTestFinished(() => host.close());
	const { threads } = start(sharedProject(file, "test").project, { host });
	await threads.createThread({ agentId: "helper", id: threadId });

	let made = 0;
	function started() {
		const argv = ["--conditions=holdfast-source", "--no-warnings", program, path, file, `p${++made}`];
		const child = spawn(process.execPath, argv, { stdio: ["pipe", "pipe", "inherit"] });
		const exit = once(child, "exit").then(([, signal]) => ({ line: `exit ${signal}` }));
		onTestFinished(async () => {
			child.kill("SIGKILL");
			await exit;
		});
		const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
		/** The next line that it writes, or that it is gone. */
		const next = async (): Promise<string> => {
			const { value, done } = await lines.next();
			return done === true ? (await exit).line : value;
		};
		return { next, say: (text: string) => child.stdin.write(`${text}\n`), exit };
	}

	/** Has a process say all that it has to; one that is killed is followed by another. */
	async function work(process: ReturnType<typeof started>): Promise<ReturnType<typeof started>> {
		process.say("begin");
		const line = await process.next();
		if (line === "said all") return process;
		expect(line).toBe("exit SIGKILL");
		const another = started();
		expect(await another.next()).toBe("ready");
		return work(another);
	}

	const both = [started(), started()] as const;
	for (const each of both) expect(await each.next()).toBe("ready");
	const last = await Promise.all(both.map(work));
	await expect
		.poll(
			async () => {
				const head = await host.journal.head(threadId);
				return [head?.openRunId, head?.waiting];
			},
			{ timeout: 60_000 },
		)
		.toEqual([undefined, 0]);
	for (const each of last) each.say("end");
	expect(await Promise.all(last.map(({ exit }) => exit))).toEqual([
		{ line: "exit null" },
		{ line: "exit null" },
	]);

	const marks = readMarks(file);
	expect(whoIsInStep(marks)).toBeUndefined();
	expect(marks.filter(({ what }) => what === "died")).toHaveLength(lastSteps.length);
	expect(new Set(marks.filter(({ what }) => what === "began").map(({ by }) => by)).size).toBeGreaterThan(2);
	// All that was accepted is there, once, and answered.
	const facts = (await host.journal.read(threadId)).map(({ fact }) => fact);
	const stored = facts.flatMap((fact) => (fact.kind === "input" ? [fact.message.text] : []));
	expect(new Set(stored).size).toBe(stored.length);
	expect(stored).toEqual(expect.arrayContaining(marks.flatMap(({ text }) => text ?? [])));
	expect(facts.at(-1)).toMatchObject({ kind: "run.ended", outcome: "completed" });
	await threads.close();
}, 120_000);
