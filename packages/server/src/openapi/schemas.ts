// The schemas that the OpenAPI document refers to, and the helpers that describe the responses of routes.
import type { DescribedAnswer, Schema } from "../http/index.ts";

/** Returns a reference to one of the schemas. */
export function reference(name: string): Schema {
	return { $ref: `#/components/schemas/${name}` };
}

/** Describes a JSON response. */
export function json(description: string, schema: Schema): DescribedAnswer {
	return { description, content: { "application/json": schema } };
}

const text = { type: "string" } as const;
const number = { type: "number" } as const;
const list = (items: Schema): Schema => ({ type: "array", items });
const shape = (required: readonly string[], properties: Readonly<Record<string, Schema>>): Schema => ({
	type: "object",
	required,
	properties,
});
const event = (
	type: string,
	required: readonly string[] = [],
	properties: Readonly<Record<string, Schema>> = {},
): Schema => shape(["type", ...required], { type: { const: type }, ...properties });

/** A stream of events. */
export const eventStream: DescribedAnswer = {
	description:
		"Server-sent events. Each record has an `id:` to resume from and one line of `data:` with an event as JSON; comment lines keep the connection open.",
	content: { "text/event-stream": reference("Event") },
};

/** A stream of one execution's events. */
export const runStream: DescribedAnswer = {
	...eventStream,
	description: `${eventStream.description} The last event is \`execute_complete\`; the header \`X-Session-Id\` names the session.`,
};

const pendingToolCalls = list(reference("PendingToolCall"));
const wait = {
	reason: { enum: ["model", "strategy", "subagent"] },
	tag: text,
	until: number,
	code: text,
	attempt: number,
} as const;
const status = { enum: ["completed", "awaiting_tool_execution", "error", "aborted"] };

