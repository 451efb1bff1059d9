// The open waits of a workflow: for times, for events, and for the next attempts of steps; and the events that were
// received before the code waited for them (keeps I7).
import type { Fact } from "../facts/index.ts";
import type { StepCall } from "./flow-call.ts";
import type { StepAttempt } from "./run-step.ts";
import { noteOf, type ReceivedEvent, type WorkflowRecord } from "./workflow-notes.ts";

interface OpenWait {
	readonly id: string;
	readonly until: number | undefined;
	readonly event: string | undefined;
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

export class OpenWaits {
	/** In the order of the calls. */
	readonly #waits = new Map<string, OpenWait>();
	readonly #retries = new Map<string, Retry>();
	/** How many of the waits are for events. */
	#forEvents = 0;
	readonly #events = new Map<string, ReceivedEvent>();

	/** Follows the record. */
	take(record: WorkflowRecord): void {
		switch (record.kind) {
			case "called": {
				const { id, until, event } = record.note;
				if ((until ?? event) !== undefined) this.#waits.set(id, { id, until, event });
				if (event !== undefined) this.#forEvents++;
				return;
			}
			case "settled": {
				const { id, inputId } = record.note;
				if (this.#waits.get(id)?.event !== undefined) this.#forEvents--;
				this.#waits.delete(id);
				this.#retries.delete(id);
				if (inputId !== undefined) this.#events.delete(inputId);
				return;
			}
			case "retried": {
				const { id, attempt, until } = record.note;
				this.#retries.set(id, { id, step: this.#retries.get(id)?.step, attempt: attempt + 1, until });
				return;
			}
			case "started":
				this.#retries.delete(record.note.id);
				return;
			case "event":
				this.#events.set(record.event.inputId, record.event);
				return;
			case "value":
			case "cancelled":
			case "tool":
				return;
			default:
				record satisfies never;
		}
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
		const facts: Fact[] = [];
		const used = new Set<string>();
		for (const { id, until, event } of this.#waits.values()) {
			const received = event === undefined ? undefined : this.#first(event, used);
			if (received !== undefined) {
				const { inputId, payload } = received;
				used.add(inputId);
				facts.push(noteOf.settled(payload === undefined ? { id, inputId } : { id, value: payload, inputId }));
			} else if (until !== undefined && until <= now) facts.push(noteOf.settled({ id }));
		}
		const retries = [...this.#retries.values()].flatMap(({ id, step, attempt, until }) =>
			step === undefined || attempt === undefined || until > now ? [] : [{ id, step, attempt }],
		);
		return { facts, retries };
	}

	#first(name: string, used: ReadonlySet<string>): ReceivedEvent | undefined {
		for (const event of this.#events.values())
			if (event.name === name && !used.has(event.inputId)) return event;
		return undefined;
	}

	/** Returns the wait that ends first; undefined if none is open. */
	next(): { readonly tag: string; readonly until?: number } | undefined {
		let first: { readonly tag: string; readonly until?: number } | undefined;
		for (const { id, until } of [...this.#waits.values(), ...this.#retries.values()]) {
			const isSooner = until !== undefined && until < (first?.until ?? Number.POSITIVE_INFINITY);
			if (first === undefined || isSooner) first = until === undefined ? { tag: id } : { tag: id, until };
		}
		return first;
	}
}
