// The events of one run, in order, without gaps and redacted, for the bus, the store, the handlers and the result.

import type { Redactor } from "@holdfast/redaction";
import { guarded, messageOf } from "@holdfast/upp";
import type {
	AgentEventName,
	EventBus,
	EventStore,
	ResultError,
	RunnerEvent,
	RunnerEventType,
} from "../contract/index.ts";
import { countOfFacts, shownData } from "../result/index.ts";
import type { LeftRun } from "./left-run.ts";

/** The receivers of events. */
export interface EventListeners {
	readonly bus?: EventBus | undefined;
	readonly store?: EventStore | undefined;
	readonly redactor: Redactor;
	readonly logToolInputs: "redacted" | "exclude" | "raw";
	readonly clock: { now(): number };
	/** Returns the handlers registered with `on`, by name. */
	handlers(name: AgentEventName): readonly ((data: unknown) => void)[];
}

const nameOf: Partial<Record<RunnerEventType, AgentEventName>> = {
	"step.start": "step",
	"tool.call": "tool",
	"tool.result": "tool",
	error: "error",
};

const nobody: readonly ((data: unknown) => void)[] = [];

/** An event that has not been read yet: neither redacted nor copied. */
class Unheard {
	readonly seq: number;
	/** Milliseconds since the epoch. */
	readonly at: number;
	readonly type: RunnerEventType;
	readonly data: unknown;

	constructor(seq: number, at: number, type: RunnerEventType, data: unknown) {
		this.seq = seq;
		this.at = at;
		this.type = type;
		this.data = data;
	}
}

export class RunEvents {
	readonly #listeners: EventListeners;
	readonly #runId: string;
	readonly #sessionId: string;
	/** Events without a receiver are built on first access. */
	readonly #events: (RunnerEvent | Unheard)[] = [];
	readonly #warnings = new Set<string>();
	#seq = 0;
	#stored: Promise<void> = Promise.resolve();
	#isIncomplete = false;

	constructor(listeners: EventListeners, runId: string, sessionId: string) {
		this.#listeners = listeners;
		this.#runId = runId;
		this.#sessionId = sessionId;
	}

	/** Errors thrown by the receivers. */
	get warnings(): readonly string[] {
		return [...this.#warnings];
	}

	/** The events so far, or a reference to the store that contains them. */
	get stream(): readonly RunnerEvent[] | string {
		const { store } = this.#listeners;
		if (store !== undefined) return `events:${this.#runId}`;
		for (let at = 0; at < this.#events.length; at++) {
			const event = this.#events[at] as RunnerEvent | Unheard;
			if (event instanceof Unheard) this.#events[at] = this.#made(event);
		}
		return this.#events.slice() as RunnerEvent[];
	}

	/** Emits an event. Never throws. */
	emit(type: RunnerEventType, data?: unknown): void {
		this.#emitAt(this.#listeners.clock.now(), type, data === undefined ? undefined : unchanging(data));
	}

	/** Emits an event whose data is already recorded and needs no masking. */
	emitFact(type: RunnerEventType, data?: unknown): void {
		this.#emitAt(this.#listeners.clock.now(), type, data);
	}

	/**
	 * Continues the events of an interrupted run. With a store, numbering continues from its last event, and missing
	 * events of facts are added; without one, the events of the facts are numbered from the start. Text that was cut off
	 * between two facts is lost: an event then reports that the run was resumed, and the record is marked as incomplete.
	 */
	resumed({ events, stored, storeError }: LeftRun, reason: string, left: "here" | "elsewhere"): void {
		const { store } = this.#listeners;
		const known = stored === undefined ? (left === "here" ? events.length : 0) : countOfFacts(stored);
		const isWhole = reason === "answered" && stored !== undefined && known === events.length;
		if (stored !== undefined) this.#seq = stored.at(-1)?.seq ?? 0;
		else if (left === "elsewhere") this.#seq = 0;
		if (storeError !== undefined) this.#storeFailed(storeError);
		for (const { at, type, data } of events.slice(known)) this.#emitAt(at, type, data);
		if (isWhole) return;
		this.emit("run.resume", { reason });
		this.#warnings.add(
			`the run was resumed (${reason}): events between its last fact and then may be missing. The record is incomplete`,
		);
		if (store !== undefined) this.#stored = this.#stored.then(() => this.#markIncomplete(store));
	}

	#made({ seq, at, type, data }: Unheard): RunnerEvent {
		const { redactor, logToolInputs } = this.#listeners;
		const time = new Date(at).toISOString();
		const bare: RunnerEvent = { seq, runId: this.#runId, sessionId: this.#sessionId, type, time };
		if (data === undefined) return bare;
		return { ...bare, data: shownData(type, plain(data), redactor, logToolInputs) };
	}

	#emitAt(at: number, type: RunnerEventType, data: unknown): void {
		const { bus, store, handlers } = this.#listeners;
		const name = nameOf[type];
		const hearing = name === undefined ? nobody : handlers(name);
		const given = new Unheard(++this.#seq, at, type, data);
		if (store === undefined && bus === undefined && hearing.length === 0) {
			this.#events.push(given);
			return;
		}
		const event = this.#made(given);
		if (store === undefined) this.#events.push(event);
		else this.#store(store, event);
		if (bus !== undefined) this.guarded("the event bus", () => bus.emit(event));
		for (const handler of hearing) this.guarded(`a handler of "${name}"`, () => handler(event));
	}

	/** Records an error with its code. A failure of the memory is not recorded anywhere else. */
	failed({ code = "ERROR", message, info }: ResultError): void {
		const why = code === "MEMORY_FAILED" && info !== undefined ? { info } : {};
		this.emit("error", { code, message, ...why });
	}

	/** Calls a function of the caller's: an error that it throws, at once or later, becomes one warning. */
	guarded(whose: string, call: () => unknown): void {
		const warn = (error: unknown): void => {
			this.#warnings.add(`${whose} failed: ${messageOf(error)}`);
		};
		void guarded(call, warn);
	}

	/** Resolves when the store has the emitted events, or has reported a failure. */
	stored(): Promise<void> {
		return this.#stored;
	}

	#store(store: EventStore, event: RunnerEvent): void {
		this.#stored = this.#stored.then(async () => {
			if (this.#isIncomplete) return;
			try {
				await store.append(event);
			} catch (error) {
				this.#storeFailed(error);
				await this.#markIncomplete(store);
			}
		});
	}

	#storeFailed(error: unknown): void {
		this.#isIncomplete = true;
		this.#warnings.add(`the event store failed: ${messageOf(error)}. The record is incomplete`);
	}

	async #markIncomplete(store: EventStore): Promise<void> {
		await store.markIncomplete?.(this.#runId).catch(() => {});
	}
}

/** Data that is serialised as JSON on first access. */
class Written {
	readonly json: string;

	constructor(json: string) {
		this.json = json;
	}
}

/** Unless the data contains no objects, the caller may change it before the event is read. */
function unchanging(data: unknown): unknown {
	if (typeof data !== "object" || data === null) return data;
	for (const name in data) {
		const value = (data as Record<string, unknown>)[name];
		if (typeof value === "object" && value !== null) return new Written(JSON.stringify(data));
	}
	return data;
}

/** Returns the value after a JSON round trip. */
function plain(data: unknown): unknown {
	return JSON.parse(data instanceof Written ? data.json : JSON.stringify(data));
}
