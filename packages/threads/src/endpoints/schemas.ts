// Schemas of requests and responses in the OpenAPI document.
import type { DescribedAnswer, Schema } from "@holdfast/server";

const text = { type: "string" } as const;
const texts = { type: "array", items: text } as const;
const micros = { type: "integer", description: "Microseconds since 1970." } as const;
const attachments = { type: "array", items: { type: "object" } } as const;

function object(properties: Record<string, Schema>, required: readonly string[] = []): Schema {
	return { type: "object", ...(required.length === 0 ? {} : { required }), properties };
}

const thread = object(
	{
		id: text,
		agent_id: text,
		user_id: { type: ["string", "null"] },
		created_at: micros,
		tags: texts,
		terminated: { type: ["integer", "null"] },
		parent_id: text,
		name: text,
		status: text,
	},
	["id", "agent_id", "user_id", "created_at", "tags", "terminated"],
);
const message = object(
	{
		id: text,
		role: { type: "string", enum: ["system", "user", "assistant", "tool"] },
		content: { type: ["string", "null"] },
		name: text,
		tool_calls: { type: "string", description: "JSON." },
		tool_call_id: text,
		created_at: micros,
		parent_id: text,
		depth: { type: "integer" },
		silent: { type: "boolean" },
		metadata: { type: "object" },
		status: text,
		attachments,
	},
	["id", "role", "created_at"],
);
/** The schemas of these routes by name. */
export interface Schemas {
	readonly text: Schema;
	readonly limit: Schema;
	readonly thread: Schema;
	readonly threadPage: Schema;
	readonly newThread: Schema;
	readonly threadChange: Schema;
	readonly deleted: Schema;
	readonly message: Schema;
	readonly messages: Schema;
	readonly newMessage: Schema;
	readonly messageChange: Schema;
	readonly any: Schema;
	readonly idempotencyKey: {
		readonly in: "header";
		readonly name: string;
		readonly description: string;
		readonly schema: Schema;
	};
	json(description: string, schema: Schema): DescribedAnswer;
}

export const schemas: Schemas = {
	text,
	limit: { type: "integer", minimum: 1, maximum: 100, default: 50 },
	thread,
	threadPage: object({ threads: { type: "array", items: thread }, next: text }, ["threads"]),
	newThread: object({ agent_id: text, user_id: text, tags: texts }, ["agent_id"]),
	threadChange: object({ user_id: { type: ["string", "null"] }, tags: texts, name: text }),
	deleted: object({ id: text, deleted: { const: true } }, ["deleted"]),
	message,
	messages: object(
		{ messages: { type: "array", items: message }, total: { type: "integer" }, hasMore: { type: "boolean" } },
		["messages", "total", "hasMore"],
	),
	newMessage: object(
		{
			content: text,
			role: { type: "string", enum: ["system", "user", "assistant"], default: "user" },
			silent: { type: "boolean" },
			metadata: { type: "object" },
			attachments,
		},
		["content"],
	),
	messageChange: object({
		content: { type: ["string", "null"] },
		silent: { type: "boolean" },
		metadata: { type: "object" },
	}),
	any: { type: "object" },
	idempotencyKey: {
		in: "header",
		name: "Idempotency-Key",
		description: "The same key has the same effect only once.",
		schema: text,
	},
	json: (description: string, schema: Schema): DescribedAnswer => ({
		description,
		content: { "application/json": schema },
	}),
};
