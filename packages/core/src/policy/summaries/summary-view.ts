// The one way to shorten a long history: a summary replaces its old part. It is written once per part of the history,
// stored with the session, and extended from there. Both `compaction` and `summarise` use it.
//
// A session has at most a shown summary and a prepared one:
//   none → prepared (written ahead, in the background) → shown (once the history exceeds the limit) → prepared → …
// The journal records which summary was shown last, so that every process shows the same one (keeps I2).
import { isUserMessage, type Message, type TokenUsage, UserMessage } from "@holdfast/upp";
import type { SessionValues } from "../../host/index.ts";
import { List } from "../../state/index.ts";
import { type AssembledRequest, GrowingSum, type Measure, requestOf } from "../assembled-request.ts";
import { sumTokens } from "../middleware/estimate-tokens.ts";
import { ownView } from "../own-views.ts";
import { callKey, isCallKey } from "../policy-run.ts";
import { Covering } from "./covering.ts";
import {
	deleteSummaries,
	hashUpTo,
	keepSummaries,
	keptSummaries,
	type WrittenSummary,
} from "./kept-summary.ts";

/** Summaries of this many sessions are kept in memory; the least recently used one is evicted first (keeps I7). */
const keptSessions = 1_000;

/** The replacement of messages. */
export interface Written {
	readonly text: string;
	readonly usage?: TokenUsage;
}

/** When to write a summary, of what, and with which model. */
export interface SummaryRules {
	/** Identifies the policy in the journal. */
	readonly name: string;
	/** The text that a summary starts with. */
	readonly head: string;
	/** The maximum number of tokens of a request. */
	readonly limit: number;
	readonly measure: Measure;
	/** The share of the limit from which the next summary is written in the background; undefined: never. */
	readonly prepareAt?: number;
	/** Returns how many messages at the beginning a summary should replace; 0: no summary. `room` is that of all messages. */
	cut(messages: readonly Message[], room: number): number;
	/** Rejects if there is no summary. */
	write(old: readonly Message[], signal: AbortSignal): Promise<Written>;
	/** Returns the messages among those that a summary replaces that are shown after it. */
	pinned(old: readonly Message[]): readonly Message[];
	/** Throws if a summary is worse than what it represents. */
	check?(summary: UserMessage, old: readonly Message[]): void;
}

/** The session whose history is shown. */
export interface SummaryOf {
	readonly sessionKey: string;
	readonly signal: AbortSignal;
	/** The request that the messages are for. */
	readonly request?: unknown;
	values(): SessionValues;
	/** Receives the reason why a summary could not be written, read or stored. An error it throws fails the run. */
	onError(error: unknown): void | Promise<void>;
}

/** A summary that is written in the background. */
interface Writing {
	/** Settles when it is stored, or has failed. Never rejects. */
	readonly done: Promise<void>;
	readonly stop: AbortController;
	/** Whether it is written, and being stored. */
	isStoring: boolean;
}

/** What is known of one session. */
interface Known {
	readonly sum: GrowingSum;
	/** The user's last message of the history that was looked at last. */
	turn: { readonly history: List<Message>; readonly id: string | undefined } | undefined;
	/** What the model was shown last; undefined before a summary. */
	view: readonly Message[] | undefined;
	/** The session is deleted. */
	isOver: boolean;
	/** Whether what is stored was read. */
	isRead: boolean;
	shown: Covering | undefined;
	prepared: Covering | undefined;
	/** The summary in the background. */
	writing: Writing | undefined;
	/** The user's last message when a summary failed. Every model call of its turn would wait for it again. */
	failed: { readonly during: string | undefined } | undefined;
	/** The same for a summary in the background. */
	notPrepared: { readonly during: string | undefined } | undefined;
	/** What the user's function threw about a summary in the background. It fails the next model call. */
	thrown: { readonly error: unknown } | undefined;
}

/** The messages to shorten, with the history that they come from. */
interface Asked {
	readonly messages: readonly Message[];
	/** The session's own messages at the same positions: other policy may show them differently. */
	readonly history: List<Message>;
	readonly request: AssembledRequest;
	readonly room: number;
	readonly of: SummaryOf;
	/** Whether summaries are stored. */
	readonly isStored: boolean;
}

export class SummaryView {
	readonly #rules: SummaryRules;
	readonly #sessions = new Map<string, Known>();

	constructor(rules: SummaryRules) {
		this.#rules = rules;
	}

