// Tools whose functions run here: how to declare them, and how to describe them to the server.

import { ClientError } from "../errors/index.ts";
import type { ToolDescription } from "../wire/index.ts";

/** The context of a tool call. */
export interface ClientToolContext {
	readonly toolCallId: string;
	/** The name of the tool. */
	readonly toolName: string;
	/** Fires with the execution's signal: the result will not be sent. */
	readonly signal: AbortSignal;
	/** The same for every attempt at this call, different for every other call. */
	readonly idempotencyKey: string;
}

/** The values that a streaming tool yields: any number of deltas, then one `complete`. */
export type ToolExecutionEvent =
	| { readonly type: "delta"; readonly delta: string }
	| { readonly type: "complete"; readonly output: unknown; readonly details?: unknown };

/** JSON Schema, or a schema that can be converted to it (zod 4, valibot and others). */
export type ToolParameters = Readonly<Record<string, unknown>> | { readonly "~standard": object };

/**
 * A tool that the model may call and this program executes: with `execute(id, params, context)` or with `run(params,
 * context)`. A tool with neither is only declared; its calls are left to another client.
 */
// biome-ignore lint/suspicious/noExplicitAny: any parameters are the default
export interface ClientTool<Params = any> {
	/** The name that the model calls. */
	readonly name: string;
	/** The display name. */
	readonly label?: string;
	/** Explains to the model when and how to use the tool. */
	readonly description?: string;
	/** Its parameters. Default: none. */
	readonly parameters?: ToolParameters;
	/** Returns `{ output, details? }`, a promise of it, or an iterable of deltas that ends with `complete`. */
	execute?(id: string, params: Params, context: ClientToolContext): unknown;
	/** Returns text or JSON, a promise of it, or an iterable of pieces of text. */
	run?(params: Params, context: ClientToolContext): unknown;
}

/** Returns the tools by name. @throws ClientError `invalid_tool`, `duplicate_tool`. */
export function readTools(tools: readonly ClientTool[]): ReadonlyMap<string, ClientTool> {
	const byName = new Map<string, ClientTool>();
	for (const tool of tools) {
		const name: unknown = tool?.name;
		if (typeof name !== "string" || name === "") {
			throw new ClientError("invalid_tool", "A tool has no name. Give each tool a `name`.");
		}
		if (byName.has(name)) {
			throw new ClientError("duplicate_tool", `Two tools are called "${name}". Rename one.`);
		}
		byName.set(name, tool);
	}
	return byName;
}

/** Whether the tool runs here. */
export function isLocalTool({ execute, run }: ClientTool): boolean {
	return typeof execute === "function" || typeof run === "function";
}

/** Describes a tool for the server: everything except its functions. @throws ClientError `schema_not_convertible`. */
export function describeTool({ name, label, description = "", parameters }: ClientTool): ToolDescription {
	return {
		name,
		...(label === undefined ? {} : { label }),
		description,
		parameters: toJsonSchema(name, parameters ?? { type: "object", properties: {} }),
	};
}

interface Convertible {
	readonly "~standard"?: { readonly jsonSchema?: { input?(options: { target: string }): object } };
	toJSONSchema?(options: { io: "input" }): object;
}

function toJsonSchema(name: string, parameters: ToolParameters): Readonly<Record<string, unknown>> {
	const schema = parameters as Convertible;
	const standard = schema["~standard"];
	if (standard === undefined) return parameters as Readonly<Record<string, unknown>>;
	const written =
		standard.jsonSchema?.input?.({ target: "draft-2020-12" }) ?? schema.toJSONSchema?.({ io: "input" });
	if (written === undefined) {
		throw new ClientError(
			"schema_not_convertible",
			`The schema of the tool "${name}" cannot be converted to JSON Schema. Pass JSON Schema.`,
		);
	}
	return written as Readonly<Record<string, unknown>>;
}
