// The cost of a step of the loop: a model that answers at once, one trivial tool per step with a result of 100
// characters. Runs of all lengths alternate in blocks of 5,000 steps, so that a slow moment of the machine affects all of
// them.
import { type Agent, agent } from "holdfast";
import { effort, gaps, type Measurement, median, mustBe, p99, report, spend } from "../measure.ts";
import { lookTool, type Manner, steppingModel } from "../stub-model.ts";

const lengths = [50, 200, 1_000, 5_000] as const;
const longest = 5_000;

/** Runs of one length, and their measurements in microseconds per step. */
interface Series {
	readonly steps: number;
	readonly looker: Agent;
	/** A model is asked to stream only if the stream is read; here it is not. */
	readonly manner: Manner;
	/** Points in time of the tool calls of the current run. */
	times: number[];
	readonly wall: number[];
	readonly cpu: number[];
	readonly single: number[];
}

function seriesOf(steps: number, manner: Manner): Series {
	const tools = [lookTool(() => series.times.push(performance.now()))];
	const looker = agent({ model: steppingModel(steps, manner), tools });
	const series: Series = { steps, looker, manner, times: [], wall: [], cpu: [], single: [] };
	return series;
}

/** Runs enough runs for a block. */
async function runBlock(series: Series): Promise<void> {
	const { steps, looker, manner, wall, cpu, single } = series;
	const input = "Look at everything.";
	const look = () => (manner === "whole" ? looker.generate(input) : looker.stream(input).result);
	let blockWall = 0;
	let blockCpu = 0;
	for (let done = 0; done < longest; done += steps) {
		series.times = [];
		const spent = await spend(look);
		mustBe("the number of tool calls", series.times.length, steps);
		mustBe("the number of messages", spent.result.state.messages.length, 2 * steps + 2);
		blockWall += spent.wall;
		blockCpu += spent.cpu;
		for (const gap of gaps(series.times)) single.push(gap * 1000);
	}
	wall.push(blockWall / longest);
	cpu.push(blockCpu / longest);
}

async function measure(manner: Manner): Promise<Measurement[]> {
	const all = lengths.map((steps) => seriesOf(steps, manner));
	const warmUp = 3;
	for (let at = -warmUp; at < effort.repetitions(40); at++) {
		for (const series of all) await runBlock(series);
		if (at < 0)
			for (const { wall, cpu, single } of all) for (const each of [wall, cpu, single]) each.length = 0;
	}
	const [short, , , long] = all as [Series, Series, Series, Series];
	return [
		...all.map(({ steps, wall, cpu, single }): Measurement => {
			return {
				what: `step of ${steps.toLocaleString("en")}, answers ${manner}`,
				unit: "µs",
				median: median(wall),
				p99: p99(single),
				cpu: median(cpu),
				target: { is: "at most", value: 15 },
			};
		}),
		{
			what: `step of 5,000 to step of 50, answers ${manner}`,
			unit: "×",
			median: median(long.wall.map((each, at) => each / (short.wall[at] as number))),
			target: { is: "at most", value: 1.3 },
			note: `single steps, without what is between them: ${(median(long.single) / median(short.single)).toFixed(2)} ×`,
		},
	];
}

report([...(await measure("whole")), ...(await measure("streamed"))]);
