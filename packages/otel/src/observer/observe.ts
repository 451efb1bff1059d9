// The observer: follows all sessions of a host and reports their runs to OpenTelemetry and a logger. It reads committed
// data and writes only its own position, so no run waits for it or fails because of it.
//
// observing ── close ──▶ catching up ──▶ closed
//     └── the store cannot be read ──▶ closed
import { checkOptions, longestForeignWait, optionNames, readDuration } from "@holdfast/upp";
import { metrics as globalMetrics, trace as globalTrace, type Meter, type Tracer } from "@opentelemetry/api";
import { followAll, type Host, isHoldfastError } from "holdfast";
import { readStoreKey } from "holdfast/execute";
import { type ChangeLog, readChildStoreKey } from "holdfast/host";
import type { StoreEvent } from "holdfast/types";
import { Content, type ContentOptions } from "../content/index.ts";
import { type RunIds, StableIds } from "../ids/index.ts";
import { type ObserverLogger, RunLog } from "../logs/index.ts";
import { RunMetrics } from "../metrics/index.ts";
import { type Destination, providerOf, RunTrace } from "../spans/index.ts";
import { Cursor } from "./cursor.ts";
import { parentOf } from "./parents.ts";

/** Options of `observe`. */
export interface ObserverOptions {
	/** Creates the spans. Default: the tracer of the global tracer provider. */
	readonly tracer?: Tracer | undefined;
	/** Creates the metrics. Default: the meter of the global meter provider. */
	readonly meter?: Meter | undefined;
	/**
	 * The result of `runIds()`, which the tracer provider uses as its `idGenerator`. Default: none, and spans get random
	 * ids.
	 */
	readonly ids?: RunIds | undefined;
	/** Receives a line for every event of a run; a Pino logger fits. Default: none. */
	readonly logger?: ObserverLogger | undefined;
	/** Includes the content of messages by users, models and tools, masked. Default: none. */
	readonly content?: ContentOptions | undefined;
	/** Returns the provider of a model, given the model's id. Default: a guess from the id; `other` if that fails. */
	readonly providerOf?: ((modelId: string) => string) | undefined;
	/**
	 * The start position: `last` continues where the observer of this name stopped, or starts now if there was none;
	 * `start` includes everything stored; `now` skips it. Default `last`.
	 */
	readonly from?: "last" | "start" | "now" | undefined;
	/**
	 * The name under which the host stores its position, if it has records. Use a name for only one observer. Default
	 * `otel`.
	 */
	readonly name?: string | undefined;
	/** Milliseconds between writes of the position. Smaller values repeat less after a crash. Default 5,000. */
	readonly saveEveryMs?: number | undefined;
	/**
	 * Called with errors: `journal_corrupt` and `journal_newer` for a session that cannot be read and is skipped;
	 * `changes_expired` if changes were missed; any other error ends the observer. Must not throw. Default: writes a line
	 * to the logger.
	 */
	readonly onProblem?: ((error: unknown, sessionKey?: string) => void) | undefined;
}

/** A running observer. */
export interface Observer {
	/** Settles when the observer has ended. */
	readonly ended: Promise<void>;
	/** Reports everything committed so far, and ends. Calling it twice is harmless. */
	close(): Promise<void>;
}

/** The ports of a host that are observed. */
type ObservedHost = Pick<Host, "journal" | "runs" | "records"> & { readonly changes: ChangeLog };

/** The maximum number of observed runs. Beyond it, the least recently active ones are dropped. */
const mostTraces = 10_000;

const observeNames = optionNames<ObserverOptions>({
	tracer: "object",
	meter: "object",
	ids: "object",
	logger: "object",
	content: "object",
	providerOf: "function",
	from: ["last", "start", "now"],
	name: "text",
	saveEveryMs: true,
	onProblem: "function",
});

/**
 * Observes all runs of a host, in every process. Start one observer per store, not per worker: two of them count twice.
 *
 * @example
 * ```ts
 * import { observe, runIds } from "@holdfast/otel";
 * import { scriptedModel } from "@holdfast/testing";
 * import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
 * import { Agent, memoryHost } from "holdfast";
 *
 * const ids = runIds();
 * const exporter = new InMemorySpanExporter();
 * const provider = new TracerProvider({ idGenerator: ids, spanProcessors: [new SimpleSpanProcessor({ exporter })] });
 * const host = memoryHost();
 * const observer = observe(host, { tracer: provider.getTracer("holdfast"), ids, from: "start" });
 *
 * const clerk = new Agent({ model: scriptedModel(["Good morning."]), host });
 * await (await clerk.session("ticket-7").send("Hello")).result();
 *
 * await observer.close();
 * console.log(exporter.getFinishedSpans().map(({ name }) => name)); // ["chat scripted", "invoke_agent"]
 * ```
 */
export function observe(host: ObservedHost, options: ObserverOptions = {}): Observer {
	checkOptions(options, observeNames, { of: "observe()" });
	readDuration("saveEveryMs", options.saveEveryMs, 0, { most: longestForeignWait });
	return new HostObserver(host, options);
}

/** Returns the reported key: for a sub-agent's session, its parts. */
function shownKey(key: string): string {
	const child = readChildStoreKey(key);
	if (child === undefined) return key;
	return `${shownKey(readStoreKey(child.parentStoreKey).key)}/${child.subagent}/${child.suffix}`;
}

