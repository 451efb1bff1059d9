// What a step of the loop costs: a model that answers at once, one trivial tool a step, its result 100 characters.
import { agent } from "holdfast";
import { effort, gaps, type Measurement, median, mustBe, p99, report, spend } from "../measure.ts";
import { lookTool, type Manner, steppingModel } from "../stub-model.ts";

const limit = { is: "at most", value: 15 } as const;

/** Wall time of a step in runs of `steps` steps: the median of runs, the p99 of single steps. */
async function measure(steps: number, manner: Manner): Promise<Measurement> {
	let times: number[] = [];
	const looker = agent({
		model: steppingModel(steps, manner),
		tools: [lookTool(() => times.push(performance.now()))],
	});
	const runs: number[] = [];
	const cpu: number[] = [];
	const single: number[] = [];
	const repetitions = effort.repetitions(Math.max(7, Math.ceil(15_000 / steps)));
	const warmUp = Math.ceil(5_000 / steps);
	for (let at = -warmUp; at < repetitions; at++) {
		times = [];
		const spent = await spend(() => looker.generate("Look at everything."));
		mustBe("the number of tool calls", times.length, steps);
		mustBe("the number of messages", spent.result.state.messages.length, 2 * steps + 2);
		if (at < 0) continue;
		runs.push(spent.wall / steps);
		cpu.push(spent.cpu / steps);
		for (const gap of gaps(times)) single.push(gap * 1000);
	}
	return {
		what: `step of ${steps.toLocaleString("en")}, ${manner === "whole" ? "answers whole" : "answers streamed"}`,
		unit: "µs",
		median: median(runs),
		p99: p99(single),
		cpu: median(cpu),
		target: limit,
	};
}

const measurements: Measurement[] = [];
for (const manner of ["whole", "streamed"] as const) {
	const bySteps: Measurement[] = [];
	for (const steps of [50, 200, 1000, 5000]) bySteps.push(await measure(steps, manner));
	const ratio = (bySteps.at(-1) as Measurement).median / (bySteps[0] as Measurement).median;
	measurements.push(...bySteps, {
		what: `5,000 steps to 50, answers ${manner}`,
		unit: "×",
		median: ratio,
		target: { is: "at most", value: 1.3 },
	});
}
report(measurements);
