// The cost of a step of react() and plan(): a model that answers at once, one trivial tool per step. Both ask the model
// twice per step: react() to reason and act, plan() for the call and the result. Lengths alternate, as in loop.ts.
import { type Agent, agent } from "holdfast";
import { plan, react } from "holdfast/execution";
import { effort, type Measurement, median, mustBe, report, spend } from "../measure.ts";
import { lookTool, plannedModel, reasoningModel } from "../stub-model.ts";

const lengths = [50, 200, 1_000] as const;
const block = 1_000;

const strategies = {
	react: (steps: number): Agent =>
		agent({ model: reasoningModel(steps - 1), tools: [lookTool()], execution: react() }),
	plan: (steps: number): Agent =>
		agent({ model: plannedModel(steps), tools: [lookTool()], execution: plan() }),
};

/** Runs of one length, and their measurements in microseconds per step. */
interface Series {
	readonly steps: number;
	readonly worker: Agent;
	readonly wall: number[];
	readonly cpu: number[];
}

/** Runs enough runs for a block. */
async function runBlock({ steps, worker, wall, cpu }: Series): Promise<void> {
	let blockWall = 0;
	let blockCpu = 0;
	for (let done = 0; done < block; done += steps) {
		const spent = await spend(() => worker.generate("Look at everything."));
		mustBe("the number of steps", spent.result.state.step, steps);
		blockWall += spent.wall;
		blockCpu += spent.cpu;
	}
	wall.push(blockWall / block);
	cpu.push(blockCpu / block);
}

async function measure(name: keyof typeof strategies): Promise<Measurement[]> {
	const all = lengths.map((steps): Series => {
		return { steps, worker: strategies[name](steps), wall: [], cpu: [] };
	});
	const warmUp = 5;
	for (let at = -warmUp; at < effort.repetitions(60); at++) {
		for (const series of all) await runBlock(series);
		if (at < 0) for (const { wall, cpu } of all) for (const each of [wall, cpu]) each.length = 0;
	}
	const [short, , long] = all as [Series, Series, Series];
	return [
		...all.map(({ steps, wall, cpu }): Measurement => {
			return {
				what: `step of ${steps.toLocaleString("en")}, ${name}()`,
				unit: "µs",
				median: median(wall),
				cpu: median(cpu),
			};
		}),
		{
			what: `step of 1,000 to step of 50, ${name}()`,
			unit: "×",
			median: median(long.wall.map((each, at) => each / (short.wall[at] as number))),
			target: { is: "at most", value: 1.3 },
		},
	];
}

report([...(await measure("react")), ...(await measure("plan"))]);
