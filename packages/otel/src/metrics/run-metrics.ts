// Metrics of the GenAI conventions, and of runs and tools. Attributes are models, tools, agents and outcomes, but never
// sessions, runs or content, so their number is bounded (keeps I7).

import type { TokenUsage } from "@holdfast/upp";
import type { Attributes, Counter, Histogram, Meter } from "@opentelemetry/api";

/** Bucket bounds of the histograms, as the conventions recommend. */
const seconds = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
const tokens = [1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864];

export class RunMetrics {
	readonly #operations: Histogram;
	readonly #tokens: Histogram;
	readonly #cost: Counter;
	readonly #runs: Histogram;

	constructor(meter: Meter) {
		this.#operations = meter.createHistogram("gen_ai.client.operation.duration", {
			unit: "s",
			description: "GenAI operation duration.",
			advice: { explicitBucketBoundaries: seconds },
		});
		this.#tokens = meter.createHistogram("gen_ai.client.token.usage", {
			unit: "{token}",
			description: "Number of input and output tokens used.",
			advice: { explicitBucketBoundaries: tokens },
		});
		this.#cost = meter.createCounter("holdfast.model.cost", {
			unit: "USD",
			description: "Price of answers whose price is known.",
		});
		this.#runs = meter.createHistogram("holdfast.run.duration", {
			unit: "s",
			description: "From the start of a run to its end, including waits and restarts.",
			advice: { explicitBucketBoundaries: [...seconds, 600, 3600, 86400] },
		});
	}

	/** Records the duration of a model call or a tool call in milliseconds. */
	operation(durationMs: number, attributes: Attributes): void {
		this.#operations.record(durationMs / 1000, attributes);
	}

	/** Records a model's answer; `cost` is in US dollars. */
	answer({ inputTokens, outputTokens }: TokenUsage, cost: number | undefined, attributes: Attributes): void {
		this.#tokens.record(inputTokens, { ...attributes, "gen_ai.token.type": "input" });
		this.#tokens.record(outputTokens, { ...attributes, "gen_ai.token.type": "output" });
		if (cost !== undefined) this.#cost.add(cost, attributes);
	}

	/** Records the end of a run and its duration in milliseconds. */
	run(durationMs: number, attributes: Attributes): void {
		this.#runs.record(durationMs / 1000, attributes);
	}
}
