// Requests with an idempotency key (keeps I3). The same message is the same run, on every server and however often it is
// sent: the id of its run derives from the request and its key. Answers resume a run and settle a call once.
import type { Host } from "holdfast";
import {
	afterEntry,
	type ChosenOptions,
	type ExecuteInput,
	type ExecuteSession,
	entriesAfter,
} from "holdfast/execute";
import type { Entry } from "holdfast/host";
import { codeOf, idempotencyKeyReused } from "./client-errors.ts";

/** An execution that was accepted. */
export interface Accepted {
	readonly runId: string;
	/** The execution's events come after this id. */
	readonly after: string;
	/** Whether it was accepted before, under the same idempotency key. */
	readonly attached: boolean;
	/** Settles when this process has finished or left the execution; absent if it does not work on it. */
	readonly over?: Promise<unknown>;
	/** If it has to wait: the run it will start, or the message that will enter the current run. */
	readonly waitsFor?: string;
	/** Set for answers that only go to background tasks. */
	readonly inBackground?: true;
}

/** The stored form of a request with an idempotency key. */
interface SeenRequest {
	/** Digest of the request, to detect a different request under the same key. */
	readonly body: string;
	/** Seq of an entry before everything the request caused. */
	readonly from: number;
	/** The run that a message starts; absent for answers. */
	readonly runId?: string;
}

/** A request and its name in the values of its session. */
interface NamedRequest extends SeenRequest {
	readonly name: string;
	/** The key under which the journal accepts one message, even among concurrent ones. */
	readonly dedupeKey?: string;
}

export class SeenRequests {
	readonly #journal: Host["journal"];
	readonly #session: ExecuteSession;

	constructor(host: Host, session: ExecuteSession) {
		this.#journal = host.journal;
		this.#session = session;
	}

	/** Returns the stored request of a key. Rejects with `idempotency_key_reused`. */
	async of(
		idempotencyKey: string,
		input: ExecuteInput,
		options: ChosenOptions & { readonly insteadOf?: string },
	): Promise<NamedRequest> {
		// Read before looking up the key: if another server stores it in the meantime, its events follow this position.
		const { storeKey, values } = this.#session;
		const { seq: from = 0 } = (await this.#journal.head(storeKey)) ?? {};
		const body = await digest([input, options]);
		const name = `request:${idempotencyKey}`;
		const own =
			input.kind === "message"
				? { name, dedupeKey: uuidOf(await digest([storeKey, idempotencyKey])) }
				: { name };
		const seen = (await values.get(name)) as SeenRequest | undefined;
		if (seen?.body === body) return { ...seen, ...own };
		// A refused message has no outcome, and its key may be used again.
		if (seen !== undefined && (seen.runId === undefined || (await this.found(seen, input)) !== undefined))
			throw idempotencyKeyReused();
		const runId = uuidOf(await digest([storeKey, idempotencyKey, body]));
		// A concurrently stored request may be the refused one while the run of this request has started.
		const since = Math.min(from, seen?.from ?? from);
		const request: SeenRequest = { body, from: since, ...(input.kind === "message" ? { runId } : {}) };
		await values.set(name, request);
		return { ...request, ...own };
	}

	/** Returns the execution of a request that was seen before, if there is one. */
	async found({ from, runId }: SeenRequest, input: ExecuteInput): Promise<Accepted | undefined> {
		const answers = input.kind === "answers" ? input.answers : [];
		const answered = new Set(answers.map(({ toolCallId }) => toolCallId));
		const isOfAnswer = ({ fact }: Entry): boolean =>
			(fact.kind === "tool.settled" && answered.has(fact.callId)) ||
			(fact.kind === "decision" && answered.has((fact.answer as { callId?: string } | null)?.callId ?? ""));
		// Read the inbox first: an input that has left it by then is in the entries that are read next.
		const inbox = runId === undefined ? [] : await this.#journal.inbox(this.#session.storeKey);
		const waiting = inbox.find((each) => each.id === runId || each.runId === runId);
		let resumed: Entry | undefined;
		for await (const entry of entriesAfter(this.#journal, this.#session.storeKey, from)) {
			if (entry.fact.kind === "run.started" && entry.runId === runId) return attachedTo(entry);
			if (entry.fact.kind === "input" && entry.fact.inputId === runId) return attachedTo(entry);
			if (entry.fact.kind === "run.resumed") resumed = entry;
			if (resumed !== undefined && isOfAnswer(entry)) return attachedTo(resumed);
		}
		if (waiting === undefined || runId === undefined) return undefined;
		return { runId: waiting.runId ?? runId, after: afterEntry(from), attached: true, waitsFor: runId };
	}

	/**
	 * Returns the outcome elsewhere of a request that was refused here: of its duplicate, or of the run that keeps the
	 * session busy. Rejects with `idempotency_key_reused` if another message was accepted under its key.
	 */
	async refused(request: NamedRequest, input: ExecuteInput, error: unknown): Promise<Accepted | undefined> {
		if (request.runId !== undefined) {
			const found = await this.found(request, input);
			if (found === undefined && codeOf(error) === "duplicate_input") throw idempotencyKeyReused();
			return found;
		}
		// Another request may answer the calls, so this request must not count as their answer.
		await this.#session.values.delete(request.name);
		return undefined;
	}
}

function attachedTo({ seq, runId }: Entry): Accepted {
	return { runId, after: afterEntry(seq - 1), attached: true };
}

/** A digest that identifies a request, in hexadecimal: the request itself is not kept. */
async function digest(parts: readonly unknown[]): Promise<string> {
	const hash = await globalThis.crypto.subtle.digest(
		"SHA-256",
		new TextEncoder().encode(JSON.stringify(parts)),
	);
	return [...new Uint8Array(hash)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** A UUID (version 8) of the first 16 bytes of a digest. */
function uuidOf(hex: string): string {
	const parts = [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`];
	return [...parts, hex.slice(20, 32)].join("-");
}
