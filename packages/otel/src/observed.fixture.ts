// Shared by the observer's tests: an SDK that keeps spans, metrics and log lines in memory.
import {
	AggregationTemporality,
	InMemoryMetricExporter,
	MeterProvider,
	PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import {
	InMemorySpanExporter,
	type ReadableSpan,
	SimpleSpanProcessor,
	TracerProvider,
} from "@opentelemetry/sdk-trace";
import { onTestFinished } from "vitest";
import { type Observer, type ObserverOptions, observe, runIds } from "./index.ts";

/** A line of the log. */
export interface Line {
	readonly level: string;
	readonly message: string;
	readonly fields: Readonly<Record<string, unknown>>;
}

/** Telemetry that is kept in memory. */
export class Telemetry {
	readonly lines: Line[] = [];
	readonly problems: { readonly error: unknown; readonly key: string | undefined }[] = [];
	readonly #ids = runIds();
	readonly #spans = new InMemorySpanExporter();
	readonly #tracers = new TracerProvider({
		idGenerator: this.#ids,
		spanProcessors: [new SimpleSpanProcessor({ exporter: this.#spans })],
	});
	readonly #points = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
	readonly #reader = new PeriodicExportingMetricReader({
		exporter: this.#points,
		exportIntervalMillis: 3_600_000,
		exportTimeoutMillis: 60_000,
	});
	readonly #meters = new MeterProvider({ readers: [this.#reader] });

	constructor() {
		onTestFinished(async () => {
			await this.#tracers.shutdown();
			await this.#meters.shutdown();
		});
	}

	observe(host: Parameters<typeof observe>[0], options: ObserverOptions = {}): Observer {
		const write = (level: string) => (fields: Readonly<Record<string, unknown>>, message: string) =>
			void this.lines.push({ level, message, fields });
		return observe(host, {
			tracer: this.#tracers.getTracer("test"),
			meter: this.#meters.getMeter("test"),
			ids: this.#ids,
			from: "start",
			logger: { info: write("info"), warn: write("warn"), error: write("error") },
			onProblem: (error, key) => void this.problems.push({ error, key }),
			...options,
		});
	}

	get spans(): readonly ReadableSpan[] {
		return this.#spans.getFinishedSpans();
	}

	/** How often each metric was recorded, and their sums, by name and attributes. */
	async metrics(): Promise<ReadonlyMap<string, { readonly count: number; readonly sum: number }>> {
		this.#points.reset();
		await this.#meters.forceFlush();
		const found = new Map<string, { readonly count: number; readonly sum: number }>();
		for (const { scopeMetrics } of this.#points.getMetrics())
			for (const { metrics } of scopeMetrics)
				for (const { descriptor, dataPoints } of metrics)
					for (const { attributes, value } of dataPoints) {
						const { count, sum } =
							typeof value === "number"
								? { count: 1, sum: value }
								: (value as { count: number; sum: number });
						found.set(`${descriptor.name} ${JSON.stringify(attributes)}`, { count, sum });
					}
		return found;
	}
}

/** Returns the compared parts of spans: name, ids and parent. */
export function outline(spans: readonly ReadableSpan[]): readonly string[] {
	const names = new Map(spans.map((span) => [span.spanContext().spanId, span.name]));
	return spans.map((span) => `${span.name} < ${names.get(span.parentSpanContext?.spanId ?? "") ?? "-"}`);
}
