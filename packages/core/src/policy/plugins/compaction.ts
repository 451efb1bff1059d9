// Keeps what the model sees within a budget of tokens: the old part of a long history is shown as a summary. The journal
// keeps every message, and a summary is written once for a part of the history, not for every call.
import {
	HoldfastError,
	type LanguageModel,
	llm,
	type Message,
	type ModelReference,
	UserMessage,
} from "@holdfast/upp";
import { type EstimateTokens, estimateTokens, sumTokens } from "../middleware/estimate-tokens.ts";
import { readCount, readNumber } from "../middleware/read-options.ts";
import { transcript } from "../middleware/transcript.ts";
import { cutBefore, SummaryCache } from "./compaction-cut.ts";
import { hashUpTo, keepSummary, keptSummary } from "./kept-summary.ts";
import { definePlugin, type Plugin } from "./plugin.ts";

/** Options of `compaction`. */
export interface CompactionOptions {
	/** Tokens up to which the history is shown as it is. Default 100,000. */
	readonly maxTokens?: number;
	/**
	 * At most so many messages at the end are shown as they are, fewer where they take more than half of `maxTokens`; a
	 * few more where a tool call would lose its result. Default 20.
	 */
	readonly keepRecent?: number;
	/** Writes the summary of messages. `request` is the prompt with the messages as text. */
	summarise?(request: string, messages: readonly Message[], signal: AbortSignal): string | Promise<string>;
	/** A model that writes it, in place of a function. Default: the agent's own. */
	readonly model?: ModelReference | LanguageModel;
	/** Guesses the tokens of a message. Default: a token for four characters of its JSON. */
	readonly estimate?: EstimateTokens;
	/** Told when there is no summary; the turn goes on with the whole history. Default: nobody is. */
	onError?(error: unknown, sessionKey: string): void;
}

type Writer = (request: string, messages: readonly Message[], signal: AbortSignal) => Promise<string>;

const instructions =
	"You summarise conversations. Keep names, numbers, decisions, open tasks and what tools found out. Answer with the summary only.";

/**
 * Shows the model a summary of the old messages and the recent ones as they are, once the history has more than
 * `maxTokens`. The user's last message always stays. The history itself is not changed. The latest summary is kept beside
 * the session, so that another process shows the model the same. Where no summary can be written, the turn goes on with
 * the whole history and the next turn tries again.
 *
 * @throws HoldfastError `invalid_option`; `conflicting_options` with both `summarise` and `model`.
 * @see keyed sessions, "Plugins, Session Storage, Memory, And Compaction"
 * @example
 * import { openai } from "@ai-sdk/openai";
 * import { Agent } from "holdfast";
 * import { compaction } from "holdfast/plugins";
 *
 * const clerk = new Agent({ model: openai("gpt-5.2"), plugins: [compaction({ maxTokens: 60_000 })] });
 */
export function compaction(options: CompactionOptions = {}): Plugin {
	const maxTokens = readNumber(options.maxTokens ?? 100_000, "maxTokens", 1);
	const keepRecent = readCount(options.keepRecent ?? 20, "keepRecent", 1);
	const estimate = options.estimate ?? estimateTokens;
	const given = writerOf(options);
	return definePlugin({
		name: "compaction",
		setup(host) {
			const write: Writer = given ?? ((request, _, signal) => host.ask(request, { instructions, signal }));
			const summaries = new SummaryCache();
			host.on("assemble", async ({ messages, sessionKey, signal }) => {
				const isEnough = (view: readonly Message[]): boolean => sumTokens(view, estimate) <= maxTokens;
				const tell = (error: unknown): undefined => void options.onError?.(error, sessionKey);
				let known = summaries.of(sessionKey, messages);
				let shown = known?.view(messages) ?? messages;
				if (isEnough(shown)) return shown;
				const values = host.values(sessionKey);
				const kept = known === undefined ? await keptSummary(values, messages).catch(tell) : undefined;
				if (kept !== undefined) {
					known = summaries.remember(sessionKey, messages, kept);
					shown = known.view(messages);
					if (isEnough(shown)) return shown;
				}
				const cut = cutBefore(messages, { keepRecent, tokens: maxTokens / 2, estimate });
				const from = known?.cut ?? 0;
				if (cut <= from || summaries.failedInThisTurn(sessionKey, messages)) return shown;
				const old =
					known === undefined ? messages.slice(0, cut) : [known.summary, ...messages.slice(from, cut)];
				try {
					const text = await write(`Summarise this conversation:\n${transcript(old)}`, old, signal);
					const summary = new UserMessage(`[Summary of the conversation so far]\n${checked(text)}`);
					if (estimate(summary) >= sumTokens(old, estimate)) throw noShorter();
					const written = { cut, hash: hashUpTo(cut, messages, known), summary };
					await keepSummary(values, written).catch(tell);
					return summaries.remember(sessionKey, messages, written).view(messages);
				} catch (error) {
					summaries.failed(sessionKey, messages);
					tell(error);
					return shown;
				}
			});
		},
	});
}

function writerOf({ summarise, model }: CompactionOptions): Writer | undefined {
	if (summarise !== undefined && model !== undefined) {
		throw new HoldfastError(
			"conflicting_options",
			"Both `summarise` and `model` are given. Give the one that shall write summaries.",
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

/** An empty summary would drop what it stands for. */
function checked(text: unknown): string {
	if (typeof text === "string" && text.trim() !== "") return text;
	throw new HoldfastError("summary_failed", "The summary is empty. The whole history is shown.");
}

function noShorter(): HoldfastError {
	return new HoldfastError(
		"summary_failed",
		"The summary is as long as what it stands for. The whole history is shown.",
	);
}
