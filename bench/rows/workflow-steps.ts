// The cost of a workflow's step on SQLite next to the loop's durable step and to its floor: bare transactions that write the
// same rows; and the time in which a workflow that another process left after 1,000 steps continues, next to its floor:
// its rows read and parsed. All alternate in this process, each time in a new file.
import { copyFileSync, existsSync, rmSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { agent } from "holdfast";
import { type SqliteJournal, sqliteHost } from "holdfast/sqlite";
import { workflow } from "holdfast/workflow";
import { byCommit, openBareFile, readJournalRows } from "../bare-transactions.ts";
import { effort, gaps, type Measurement, mean, median, mustBe, p99, report, spend } from "../measure.ts";
import { lookTool, steppingModel } from "../stub-model.ts";

const flatOver = 500;
const recorded = 1_000;
/** The result of a step, as long as that of the loop's tool. */
const found = "0123456789".repeat(10);

interface Round {
	/** Microseconds of each step. */
	readonly steps: readonly number[];
	/** Microseconds of CPU time per step. */
	readonly cpu: number;
	readonly transactions: number;
}

async function ours(path: string, steps: number): Promise<Round> {
	const times: number[] = [];
	const host = sqliteHost(path);
	const looks = workflow({ name: "looks", host }, async (flow) => {
		for (let at = 0; at < steps; at++)
			await flow.step("look", () => {
				times.push(performance.now());
				return found;
			});
	});
	const spent = await spend(async () => (await looks.session("customer").send(undefined)).result());
	mustBe("the outcome", spent.result.outcome, "completed");
	mustBe("the number of steps", times.length, steps);
	const { transactions } = host.journal as SqliteJournal;
	await looks.close();
	await host.close();
	return { steps: gaps(times).map((gap) => gap * 1000), cpu: spent.cpu / steps, transactions };
}

async function loop(path: string, steps: number): Promise<Round> {
	const times: number[] = [];
	const host = sqliteHost(path);
	const tools = [lookTool(() => times.push(performance.now()))];
	const looker = agent({ model: steppingModel(steps, "whole"), tools, host });
	const spent = await spend(async () => (await looker.session("customer").send("Look.")).result());
	mustBe("the outcome", spent.result.outcome, "completed");
	const { transactions } = host.journal as SqliteJournal;
	await looker.close();
	await host.close();
	return { steps: gaps(times).map((gap) => gap * 1000), cpu: spent.cpu / steps, transactions };
}

/** Kinds that open a transaction: the call of a step, its result, and the ends of the run. */
const opening: ReadonlySet<string> = new Set(["run.started", "note", "assistant", "run.ended"]);

async function floor(from: string, path: string, steps: number): Promise<Round> {
	const rows = readJournalRows(from);
	const batches = byCommit(rows, opening);
	const file = openBareFile(path, "process", rows);
	const times: number[] = [];
	const spent = await spend(() => {
		for (const [at, batch] of batches.entries()) {
			file.write(batch);
			// A step is a call and its result.
			if (at % 2 === 0) times.push(performance.now());
		}
	});
	file.close();
	return {
		steps: gaps(times).map((gap) => gap * 1000),
		cpu: spent.cpu / steps,
		transactions: batches.length,
	};
}

async function measureSteps(steps: number, rounds: number): Promise<Measurement[]> {
	const own: Round[] = [];
	const loops: Round[] = [];
	const bare: Round[] = [];
	for (let at = -1; at < rounds; at++) {
		const [file, loopFile, bareFile] = [`own-${at}.db`, `loop-${at}.db`, `bare-${at}.db`];
		const one = await ours(file, steps);
		const other = await loop(loopFile, steps);
		const least = await floor(file, bareFile, steps);
		for (const name of [file, loopFile, bareFile]) rmSync(name);
		if (at < 0) continue;
		own.push(one);
		loops.push(other);
		bare.push(least);
	}
	const line = (what: string, rounded: readonly Round[]): Measurement => ({
		what,
		unit: "µs",
		median: median(rounded.flatMap((round) => round.steps)),
		p99: p99(rounded.flatMap((round) => round.steps)),
		cpu: median(rounded.map((round) => round.cpu)),
		note: `${median(rounded.map((round) => round.transactions / steps)).toFixed(2)} commits a step`,
	});
	const to = (others: readonly Round[], of: (round: Round) => number): number =>
		median(own.map((round, at) => of(round) / of(others[at] as Round)));
	const flat = own.map((round) => mean(round.steps.slice(-flatOver)) / mean(round.steps.slice(0, flatOver)));
	return [
		line("step of a workflow, SQLite", own),
		line("durable step of the loop", loops),
		line("floor: bare transactions of the workflow's rows", bare),
		{
			what: "workflow's step to the loop's durable step, medians",
			unit: "×",
			median: to(loops, (round) => median(round.steps)),
			target: { is: "at most", value: 1.3 },
		},
		{
			what: "workflow's step to its floor, CPU time",
			unit: "×",
			median: to(bare, (round) => round.cpu),
		},
		{
			what: `last ${flatOver} steps of ${steps.toLocaleString("en")} of a workflow to the first`,
			unit: "×",
			median: median(flat),
			target: { is: "at most", value: 1.3 },
		},
	];
}

interface Replay {
	/** Milliseconds. */
	readonly wall: number;
	readonly cpu: number;
}

/** Takes 1,000 steps and waits for an event. `passed` is called after it. */
function waiting(path: string, passed: () => void) {
	const host = sqliteHost(path);
	const made = workflow({ name: "waiting", host }, async (flow) => {
		for (let at = 0; at < recorded; at++) await flow.step("look", () => found);
		await flow.event("go");
		passed();
	});
	return { made, host };
}

async function leave(path: string): Promise<void> {
	const { made, host } = waiting(path, () => {});
	const run = await made.session("customer").send(undefined);
	mustBe("the state of the workflow that is left", (await run.run.result()).outcome, "waiting");
	await made.close();
	await host.close();
}

/** From the event to the code behind it, in a process that knows nothing of the run. */
async function replay(path: string): Promise<Replay> {
	const passed = Promise.withResolvers<void>();
	const { made, host } = waiting(path, passed.resolve);
	const spent = await spend(async () => {
		await made.session("customer").signal("go");
		await passed.promise;
	});
	await made.close();
	await host.close();
	return { wall: spent.wall / 1000, cpu: spent.cpu };
}

/** Reads and parses the rows of the run. */
async function read(path: string): Promise<Replay> {
	const database = new DatabaseSync(path);
	let entries = 0;
	const spent = await spend(() => {
		for (const row of database.prepare("SELECT * FROM entries ORDER BY session, seq").all()) {
			JSON.parse(String(row.body));
			entries++;
		}
	});
	database.close();
	mustBe("whether the record has both rows of each step", entries >= 2 * recorded, true);
	return { wall: spent.wall / 1000, cpu: spent.cpu };
}

async function measureReplay(rounds: number): Promise<Measurement[]> {
	await leave("left.db");
	const own: Replay[] = [];
	const bare: Replay[] = [];
	for (let at = 0; at < rounds; at++) {
		const copy = `replay-${at}.db`;
		for (const suffix of ["", "-wal"])
			if (existsSync(`left.db${suffix}`)) copyFileSync(`left.db${suffix}`, copy + suffix);
		bare.push(await read(copy));
		own.push(await replay(copy));
		rmSync(copy);
	}
	const line = (what: string, rounded: readonly Replay[]): Measurement => ({
		what,
		unit: "ms",
		median: median(rounded.map(({ wall }) => wall)),
		p99: p99(rounded.map(({ wall }) => wall)),
		cpu: median(rounded.map(({ cpu }) => cpu)),
	});
	const steps = `${recorded.toLocaleString("en")} recorded steps`;
	return [
		{ ...line(`replay of ${steps}`, own), target: { is: "at most", value: 50 } },
		line(`floor: the rows of ${steps} read and parsed`, bare),
	];
}

report([
	...(await measureSteps(effort.size(5_000, 2_000), effort.repetitions(9))),
	...(await measureReplay(effort.repetitions(15))),
]);