class HostObserver implements Observer {
	readonly ended: Promise<void>;
	readonly #host: ObservedHost;
	readonly #options: ObserverOptions;
	readonly #to: Destination;
	readonly #cursor: Cursor;
	readonly #closing = new AbortController();
	/** The last reported run of each session, until it has ended. */
	readonly #traces = new Map<string, RunTrace>();
	/** The same runs by id. */
	readonly #runs = new Map<string, RunTrace>();
	/** The last event reported before, for sessions that are read again from the start of a run. */
	readonly #repeating = new Map<string, string>();

	constructor(host: ObservedHost, options: ObserverOptions) {
		this.#host = host;
		this.#options = options;
		const { content, ids } = options;
		this.#to = {
			tracer: options.tracer ?? globalTrace.getTracer("@holdfast/otel"),
			ids: ids instanceof StableIds ? ids : undefined,
			metrics: new RunMetrics(options.meter ?? globalMetrics.getMeter("@holdfast/otel")),
			log: new RunLog(options.logger),
			content: content && new Content(content),
			providerOf: options.providerOf ?? providerOf,
		};
		this.#cursor = new Cursor(host.records, options.name ?? "otel");
		this.ended = this.#observe().catch((error: unknown) => this.#problem(error));
	}

	async close(): Promise<void> {
		this.#closing.abort();
		await this.ended;
	}

	async #observe(): Promise<void> {
		const saving = setInterval(() => this.#save(), this.#options.saveEveryMs ?? 5_000);
		(saving as { unref?: () => void }).unref?.();
		try {
			await this.#begin();
			await this.#follow("never", this.#closing.signal);
			await this.#follow("caught-up");
		} finally {
			clearInterval(saving);
			// The process that continues reports open spans again, and completely; without fixed ids they would be
			// reported twice.
			if (this.#to.ids === undefined) for (const trace of this.#traces.values()) trace.leave("left");
			await this.#cursor.save();
		}
	}

	/** Starts at the position where the previous observer stopped, or at the configured one. */
	async #begin(): Promise<void> {
		const { from = "last" } = this.#options;
		if (from === "last") await this.#cursor.load();
		if (this.#cursor.position !== undefined) return;
		this.#cursor.begin(from === "start" ? 0 : await this.#host.changes.position());
	}

	async #follow(until: "caught-up" | "never", signal?: AbortSignal): Promise<void> {
		try {
			const events = followAll(this.#host, {
				after: this.#cursor.position ?? 0,
				until,
				known: (key, incarnation) => this.#knownOf(key, incarnation),
				unreadable: (key, error) => this.#problem(error, key),
				deleted: (key) => this.#forget(key),
				signal,
			});
			for await (const event of events) await this.#take(event);
		} catch (error) {
			if (!isHoldfastError(error) || error.code !== "changes_expired") throw error;
			// Sessions deleted since are unknown, and so are earlier positions.
			this.#problem(error);
			this.#cursor.begin(await this.#host.changes.position());
			await this.#follow(until, signal);
		}
	}

	/**
	 * Returns where to start reading a session: after the reported events if the start of its run is known, otherwise
	 * before the run.
	 */
	#knownOf(key: string, incarnation: string): string | undefined {
		const reported = this.#cursor.reportedOf(key, incarnation);
		if (reported === undefined) return undefined;
		// A trace left in the middle of repeated events is incomplete.
		if (this.#repeating.has(key)) this.#traces.delete(key);
		if (this.#traces.has(key) || reported.settled === reported.last) return reported.last;
		this.#repeating.set(key, reported.last);
		return reported.settled;
	}

	async #take({ key, incarnation, id, event, position }: StoreEvent): Promise<void> {
		const reported = this.#cursor.reportedOf(key, incarnation);
		const isRepeated = this.#repeating.has(key);
		if (event.type === "run_start") await this.#started(key, event);
		this.#traces.get(key)?.notify(event, isRepeated);
		if (event.type === "run_end") this.#drop(key);
		if (isRepeated) {
			if (this.#repeating.get(key) === id) this.#repeating.delete(key);
			return;
		}
		const settled = event.type === "run_end" ? id : reported?.settled;
		const now = { incarnation, ...(settled === undefined ? {} : { settled }), last: id };
		this.#cursor.set(key, now, position);
	}

	async #started(key: string, event: Extract<StoreEvent["event"], { type: "run_start" }>): Promise<void> {
		if (this.#traces.get(key)?.runId === event.runId) return;
		this.#drop(key);
		const { place } = (await this.#host.runs?.locate(event.runId)) ?? {};
		if (place !== undefined && place !== key) return;
		const parent = await parentOf(this.#host, event, (runId) => this.#runs.get(runId));
		const trace = new RunTrace(this.#to, shownKey(event.sessionKey ?? key), event, parent);
		this.#traces.set(key, trace);
		this.#runs.set(event.runId, trace);
		for (const oldest of this.#traces.keys()) {
			if (this.#traces.size <= mostTraces) break;
			this.#drop(oldest);
		}
	}

	#drop(key: string): void {
		const trace = this.#traces.get(key);
		if (trace === undefined) return;
		trace.leave("left");
		this.#traces.delete(key);
		this.#runs.delete(trace.runId);
	}

	#forget(key: string): void {
		this.#traces.get(key)?.leave("deleted");
		this.#drop(key);
		this.#cursor.forget(key);
		this.#repeating.delete(key);
	}

	#save(): void {
		this.#cursor.save().catch((error: unknown) => this.#problem(error));
	}

	#problem(error: unknown, sessionKey?: string): void {
		const { onProblem } = this.#options;
		if (onProblem !== undefined) {
			onProblem(error, sessionKey);
			return;
		}
		const { code, name } = (error ?? {}) as { readonly code?: unknown; readonly name?: unknown };
		this.#to.log.write("error", "not observed", { sessionKey, code: code ?? name });
	}
}
