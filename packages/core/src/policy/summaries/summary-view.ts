// The one way to shorten a long history: a summary replaces its old part. It is written once per part of the history,
// stored with the session, and extended from there. Both `compaction` and `summarise` use it.
import { type Message, type TokenUsage, UserMessage } from "@holdfast/upp";
import type { SessionValues } from "../../host/index.ts";
import { callKey, isCallKey } from "../policy-run.ts";
import { hashUpTo, keepSummary, keptSummary } from "./kept-summary.ts";
import { type Summarised, SummaryCache } from "./summary-cache.ts";

/** The replacement of messages. */
export interface Written {
	readonly text: string;
	readonly usage?: TokenUsage;
}

/** When to write a summary, of what, and with which model. */
export interface SummaryRules {
	/** The text that a summary starts with. */
	readonly head: string;
	/** Whether a history is short enough to be shown unchanged. */
	isEnough(messages: readonly Message[]): boolean;
	/** Returns how many messages at the beginning a summary should replace; 0: no summary. */
	cut(messages: readonly Message[]): number;
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
	values(): SessionValues;
	/** Receives the reason why a summary could not be written, read or stored. An error it throws fails the run. */
	onError(error: unknown): void | Promise<void>;
}

export class SummaryView {
	readonly #rules: SummaryRules;
	readonly #cache: SummaryCache;

	constructor(rules: SummaryRules) {
		this.#rules = rules;
		this.#cache = new SummaryCache(rules.pinned);
	}

	/** Returns the messages that the model should see. */
	async shown(messages: readonly Message[], of: SummaryOf): Promise<readonly Message[]> {
		const { isEnough, cut: cutOf } = this.#rules;
		const cache = this.#cache;
		// Calls that work on one conversation identify it by its first message.
		const key = isCallKey(of.sessionKey) ? callKey(String(messages[0]?.id)) : of.sessionKey;
		let known = cache.of(key, messages);
		let shown = known?.view(messages) ?? messages;
		if (isEnough(shown)) return shown;
		const values = of.values();
		const kept = known === undefined ? await this.#kept(values, messages, of) : undefined;
		if (kept !== undefined) {
			known = cache.remember(key, messages, kept);
			shown = known.view(messages);
			if (isEnough(shown)) return shown;
		}
		const cut = cutOf(messages);
		if (cut <= (known?.cut ?? 0) || cache.failedInThisTurn(key, messages)) return shown;
		let written: { cut: number; hash: string; summary: UserMessage };
		try {
			written = await this.#written(messages, cut, known, of.signal);
		} catch (error) {
			cache.failed(key, messages);
			await of.onError(error);
			return shown;
		}
		try {
			await keepSummary(values, written);
		} catch (error) {
			await of.onError(error);
		}
		return cache.remember(key, messages, written).view(messages);
	}

	async #kept(
		values: SessionValues,
		messages: readonly Message[],
		of: SummaryOf,
	): ReturnType<typeof keptSummary> {
		try {
			return await keptSummary(values, messages);
		} catch (error) {
			await of.onError(error);
			return undefined;
		}
	}

	async #written(
		messages: readonly Message[],
		cut: number,
		known: Summarised | undefined,
		signal: AbortSignal,
	): Promise<{ cut: number; hash: string; summary: UserMessage }> {
		const old =
			known === undefined ? messages.slice(0, cut) : [known.summary, ...messages.slice(known.cut, cut)];
		const { summary } = await writeSummary(this.#rules, old, signal);
		return { cut, hash: hashUpTo(cut, messages, known), summary };
	}
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