	/** Returns the messages that the model should see. */
	async shown(messages: readonly Message[], of: SummaryOf): Promise<readonly Message[]> {
		const { limit, measure, name, prepareAt = 1 } = this.#rules;
		const request = requestOf(of.request, messages);
		const isStored = request.isOfSession && !isCallKey(of.sessionKey);
		// Calls that work on one conversation identify it by its first message.
		const known = this.#knownOf(isStored ? of.sessionKey : callKey(String(messages[0]?.id)));
		const room = measure.room(limit, request);
		const asked = { messages, history: historyOf(messages, request), request, room, of, isStored };
		this.#dropChanged(known, asked);
		if (known.thrown !== undefined) {
			const { error } = known.thrown;
			known.thrown = undefined;
			throw error;
		}
		const wanted = request.cut(name);
		if (wanted !== undefined && wanted !== known.shown?.written.hash) await this.#read(known, asked);
		let size = this.#sizeOf(known, asked);
		if (size > room * prepareAt && isStored && !known.isRead) {
			await this.#read(known, asked);
			size = this.#sizeOf(known, asked);
		}
		if (size > room) await this.#shorten(known, asked);
		else if (prepareAt < 1 && size > room * prepareAt) this.#prepare(known, asked);
		if (known.shown !== undefined) request.moveCut(name, known.shown.written.hash);
		if (known.shown === undefined) return messages;
		known.view = ownView(known.shown.view(messages), known.view, 0);
		return known.view;
	}

	/** Drops what is known of a deleted session. Resolves when nothing of it will be stored any longer. */
	async forget(sessionKey: string, values: () => SessionValues): Promise<void> {
		const known = this.#sessions.get(sessionKey);
		if (known === undefined) return;
		this.#sessions.delete(sessionKey);
		known.isOver = true;
		if (known.writing === undefined) return;
		known.writing.stop.abort();
		// What is written from now on is not stored, however long its writer takes.
		if (!known.writing.isStoring) return;
		await known.writing.done;
		await deleteSummaries(values());
	}

	#knownOf(key: string): Known {
		const known = this.#sessions.get(key) ?? unknown(this.#rules.measure);
		this.#sessions.delete(key);
		if (this.#sessions.size >= keptSessions) {
			for (const oldest of this.#sessions.keys()) {
				this.#sessions.delete(oldest);
				break;
			}
		}
		this.#sessions.set(key, known);
		return known;
	}

	/** Returns the tokens of what is shown. Messages that a summary represents are not measured. */
	#sizeOf({ shown, sum }: Known, { messages, request }: Asked): number {
		const rest = sum.of(messages, request.historyOf(messages), shown?.written.cut);
		return shown === undefined ? rest : rest + sumTokens(shown.head(messages), this.#rules.measure.estimate);
	}

	/** Drops summaries of messages that were edited since. */
	#dropChanged(known: Known, { history }: Asked): void {
		if (known.shown?.covers(history) === false) known.shown = undefined;
		if (known.prepared?.covers(history) === false) known.prepared = undefined;
	}

	/** Reads the stored summaries. */
	async #read(known: Known, { history, request, of, isStored }: Asked): Promise<void> {
		if (!isStored) return;
		known.isRead = true;
		let kept: readonly WrittenSummary[];
		try {
			kept = await keptSummaries(of.values(), history);
		} catch (error) {
			await of.onError(error);
			return;
		}
		const wanted = request.cut(this.#rules.name);
		// A summary that was replaced by a later one before its request was answered is not stored any longer.
		const shown =
			kept.findLast(({ hash }) => hash === wanted) ?? (wanted === undefined ? undefined : kept[0]);
		if (shown !== undefined && shown.hash !== known.shown?.written.hash)
			known.shown = this.#covering(shown, history);
		const later = kept.at(-1);
		if (later !== undefined && later.cut > (known.shown?.written.cut ?? 0))
			known.prepared ??= this.#covering(later, history);
	}

	#covering(written: WrittenSummary, history: List<Message>, before?: Covering): Covering {
		return new Covering(written, history, (old) => this.#rules.pinned(old), before);
	}

	/** Shows a summary, or a later one: the prepared one, or one that the call waits for. */
	async #shorten(known: Known, asked: Asked): Promise<void> {
		const { messages, history, room, of, isStored } = asked;
		if (known.writing !== undefined) {
			await known.writing.done;
			if (of.signal.aborted) return;
		}
		if (known.prepared !== undefined) {
			known.shown = known.prepared;
			known.prepared = undefined;
			if (this.#sizeOf(known, asked) <= room) return;
		}
		const cut = this.#cutOf(asked);
		const during = turnOf(known, asked);
		if (cut <= (known.shown?.written.cut ?? 0) || isIn(during, known.failed)) return;
		let written: WrittenSummary;
		try {
			written = await this.#written(history, messages, cut, known.shown, of.signal);
		} catch (error) {
			known.failed = { during };
			await of.onError(error);
			return;
		}
		known.failed = undefined;
		try {
			if (isStored && !known.isOver) await keepSummaries(of.values(), [written]);
		} catch (error) {
			await of.onError(error);
		}
		known.shown = this.#covering(written, history, known.shown);
	}

	/** Writes the next summary while the run continues. It outlasts the run, and is stored as soon as it is written. */
	#prepare(known: Known, asked: Asked): void {
		if (known.prepared !== undefined || known.writing !== undefined) return;
		const { messages, history, of, isStored } = asked;
		const cut = this.#cutOf(asked);
		const during = turnOf(known, asked);
		if (cut <= (known.shown?.written.cut ?? 0) || isIn(during, known.notPrepared)) return;
		const stop = new AbortController();
		const { shown } = known;
		const values = isStored ? of.values() : undefined;
		const write = async (): Promise<void> => {
			try {
				const written = await this.#written(history, messages, cut, shown, stop.signal);
				if (known.isOver) return;
				if (known.writing !== undefined) known.writing.isStoring = true;
				known.prepared = this.#covering(written, history, known.shown);
				if (values !== undefined) await keepSummaries(values, [shown?.written, written]);
			} catch (error) {
				known.notPrepared = { during };
				if (!known.isOver) await of.onError(error);
			}
		};
		const done = write()
			.catch((error) => {
				known.thrown = { error };
			})
			.then(() => {
				known.writing = undefined;
			});
		known.writing = { done, stop, isStoring: false };
	}

	/** A strategy's own last message is not part of the history. */
	#cutOf({ messages, history, room }: Asked): number {
		return Math.min(this.#rules.cut(messages, room), history.length);
	}

	async #written(
		history: List<Message>,
		messages: readonly Message[],
		cut: number,
		before: Covering | undefined,
		signal: AbortSignal,
	): Promise<WrittenSummary> {
		const { summary: earlier, cut: from } = before?.written ?? { cut: 0 };
		const since = messages.slice(from, cut);
		const old = earlier === undefined ? since : [earlier, ...since];
		const hash = hashUpTo(cut, history, before?.written);
		const { summary } = await writeSummary(this.#rules, old, signal);
		return { cut, hash, summary };
	}
}

