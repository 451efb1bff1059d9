// What a step costs with a model of the AI SDK, beside our own model port: the same answers, streamed, after histories
// of several lengths. Both take turns in short runs, so that a slow moment of the machine meets them both.

import { AssistantMessage, type Message, UserMessage } from "@holdfast/upp";
import { type Agent, AgentState, agent } from "holdfast";
import { effort, gaps, type Measurement, median, mustBe, p99, report, spend } from "../measure.ts";
import { lookTool, steppingLanguageModel, steppingModel, streamOfParts } from "../stub-model.ts";

const histories = [50, 1_000, 5_000] as const;
const steps = 20;

/** Runs with one model after one history, and the microseconds of their steps. */
interface Series {
	readonly looker: Agent;
	readonly state: AgentState;
	/** Points in time of the tool calls of the current run. */
	times: number[];
	/** The median step of each run. */
	readonly runs: number[];
	readonly single: number[];
}

function seriesOf(model: Parameters<typeof agent>[0]["model"], history: readonly Message[]): Series {
	const tools = [lookTool(() => series.times.push(performance.now()))];
	const looker = agent({ model, tools });
	const state = AgentState.initial().withMessages(history);
	const series: Series = { looker, state, times: [], runs: [], single: [] };
	return series;
}

async function runOnce(series: Series): Promise<void> {
	series.times = [];
	await series.looker.generate("Look at everything.", series.state);
	mustBe("the number of tool calls", series.times.length, steps);
	const micros = gaps(series.times).map((gap) => gap * 1000);
	series.runs.push(median(micros));
	for (const each of micros) series.single.push(each);
}

function conversation(length: number): readonly Message[] {
	return Array.from({ length }, (_, at) =>
		at % 2 === 0 ? new UserMessage("And then?") : new AssistantMessage("Then it was seen."),
	);
}

async function measure(length: number): Promise<Measurement[]> {
	const history = conversation(length);
	const own = seriesOf(steppingModel(steps, "streamed"), history);
	const foreign = seriesOf(steppingLanguageModel(steps), history);
	const warmUp = 200;
	for (let at = -warmUp; at < effort.repetitions(1_000); at++) {
		for (const series of [own, foreign]) await runOnce(series);
		if (at < 0) for (const { runs, single } of [own, foreign]) runs.length = single.length = 0;
	}
	const after = `after ${length.toLocaleString("en")} messages`;
	return [
		...(
			[
				[own, "our own port"],
				[foreign, "an AI SDK model"],
			] as const
		).map(([{ single }, name]) => ({
			what: `step ${after}, ${name}`,
			unit: "µs",
			median: median(single),
			p99: p99(single),
		})),
		{
			what: `AI SDK model to our own port, ${after}`,
			unit: "×",
			median: median(foreign.runs.map((each, at) => each / (own.runs[at] as number))),
			...(length === histories[0] ? { target: { is: "at most", value: 2 } as const } : {}),
		},
	];
}

/** What every such model spends itself: it makes a web stream, and somebody reads it. */
async function floor(): Promise<Measurement> {
	const blocks: number[] = [];
	const size = 1_000;
	for (let at = -20; at < effort.repetitions(100); at++) {
		const spent = await spend(async () => {
			for (let made = 0; made < size; made++) {
				const reader = streamOfParts().getReader();
				while (!(await reader.read()).done);
			}
		});
		if (at >= 0) blocks.push(spent.wall / size);
	}
	return { what: "floor: the model's stream alone", unit: "µs", median: median(blocks) };
}

const measured: Measurement[] = [];
for (const length of histories) measured.push(...(await measure(length)));
report([...measured, await floor()]);
