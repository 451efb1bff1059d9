// Shared by the tests of plugins: the events of a turn, the history of a session, and the model's view.
import { isToolResultMessage, type LLMRequest } from "@holdfast/upp";
import type { Agent } from "../../agent/agent.ts";
import type { AgentEvent } from "../../facts/agent-event.ts";
import type { SendInput } from "../../facts/input.ts";

/** Sends an input and returns all events of the turn. */
export async function eventsOf(agent: Agent, input: SendInput, key = "default"): Promise<AgentEvent[]> {
	const events: AgentEvent[] = [];
	const run = await agent.session(key).send(input);
	for await (const event of run.events()) events.push(event);
	return events;
}

/** The texts of the messages a session has committed. */
export async function historyOf(agent: Agent, key = "default"): Promise<string[]> {
	const { messages } = await agent.session(key).state();
	return messages.map((message) => message.text);
}

/** The texts that the model saw in a call. */
export function shownIn(request: LLMRequest | undefined): string[] {
	return (request?.messages ?? []).map((message) => message.text);
}

/** Calls without a result, by id. */
export async function openCalls(agent: Agent, key = "default"): Promise<string[]> {
	const { messages } = await agent.session(key).state();
	const asked = messages.flatMap((message) =>
		message.type === "assistant"
			? ((message as { toolCalls?: { toolCallId: string }[] }).toolCalls ?? [])
			: [],
	);
	const answered = new Set(
		messages
			.filter(isToolResultMessage)
			.flatMap((message) => message.results.map(({ toolCallId }) => toolCallId)),
	);
	return asked.map(({ toolCallId }) => toolCallId).filter((id) => !answered.has(id));
}
