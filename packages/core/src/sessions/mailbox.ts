// The inputs of one session that have not started. All turns but the first are in the store's inbox too, so that another
// process starts them if this one dies. A turn that is missing from the inbox was started by some process (keeps I3, I4).
import { messageFromJSON } from "@holdfast/upp";
import type { RunInput } from "../engine/index.ts";
import {
	type AcceptedInput,
	addedIdOf,
	duplicateInput,
	inputFact,
	isUnreadable,
	journalCorrupt,
	type MessageEdit,
	readEdit,
	storedInput,
} from "../facts/index.ts";
import type { Append, Input, Journal, MaybePromise, StoredInput } from "../host/index.ts";
import type { AgentRun } from "./agent-run.ts";
import { InboxLimit } from "./inbox-limit.ts";
import type { LocalStore } from "./local-store.ts";
import { type Admits, waitingEdit, waitingInput } from "./waiting-input.ts";

/** Milliseconds that another living worker has to begin its own turn that was accepted before ours. */
const yieldsFor = 2_000;

/** A turn accepted here, or adopted from a process that died. */
export interface QueuedTurn {
	readonly run: AgentRun;
	/** The stored form, once created. */
	input: AcceptedInput;
	readonly inputId: string;
	/** The incarnation that the turn is for, if it must not start in another one with the same key. */
	readonly incarnation?: string | undefined;
	/** Whether the caller chose the id of its message. An id that the history already has is replaced. */
	readonly isNamed?: true;
	/** The user message that this turn replaces, together with all that follow. */
	readonly insteadOf?: string;
	/** The initial values of a session that this turn creates. */
	readonly values?: Append["values"];
	/**
	 * The origin. `adopted`: sent to a process that died. `steered`: sent to a session whose run had ended or was
	 * elsewhere. `left-over`: sent to a run that ended without it. Steers keep their order.
	 */
	readonly origin: "sent" | "adopted" | "steered" | "left-over";
	/**
	 * `new`: only in memory, and its `send` has not resolved. `storing`: on its way into the inbox. `stored`: in the inbox.
	 * `seen`: a read of the inbox contained it and everything before it. A turn that is new or seen can begin.
	 */
	stage: "new" | "storing" | "stored" | "seen";
}

/** The result of comparing the queue with the inbox. */
export interface Alignment {
	/** Turns that another worker has started in the meantime. */
	readonly gone: readonly QueuedTurn[];
	/** The last input before our first turn that another living worker, or another agent, must begin. */
	readonly ahead?: string;
}

const none: ReadonlySet<QueuedTurn> = new Set();
const noNotices: readonly StoredInput[] = [];
const aligned: Alignment = { gone: [] };

export class Mailbox {
	readonly #journal: Journal;
	readonly #storeKey: string;
	readonly #local: LocalStore;
	readonly #agent: Admits;
	readonly #limit: InboxLimit;
	#turns: QueuedTurn[] = [];
	/** Settles when what is on its way into the inbox has arrived or was refused. */
	#arriving: Promise<unknown> | undefined;
	/** Notices to run as turns of their own, by id. */
	#promoted: Map<string, AgentRun> | undefined;
	/** The last input of another worker that ours waited for, and when the wait started. */
	#yielded: { readonly inputId: string; readonly since: number } | undefined;
	/**
	 * Whether the inbox may contain history changes that arrived while no run was in progress and were not offered to
	 * any.
	 */
	mayHoldEdits = false;
	/** The notices for the open or the next run, from the last read of the inbox. */
	notices: readonly StoredInput[] = noNotices;

	constructor(journal: Journal, storeKey: string, local: LocalStore, agent: Admits) {
		this.#journal = journal;
		this.#storeKey = storeKey;
		this.#local = local;
		this.#agent = agent;
		this.#limit = new InboxLimit(journal, storeKey);
	}

	get length(): number {
		return this.#turns.length;
	}

	get first(): QueuedTurn | undefined {
		return this.#turns[0];
	}

