/**
 * A chat's summary of the earlier conversation. It is a value stored with the session, like that of `compaction`: any
 * process that continues the session shows the model the summary instead of the summarised messages. The journal keeps
 * everything.
 */
import { type Message, UserMessage } from "@holdfast/upp";
import type { Host } from "holdfast";
import { storeKeyOf } from "holdfast/execute";
import { definePlugin, type Plugin } from "holdfast/plugins";

/** A summary and the last message it covers. */
export interface ChatSummary {
	readonly text: string;
	/** Id of the last message that it covers. */
	readonly until: string;
}

const plugin = "chat-summary";
const name = "summary";
const head = "Summary of the conversation so far:";

/** Returns the summary stored for a session. */
export async function chatSummaryOf(
	{ values }: Pick<Host, "values">,
	sessionKey: string,
): Promise<ChatSummary | undefined> {
	return (await values.values(storeKeyOf(undefined, sessionKey), plugin).get(name)) as
		| ChatSummary
		| undefined;
}

/** Replaces the stored summary. Resolves when it is as durable as the session. */
export async function keepChatSummary(
	{ values }: Pick<Host, "values">,
	sessionKey: string,
	summary: ChatSummary,
): Promise<void> {
	await values.values(storeKeyOf(undefined, sessionKey), plugin).set(name, summary);
}

/** Returns the messages with a summary instead of those it covers; all messages if the last one it covers is missing. */
export function summarised(
	messages: readonly Message[],
	summary: ChatSummary | undefined,
): readonly Message[] {
	const last = summary === undefined ? -1 : messages.findIndex(({ id }) => id === summary.until);
	if (summary === undefined || last === -1) return messages;
	return [new UserMessage(`${head}\n${summary.text}`), ...messages.slice(last + 1)];
}

/** Shows the stored summary to the model. */
export function chatSummaries(): Plugin {
	return definePlugin({
		name: plugin,
		setup(host) {
			host.on("assemble", async ({ messages, sessionKey }) =>
				summarised(messages, (await host.values(sessionKey).get(name)) as ChatSummary | undefined),
			);
		},
	});
}