function unknown({ estimate }: Measure): Known {
	return {
		sum: new GrowingSum(estimate),
		turn: undefined,
		view: undefined,
		isOver: false,
		isRead: false,
		shown: undefined,
		prepared: undefined,
		writing: undefined,
		failed: undefined,
		notPrepared: undefined,
		thrown: undefined,
	};
}

/** Whether something happened during a turn. */
function isIn(
	turn: string | undefined,
	happened: { readonly during: string | undefined } | undefined,
): boolean {
	return happened !== undefined && happened.during === turn;
}

/** Returns the session's own messages at the positions of these; these if other policy has dropped or added some. */
function historyOf(messages: readonly Message[], request: AssembledRequest): List<Message> {
	const { history } = request;
	const isAligned = history.length === messages.length && history.at(0)?.id === messages[0]?.id;
	return request.isHistory(messages) || (isAligned && history.at(-1)?.id === messages.at(-1)?.id)
		? history
		: List.from(messages);
}

/** Returns the id of the user's last message. Each message is looked at once (keeps I5). */
function turnOf(known: Known, { messages, history }: Asked): string | undefined {
	const { turn: before } = known;
	const isGrown = before !== undefined && history.beginsWith(before.history);
	const least = isGrown ? before.history.length : 0;
	let at = messages.length - 1;
	while (at >= least && !isUserMessage(messages[at] as Message)) at--;
	const id = at >= least ? messages[at]?.id : isGrown ? before.id : undefined;
	// A strategy's own last message is not part of the history.
	if (at < history.length) known.turn = { history, id };
	return id;
}

/** Writes the summary of messages. Rejects if there is none that may replace them. */
export async function writeSummary(
	{ head, write, check }: SummaryRules,
	old: readonly Message[],
	signal: AbortSignal,
): Promise<{ readonly summary: UserMessage; readonly usage?: TokenUsage }> {
	const { text, usage } = await write(old, signal);
	const summary = new UserMessage(`${head}\n${text}`);
	check?.(summary, old);
	return usage === undefined ? { summary } : { summary, usage };
}