	/** Whether the queue holds an input that was sent to a run but did not reach it; `active` is the active run. */
	holdsSteered(active: string): boolean {
		return this.#turns.some(
			({ origin, run }) => (origin === "steered" || origin === "left-over") && run.runId !== active,
		);
	}

	/** Returns the turn whose run has that id. */
	find(runId: string): QueuedTurn | undefined {
		return this.#turns.find((turn) => turn.run.runId === runId);
	}

	/** Makes an inbox notice a turn of its own, if it still exists. */
	promote(noticeId: string, run: AgentRun): void {
		this.#promoted ??= new Map();
		this.#promoted.set(noticeId, run);
	}

	/** Makes the notice wait for the turns of others again. */
	demote(noticeId: string): void {
		this.#promoted?.delete(noticeId);
	}

	/** Turns that have been stored in the inbox, unless they were removed since. */
	get stored(): ReadonlySet<QueuedTurn> {
		const stored = this.#turns.filter(({ stage }) => stage === "stored" || stage === "seen");
		return stored.length === 0 ? none : new Set(stored);
	}

	push(turn: QueuedTurn): void {
		this.#turns.push(turn);
		if (turn.stage !== "new") this.#local.queued.add(turn.inputId);
	}

	remove(turn: QueuedTurn): void {
		this.#turns = this.#turns.filter((each) => each !== turn);
		if (turn.stage !== "new") this.#local.queued.delete(turn.inputId);
	}

	/** Removes all turns from the queue; those in the inbox stay there. */
	removeAll(): readonly QueuedTurn[] {
		const turns = this.#turns;
		for (const turn of turns) this.remove(turn);
		return turns;
	}

	/** Puts the turn into the inbox. If that fails, or the turn was already stored, removes it from the queue. */
	async store(turn: QueuedTurn): Promise<"stored" | "duplicate"> {
		turn.stage = "storing";
		this.#local.queued.add(turn.inputId);
		try {
			turn.input = waitingInput(this.#agent, turn.inputId, turn.input);
			const admitted = this.#limit.admit();
			if (admitted !== undefined) await admitted;
			const { duplicate } = await this.#arrived(
				this.#journal.submit(this.#storeKey, {
					id: turn.inputId,
					kind: "message",
					runId: turn.run.runId,
					workerId: this.#journal.workerId,
					...keyOf(turn.input),
					...(turn.incarnation === undefined
						? {}
						: { askedBy: { key: this.#storeKey, incarnation: turn.incarnation } }),
					body: storedInput(turn.input),
				}),
			);
			turn.stage = "stored";
			if (duplicate) this.remove(turn);
			return duplicate ? "duplicate" : "stored";
		} catch (error) {
			this.remove(turn);
			throw error;
		}
	}

	/**
	 * Puts an input for a running run into the inbox; `input` is its stored form. Throws the refusal of policy; `storing`
	 * rejects with `duplicate_input`.
	 */
	steer(
		runId: string,
		given: AcceptedInput,
	): { readonly input: AcceptedInput; readonly storing: Promise<void> } {
		const input = waitingInput(this.#agent, given.message.id, given);
		return { input, storing: this.#steer(runId, input) };
	}

	async #steer(runId: string, input: AcceptedInput): Promise<void> {
		const admitted = this.#limit.admit();
		if (admitted !== undefined) await admitted;
		const { workerId } = this.#journal;
		const { id } = input.message;
		const said = { id, kind: "steer", runId, workerId, ...keyOf(input), body: storedInput(input) } as const;
		const { duplicate } = await this.#arrived(this.#journal.submit(this.#storeKey, said));
		if (duplicate) throw duplicateInput(this.#storeKey);
	}

	/** Puts an event into the inbox, for the open run or the next one; resolves with its stored form. */
	async keep(given: AcceptedInput): Promise<AcceptedInput> {
		const { id } = given.message;
		const input = waitingInput(this.#agent, id, given);
		const admitted = this.#limit.admit();
		if (admitted !== undefined) await admitted;
		const event = { id, kind: "notice", ...keyOf(input), body: storedInput(input) } as const;
		const { duplicate } = await this.#arrived(this.#journal.submit(this.#storeKey, event));
		if (duplicate) throw duplicateInput(this.#storeKey);
		return input;
	}

	/** Puts a history change into the inbox; resolves with its stored form. */
	async edit(id: string, edit: MessageEdit): Promise<unknown> {
		const body = waitingEdit(this.#agent, edit);
		const admitted = this.#limit.admit();
		if (admitted !== undefined) await admitted;
		await this.#arrived(this.#journal.submit(this.#storeKey, { id, kind: "edit", body }));
		return body;
	}

	/** Whether a change that waits in the inbox adds a message with that id. */
	async isAdding(messageId: string): Promise<boolean> {
		const inbox = await this.#journal.inbox(this.#storeKey);
		return inbox.some(({ kind, body }) => kind === "edit" && addedIdOf(body) === messageId);
	}

	/** Settles when every input on its way into the inbox has arrived or was refused; undefined without any. */
	get arriving(): Promise<unknown> | undefined {
		return this.#arriving;
	}

	/**
	 * Aligns the queue with the inbox as read after the session was acquired and the turns of `storedBefore` were stored.
	 * Missing turns were begun elsewhere, turns of dead workers are adopted, and the order is that of the store.
	 */
	align(
		inbox: readonly StoredInput[],
		storedBefore: ReadonlySet<QueuedTurn>,
		openRunId: string | undefined,
		adopt: (input: StoredInput) => QueuedTurn,
	): MaybePromise<Alignment> {
		if (inbox.length > 0 || storedBefore.size > 0) return this.#align(inbox, storedBefore, openRunId, adopt);
		this.notices = noNotices;
		return aligned;
	}

	/** Whether to let another worker begin its turn that was accepted before ours. It gets a limited time. */
	yieldsTo(inputId: string | undefined, now: number): boolean {
		if (inputId === undefined) return false;
		if (this.#yielded?.inputId !== inputId) this.#yielded = { inputId, since: now };
		return now - this.#yielded.since < yieldsFor;
	}

	/** No turn can start now, so none is late. */
	forgetYielding(): void {
		this.#yielded = undefined;
	}

	async #align(
		inbox: readonly StoredInput[],
		storedBefore: ReadonlySet<QueuedTurn>,
		openRunId: string | undefined,
		adopt: (input: StoredInput) => QueuedTurn,
	): Promise<Alignment> {
		this.notices = inbox.filter(
			({ id, kind, runId }) =>
				(kind === "notice" && this.#promoted?.has(id) !== true) ||
				kind === "edit" ||
				kind === "tool-result" ||
				// An input to the open run from before its process died is not late.
				(kind === "steer" && runId !== undefined && runId === openRunId),
		);
		const order = new Map<string, number>();
		// Looked up once: if the worker died between two of its inputs, the second would otherwise go before the first.
		const living = new Map<string, MaybePromise<boolean>>();
		const awaited: StoredInput[] = [];
		const held = new Set(this.#turns.map(({ inputId }) => inputId));
		for (const input of inbox) {
			// An input to an ended run is a turn of its own.
			const promoted = this.#promoted?.get(input.id);
			const isSaid = input.kind === "message" || (input.kind === "steer" && input.runId !== openRunId);
			if (!isSaid && promoted === undefined) continue;
			order.set(input.id, input.order);
			if (held.has(input.id)) continue;
			const isElsewhere = input.kind !== "steer" && (await this.#isAwaited(input, living));
			if (this.#local.queued.has(input.id) || isElsewhere) awaited.push(input);
			else if (promoted === undefined) this.push(adopt(input));
			else this.push({ ...noticeTurn(input), run: promoted });
		}
		const gone = this.#turns.filter((turn) => storedBefore.has(turn) && !order.has(turn.inputId));
		for (const turn of gone) this.remove(turn);
		for (const turn of this.#turns) if (order.has(turn.inputId)) turn.stage = "seen";
		// Turns that are not in the inbox yet come last, in their order: sorting is stable.
		const orderOf = (turn: QueuedTurn): number => order.get(turn.inputId) ?? Number.MAX_SAFE_INTEGER;
		this.#turns.sort((one, other) => orderOf(one) - orderOf(other));
		const { first } = this;
		// The last one, because an input that its worker has abandoned must not hide those that arrived since.
		const ahead = awaited.findLast(({ order }) => first === undefined || order < orderOf(first));
		return ahead === undefined ? { gone } : { gone, ahead: ahead.id };
	}

	/** Whether a living worker's caller waits for that input, so that the other worker must begin it. */
	async #isAwaited(
		{ workerId, body }: StoredInput,
		living: Map<string, MaybePromise<boolean>>,
	): Promise<boolean> {
		if (workerId === undefined || workerId === this.#journal.workerId) return false;
		// The turn's parent waits for it, and the worker that continues the parent starts it.
		if ((body as Partial<AcceptedInput> | null)?.origin?.runKind === "subagent") return false;
		const lives = living.get(workerId) ?? this.#journal.isAlive(workerId);
		living.set(workerId, lives);
		return lives;
	}

	async #arrived<T>(storing: MaybePromise<T>): Promise<T> {
		if (!(storing instanceof Promise)) return storing;
		// Hooks can store inputs while a request does.
		const arriving = Promise.allSettled([this.#arriving, storing]);
		this.#arriving = arriving;
		try {
			return await storing;
		} finally {
			if (this.#arriving === arriving) this.#arriving = undefined;
		}
	}
}

function keyOf({ dedupeKey }: AcceptedInput): Pick<Input, "dedupeKey"> {
	return dedupeKey === undefined ? {} : { dedupeKey };
}

/** Returns an inbox input as an accepted message. */
export function storedMessage(input: StoredInput): AcceptedInput {
	try {
		const { message, ...body } = input.body as Omit<AcceptedInput, "message"> & {
			message: Parameters<typeof messageFromJSON>[0];
		};
		return { ...body, message: messageFromJSON(message) as AcceptedInput["message"] };
	} catch (error) {
		if (isUnreadable(error)) throw error;
		throw journalCorrupt(`the input ${input.order} of a session cannot be read`, error);
	}
}

/** Converts an inbox input for the run that takes it. */
export function readInput(input: StoredInput): RunInput {
	if (input.kind === "edit") {
		const fact = readEdit(input.body);
		return { inputId: input.id, fact: () => fact };
	}
	const accepted = storedMessage(input);
	return { inputId: input.id, fact: (placement) => inputFact(input.id, accepted, placement) };
}

/** Converts a notice to a turn. */
function noticeTurn(notice: StoredInput): Omit<QueuedTurn, "run"> {
	const said = storedMessage(notice);
	const { caller } = said.origin ?? {};
	const by = caller === undefined ? {} : { caller };
	const input = { ...said, origin: { runKind: "notification" as const, ...by } };
	return { input, inputId: notice.id, origin: "sent", stage: "seen" };
}
