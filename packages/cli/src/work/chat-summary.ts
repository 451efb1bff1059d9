/**
 * A chat's summary of the earlier conversation. It is a value stored with the session, like that of `compaction`: any
 * process that continues the session shows the model the summary in place of the part it represents. The journal keeps
 * everything.
 */
import { type Message, UserMessage } from "@holdfast/upp";
import type { Host } from "holdfast";
import { storeKeyOf } from "holdfast/execute";
import { definePlugin, type Plugin } from "holdfast/plugins";

/** A summary, and up to where it is one. */
export interface ChatSummary {
	readonly text: string;
	/** Id of the last message that it represents. */
	readonly until: string;
}

const plugin = "chat-summary";
const name = "summary";
const head = "Summary of the conversation so far:";

/** The summary that is kept for a session. */
export async function chatSummaryOf(
	{ values }: Pick<Host, "values">,
	sessionKey: string,
): Promise<ChatSummary | undefined> {
	return (await values.values(storeKeyOf(undefined, sessionKey), plugin).get(name)) as
		| ChatSummary
		| undefined;
}

/** Keeps it in place of the one before. Resolves when it is as safe as the session. */
export async function keepChatSummary(
	{ values }: Pick<Host, "values">,
	sessionKey: string,
	summary: ChatSummary,
): Promise<void> {
	await values.values(storeKeyOf(undefined, sessionKey), plugin).set(name, summary);
}

/** The messages, with a summary in place of what it represents; all of them where that is not there. */
export function summarised(
	messages: readonly Message[],
	summary: ChatSummary | undefined,
): readonly Message[] {
	const last = summary === undefined ? -1 : messages.findIndex(({ id }) => id === summary.until);
	if (summary === undefined || last === -1) return messages;
	return [new UserMessage(`${head}\n${summary.text}`), ...messages.slice(last + 1)];
}

/** Shows the model what is kept. */
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
