// The turns of one session that wait in this process. A turn that is not the first stands in the store's inbox too, so
// that another process starts it when this one dies; what left the inbox was started, by whomever.
import { messageFromJSON } from "@holdfast/upp";
import type { RunInput } from "../engine/index.ts";
import { type AcceptedInput, inputFact, storedInput } from "../facts/index.ts";
import type { Journal, MaybePromise, StoredInput } from "../host/index.ts";
import type { AgentRun } from "./agent-run.ts";
import { type StoreHere, storeHere } from "./store-here.ts";

/** A turn that was accepted here, or adopted from a process that died. */
export interface QueuedTurn {
	readonly run: AgentRun;
	readonly input: AcceptedInput;
	readonly inputId: string;
	/** A turn that was accepted under the same key before is not accepted again. */
	readonly dedupeKey?: string;
	/** Whether it was accepted by a process that died. */
	readonly isAdopted?: true;
	/** Whether it was said to a run that ended without it, so that nobody has the handle of this turn. */
	readonly isLeftOver?: true;
	/** `new`: only in memory, and its `send` has not resolved. `storing`: on its way into the inbox. */
	place: "new" | "storing" | "stored";
	/** Settles when the inbox has the turn or refused it; set from `storing` on. */
	storing?: Promise<"stored" | "duplicate">;
}

/** What the inbox said of the queue. */
export interface Alignment {
	/** Turns that another worker has started meanwhile. */
	readonly gone: readonly QueuedTurn[];
	/** The last input before our first turn that is another living worker's, or another agent's, to start. */
	readonly ahead?: string;
}

const none: ReadonlySet<QueuedTurn> = new Set();
const noNotices: readonly StoredInput[] = [];
const aligned: Alignment = { gone: [] };

export class TurnQueue {
	readonly #journal: Journal;
	readonly #key: string;
	readonly #here: StoreHere;
	#turns: QueuedTurn[] = [];
	/** Notices that shall be turns of their own, by their ids. */
	#promoted: Map<string, AgentRun> | undefined;
	/** The turn that came to the session when it was idle, and when it is accepted: what was sent later is stored later. */
	#ahead: { readonly inputId: string; readonly accepted: Promise<unknown> } | undefined;
	/** What the open or the next run is to be told, as the inbox stood when it was last looked at. */
	notices: readonly StoredInput[] = noNotices;

	constructor(journal: Journal, key: string) {
		this.#journal = journal;
		this.#key = key;
		this.#here = storeHere(journal);
	}

	get length(): number {
		return this.#turns.length;
	}

	get first(): QueuedTurn | undefined {
		return this.#turns[0];
	}

	/** The turn that will be a run of that id. */
	find(runId: string): QueuedTurn | undefined {
		return this.#turns.find((turn) => turn.run.runId === runId);
	}

	/** A notice of the inbox shall be told in a turn of its own, if it still waits. */
	promote(noticeId: string, run: AgentRun): void {
		this.#promoted ??= new Map();
		this.#promoted.set(noticeId, run);
	}

	/** Notices wait again for the turns of others. */
	demote(noticeId: string): void {
		this.#promoted?.delete(noticeId);
	}

	/** Turns that stand in the inbox by now, unless somebody took them out. */
	get stored(): ReadonlySet<QueuedTurn> {
		const stored = this.#turns.filter((turn) => turn.place === "stored");
		return stored.length === 0 ? none : new Set(stored);
	}

	push(turn: QueuedTurn): void {
		this.#turns.push(turn);
		this.#here.queued.add(turn.inputId);
	}

	/** Lets the turn be accepted before those that are pushed behind it. */
	goesAhead(turn: QueuedTurn, accepted: Promise<unknown>): Promise<unknown> {
		this.#ahead = { inputId: turn.inputId, accepted };
		return accepted;
	}

	remove(turn: QueuedTurn): void {
		this.#turns = this.#turns.filter((each) => each !== turn);
		this.#here.queued.delete(turn.inputId);
	}

	/** Takes all turns out; those in the inbox stay there. */
	removeAll(): readonly QueuedTurn[] {
		const turns = this.#turns;
		for (const turn of turns) this.remove(turn);
		return turns;
	}

	/** Puts the turn into the inbox; when that fails, or it was there before, the turn is out of the queue. */
	store(turn: QueuedTurn): Promise<"stored" | "duplicate"> {
		turn.storing ??= this.#store(turn);
		return turn.storing;
	}

