// The cost of threads compared with their sessions: a step, ten thousand pending effects, a large file. On SQLite, the
// steps in memory too, with a model that answers at once.
import { mkdirSync, writeFileSync } from "node:fs";
import {
	loadProject,
	type ProviderInstance,
	providerModel,
	type ThreadState,
	threads,
} from "@holdfast/threads";
import { agent, type Host, memoryHost } from "holdfast";
import { sqliteHost } from "holdfast/sqlite";
import { effort, gaps, type Measurement, median, mustBe, p99, report, spend } from "../measure.ts";
import { lookTool, steppingModel } from "../stub-model.ts";

const steps = 50;

/** Times of the tool calls, and milliseconds by which effects were late; the project's files write them. */
const shared = globalThis as typeof globalThis & { calls: number[]; late: number[] };
shared.calls = [];
shared.late = [];

const files: Readonly<Record<string, string>> = {
	"agents/agents/looker.mjs": `export default { name: "looker", sideA: { prompt: "look-around" } };`,
	"agents/prompts/look-around.mjs": `export default { name: "look-around", toolDescription: "Looks.", prompt: "Look.", model: "main", tools: ["look"] };`,
	"agents/tools/look.mjs": `export default { description: "Looks.", execute() {
		globalThis.calls.push(performance.now());
		return { status: "success", result: "seen" };
	} };`,
	"agents/models/main.mjs": `
let answered = 0;
const usage = { promptTokens: 10, completionTokens: 5, totalTokens: 15 };
const provider = () => ({ name: "stub", specificationVersion: "1",
	async generate() { throw new Error("This model streams."); },
	async *stream() {
		if (answered++ < ${steps}) {
			yield { type: "tool-call-start", id: "c" + answered, name: "look" };
			yield { type: "tool-call-done", id: "c" + answered, arguments: {} };
			yield { type: "finish", finishReason: "tool_calls", usage };
			return;
		}
		answered = 0;
		yield { type: "content-delta", delta: "Done." };
		yield { type: "finish", finishReason: "stop", usage };
	} });
export default { name: "main", model: "m", provider };`,
	"agents/effects/note.mjs": `export default { description: "Notes.", schema: null, handler(state) {
		globalThis.late.push(Date.now());
	} };`,
};
for (const [file, text] of Object.entries(files)) {
	mkdirSync(file.slice(0, file.lastIndexOf("/")), { recursive: true });
	writeFileSync(file, text);
}
const project = await loadProject(".");
const MB = 1_000_000;

/**
 * Measures a step of a thread, of a session that uses the thread's own provider and a tool with the same result, and of a
 * session with Holdfast's own model type, in microseconds, taking turns.
 */
async function measureSteps(where: string, host: Host): Promise<Measurement[]> {
	const all = threads({ project, host });
	const times: number[] = [];
	const tools = [lookTool(() => times.push(performance.now()))];
	const provider = project.models.get("main")?.definition.provider({}) as ProviderInstance;
	const sessions = {
		same: agent({ model: providerModel(provider, "m"), tools, host, name: "same" }),
		own: agent({ model: steppingModel(steps, "streamed"), tools, host, name: "own" }),
	};
	const taken = { thread: [] as number[], same: [] as number[], own: [] as number[] };
	const spent = { thread: 0, same: 0, own: 0 };
	const rounds = effort.repetitions(60);
	for (let round = -10; round < rounds; round++) {
		shared.calls.length = 0;
		const ofThread = await spend(async () => {
			await all.createThread({ agentId: "looker", message: "Look at everything." });
			await all.quiet();
		});
		mustBe("the number of a thread's calls", shared.calls.length, steps);
		if (round >= 0) {
			taken.thread.push(median(gaps(shared.calls)) * 1_000);
			spent.thread += ofThread.cpu / steps;
		}
		for (const kind of ["same", "own"] as const) {
			times.length = 0;
			const ofSession = await spend(async () =>
				(await sessions[kind].session(`${kind}-${round}`).send("Look at everything.")).result(),
			);
			mustBe("the number of a session's calls", times.length, steps);
			if (round < 0) continue;
			taken[kind].push(median(gaps(times)) * 1_000);
			spent[kind] += ofSession.cpu / steps;
		}
	}
	await all.close();
	for (const each of Object.values(sessions)) await each.close();
	await host.close();
	const against = (kind: "same" | "own"): number =>
		median(taken.thread.map((each, at) => each / (taken[kind][at] as number)));
	return [
		{
			what: `step of a thread, ${where}`,
			unit: "µs",
			median: median(taken.thread),
			p99: p99(taken.thread),
			cpu: spent.thread / rounds,
		},
		{
			what: `step of a session with the thread's provider, ${where}`,
			unit: "µs",
			median: median(taken.same),
			p99: p99(taken.same),
			cpu: spent.same / rounds,
		},
		{
			what: `step of a session with a Holdfast model, ${where}`,
			unit: "µs",
			median: median(taken.own),
			p99: p99(taken.own),
			cpu: spent.own / rounds,
		},
		{
			what: `a thread's step to a session's with its provider, ${where}`,
			unit: "×",
			median: against("same"),
			...(where === "SQLite" ? { target: { is: "at most", value: 1.3 } as const } : {}),
		},
		{
			what: `a thread's step to a session's with a Holdfast model, ${where}`,
			unit: "×",
			median: against("own"),
		},
	];
}

