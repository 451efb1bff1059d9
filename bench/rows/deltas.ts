// How fast text streams: 20,000 deltas of a model through the public event streams, each read by its consumer.
import { agent } from "holdfast";
import { effort, type Measurement, median, mustBe, p99, report, spend } from "../measure.ts";
import { talk, talkingModel } from "../stub-model.ts";

const count = 20_000;
const stub = talk(count);
const speaker = agent({ model: talkingModel(count) });

/** Reads a stream; returns the number of text deltas and their characters. */
type Drain = () => Promise<{ arrived: number; characters: number }>;

async function fromStub(): Promise<{ arrived: number; characters: number }> {
	let arrived = 0;
	let characters = 0;
	for await (const event of stub()) {
		if (event.type !== "text_delta") continue;
		arrived++;
		characters += event.delta.text?.length ?? 0;
	}
	return { arrived, characters };
}

async function fromStream(): Promise<{ arrived: number; characters: number }> {
	let arrived = 0;
	let characters = 0;
	for await (const { upp } of speaker.stream("Talk.")) {
		if (upp?.type !== "text_delta") continue;
		arrived++;
		characters += upp.delta.text?.length ?? 0;
	}
	return { arrived, characters };
}

let sessions = 0;
async function fromWatch(): Promise<{ arrived: number; characters: number }> {
	let arrived = 0;
	let characters = 0;
	const run = await speaker.session(`talk-${sessions++}`).send("Talk.");
	for await (const event of run.watch()) {
		if (event.type !== "model" || event.event.type !== "text_delta") continue;
		arrived++;
		characters += event.event.delta.text?.length ?? 0;
	}
	return { arrived, characters };
}

async function measure(what: string, drain: Drain, target?: Measurement["target"]): Promise<Measurement> {
	const rates: number[] = [];
	const cpu: number[] = [];
	let fewest = count;
	const repetitions = effort.repetitions(60);
	for (let at = -15; at < repetitions; at++) {
		const spent = await spend(drain);
		mustBe("the characters that arrived", spent.result.characters, count * "word ".length);
		if (at < 0) continue;
		rates.push(count / (spent.wall / 1e6));
		cpu.push(spent.cpu / count);
		fewest = Math.min(fewest, spent.result.arrived);
	}
	// For a rate, the slow end is the low one.
	const slow = -p99(rates.map((rate) => -rate));
	const joined = fewest < count ? { note: `deltas were joined: only ${fewest} arrived one by one` } : {};
	const goal = target === undefined ? {} : { target };
	return { what, unit: "/s", median: median(rates), p99: slow, cpu: median(cpu), ...goal, ...joined };
}

const target = { is: "at least", value: 1_000_000 } as const;
report([
	await measure("deltas through agent.stream()", fromStream, target),
	await measure("deltas through run.watch()", fromWatch, target),
	await measure("floor: the model's stream alone", fromStub),
]);
await speaker.close();
