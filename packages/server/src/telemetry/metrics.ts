// Counts what happens and writes it in Prometheus' format. Labels are routes, methods, statuses and reasons, never a
// tenant, a session or anything that a caller chooses, so their number is bounded (keeps I7).

import { failureText } from "holdfast/execute";
import type { StoreStats } from "holdfast/host";

/** Values that are read on demand. */
export type Gauges = Readonly<Record<"openStreams" | "activeRuns" | "bufferedBytes", () => number>>;

const help = {
	holdfast_http_requests_total: ["counter", "Requests answered."],
	holdfast_streams_ended_total: ["counter", "Event streams ended, by reason."],
	holdfast_events_sent_total: ["counter", "Events sent to watchers."],
	holdfast_runs_ended_total: ["counter", "Runs ended or left open in this process, by outcome."],
	holdfast_model_answers_total: ["counter", "Answers of models."],
	holdfast_model_errors_total: [
		"counter",
		"Calls of models that failed, by code and whether they were retried.",
	],
	holdfast_model_tokens_total: ["counter", "Tokens of models' answers, by direction."],
	holdfast_model_cost_dollars_total: ["counter", "US dollars of answers whose price is known."],
	holdfast_model_unpriced_answers_total: ["counter", "Answers whose price is not known."],
	holdfast_open_streams: ["gauge", "Event streams open."],
	holdfast_active_runs: ["gauge", "Active runs that arrived over HTTP."],
	holdfast_buffered_bytes: ["gauge", "Bytes of events kept for watchers."],
	holdfast_store_reachable: ["gauge", "Whether the session store reported its numbers: 1 or 0."],
	holdfast_store_queued_sessions: ["gauge", "Sessions in the store that are due and have no owner."],
	holdfast_store_oldest_due_seconds: ["gauge", "How long the oldest of these has been due."],
	holdfast_store_leases: ["gauge", "Sessions whose lease this process has."],
	holdfast_store_takeovers_total: [
		"counter",
		"Runs this process took from workers that were dead or cut off.",
	],
	holdfast_store_commits_total: ["counter", "Transactions of sessions that this process committed."],
	process_resident_memory_bytes: ["gauge", "Memory of the process."],
	process_heap_bytes: ["gauge", "Heap used by the process."],
} as const;

type MetricName = keyof typeof help;

/** The metrics of a handler. */
export class Metrics {
	readonly #gauges: Gauges | undefined;
	readonly #requests = new Map<string, number>();
	readonly #ended = new Map<string, number>();
	readonly #runs = new Map<string, number>();
	readonly #modelErrors = new Map<string, number>();
	readonly #tokens = new Map<string, number>();
	#events = 0;
	#answers = 0;
	#cost = 0;
	#unpriced = 0;

	/** `gauges`: absent if the service has none. */
	constructor(gauges: Gauges | undefined) {
		this.#gauges = gauges;
	}

	countRequest(route: string, method: string, status: number): void {
		add(this.#requests, `{route="${route}",method="${knownMethod(method)}",status="${status}"}`);
	}

	countStreamEnd(reason: string): void {
		add(this.#ended, `{reason="${reason}"}`);
	}

	countEvents(count: number): void {
		this.#events += count;
	}

	countRunEnd(outcome: string): void {
		add(this.#runs, `{outcome="${outcome}"}`);
	}

	/** Counts a model's answer; `cost` in US dollars, undefined if unknown. */
	countAnswer(inputTokens: number, outputTokens: number, cost: number | undefined): void {
		this.#answers++;
		add(this.#tokens, '{direction="input"}', inputTokens);
		add(this.#tokens, '{direction="output"}', outputTokens);
		if (cost === undefined) this.#unpriced++;
		else this.#cost += cost;
	}

	/** Counts a failed model call. All codes that the model layer does not define count as one. */
	countModelError(code: string, outcome: "failed" | "retried"): void {
		const known = failureText(code) === undefined ? "other" : code;
		add(this.#modelErrors, `{code="${known}",outcome="${outcome}"}`);
	}

	/** Returns all metrics in Prometheus' text format; those of the store are omitted if it cannot be read. */
	async text(storeStats?: () => Promise<StoreStats>): Promise<string> {
		const store = storeStats === undefined ? [] : await storeFamilies(storeStats);
		const memory = globalThis.process?.memoryUsage?.();
		return [
			...family("holdfast_http_requests_total", this.#requests),
			...family("holdfast_streams_ended_total", this.#ended),
			...family("holdfast_events_sent_total", this.#events),
			...family("holdfast_runs_ended_total", this.#runs),
			...family("holdfast_model_answers_total", this.#answers),
			...family("holdfast_model_errors_total", this.#modelErrors),
			...family("holdfast_model_tokens_total", this.#tokens),
			...family("holdfast_model_cost_dollars_total", this.#cost),
			...family("holdfast_model_unpriced_answers_total", this.#unpriced),
			...(this.#gauges === undefined ? [] : gaugeFamilies(this.#gauges)),
			...store,
			...(memory === undefined ? [] : family("process_resident_memory_bytes", memory.rss)),
			...(memory === undefined ? [] : family("process_heap_bytes", memory.heapUsed)),
			"",
		].join("\n");
	}
}

function gaugeFamilies({ openStreams, activeRuns, bufferedBytes }: Gauges): readonly string[] {
	return [
		...family("holdfast_open_streams", openStreams()),
		...family("holdfast_active_runs", activeRuns()),
		...family("holdfast_buffered_bytes", bufferedBytes()),
	];
}

async function storeFamilies(storeStats: () => Promise<StoreStats>): Promise<readonly string[]> {
	const stats = await storeStats().catch(() => undefined);
	if (stats === undefined) return family("holdfast_store_reachable", 0);
	return [
		...family("holdfast_store_reachable", 1),
		...family("holdfast_store_queued_sessions", stats.queued),
		...family("holdfast_store_oldest_due_seconds", stats.oldestDueMs / 1000),
		...family("holdfast_store_leases", stats.leases),
		...family("holdfast_store_takeovers_total", stats.takeovers),
		...family("holdfast_store_commits_total", stats.commits),
	];
}

function family(name: MetricName, values: number | ReadonlyMap<string, number>): readonly string[] {
	const [type, text] = help[name];
	const lines =
		typeof values === "number"
			? [`${name} ${values}`]
			: [...values].map(([labels, value]) => `${name}${labels} ${value}`);
	return [`# HELP ${name} ${text}`, `# TYPE ${name} ${type}`, ...lines];
}

function add(counts: Map<string, number>, labels: string, count = 1): void {
	counts.set(labels, (counts.get(labels) ?? 0) + count);
}

function knownMethod(method: string): string {
	return /^(?:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS)$/.test(method) ? method : "other";
}
