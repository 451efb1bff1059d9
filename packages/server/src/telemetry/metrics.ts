// Counts what happens and writes it as Prometheus reads it. Labels are routes, methods, statuses and reasons: never a
// tenant, a session or anything a caller made up, so their number is bounded (keeps I7).

/** Values that are looked up when they are asked for. */
export type Gauges = Readonly<Record<"openStreams" | "activeRuns" | "bufferedBytes", () => number>>;

const help = {
	holdfast_http_requests_total: ["counter", "Requests answered."],
	holdfast_streams_ended_total: ["counter", "Event streams ended, by reason."],
	holdfast_events_sent_total: ["counter", "Events sent to watchers."],
	holdfast_open_streams: ["gauge", "Event streams open."],
	holdfast_active_runs: ["gauge", "Runs under way that came in over HTTP."],
	holdfast_buffered_bytes: ["gauge", "Bytes of events kept for watchers."],
	process_resident_memory_bytes: ["gauge", "Memory of the process."],
	process_heap_bytes: ["gauge", "Heap used by the process."],
} as const;

type MetricName = keyof typeof help;

/** The metrics of a handler. */
export class Metrics {
	readonly #gauges: Gauges;
	readonly #requests = new Map<string, number>();
	readonly #ended = new Map<string, number>();
	#events = 0;

	constructor(gauges: Gauges) {
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

	/** All of them, in Prometheus' text format. */
	text(): string {
		const memory = globalThis.process?.memoryUsage?.();
		return [
			...family("holdfast_http_requests_total", this.#requests),
			...family("holdfast_streams_ended_total", this.#ended),
			...family("holdfast_events_sent_total", this.#events),
			...family("holdfast_open_streams", this.#gauges.openStreams()),
			...family("holdfast_active_runs", this.#gauges.activeRuns()),
			...family("holdfast_buffered_bytes", this.#gauges.bufferedBytes()),
			...(memory === undefined ? [] : family("process_resident_memory_bytes", memory.rss)),
			...(memory === undefined ? [] : family("process_heap_bytes", memory.heapUsed)),
			"",
		].join("\n");
	}
}

function family(name: MetricName, values: number | ReadonlyMap<string, number>): readonly string[] {
	const [type, text] = help[name];
	const lines =
		typeof values === "number"
			? [`${name} ${values}`]
			: [...values].map(([labels, value]) => `${name}${labels} ${value}`);
	return [`# HELP ${name} ${text}`, `# TYPE ${name} ${type}`, ...lines];
}

function add(counts: Map<string, number>, labels: string): void {
	counts.set(labels, (counts.get(labels) ?? 0) + 1);
}

function knownMethod(method: string): string {
	return /^(?:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS)$/.test(method) ? method : "other";
}
