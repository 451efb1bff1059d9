// The client's handlers for requests of its server: each request is queued for an answer, which is returned to the
// server.

import { AssistantMessage, UserMessage } from "@holdfast/upp";
import type {
	Client,
	CreateMessageRequest,
	CreateMessageResult,
	ElicitResult,
} from "@modelcontextprotocol/client";
import { type AgentOptions, AgentState, agent } from "holdfast";
import type { AskedBackDesk, CallUnderWay, McpAnswer } from "./asked-back.ts";

/** The parts of the handlers. */
export interface Asking {
	readonly server: string;
	readonly desk: AskedBackDesk;
	readonly elicitation: boolean;
	/** Whether servers may call a model. */
	readonly sampling: boolean;
	/** The model of the agent whose call is in progress. */
	readonly model: () => AgentOptions["model"] | undefined;
	readonly calls: () => readonly CallUnderWay[];
	readonly changed: () => void;
}

/** Registers the handlers for the allowed requests; the client must have been created with these capabilities. */
export function handleAsking(client: Client, asking: Asking): void {
	const { server, desk, calls, changed } = asking;
	if (asking.elicitation) {
		client.setRequestHandler("elicitation/create", async ({ params }, { mcpReq }): Promise<ElicitResult> => {
			const wants = "url" in params ? { url: params.url } : { schema: params.requestedSchema };
			const { message } = params;
			const request = { kind: "elicitation", server, calls: calls(), message, ...wants } as const;
			const answer = await desk.ask(request, mcpReq.signal, changed);
			if (answer.action !== "accept") return { action: answer.action };
			return typeof answer.content === "object"
				? { action: "accept", content: answer.content as NonNullable<ElicitResult["content"]> }
				: { action: "accept" };
		});
	}
	if (asking.sampling) {
		client.setRequestHandler("sampling/createMessage", async ({ params }, { mcpReq }) => {
			const { systemPrompt, maxTokens } = params;
			const messages = params.messages.map(({ role, content }) => ({ role, text: textOf(content) }));
			const system = systemPrompt === undefined ? {} : { system: systemPrompt };
			const request = { kind: "sampling", server, calls: calls(), messages, maxTokens, ...system } as const;
			const answer = await desk.ask(request, mcpReq.signal, changed);
			return sampled(answer, params, asking.model(), mcpReq.signal);
		});
	}
}

async function sampled(
	answer: McpAnswer,
	params: CreateMessageRequest["params"],
	model: AgentOptions["model"] | undefined,
	signal: AbortSignal,
): Promise<CreateMessageResult> {
	if (answer.action !== "accept") throw new Error("The user did not permit the request to the model.");
	if (typeof answer.content === "string") return said(answer.content, "a person");
	if (model === undefined) throw new Error("No model is available.");
	const messages = params.messages.map(({ role, content }) =>
		role === "user" ? new UserMessage(textOf(content)) : new AssistantMessage(textOf(content)),
	);
	const asked = agent({
		model,
		params: { maxOutputTokens: params.maxTokens },
		...(params.systemPrompt === undefined ? {} : { system: params.systemPrompt }),
	});
	const before = AgentState.initial().withMessages(messages.slice(0, -1));
	const { turn } = await asked.generate(messages.at(-1) ?? "", before, { signal });
	return said(turn.response.text, (model as { modelId?: string }).modelId ?? "unknown");
}

function said(text: string, model: string): CreateMessageResult {
	return { role: "assistant", content: { type: "text", text }, model, stopReason: "endTurn" };
}

type Sampled = CreateMessageRequest["params"]["messages"][number]["content"];

function textOf(content: Sampled): string {
	const blocks = Array.isArray(content) ? content : [content];
	return blocks.map((block) => (block.type === "text" ? block.text : `[${block.type}]`)).join("\n");
}
