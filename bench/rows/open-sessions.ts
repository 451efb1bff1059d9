// The memory of open sessions: 10,000 of them with live handles, after a turn each and while their models are answering.
import { rmSync } from "node:fs";
import { agent, type Host, memoryHost, type Session } from "holdfast";
import { sqliteHost } from "holdfast/sqlite";
import { collector, type Measurement, mustBe, report } from "../measure.ts";
import { lookTool, oneStepModel, stuckModel } from "../stub-model.ts";

const count = 10_000;
const collect = collector();
const stores: ReadonlyMap<string, (path: string) => Host> = new Map<string, (path: string) => Host>([
	["SQLite", (path) => sqliteHost(path)],
	["memory", () => memoryHost()],
]);

async function heapUsed(): Promise<number> {
	// The garbage of the current event loop turn is released first.
	await new Promise((resolve) => setTimeout(resolve, 20));
	for (let at = 0; at < 4; at++) collect();
	return process.memoryUsage().heapUsed;
}

interface Weighed {
	/** Bytes of heap per session, with its handle, before its first turn. */
	readonly handle: number;
	/** The same after a turn. */
	readonly idle: number;
}

async function weigh(host: Host): Promise<Weighed> {
	const looker = agent({ model: oneStepModel(), tools: [lookTool()], host });
	// Once before, so that what an agent creates on first use is not counted.
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
	// The handles must still be usable.
	mustBe("messages of the first session", (await (handles[0] as Session).state()).messages.length, 4);
	await looker.close();
	await host.close();
	return { handle: handle / count, idle: idle / count };
}

/** Returns the bytes of heap per session whose model has a second, unanswered request. */
async function weighWaiting(host: Host): Promise<number> {
	const all = Promise.withResolvers<void>();
	let waiting = 0;
	const model = stuckModel(() => {
		if (++waiting === count) all.resolve();
	});
	const looker = agent({ model, tools: [lookTool()], host });
	const before = await heapUsed();
	for (let at = 0; at < count; at++)
		void looker
			.session(`customer-${at}`)
			.send("Look.")
			.then((run) => run.result());
	await all.promise;
	const heap = (await heapUsed()) - before;
	await looker.close();
	await host.close();
	return heap / count;
}

// Measured once each: heap sizes vary by less than one percent.
const measurements: Measurement[] = [];
for (const [name, open] of stores) {
	const { handle, idle } = await weigh(open("idle.db"));
	const waiting = await weighWaiting(open("waiting.db"));
	for (const path of ["idle.db", "waiting.db"]) rmSync(path, { force: true });
	const line = (what: string, heap: number): Measurement => ({
		what: `heap of 10,000 open sessions, ${what}, ${name}`,
		unit: "B",
		median: heap,
		target: { is: "at most", value: 4_096 },
	});
	measurements.push(line("not used yet", handle), line("after a turn", idle), {
		what: `heap of 10,000 runs that wait for their model, ${name}`,
		unit: "B",
		median: waiting,
	});
}
report(measurements);
