// The cost of returning to a long conversation: a session of 50,000 messages in a SQLite file, in a process that has not
// opened it before. Measures the time to its state, and the time of its next turn until the model has answered and a tool
// runs, with and without reading the state first. Each time in a separate process.
import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { agent } from "holdfast";
import { sqliteHost } from "holdfast/sqlite";
import { effort, type Measurement, median, mustBe, p99, report } from "../measure.ts";
import { lookTool, oneStepModel } from "../stub-model.ts";

const path = "long-session.db";
/** A turn consists of the question, a tool call, its result and the answer. */
const messagesOfTurn = 4;
const messages = effort.size(50_000, 10_000);

/** The first operation of a process. */
type First = "state" | "send";

/** Times in milliseconds. */
interface Found {
	/** 0 if the state was not requested. */
	readonly opened: number;
	readonly begun: number;
}

async function grow(): Promise<void> {
	const host = sqliteHost(path);
	const looker = agent({ model: oneStepModel(), tools: [lookTool()], host });
	const session = looker.session("long");
	for (let turn = 0; turn < messages / messagesOfTurn; turn++)
		await (await session.send("And what is to be seen now?")).result();
	await looker.close();
	await host.close();
}

async function comeBack(first: First): Promise<Found> {
	const host = sqliteHost(path);
	let toolRan = 0;
	const tools = [lookTool(() => (toolRan = performance.now()))];
	const session = agent({ model: oneStepModel(), tools, host }).session("long");
	const before = performance.now();
	if (first === "state")
		mustBe("the messages at least", (await session.state()).messages.length >= messages, true);
	const opened = performance.now();
	const run = await session.send("And what is to be seen now?");
	const { state } = await run.result();
	mustBe("the messages at least", state.messages.length >= messages + messagesOfTurn, true);
	await host.close();
	return { opened: opened - before, begun: toolRan - opened };
}

function inProcess(first: First): Found {
	const [program = ""] = process.argv.slice(1);
	const { status, stdout, stderr } = spawnSync(
		process.execPath,
		[...process.execArgv, program, ...process.argv.slice(2), first],
		{ encoding: "utf8" },
	);
	if (status !== 0) throw new Error(`The process that came back failed:\n${stderr}`);
	return JSON.parse(stdout) as Found;
}

const asked = process.argv.at(-1);
if (asked === "state" || asked === "send") {
	process.stdout.write(JSON.stringify(await comeBack(asked)));
} else {
	await grow();
	const found: Record<First, Found[]> = { state: [], send: [] };
	for (let at = 0; at < effort.repetitions(15); at++)
		for (const first of ["state", "send"] as const) found[first].push(inProcess(first));
	rmSync(path);
	const line = (what: string, times: readonly number[], atMost?: number): Measurement => ({
		what,
		unit: "ms",
		median: median(times),
		p99: p99(times),
		...(atMost === undefined ? {} : { target: { is: "at most", value: atMost } }),
	});
	const size = messages.toLocaleString("en");
	report([
		line(
			`state of a session of ${size} messages in SQLite`,
			found.state.map(({ opened }) => opened),
			500,
		),
		line(
			"its next turn, until a tool runs",
			found.state.map(({ begun }) => begun),
			300,
		),
		line(
			"its next turn, where nothing was read before",
			found.send.map(({ begun }) => begun),
		),
	]);
}