	/**
	 * Brings the queue in line with the inbox as it stood after the session was taken, and after the turns of
	 * `storedBefore` were put into it: those that are missing were started elsewhere, turns of dead workers are adopted,
	 * and all stand in the order of the store.
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

	async #align(
		inbox: readonly StoredInput[],
		storedBefore: ReadonlySet<QueuedTurn>,
		openRunId: string | undefined,
		adopt: (input: StoredInput) => QueuedTurn,
	): Promise<Alignment> {
		this.notices = inbox.filter(
			({ id, kind, runId }) =>
				(kind === "notice" && this.#promoted?.has(id) !== true) ||
				// What was said to the open run before its process died is not said too late.
				(kind === "steer" && runId !== undefined && runId === openRunId),
		);
		const order = new Map<string, number>();
		// Asked once: were it dead for the second of its inputs only, that would go before the first.
		const living = new Map<string, MaybePromise<boolean>>();
		const awaited: StoredInput[] = [];
		for (const input of inbox) {
			// What was said to a run that is over is a turn of its own.
			const promoted = this.#promoted?.get(input.id);
			const isSaid = input.kind === "message" || (input.kind === "steer" && input.runId !== openRunId);
			if (!isSaid && promoted === undefined) continue;
			order.set(input.id, input.order);
			if (this.#turns.some((turn) => turn.inputId === input.id)) continue;
			const isElsewhere = input.kind !== "steer" && (await this.#isAwaited(input, living));
			if (this.#here.queued.has(input.id) || isElsewhere) awaited.push(input);
			else if (promoted === undefined) this.push(adopt(input));
			else this.push({ ...told(input), run: promoted });
		}
		const gone = this.#turns.filter((turn) => storedBefore.has(turn) && !order.has(turn.inputId));
		for (const turn of gone) this.remove(turn);
		// What is not in the inbox yet stays behind, as it came: sorting is stable.
		const place = (turn: QueuedTurn): number => order.get(turn.inputId) ?? Number.MAX_SAFE_INTEGER;
		this.#turns.sort((one, other) => place(one) - place(other));
		const { first } = this;
		// The last, for one that its worker has left must not hide those that came to it since.
		const ahead = awaited.findLast(({ order }) => first === undefined || order < place(first));
		return ahead === undefined ? { gone } : { gone, ahead: ahead.id };
	}

	/** Whether a living worker's caller waits for that input, so that it is the other's to start. */
	async #isAwaited({ workerId }: StoredInput, living: Map<string, MaybePromise<boolean>>): Promise<boolean> {
		if (workerId === undefined || workerId === this.#journal.workerId) return false;
		const lives = living.get(workerId) ?? this.#journal.isAlive(workerId);
		living.set(workerId, lives);
		return lives;
	}

	async #store(turn: QueuedTurn): Promise<"stored" | "duplicate"> {
		turn.place = "storing";
		const ahead = this.#ahead;
		// That it is refused is for its own sender.
		if (ahead !== undefined && ahead.inputId !== turn.inputId) await ahead.accepted.catch(() => {});
		try {
			const { duplicate } = await this.#journal.submit(this.#key, {
				id: turn.inputId,
				kind: "message",
				runId: turn.run.runId,
				workerId: this.#journal.workerId,
				...(turn.dedupeKey === undefined ? {} : { dedupeKey: turn.dedupeKey }),
				body: storedInput(turn.input),
			});
			turn.place = "stored";
			if (duplicate) this.remove(turn);
			return duplicate ? "duplicate" : "stored";
		} catch (error) {
			this.remove(turn);
			throw error;
		}
	}
}

/** An input of the inbox as it was accepted. */
export function storedMessage(input: StoredInput): AcceptedInput {
	const { message, ...body } = input.body as Omit<AcceptedInput, "message"> & {
		message: Parameters<typeof messageFromJSON>[0];
	};
	return { ...body, message: messageFromJSON(message) as AcceptedInput["message"] };
}

/** An input of the inbox as a run takes it in. */
export function readInput(input: StoredInput): RunInput {
	const accepted = storedMessage(input);
	return { inputId: input.id, fact: (placement) => inputFact(input.id, accepted, placement) };
}

/** A notice as a turn. */
function told(notice: StoredInput): Omit<QueuedTurn, "run"> {
	const input = { ...storedMessage(notice), origin: { runKind: "notification" as const } };
	return { input, inputId: notice.id, place: "stored" };
}