/** The schemas by name. */
export const schemas: Readonly<Record<string, Schema>> = {
	Error: shape(["error", "code"], { error: text, code: text }),
	ExecuteRequest: shape(["input"], {
		sessionId: { ...text, pattern: "^[\\w.:~@-]{1,128}$" },
		input: {
			oneOf: [
				text,
				reference("UserMessage"),
				{ ...list({ oneOf: [reference("ToolResult"), reference("Approval")] }), minItems: 1 },
			],
		},
		context: {
			...shape([], {
				systemPrompt: text,
				messages: list(reference("Message")),
				tools: list(reference("RemoteTool")),
			}),
			description:
				"For a new session under the client's id. The server determines which members clients may set.",
		},
		options: {
			...shape([], { model: text, temperature: number, maxTokens: { type: "integer" } }),
			description: "The server determines which of them clients may set.",
		},
	}),
	ApprovalRequest: shape(["toolCallId"], { toolCallId: text, runId: text, reason: text }),
	RemoteTool: shape(["name"], {
		name: text,
		label: text,
		description: text,
		parameters: { type: "object", description: "The JSON Schema of its arguments." },
		inputSchema: { type: "object", description: "The same, under the name that MCP tools use." },
	}),
	UserMessage: shape(["role", "content"], {
		role: { const: "user" },
		id: text,
		content: {
			oneOf: [
				text,
				list({
					oneOf: [
						shape(["type", "text"], { type: { const: "text" }, text }),
						shape(["type", "image", "mediaType"], {
							type: { const: "image" },
							image: text,
							mediaType: text,
						}),
						shape(["type", "data", "mediaType"], {
							type: { const: "file" },
							data: text,
							mediaType: text,
							filename: text,
						}),
					],
				}),
			],
		},
		timestamp: number,
	}),
	ToolResult: shape(["role", "toolCallId", "output"], {
		role: { const: "tool" },
		toolCallId: text,
		runId: text,
		output: {},
		isError: { type: "boolean" },
		details: {},
	}),
	Approval: shape(["role", "toolCallId", "approved"], {
		role: { const: "approval" },
		toolCallId: text,
		runId: text,
		approved: { type: "boolean" },
		reason: text,
		input: { type: "object" },
	}),
	ToolCall: shape(["id", "name", "arguments"], { id: text, name: text, arguments: { type: "object" } }),
	PendingToolCall: {
		allOf: [
			reference("ToolCall"),
			shape([], {
				approval: { const: true },
				runId: text,
				deadline: number,
				mayEdit: { const: true },
				taskId: { ...text, description: "For a call of a background task: the id of the task." },
				path: {
					...list(shape(["agent", "toolCallId"], { agent: text, toolCallId: text })),
					description: "For a call of a sub-agent: the delegations that lead to it.",
				},
			}),
		],
	},
	Usage: shape(["inputTokens", "outputTokens", "totalTokens"], {
		inputTokens: number,
		outputTokens: number,
		totalTokens: number,
		cacheReadTokens: number,
		cacheWriteTokens: number,
		reasoningTokens: number,
		cost: { ...number, description: "US dollars; absent if the prices are unknown." },
	}),
	AssistantMessage: shape(["role", "id", "content", "model", "stopReason", "usage", "timestamp"], {
		role: { const: "assistant" },
		id: text,
		replaces: { ...text, description: "The id of the earlier answer that this one replaces." },
		content: list({
			oneOf: [
				shape(["type", "text"], { type: { const: "text" }, text }),
				shape(["type", "thinking"], { type: { const: "thinking" }, thinking: text }),
				{ allOf: [shape(["type"], { type: { const: "toolCall" } }), reference("ToolCall")] },
				{ allOf: [shape(["type"], { type: { const: "providerToolCall" } }), reference("ToolCall")] },
				shape(["type", "toolCallId", "name", "output", "isError"], {
					type: { const: "providerToolResult" },
					toolCallId: text,
					name: text,
					output: text,
					isError: { type: "boolean" },
				}),
				shape(["type", "id", "sourceType"], {
					type: { const: "source" },
					id: text,
					sourceType: text,
					url: text,
					title: text,
					mediaType: text,
					filename: text,
				}),
				shape(["type", "data", "mediaType"], { type: { const: "file" }, data: text, mediaType: text }),
			],
		}),
		model: text,
		stopReason: { enum: ["stop", "length", "tool_calls"] },
		usage: reference("Usage"),
		timestamp: number,
	}),
	Message: {
		oneOf: [
			reference("UserMessage"),
			reference("AssistantMessage"),
			shape(["role", "toolCallId", "toolName", "output", "isError", "timestamp"], {
				role: { const: "tool" },
				toolCallId: text,
				toolName: text,
				output: text,
				isError: { type: "boolean" },
				details: {},
				timestamp: number,
			}),
			shape(["role", "error", "code", "timestamp"], {
				role: { const: "error" },
				error: text,
				code: text,
				partial: reference("AssistantMessage"),
				timestamp: number,
			}),
			shape(["role", "timestamp"], {
				role: { const: "aborted" },
				partial: reference("AssistantMessage"),
				timestamp: number,
			}),
		],
	},
	Session: shape(["sessionId", "status", "messages", "totalCost", "model"], {
		sessionId: text,
		status: { enum: ["idle", "running", ...status.enum] },
		messages: list(reference("Message")),
		totalCost: number,
		pendingToolCalls,
		backgroundToolCalls: pendingToolCalls,
		waiting: shape(["reason", "tag"], wait),
		model: text,
		lastEventId: text,
		lastRun: shape(["runId", "after"], { runId: text, after: text }),
		workflowState: {},
	}),
	SessionPage: shape(["sessions"], {
		sessions: list(
			shape(["sessionId", "createdAt", "updatedAt", "isOpen"], {
				sessionId: text,
				createdAt: number,
				updatedAt: number,
				isOpen: { type: "boolean" },
			}),
		),
		next: text,
	}),
	Event: {
		oneOf: [
			event("session_start", ["sessionId"], { sessionId: text }),
			event("session_end", ["sessionId", "messages"], {
				sessionId: text,
				messages: list(reference("Message")),
			}),
			event("awaiting_tool_execution", ["sessionId", "toolCalls"], {
				sessionId: text,
				toolCalls: pendingToolCalls,
			}),
			event("tools_pending", ["sessionId", "toolCalls"], { sessionId: text, toolCalls: pendingToolCalls }),
			event("waiting", ["sessionId", "reason", "tag"], { sessionId: text, ...wait }),
			event("resumed", ["sessionId"], { sessionId: text }),
			event("history_cut", ["messageId"], { messageId: text }),
			event("message_start", ["role"], { role: text, replaces: text }),
			event("message_end", ["message"], { message: reference("Message") }),
			event("text_start"),
			event("text_delta", ["delta"], { delta: text }),
			event("text_end", ["text"], { text }),
			event("thinking_start"),
			event("thinking_delta", ["delta"], { delta: text }),
			event("thinking_end", ["thinking"], { thinking: text }),
			event("toolcall_start", ["index"], { index: number, id: text, name: text }),
			event("toolcall_delta", ["index", "delta"], { index: number, delta: text }),
			event("toolcall_end", ["index", "toolCall"], { index: number, toolCall: reference("ToolCall") }),
			event("tool_execution_start", ["toolCallId", "toolName", "args"], {
				toolCallId: text,
				toolName: text,
				args: {},
			}),
			event("tool_execution_delta", ["toolCallId", "delta"], { toolCallId: text, delta: text }),
			event("tool_execution_end", ["toolCallId", "output"], {
				toolCallId: text,
				output: text,
				details: {},
				isError: { type: "boolean" },
			}),
			event("error", ["error", "code", "reason"], {
				error: text,
				code: text,
				reason: { enum: ["provider", "content_filter", "length", "limit", "policy", "killed", "error"] },
				message: reference("Message"),
			}),
			event("execute_complete", ["status"], {
				status,
				pendingToolCalls,
				backgroundToolCalls: pendingToolCalls,
				error: {},
				output: {},
				stopReason: { enum: ["length", "tool_calls", "content_filter", "error", "other"] },
			}),
		],
	},
};
