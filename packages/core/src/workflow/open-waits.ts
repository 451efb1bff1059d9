// The open waits of a workflow: for times, for events, and for the next attempts of steps; and the events that were
// received before the code waited for them (keeps I7). A round costs what has ended in it, not what is open (keeps I5).
import type { Fact } from "../facts/index.ts";
import { DueHeap } from "../host/index.ts";
import type { StepCall } from "./flow-call.ts";
import type { StepAttempt } from "./run-step.ts";
import { noteOf, type ReceivedEvent, type WorkflowRecord } from "./workflow-notes.ts";

interface OpenWait {
	readonly id: string;
	readonly until: number | undefined;
	readonly event: string | undefined;
	/** Position among the waits. */
	readonly order: number;
}

/** The next attempt of a step. */
interface Retry {
	readonly id: string;
	/** Undefined until its step is known. */
	step: StepCall | undefined;
	/** Number of the next attempt; undefined until the failure is recorded. */
	readonly attempt: number | undefined;
	readonly until: number;
}

/** Waits for one name and events of that name, in order. One of both is empty once the waits have been settled. */
interface Named {
	readonly waits: Map<string, OpenWait>;
	readonly events: Map<string, ReceivedEvent>;
}

export class OpenWaits {
	/** In the order of the calls. */
	readonly #waits = new Map<string, OpenWait>();
	readonly #retries = new Map<string, Retry>();
	/** Waits and retries that end at a time. Some of them may have ended otherwise. */
	readonly #due = new DueHeap<string>();
	/** Waits for events, and events, by name. */
	readonly #named = new Map<string, Named>();
	/** Names of events by the id of their input. */
	readonly #nameOf = new Map<string, string>();
	/** Names that may have both a wait and an event. */
	readonly #met = new Set<string>();
	/** How many of the waits are for events. */
	#forEvents = 0;
	#count = 0;

	/** Follows the record. */
	take(record: WorkflowRecord): void {
		switch (record.kind) {
			case "called": {
				const { id, until, event } = record.note;
				if ((until ?? event) === undefined) return;
				const wait = { id, until, event, order: this.#count++ };
				this.#waits.set(id, wait);
				if (until !== undefined) this.#due.add(id, until);
				if (event === undefined) return;
				this.#forEvents++;
				this.#of(event).waits.set(id, wait);
				return;
			}
			case "settled": {
				const { id, inputId } = record.note;
				const event = this.#waits.get(id)?.event;
				if (event !== undefined) {
					this.#forEvents--;
					this.#of(event).waits.delete(id);
					this.#forget(event);
				}
				this.#waits.delete(id);
				this.#retries.delete(id);
				if (inputId !== undefined) this.#use(inputId);
				return;
			}
			case "retried": {
				const { id, attempt, until } = record.note;
				this.#retries.set(id, { id, step: this.#retries.get(id)?.step, attempt: attempt + 1, until });
				this.#due.add(id, until);
				return;
			}
			case "started":
				this.#retries.delete(record.note.id);
				return;
			case "event": {
				const { inputId, name } = record.event;
				this.#of(name).events.set(inputId, record.event);
				this.#nameOf.set(inputId, name);
				return;
			}
			case "value":
			case "cancelled":
			case "tool":
				return;
			default:
				record satisfies never;
		}
	}

	#of(name: string): Named {
		const named = this.#named.get(name) ?? { waits: new Map(), events: new Map() };
		this.#named.set(name, named);
		this.#met.add(name);
		return named;
	}

	#use(inputId: string): void {
		const name = this.#nameOf.get(inputId);
		if (name === undefined) return;
		this.#nameOf.delete(inputId);
		this.#of(name).events.delete(inputId);
		this.#forget(name);
	}

	#forget(name: string): void {
		const { waits, events } = this.#of(name);
		if (waits.size > 0 || events.size > 0) return;
		this.#named.delete(name);
		this.#met.delete(name);
	}

	/** Whether the code waits for an event. */
	get awaitsEvent(): boolean {
		return this.#forEvents > 0;
	}

	/** Returns the ids and names of waits for events without a time limit. */
	endless(): readonly { readonly id: string; readonly event: string }[] {
		return [...this.#waits.values()].flatMap(({ id, until, event }) =>
			until === undefined && event !== undefined ? [{ id, event }] : [],
		);
	}

	/** The next attempt of the step waits for its time, once the failure is recorded. */
	awaitRetry(id: string, step: StepCall): void {
		this.#retries.set(id, { id, step, attempt: undefined, until: 0 });
	}

	/** Whether the record has the step wait for its next attempt. It is then given the step. */
	retries(id: string, step: StepCall): boolean {
		const retry = this.#retries.get(id);
		if (retry === undefined) return false;
		retry.step = step;
		return true;
	}

	/** Returns the outcomes of waits that have ended, and the attempts that are due. */
	settled(now: number): {
		readonly facts: readonly Fact[];
		readonly retries: readonly StepAttempt[];
	} {
		const ended: { readonly wait: OpenWait; readonly fact: Fact }[] = [];
		const received = new Set<string>();
		for (const { wait, event } of this.#meet()) {
			received.add(wait.id);
			const { inputId, payload } = event;
			const note = { id: wait.id, inputId };
			ended.push({ wait, fact: noteOf.settled(payload === undefined ? note : { ...note, value: payload }) });
		}
		const retries: StepAttempt[] = [];
		const later: Retry[] = [];
		for (let due = this.#due.first; due !== undefined && due.dueAt <= now; due = this.#due.first) {
			const { item: id, dueAt: until } = due;
			this.#due.shift();
			const wait = this.#waits.get(id);
			if (wait?.until === until && !received.has(id)) ended.push({ wait, fact: noteOf.settled({ id }) });
			const retry = this.#retries.get(id);
			if (retry?.until !== until) continue;
			const { step, attempt } = retry;
			if (step === undefined || attempt === undefined) later.push(retry);
			else retries.push({ id, step, attempt });
		}
		for (const { id, until } of later) this.#due.add(id, until);
		ended.sort((one, other) => one.wait.order - other.wait.order);
		return { facts: ended.map(({ fact }) => fact), retries };
	}

	/** Gives each wait, in order, the first event of its name. */
	*#meet(): Generator<{ readonly wait: OpenWait; readonly event: ReceivedEvent }> {
		for (const name of this.#met) {
			const { waits, events } = this.#named.get(name) as Named;
			const arrived = events.values();
			for (const wait of waits.values()) {
				const { value: event } = arrived.next();
				if (event === undefined) break;
				yield { wait, event };
			}
		}
		this.#met.clear();
	}

	/** Returns the wait that ends first; undefined if none is open. */
	next(): { readonly tag: string; readonly until?: number } | undefined {
		for (let due = this.#due.first; due !== undefined; due = this.#due.first) {
			const { item: tag, dueAt: until } = due;
			if (this.#waits.get(tag)?.until === until || this.#retries.get(tag)?.until === until)
				return { tag, until };
			this.#due.shift();
		}
		for (const tag of this.#waits.keys()) return { tag };
		return undefined;
	}
}
