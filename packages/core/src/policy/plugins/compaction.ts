// Keeps the model's view within a token budget: the old part of a long history is shown as a summary. The journal keeps
// every message, and a summary is written once per part of the history, not for every call.
import {
	checkOptions,
	HoldfastError,
	type LanguageModel,
	llm,
	type Message,
	type ModelReference,
	optionNames,
} from "@holdfast/upp";
import type { SessionValues } from "../../host/index.ts";
import { measureOf, requestFor } from "../assembled-request.ts";
import { type EstimateTokens, sumTokens } from "../middleware/estimate-tokens.ts";
import { readCount, readNumber } from "../middleware/read-options.ts";
import { pinnedOf, upTo } from "../pinned.ts";
import { cutBefore } from "../summaries/covering.ts";
import { copySummaries } from "../summaries/kept-summary.ts";
import { SummaryView } from "../summaries/summary-view.ts";
import { transcript } from "../summaries/transcript.ts";
import { definePlugin, type Plugin } from "./plugin.ts";

/** Options of `compaction`. */
export interface CompactionOptions {
	/**
	 * Up to this many tokens of a request, the history is shown unchanged. Instructions and tools count, up to three quarters
	 * of it. Default 100,000.
	 */
	readonly maxTokens?: number;
	/**
	 * The maximum number of recent messages that are shown unchanged, fewer if they take more than half of what instructions
	 * and tools leave of `maxTokens`; a few more if a tool call would lose its result. Default 20.
	 */
	readonly keepRecent?: number;
	/**
	 * The share of `maxTokens`, from 0 to 1, from which the next summary is written in the background while the run
	 * continues. Lower values make it less likely that a run waits for a summary, and summarise less at a time. With 1,
	 * summaries are written only once they are needed, and the model call waits. Default 0.8.
	 */
	readonly prepareAt?: number;
	/** Writes the summary of messages. `request` is the prompt with the messages as text. Default: `model` writes it. */
	summarise?(request: string, messages: readonly Message[], signal: AbortSignal): string | Promise<string>;
	/** A model that writes it, instead of a function. Default: the agent's own. */
	readonly model?: ModelReference | LanguageModel;
	/**
	 * Estimates the tokens of a message. `maxTokens` then applies to the sum of these estimates. Default: the provider's count
	 * of the last request, with the difference estimated at four characters of JSON per token; before the first count, the
	 * estimate of the messages alone.
	 */
	readonly estimate?: EstimateTokens;
	/**
	 * Called if no summary could be written; the turn continues with the whole history. An error it throws fails the run.
	 * Default: not reported.
	 */
	onError?(error: unknown, sessionKey: string): void;
}

type Writer = (request: string, messages: readonly Message[], signal: AbortSignal) => Promise<string>;

const instructions =
	"You summarise conversations. Keep names, numbers, ids of stored results, decisions, open tasks and what tools found out. Answer with the summary only.";

const compactionNames = optionNames<CompactionOptions>({
	maxTokens: "number",
	keepRecent: true,
	prepareAt: true,
	model: true,
	estimate: "function",
	summarise: true,
	onError: "function",
});

/**
 * Once a request exceeds `maxTokens`, shows the model a summary of the old messages and the recent ones unchanged. The
 * user's last message is always kept. Messages created by `pinned()` are kept up to a quarter of `maxTokens`. The history
 * itself is not changed. Summaries are written ahead, from `prepareAt` on, while the run continues. They are stored with
 * the session, so another process shows the model the same one and requests none twice; a fork gets a copy. If a summary
 * cannot be written, the turn continues with the whole history, and the next turn tries again.
 *
 * @throws HoldfastError `invalid_option`; `conflicting_options` with both `summarise` and `model`.
 * @example
 * import { openai } from "@ai-sdk/openai";
 * import { Agent } from "holdfast";
 * import { compaction } from "holdfast/plugins";
 *
 * const clerk = new Agent({ model: openai("gpt-5.2"), plugins: [compaction({ maxTokens: 60_000 })] });
 */
export function compaction(options: CompactionOptions = {}): Plugin {
	checkOptions(options, compactionNames, { of: "compaction()" });
	const maxTokens = readNumber(options.maxTokens ?? 100_000, "maxTokens", 1);
	const keepRecent = readCount(options.keepRecent ?? 20, "keepRecent", 1);
	const prepareAt = readNumber(options.prepareAt ?? 0.8, "prepareAt", 0);
	if (prepareAt > 1)
		throw new HoldfastError(
			"invalid_option",
			`The option \`prepareAt\` is ${prepareAt}. Give a share of \`maxTokens\` from 0 to 1.`,
		);
	const measure = measureOf(options.estimate);
	const { estimate } = measure;
	const given = writerOf(options);
	return definePlugin({
		name: "compaction",
		setup(host) {
			const write: Writer = given ?? ((request, _, signal) => host.ask(request, { instructions, signal }));
			const view = new SummaryView({
				name: "compaction",
				head: "[Summary of the conversation so far]",
				limit: maxTokens,
				measure,
				prepareAt,
				cut: (messages, room) => cutBefore(messages, { keepRecent, tokens: room / 2, estimate }),
				pinned: (old) => pinnedOf(old, upTo(maxTokens / 4, estimate)),
				write: async (old, signal) => ({
					text: checked(await write(`Summarise this conversation:\n${transcript(old)}`, old, signal)),
				}),
				check(summary, old) {
					if (estimate(summary) >= sumTokens(old, estimate)) throw noShorter();
				},
			});
			host.on("assemble", (context) => {
				const { messages, sessionKey, signal } = context;
				const onError = (error: unknown): void => options.onError?.(error, sessionKey);
				const values = (): SessionValues => host.values(sessionKey);
				return view.shown(messages, {
					sessionKey,
					signal,
					values,
					onError,
					request: requestFor(context),
				});
			});
			host.on("session.fork", ({ sessionKey, forkKey }) =>
				copySummaries(host.values(sessionKey), host.values(forkKey)),
			);
			host.on("session.delete", ({ sessionKey }) => view.forget(sessionKey, () => host.values(sessionKey)));
		},
	});
}

function writerOf({ summarise, model }: CompactionOptions): Writer | undefined {
	if (summarise !== undefined && model !== undefined) {
		throw new HoldfastError(
			"conflicting_options",
			"Both `summarise` and `model` are given. Give only the one that writes summaries.",
		);
	}
	if (summarise !== undefined) return async (...given) => summarise(...given);
	if (model === undefined) return undefined;
	const writer = llm({ model, system: instructions });
	return async (request, _, signal) => {
		signal.throwIfAborted();
		return (await writer.generate(request)).response.text;
	};
}

/** An empty summary would drop what it represents. */
function checked(text: unknown): string {
	if (typeof text === "string" && text.trim() !== "") return text;
	throw new HoldfastError("summary_failed", "The summary is empty. The whole history is shown.");
}

function noShorter(): HoldfastError {
	return new HoldfastError(
		"summary_failed",
		"The summary is as long as what it represents. The whole history is shown.",
	);
}
