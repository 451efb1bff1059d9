/** What fills the context of a session's model. */
import type { AnyMessage } from "@holdfast/upp";
import type { Agent, Host } from "holdfast";
import { cacheReportOf } from "holdfast/host";
import { contextLines, contextOf } from "../render/index.ts";
import { chatSummaryOf, summarised } from "./chat-summary.ts";

/** Returns the context by kind, and how the provider's cache served it, as lines. */
export async function contextOfSession(agent: Agent, host: Host, key: string): Promise<readonly string[]> {
	const { messages } = await agent.session(key).state();
	const cache = cacheReportOf(await host.journal.read(key));
	const shown = summarised(messages, await chatSummaryOf(host, key));
	return contextLines(contextOf(messages as AnyMessage[], cache, shown as AnyMessage[]));
}
