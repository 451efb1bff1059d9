// Stores long tool results as files of their session and shows the model their beginning and end. What the model sees is
// recorded in the journal, so a replay, a fork and another process show the same text.
import { checkOptions, HoldfastTypeError, isToolResultMessage, optionNames } from "@holdfast/upp";
import { definePlugin, type Plugin } from "holdfast/plugins";
import { readResult } from "./read-result.ts";
import { shownResult, textOfResult, withText } from "./shown-result.ts";
import { storeResult } from "./stored-result.ts";

/** Options of `largeResults`. */
export interface LargeResultsOptions {
	/**
	 * Results with more characters are stored, at least 2,000. It is also the maximum that one call to `read_result`
	 * returns. Above 100,000, tools need `maxModelCharacters` as well. Default 20,000.
	 */
	readonly limit?: number;
	/** Characters of the beginning that the model sees. Default: a fifth of `limit`. */
	readonly head?: number;
	/** Characters of the end that the model sees. Default: a tenth of `limit`. */
	readonly tail?: number;
}

const largeResultsNames = optionNames<LargeResultsOptions>({ limit: "number", head: true, tail: true });

/**
 * Stores each tool result above a limit as a file of its session. The model sees the beginning, the end, the size and an
 * id, and reads or searches the rest with the tool `read_result`. Applies to results of tools, MCP servers, sub-agents and
 * remote tools, in sessions and calls, after all middleware: what is masked is stored masked.
 *
 * @throws HoldfastError `invalid_option` for lengths that are not whole numbers or do not fit into `limit`.
 * @example
 * import { openai } from "@ai-sdk/openai";
 * import { largeResults } from "@holdfast/context";
 * import { Agent } from "holdfast";
 *
 * const clerk = new Agent({ model: openai("gpt-5.2"), plugins: [largeResults({ limit: 10_000 })] });
 */
export function largeResults(options: LargeResultsOptions = {}): Plugin {
	checkOptions(options, largeResultsNames, { of: "largeResults()" });
	const { limit = 20_000 } = options;
	const { head = Math.floor(limit / 5), tail = Math.floor(limit / 10) } = options;
	for (const [name, value, least] of [
		["limit", limit, 2_000],
		["head", head, 0],
		["tail", tail, 0],
	] as const)
		if (!Number.isInteger(value) || value < least)
			throw new HoldfastTypeError(
				"invalid_option",
				`The option \`${name}\` of largeResults() must be a whole number of characters, at least ${least}.`,
			);
	if (head + tail > limit)
		throw new HoldfastTypeError(
			"invalid_option",
			"`head` and `tail` of largeResults() exceed `limit` together.",
		);
	return definePlugin({
		name: "large-results",
		setup(host) {
			const read = readResult((context) => host.files(context), limit);
			host.tool(read, { in: "sessions-and-calls" });
			host.on("result.record", async ({ sessionKey, toolCallId, output }) => {
				const text = textOfResult(output);
				if (text === undefined || text.length <= limit) return;
				await storeResult(host.files(sessionKey), toolCallId, text);
				return { output: withText(output, shownResult(toolCallId, text, { head, tail })) };
			});
			host.on("session.fork", async ({ sessionKey, forkKey, history }) => {
				const [from, to] = [host.files(sessionKey), host.files(forkKey)];
				const stored = new Set((await from.list()).map(({ name }) => name));
				const results = history.filter(isToolResultMessage).flatMap((message) => message.results);
				for (const { toolCallId } of results)
					if (stored.delete(toolCallId)) await to.write(toolCallId, from.read(toolCallId));
			});
		},
	});
}
