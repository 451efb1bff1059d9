// Replaces the old part of a long history with a summary. If the summary fails, the history is unchanged.
import {
	checkOptions,
	HoldfastError,
	isToolResultMessage,
	type LanguageModel,
	type LLMInstance,
	llm,
	type Message,
	type ModelReference,
	optionNames,
	UPPError,
} from "@holdfast/upp";
import { measureOf } from "../assembled-request.ts";
import type { Interceptor } from "../interceptor.ts";
import { pinnedOf, upTo } from "../pinned.ts";
import { unseenFrom } from "../summaries/covering.ts";
import { type SummaryRules, SummaryView, type Written, writeSummary } from "../summaries/summary-view.ts";
import { transcript } from "../summaries/transcript.ts";
import { type EstimateTokens, sumTokens } from "./estimate-tokens.ts";
import type { Middleware, MiddlewareContext } from "./middleware-face.ts";
import { readCount, readNumber } from "./read-options.ts";

/** Writes the summary of messages. `request` is the prompt with the messages as text. */
export type Summariser = (request: string, messages: readonly Message[]) => string | Promise<string>;

/** Options of `summarise`: one of `model`, `llm` and `summarizer`, and when to use it. */
export interface SummariseOptions {
	/** A model that writes the summary. Give exactly one of `model`, `llm` and `summarizer`. */
	readonly model?: ModelReference | LanguageModel;
	/** A model with its own options, created by `llm()`. */
	readonly llm?: Pick<LLMInstance, "generate">;
	/** A function that writes the summary. */
	readonly summarizer?: Summariser;
	/**
	 * Up to this many tokens of a request, the history is unchanged. Instructions and tools count, up to three quarters of it.
	 * Default 150,000.
	 */
	readonly threshold?: number;
	/** This many messages at the end are kept; a few more if a tool call would lose its result. Default 10. */
	readonly keepRecent?: number;
	/**
	 * Estimates the tokens of a message. `threshold` then applies to the sum of these estimates. Default: the provider's count
	 * of the last request, with the difference estimated at four characters of JSON per token; before the first count, the
	 * estimate of the messages alone.
	 */
	readonly estimate?: EstimateTokens;
	/** The instruction that precedes the messages. Default: "Summarize this conversation, preserving key facts:". */
	readonly prompt?: string;
	/**
	 * Called if no summary could be written. The call continues with the whole history, unless this throws. Default: the
	 * error is only stored in the request's `metadata.summaryError`.
	 */
	onError?(error: unknown, context: MiddlewareContext): void | Promise<void>;
}

const summariseNames = optionNames<SummariseOptions>({
	model: true,
	llm: true,
	summarizer: true,
	threshold: true,
	keepRecent: true,
	estimate: "function",
	prompt: "text",
	onError: "function",
});

/**
 * Up to `threshold` tokens the history is unchanged and no summary is requested. Above that, all but the recent messages
 * are replaced by one user message that starts with "[Previous conversation summary]". The request's `metadata.summary`
 * contains the number of messages it represents and, if a model wrote it, its `usage`.
 *
 * In a session the history itself is unchanged: the model sees the summary instead. The summary is stored with the
 * session, and extended when the limit is exceeded again, as with `compaction` of `holdfast/plugins`.
 *
 * @throws HoldfastError `invalid_option` without a source of summaries, `conflicting_options` with several.
 * @example
 * import { openai } from "@ai-sdk/openai";
 * const clerk = agent({ model: openai("gpt-5.2"), middleware: [summarise({ model: openai("gpt-5.2-mini") })] });
 */
export function summarise(options: SummariseOptions): Middleware & Interceptor {
	checkOptions(options, summariseNames, { of: "summarise()" });
	const write = writerOf(options);
	const threshold = readNumber(options.threshold ?? 150_000, "threshold", 0);
	const keepRecent = readCount(options.keepRecent ?? 10, "keepRecent", 0);
	const measure = measureOf(options.estimate);
	const { estimate } = measure;
	const prompt = options.prompt ?? "Summarize this conversation, preserving key facts:";
	const rules: SummaryRules = {
		name: "summarise",
		head: "[Previous conversation summary]",
		limit: threshold,
		measure,
		cut: (messages) => wholeCut(messages, messages.length - keepRecent),
		pinned: (old) => pinnedOf(old, upTo(threshold / 4, estimate)),
		write: (old) => write(`${prompt}\n${transcript(old)}`, old),
	};
	const view = new SummaryView(rules);
	return {
		name: "summarise",
		async before(context) {
			const { messages } = context.state;
			if (sumTokens(messages, estimate) <= threshold) return;
			const cut = rules.cut(messages, threshold);
			if (cut <= 0) return;
			try {
				const { summary, usage } = await writeSummary(rules, messages.slice(0, cut), never);
				const pins = rules.pinned(messages.slice(0, cut));
				context.metadata.summary = { messages: cut, ...(usage === undefined ? {} : { usage }) };
				return { ...context, state: context.state.withContext([summary, ...pins, ...messages.slice(cut)]) };
			} catch (error) {
				context.metadata.summaryError = error;
				await options.onError?.(error, context);
				return;
			}
		},
		// A session keeps its history: the model sees the summary, which is stored with the session.
		begin: (run) =>
			run.kind === "call"
				? undefined
				: {
						assemble: (messages, request) =>
							view.shown(messages, {
								request,
								sessionKey: run.sessionKey,
								signal: run.signal,
								values: () => run.values("summarise"),
								async onError(error) {
									run.context.metadata.summaryError = error;
									await options.onError?.(error, run.context);
								},
							}),
					},
	};
}

/** A summary is never cancelled: a cancelled call stops waiting for it. */
const never = new AbortController().signal;

export { summarise as summarize };

/** Moves the cut back until every result after it has its call after it too. The last calls are always after it. */
function wholeCut(messages: readonly Message[], wanted: number): number {
	let cut = Math.min(wanted, unseenFrom(messages));
	while (cut > 0 && isToolResultMessage(messages[cut])) cut--;
	return cut;
}

type Writer = (request: string, messages: readonly Message[]) => Promise<Written>;

function writerOf(options: SummariseOptions): Writer {
	const { model, llm: given, summarizer } = options;
	const several = [model, given, summarizer].filter((each) => each !== undefined).length;
	if (several > 1) {
		throw new HoldfastError(
			"conflicting_options",
			"Several of `model`, `llm` and `summarizer` are given. Give only the one that writes summaries.",
		);
	}
	if (summarizer !== undefined) {
		return async (request, messages) => ({ text: checked(await summarizer(request, messages)) });
	}
	const instance = given ?? (model === undefined ? undefined : llm({ model }));
	if (instance === undefined) {
		throw new HoldfastError(
			"invalid_option",
			"No writer for summaries is set. Give `model`, `llm` or `summarizer`.",
		);
	}
	return async (request) => {
		const { response, usage } = await instance.generate(request);
		return { text: checked(response.text), usage };
	};
}

/** An empty summary would drop what it represents. */
function checked(text: string): string {
	if (typeof text === "string" && text.trim() !== "") return text;
	throw new UPPError("The summary is empty.", "INVALID_RESPONSE", "holdfast", "llm");
}
