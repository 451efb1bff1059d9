// The request that policy assembles: the history it starts from, its size in tokens, and where each policy has shortened
// the history before. Everything is derived from the journal, so every process assembles the same request (keeps I2).
import type { Message } from "@holdfast/upp";
import type { SentPrefix, ViewCuts } from "../facts/index.ts";
import { List } from "../state/index.ts";
import { type EstimateTokens, estimateTokens, sumTokens } from "./middleware/estimate-tokens.ts";
import { sameBeginning } from "./own-views.ts";

/** The factors between tokens as a provider counts them and estimated ones that are plausible for text. */
const factors = { least: 0.25, most: 4 };

/** Instructions and tools leave at least this share of a limit to the history. */
const leastShare = 0.25;

/** What the engine knows of a request before policy is asked. */
export interface RequestStart {
	/** The history as the model would see it without policy; undefined for messages of no session. */
	readonly history?: List<Message>;
	/** The last answered request of the session. */
	readonly sent?: SentPrefix | undefined;
	/** Estimates the tokens of what precedes the messages: instructions and tools. */
	head?(): number;
}

/** Returns the request that a stage was called with, which code outside may have left out. */
export function requestOf(given: unknown, messages: readonly Message[]): AssembledRequest {
	return given instanceof AssembledRequest ? given : new AssembledRequest(messages);
}

/** The requests that the handlers of plugins are called for, by their contexts. */
const ofContexts = new WeakMap<object, AssembledRequest>();

/** Makes a request available to the handlers of this package. */
export function keepRequest(context: object, request: AssembledRequest): void {
	ofContexts.set(context, request);
}

/** Returns the request that a handler is called for. */
export function requestFor(context: object): AssembledRequest | undefined {
	return ofContexts.get(context);
}

export class AssembledRequest {
	/** The history; empty for messages of no session. */
	readonly history: List<Message>;
	readonly #plain: readonly Message[];
	readonly #start: RequestStart;
	#tokens: { readonly factor: number; readonly fixed: number } | undefined;
	#moved: Record<string, string> | undefined;

	/** `plain`: the messages that policy is given first. */
	constructor(plain: readonly Message[], start: RequestStart = {}) {
		this.#plain = plain;
		this.#start = start;
		this.history = start.history ?? List.empty();
	}

	/** Whether any policy has asked about the size of the request. */
	get isCounted(): boolean {
		return this.#tokens !== undefined;
	}

	/** Where policies have shortened the history, if that has changed. */
	get moved(): ViewCuts | undefined {
		return this.#moved;
	}

	/** Whether the messages belong to the session of the run. */
	get isOfSession(): boolean {
		return this.#start.history !== undefined;
	}

	/** Whether messages begin with the history, unchanged by any other policy. */
	isHistory(messages: readonly Message[]): boolean {
		return messages === this.#plain && this.isOfSession;
	}

	/** Returns the history if messages begin with it, unchanged by any other policy. */
	historyOf(messages: readonly Message[]): List<Message> | undefined {
		return this.isHistory(messages) ? this.history : undefined;
	}

	/** Returns where a policy has shortened the history of the previous request. */
	cut(name: string): string | undefined {
		return this.#moved?.[name] ?? this.#start.sent?.cuts?.[name];
	}

	/** Records where a policy shortens the history from now on. */
	moveCut(name: string, to: string): void {
		if (this.cut(name) === to) return;
		this.#moved = { ...this.#moved, [name]: to };
	}

	/**
	 * Returns how many estimated tokens the messages may have so that the request has at most `limit` tokens. Instructions
	 * and tools count towards the limit, up to three quarters of it.
	 */
	room(limit: number): number {
		const { factor, fixed } = this.#size;
		return Math.max(limit - fixed, limit * leastShare) / factor;
	}

	/** Returns the estimated tokens that correspond to tokens of the provider. */
	estimated(tokens: number): number {
		return tokens / this.#size.factor;
	}

