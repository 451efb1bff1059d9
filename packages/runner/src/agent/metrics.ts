// Totals over the runs of an agent. Only the last latencies of each tool are kept, so memory stays bounded.
import type { ActionResult, AgentResult } from "../contract/index.ts";

/** Number of latencies kept per tool. */
const kept = 1_000;

/** Metrics of one tool. */
export interface ToolMetrics {
	/** Number of attempts. */
	readonly calls: number;
	/** The ratio of failed attempts to all attempts. */
	readonly errorRate: number;
	/** Milliseconds per call, over the last 1,000 calls; null before the first. */
	readonly p50: number | null;
	/** Like `p50`: 95 % of the calls were at most this long. */
	readonly p95: number | null;
}

/** Metrics of one model. */
export interface ModelMetrics {
	/** Tokens of all prompts, estimated where the client reports none. */
	readonly inputTokens: number;
	/** Tokens of all answers, estimated where the client reports none. */
	readonly outputTokens: number;
	/** US dollars of the calls with a known price. */
	readonly cost: number;
}

/** Metrics of an agent. */
export interface Metrics {
	/** Number of runs that ended. */
	readonly runs: number;
	/** From 0 to 1; null before the first run. */
	readonly taskSuccessRate: number | null;
	/** Planning iterations per run; null before the first run. */
	readonly meanSteps: number | null;
	/** Metrics of each tool, by its id. */
	readonly tools: Readonly<Record<string, ToolMetrics>>;
	/** Metrics of each model, by its name; by the provider's id if the model is unknown. */
	readonly models: Readonly<Record<string, ModelMetrics>>;
	/** Runs with calls whose price is unknown. */
	readonly unpricedRuns: number;
}

interface ToolFigures {
	calls: number;
	errors: number;
	latencies: number[];
	next: number;
}

export class MetricsCollector {
	#runs = 0;
	#successes = 0;
	#steps = 0;
	#unpriced = 0;
	readonly #tools = new Map<string, ToolFigures>();
	readonly #models = new Map<string, { inputTokens: number; outputTokens: number; cost: number }>();

	/** Adds an ended run. By default the actions come from the result, which builds them on first access. */
	add(result: AgentResult, actions: Iterable<ActionResult> = result.actions ?? []): void {
		this.#runs++;
		if (result.success) this.#successes++;
		this.#steps += result.steps ?? 0;
		const calls = result.modelCalls ?? [];
		if (calls.some(({ cost }) => cost === undefined)) this.#unpriced++;
		for (const { provider, model = provider, inputTokens = 0, outputTokens = 0, cost = 0 } of calls) {
			const figures = this.#models.get(model) ?? { inputTokens: 0, outputTokens: 0, cost: 0 };
			figures.inputTokens += inputTokens;
			figures.outputTokens += outputTokens;
			figures.cost += cost;
			this.#models.set(model, figures);
		}
		for (const { type, toolId, ok, attempts = 0, duration } of actions) {
			if (type !== "tool" || toolId === undefined || attempts === 0) continue;
			const figures = this.#tools.get(toolId) ?? { calls: 0, errors: 0, latencies: [], next: 0 };
			figures.calls += attempts;
			figures.errors += ok ? attempts - 1 : attempts;
			figures.latencies[figures.next] = duration;
			figures.next = (figures.next + 1) % kept;
			this.#tools.set(toolId, figures);
		}
	}

	/** Returns the metrics so far. */
	read(): Metrics {
		const tools = [...this.#tools].map(([id, { calls, errors, latencies }]): [string, ToolMetrics] => {
			const sorted = latencies.toSorted((a, b) => a - b);
			return [
				id,
				{ calls, errorRate: errors / calls, p50: quantile(sorted, 0.5), p95: quantile(sorted, 0.95) },
			];
		});
		return {
			runs: this.#runs,
			taskSuccessRate: this.#runs === 0 ? null : this.#successes / this.#runs,
			meanSteps: this.#runs === 0 ? null : this.#steps / this.#runs,
			tools: Object.fromEntries(tools),
			models: Object.fromEntries([...this.#models].map(([model, figures]) => [model, { ...figures }])),
			unpricedRuns: this.#unpriced,
		};
	}
}

function quantile(sorted: readonly number[], part: number): number | null {
	if (sorted.length === 0) return null;
	return sorted[Math.min(sorted.length - 1, Math.ceil(part * sorted.length) - 1)] ?? null;
}
