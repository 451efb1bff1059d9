// Deterministic ids of traces and spans: every exporter of a run, in any process, derives the same ids from the run's id
// and the position of the entry that started the span (keeps I6).
import { createHash } from "node:crypto";

/** The `idGenerator` for an SDK's tracer provider. */
export interface RunIds {
	/** 32 lowercase hexadecimal digits. */
	generateTraceId(): string;
	/** 16 lowercase hexadecimal digits. */
	generateSpanId(): string;
}

/** Ids of one span. */
export interface Place {
	readonly traceId: string;
	readonly spanId: string;
}

/** Returns the trace id of a run. */
export function traceIdOf(runId: string): string {
	return hex(`trace\u0000${runId}`, 32);
}

/** Returns the id of a run's span; `what` identifies it within the run and never changes. */
export function spanIdOf(runId: string, what: string): string {
	return hex(`span\u0000${runId}\u0000${what}`, 16);
}

/** All zeros mean "no id"; a hash produces them once in 2^64. */
function hex(text: string, digits: number): string {
	const found = createHash("sha256").update(text).digest("hex").slice(0, digits);
	return /^0+$/.test(found) ? found.replace(/0$/, "1") : found;
}

/**
 * Creates the id generator of a tracer provider. It derives the ids of a run's spans from the journal; all other spans
 * get random ids. Without it, a run that is observed twice has two traces.
 *
 * @example
 * ```ts
 * import { runIds } from "@holdfast/otel";
 * import { BatchSpanProcessor, InMemorySpanExporter, TracerProvider } from "@opentelemetry/sdk-trace";
 *
 * const ids = runIds();
 * const provider = new TracerProvider({
 * 	idGenerator: ids,
 * 	spanProcessors: [new BatchSpanProcessor({ exporter: new InMemorySpanExporter() })],
 * });
 * await provider.shutdown();
 * ```
 */
export function runIds(): RunIds {
	return new StableIds();
}

/** Returns the given ids for the next span, once, and random ids otherwise. */
export class StableIds implements RunIds {
	#next: Place | undefined;

	/** Starts a span with these ids. `start` must be synchronous. */
	use<T>(place: Place, start: () => T): T {
		this.#next = place;
		try {
			return start();
		} finally {
			this.#next = undefined;
		}
	}

	generateTraceId(): string {
		return this.#next?.traceId ?? random(16);
	}

	generateSpanId(): string {
		return this.#next?.spanId ?? random(8);
	}
}

function random(bytes: number): string {
	const values = [...crypto.getRandomValues(new Uint8Array(bytes))];
	return values.map((value) => value.toString(16).padStart(2, "0")).join("");
}