	/** Returns the tokens of the request with these messages. */
	countTokens(messages: readonly Message[]): number {
		const { factor, fixed } = this.#size;
		const estimate = sumTokens(messages, estimateTokens);
		return Math.max(fixed + factor * estimate, factors.least * estimate);
	}

	/** The provider's count of the last request, with the difference estimated; the estimate alone without a count. */
	get #size(): { readonly factor: number; readonly fixed: number } {
		this.#tokens ??= sizeOf(this.#start);
		return this.#tokens;
	}
}

function sizeOf({ sent, head }: RequestStart): { readonly factor: number; readonly fixed: number } {
	if (sent?.counted === undefined) return { factor: 1, fixed: 0 };
	const { tokens, estimate } = sent.counted;
	const factor = Math.min(factors.most, Math.max(factors.least, tokens / estimate));
	return { factor, fixed: tokens - factor * estimate + factor * (head?.() ?? 0) };
}

/** How a policy measures messages against its limits: in estimated tokens, as a limit in tokens of the provider allows. */
export interface Measure {
	readonly estimate: EstimateTokens;
	/** Returns the estimated tokens that a request with at most this many tokens leaves to its messages. */
	room(limit: number, request: AssembledRequest): number;
	/** Returns a number of tokens of messages as an estimate. */
	estimated(tokens: number, request: AssembledRequest): number;
}

/** A user's own function counts the messages alone, in its own unit. */
export function measureOf(own: EstimateTokens | undefined): Measure {
	if (own === undefined) return byProvider;
	return { estimate: own, room: (limit) => limit, estimated: (tokens) => tokens };
}

const byProvider: Measure = {
	estimate: estimateTokens,
	room: (limit, request) => request.room(limit),
	estimated: (tokens, request) => request.estimated(tokens),
};

/**
 * Sums the tokens of a list that mostly grows, from a position on. A known beginning is neither measured nor compared
 * again (keeps I5).
 */
export class GrowingSum {
	readonly #estimate: EstimateTokens;
	#messages: readonly Message[] = [];
	#history: List<Message> | undefined;
	#from = 0;
	/** The sums of the messages from `#from` up to each position. */
	readonly #sums: number[] = [];
	#unchanged = 0;

	constructor(estimate: EstimateTokens) {
		this.#estimate = estimate;
	}

	/** How many messages at the beginning of the last list were those of the list before it. */
	get unchanged(): number {
		return this.#unchanged;
	}

	/**
	 * Returns the sum of the messages from a position on.
	 * @param history the list that these messages begin with, if it is known.
	 */
	of(messages: readonly Message[], history?: List<Message>, from = 0): number {
		const grown = history !== undefined && this.#history !== undefined && history.beginsWith(this.#history);
		const same = sameBeginning(messages, this.#messages, grown ? this.#history?.length : 0);
		this.#unchanged = same;
		this.#messages = messages;
		this.#history = history;
		if (from < this.#from || from > this.#from + this.#sums.length) {
			this.#from = from;
			this.#sums.length = 0;
		}
		if (same < this.#from + this.#sums.length) this.#sums.length = Math.max(0, same - this.#from);
		let sum = this.#sums.at(-1) ?? 0;
		for (let at = this.#from + this.#sums.length; at < messages.length; at++) {
			sum += this.#estimate(messages[at] as Message);
			this.#sums.push(sum);
		}
		return sum - this.#before(from);
	}

	/** Returns the sum of the messages from a position to another of the last list. */
	between(from: number, to: number): number {
		return this.#before(to) - this.#before(from);
	}

	/** Returns the first position that at least this many tokens precede; the end if the list has fewer. */
	positionAfter(tokens: number): number {
		let low = this.#from;
		let high = this.#from + this.#sums.length;
		while (low < high) {
			const middle = (low + high) >> 1;
			if (this.#before(middle) < tokens) low = middle + 1;
			else high = middle;
		}
		return low;
	}

	#before(position: number): number {
		return this.#sums[position - this.#from - 1] ?? 0;
	}
}
