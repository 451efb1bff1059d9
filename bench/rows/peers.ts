// The cost of an agent or a session compared with an agent of @mariozechner/pi-agent-core: 2,000 at once, each created,
// asked once, and run through one tool step, with models that answer at once. Both keep their conversations. Each library
// has its own processes, alternately: their first round is the cold one, later ones are warm.
import { spawnSync } from "node:child_process";
import { effort, type Measurement, median, mustBe, report, spend } from "../measure.ts";

const count = 2_000;
const warmUp = 15;
const rounds = effort.size(40, 12);

/** Starts a round; returns a function that creates an agent or a session, asks it once, and returns its answer. */
type Round = () => (at: number) => Promise<string>;

async function oursPure(): Promise<Round> {
	const { Agent } = await import("holdfast");
	const { lookTool, oneStepModel } = await import("../stub-model.ts");
	const [model, tools] = [oneStepModel(), [lookTool()]];
	return () => async () => (await new Agent({ model, tools }).generate("Look.")).turn.response.text;
}

async function oursSessions(): Promise<Round> {
	const { Agent } = await import("holdfast");
	const { lookTool, oneStepModel } = await import("../stub-model.ts");
	return () => {
		const looker = new Agent({ model: oneStepModel(), tools: [lookTool()] });
		return async (at) => {
			const run = await looker.session(`customer-${at}`).send("Look.");
			return (await run.result()).text;
		};
	};
}

async function theirs(): Promise<Round> {
	const { Agent } = await import("@mariozechner/pi-agent-core");
	const { Type } = await import("@mariozechner/pi-ai");
	const usage = {
		...{ input: 10, output: 5, cacheRead: 0, cacheWrite: 0, totalTokens: 15 },
		cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
	};
	const model = { id: "at-once", provider: "stub", api: "stub" };
	const answer = (content: readonly unknown[], stopReason: string) => {
		const identity = { role: "assistant", api: "stub", provider: "stub", model: "at-once" };
		return { ...identity, content, usage, stopReason, timestamp: Date.now() };
	};
	let calls = 0;
	/** Its loop reads a stream; this one consists only of its end. */
	const streamFn = (_: unknown, { messages }: { messages: readonly { role: string }[] }) => {
		const isDone = messages.at(-1)?.role === "toolResult";
		const message = isDone
			? answer([{ type: "text", text: "Done." }], "stop")
			: answer([{ type: "toolCall", id: `call-${++calls}`, name: "look", arguments: {} }], "toolUse");
		let answered = false;
		const next = () => {
			const done = answered;
			answered = true;
			return Promise.resolve({ value: done ? undefined : { type: "done", message }, done });
		};
		return { result: () => Promise.resolve(message), [Symbol.asyncIterator]: () => ({ next }) };
	};
	const look = {
		name: "look",
		label: "Look",
		description: "Looks at one thing.",
		parameters: Type.Object({}),
		execute: async () => ({ content: [{ type: "text", text: "0123456789".repeat(10) }], details: {} }),
	};
	return () => async () => {
		const initialState = { model, tools: [look], systemPrompt: "" };
		const one = new Agent({ initialState, streamFn } as never);
		await one.prompt("Look.");
		const [said] = (one.state.messages.at(-1) as { content: readonly { text: string }[] }).content;
		return said?.text ?? "";
	};
}

const libraries = { ours: oursPure, sessions: oursSessions, theirs } as const;
type Library = keyof typeof libraries;

/** The result of one process: agents per second. */
interface Found {
	readonly cold: number;
	readonly warm: number;
	/** Microseconds of CPU time per agent, warm. */
	readonly cpu: number;
}

async function measure(library: Library): Promise<Found> {
	const begin = await libraries[library]();
	const rates: number[] = [];
	const cpus: number[] = [];
	for (let round = 0; round < 1 + warmUp + rounds; round++) {
		const spent = await spend(() => {
			const one = begin();
			return Promise.all(Array.from({ length: count }, (_, at) => one(at)));
		});
		for (const answer of spent.result) mustBe("the answer", answer, "Done.");
		rates.push(count / (spent.wall / 1e6));
		cpus.push(spent.cpu / count);
	}
	const [cold = 0, ...others] = rates;
	return { cold, warm: median(others.slice(warmUp)), cpu: median(cpus.slice(1 + warmUp)) };
}

function inProcess(library: Library): Found {
	const [program = ""] = process.argv.slice(1);
	const flags = process.execArgv;
	const child = spawnSync(process.execPath, [...flags, program, ...process.argv.slice(2), library], {
		encoding: "utf8",
	});
	if (child.status !== 0) throw new Error(`The process of ${library} failed:\n${child.stderr}`);
	return JSON.parse(child.stdout) as Found;
}

const asked = process.argv.at(-1) ?? "";
if (Object.hasOwn(libraries, asked)) {
	process.stdout.write(JSON.stringify(await measure(asked as Library)));
} else {
	const found: Record<Library, Found[]> = { ours: [], sessions: [], theirs: [] };
	for (let at = 0; at < effort.repetitions(15); at++)
		for (const library of Object.keys(libraries) as Library[]) found[library].push(inProcess(library));
	const rate = (library: Library, what: keyof Found): number =>
		median(found[library].map((each) => each[what]));
	const against = (library: Library, what: keyof Found): number =>
		median(found[library].map((each, at) => each[what] / ((found.theirs[at] as Found)[what] as number)));
	const names: Record<Library, string> = {
		ours: "Agent and generate()",
		sessions: "sessions of one Agent, in memory",
		theirs: "pi-agent-core",
	};
	const line = (library: Library, what: "cold" | "warm"): Measurement => ({
		what: `2,000 of ${names[library]}, one tool step each, ${what}`,
		unit: "/s",
		median: rate(library, what),
		...(what === "warm" ? { cpu: rate(library, "cpu") } : {}),
	});
	const ratio = (library: Library, what: "cold" | "warm"): Measurement => ({
		what: `${names[library]}, to pi-agent-core, ${what}`,
		unit: "×",
		median: against(library, what),
		target: { is: "at least", value: 1 },
	});
	report([
		...(["cold", "warm"] as const).flatMap((what) => [
			...(Object.keys(libraries) as Library[]).map((library) => line(library, what)),
			ratio("ours", what),
			ratio("sessions", what),
		]),
	]);
}