async function measureEffects(): Promise<Measurement[]> {
	const host = sqliteHost("effects.db");
	const all = threads({ project, host });
	const count = effort.size(10_000, 2_000);
	const states: ThreadState[] = [];
	for (let at = 0; at < 100; at++) states.push(await all.createThread({ agentId: "looker" }));
	const ahead = effort.size(20_000, 6_000);
	const scheduled = await spend(() =>
		Promise.all(
			Array.from({ length: count }, (_, at) =>
				(states[at % 100] as ThreadState).scheduleEffect("note", {}, ahead + at),
			),
		),
	);
	const start = Date.now();
	const idle = await spend(() => new Promise((resolve) => setTimeout(resolve, 2_000)));
	const due: number[] = [];
	for (const state of states)
		for (const effect of await state.getScheduledEffects()) due.push(effect.scheduledAt / 1_000);
	while (shared.late.length < count) await new Promise((resolve) => setTimeout(resolve, 20));
	due.sort((one, other) => one - other);
	const began = [...shared.late].sort((one, other) => one - other);
	const late = began.map((at, index) => at - (due[index] as number));
	await all.close();
	await host.close();
	mustBe("the number of effects", began.length, count);
	mustBe("that none was early", (began[0] as number) >= (due[0] as number), true);
	mustBe("that the clock advanced", start > 0, true);
	return [
		{
			what: "schedule an effect, many at once",
			unit: "µs",
			median: scheduled.wall / count,
			cpu: scheduled.cpu / count,
		},
		{
			what: `CPU while ${count.toLocaleString("en")} effects are pending`,
			unit: "%",
			median: (idle.cpu / idle.wall) * 100,
		},
		{
			what: "an effect starts after its time, 1,000 due a second",
			unit: "ms",
			median: median(late),
			p99: p99(late),
			target: { is: "at most", value: 250 },
		},
	];
}

async function measureFiles(): Promise<Measurement[]> {
	const host = sqliteHost("files.db");
	const all = threads({ project, host });
	const state = await all.createThread({ agentId: "looker" });
	const piece = new Uint8Array(256 * 1024).fill(7);
	const pieces = 400;
	async function* source(): AsyncGenerator<Uint8Array> {
		for (let at = 0; at < pieces; at++) yield piece;
	}
	const [writing, reading]: [number[], number[]] = [[], []];
	for (let round = 0; round < effort.repetitions(5); round++) {
		const written = await spend(() => state.writeFile("large.bin", source()));
		writing.push((pieces * piece.length) / MB / (written.wall / 1e6));
		const read = await spend(async () => {
			let size = 0;
			for await (const { data } of (await state.readFileStream("large.bin")) ?? []) size += data.length;
			mustBe("the bytes read", size, pieces * piece.length);
		});
		reading.push((pieces * piece.length) / MB / (read.wall / 1e6));
	}
	await all.close();
	await host.close();
	const target = { is: "at least", value: 100 } as const;
	return [
		{ what: "write a file of 105 MB from a stream", unit: "MB/s", median: median(writing), target },
		{ what: "read a file of 105 MB as a stream", unit: "MB/s", median: median(reading), target },
	];
}

report([
	...(await measureSteps("memory", memoryHost())),
	...(await measureSteps("SQLite", sqliteHost("steps.db"))),
	...(await measureEffects()),
	...(await measureFiles()),
]);
