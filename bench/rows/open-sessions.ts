// What open sessions keep in memory: 10,000 of them, their handles held, after a turn each and while their models think.
import { rmSync } from "node:fs";
import { agent, type Host, memoryHost, type Session } from "holdfast";
import { sqliteHost } from "holdfast/sqlite";
import { collector, effort, type Measurement, median, mustBe, report } from "../measure.ts";
import { lookTool, oneStepModel } from "../stub-model.ts";

const count = 10_000;
const collect = collector();
const stores: ReadonlyMap<string, (at: number) => Host> = new Map<string, (at: number) => Host>([
	["SQLite", (at) => sqliteHost(`open-${at}.db`)],
	["memory", () => memoryHost()],
]);

async function heapUsed(): Promise<number> {
	// What a finished turn of the event loop leaves behind is let go of first.
	await new Promise((resolve) => setTimeout(resolve, 20));
	for (let at = 0; at < 4; at++) collect();
	return process.memoryUsage().heapUsed;
}

interface Weighed {
	/** Bytes of heap a session, its handle held, before its first turn. */
	readonly handle: number;
	/** The same after a turn. */
	readonly idle: number;
}

async function weigh(host: Host): Promise<Weighed> {
	const looker = agent({ model: oneStepModel(), tools: [lookTool()], host });
	// Once, so that what an agent makes at its first use is not counted.
	await (await looker.session("first").send("Look.")).result();
	const before = await heapUsed();
	const handles: Session[] = Array.from({ length: count }, (_, at) => looker.session(`customer-${at}`));
	const handle = (await heapUsed()) - before;
	let completed = 0;
	await Promise.all(
		handles.map(async (session) => {
			if ((await (await session.send("Look.")).result()).outcome === "completed") completed++;
		}),
	);
	mustBe("the number of sessions that completed", completed, count);
	const idle = (await heapUsed()) - before;
	// A handle that is held must still be of use.
	mustBe("messages of the first session", (await (handles[0] as Session).state()).messages.length, 4);
	await looker.close();
	await host.close();
	return { handle: handle / count, idle: idle / count };
}

const measurements: Measurement[] = [];
for (const [name, open] of stores) {
	const weighed: Weighed[] = [];
	const repetitions = effort.repetitions(3);
	for (let at = 0; at < repetitions; at++) {
		weighed.push(await weigh(open(at)));
		rmSync(`open-${at}.db`, { force: true });
	}
	const line = (what: string, of: (each: Weighed) => number): Measurement => ({
		what: `heap of 10,000 open sessions, ${what}, ${name}`,
		unit: "B",
		median: median(weighed.map(of)),
		target: { is: "at most", value: 4_096 },
	});
	measurements.push(
		line("not used yet", ({ handle }) => handle),
		line("after a turn", ({ idle }) => idle),
	);
}
report(measurements);
