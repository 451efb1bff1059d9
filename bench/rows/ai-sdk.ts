// The cost of a step with an AI SDK model, compared with a Holdfast model: the same answers, streamed, after histories of
// several lengths. Both alternate in short blocks, so that a slow moment of the machine affects both.
import { AssistantMessage, type Message, UserMessage } from "@holdfast/upp";
import { type Agent, AgentState, agent } from "holdfast";
import { effort, gaps, type Measurement, median, mustBe, p99, report, spend } from "../measure.ts";
import { lookTool, steppingLanguageModel, steppingModel, streamOfParts } from "../stub-model.ts";

const histories = [50, 1_000, 5_000] as const;
/** Steps of a run, few enough that the history hardly grows. */
const steps = 20;
/** Runs per block. */
const runs = 25;

/** Runs with one model after one history, and their measurements in microseconds per step. */
interface Series {
	readonly looker: Agent;
	readonly state: AgentState;
	/** Points in time of the tool calls of the current run. */
	times: number[];
	readonly wall: number[];
	readonly cpu: number[];
	readonly single: number[];
}

function seriesOf(model: Parameters<typeof agent>[0]["model"], history: readonly Message[]): Series {
	const tools = [lookTool(() => series.times.push(performance.now()))];
	const looker = agent({ model, tools });
	const state = AgentState.initial().withMessages(history);
	const series: Series = { looker, state, times: [], wall: [], cpu: [], single: [] };
	return series;
}

async function runBlock(series: Series): Promise<void> {
	const { looker, state, wall, cpu, single } = series;
	const spent = await spend(async () => {
		for (let run = 0; run < runs; run++) {
			series.times = [];
			await looker.stream("Look at everything.", state).result;
			mustBe("the number of tool calls", series.times.length, steps);
			for (const gap of gaps(series.times)) single.push(gap * 1000);
		}
	});
	wall.push(spent.wall / (runs * steps));
	cpu.push(spent.cpu / (runs * steps));
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
	const warmUp = 10;
	for (let at = -warmUp; at < effort.repetitions(100); at++) {
		for (const series of [own, foreign]) await runBlock(series);
		if (at >= 0) continue;
		for (const { wall, cpu, single } of [own, foreign])
			for (const each of [wall, cpu, single]) each.length = 0;
	}
	const after = `after ${length.toLocaleString("en")} messages`;
	const line = ({ wall, cpu, single }: Series, model: string): Measurement => ({
		what: `step ${after}, ${model}`,
		unit: "µs",
		median: median(wall),
		p99: p99(single),
		cpu: median(cpu),
	});
	return [
		line(own, "our own model port"),
		line(foreign, "an AI SDK model"),
		{
			what: `an AI SDK model to our own port, ${after}`,
			unit: "×",
			median: median(foreign.cpu.map((each, at) => each / (own.cpu[at] as number))),
			// The prompt is an array of the whole history, created for every call: after a long history, that is the
			// remaining cost.
			...(length === histories[0] ? { target: { is: "at most", value: 2 } as const } : {}),
			note: "CPU time",
		},
	];
}

/** The inherent cost of every such model: it creates a web stream, which is read. */
async function floor(): Promise<Measurement> {
	const blocks: number[] = [];
	const size = runs * steps;
	for (let at = -20; at < effort.repetitions(100); at++) {
		const spent = await spend(async () => {
			for (let made = 0; made < size; made++) {
				const reader = streamOfParts().getReader();
				while (!(await reader.read()).done);
			}
		});
		if (at >= 0) blocks.push(spent.cpu / size);
	}
	return { what: "floor: the model's stream alone, CPU time", unit: "µs", median: median(blocks) };
}

const measured: Measurement[] = [];
for (const length of histories) measured.push(...(await measure(length)));
report([...measured, await floor()]);
