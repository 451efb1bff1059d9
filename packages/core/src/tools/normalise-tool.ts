// The door for tools: whatever a caller wrote, the engine drives an EngineTool. Never changes the caller's object,
// and calls its functions as methods at the time of the call, so that a later wrap or spy on them counts.

import { HoldfastError, isHoldfastError } from "@holdfast/upp";
import { nearest } from "../schema/index.ts";
import { plainJson } from "./plain-json.ts";
import { givenSchema, readToolInput } from "./tool-input.ts";
import type {
	AnyTool,
	EngineTool,
	Reconciliation,
	RetryPolicy,
	ToolContext,
	ToolForm,
	ToolSet,
	UnknownCall,
} from "./types.ts";

const RETRY_POLICIES: readonly RetryPolicy[] = ["pure", "idempotent", "manual-recovery"];

interface Known {
	readonly schema: unknown;
	readonly tool: EngineTool;
}

const known = new WeakMap<object, Known>();

/**
 * Turns a tool, however it was written, into what the engine drives. The result is kept with the object.
 *
 * @throws HoldfastError `invalid_tool`, `agent_is_not_a_tool`, `invalid_schema`, `schema_not_convertible`.
 * @see UAP 8.2, document 3 "Tool Execution"
 */
export function normaliseTool(tool: AnyTool): EngineTool {
	assertTool(tool, "The tool");
	return remembered(tool, nameOf(tool, "The tool"));
}

/**
 * Turns the tools of an agent into what the engine drives, by name. In a record the key is the name.
 *
 * @throws HoldfastError `duplicate_tool`, and what `normaliseTool` throws.
 */
export function normaliseTools(tools: ToolSet | undefined): ReadonlyMap<string, EngineTool> {
	const byName = new Map<string, EngineTool>();
	if (tools === undefined) return byName;
	if (typeof tools !== "object" || tools === null) {
		throw invalid(
			`\`tools\` is of type ${typeof tools}. Give a list of tools, or a record from name to tool.`,
		);
	}
	for (const [key, tool] of Object.entries(tools) as [string, AnyTool][]) {
		const place = Array.isArray(tools) ? `tools[${key}]` : `tools.${key}`;
		assertTool(tool, place);
		const name = Array.isArray(tools) ? nameOf(tool, place) : key;
		if (byName.has(name)) {
			throw new HoldfastError(
				"duplicate_tool",
				`Two tools are named "${name}". A model tells tools apart by name: rename one of them.`,
				{ data: { name } },
			);
		}
		byName.set(name, remembered(tool, name));
	}
	return byName;
}

function remembered(source: AnyTool, name: string): EngineTool {
	const schema = givenSchema(source);
	const before = known.get(source);
	if (before !== undefined && before.schema === schema && before.tool.name === name) return before.tool;
	const tool = build(source, name);
	known.set(source, { schema, tool });
	return tool;
}

function build(source: AnyTool, name: string): EngineTool {
	const { parameters, validate } = named(name, () => readToolInput(source, name));
	const { label, readOn, reconcile } = source;
	const form = formOf(source);
	const approval = approvalOf(source);
	return {
		name,
		description: descriptionOf(source),
		...(typeof label === "string" ? { label } : {}),
		parameters,
		source,
		form,
		kind: form === "remote" ? "remote" : "local",
		...resolveOptions(source, name),
		...(typeof readOn === "function" ? { readOn: (result) => source.readOn?.(result) } : {}),
		...(typeof reconcile === "function" ? { reconcile: (call) => reconciled(source, name, call) } : {}),
		...(approval === undefined ? {} : { approval }),
		validate,
		start: starterOf(source, form, name),
	};
}

function formOf(source: AnyTool): ToolForm {
	if (typeof source.run === "function") return "run";
	if (typeof source.execute !== "function") return "remote";
	return source.inputSchema === undefined ? "execute" : "ai-sdk";
}

function starterOf(source: AnyTool, form: ToolForm, name: string): EngineTool["start"] {
	switch (form) {
		case "run":
			return (input, context) => source.run?.(input, context);
		case "execute":
			return (input, context) => call(source, context.toolCallId, input, context);
		case "ai-sdk":
			return (input, context) => call(source, input, aiSdkOptions(context));
		case "remote":
			return () => {
				throw new HoldfastError(
					"remote_tool",
					`The tool "${name}" has no function here: it is remote. Hand in its result instead of running it.`,
					{ data: { name } },
				);
			};
	}
}

function call(source: AnyTool, ...parameters: unknown[]): unknown {
	return (source as { execute(...parameters: unknown[]): unknown }).execute(...parameters);
}

// The AI SDK's names for what the context holds, and the context itself for those who want the rest.
function aiSdkOptions(context: ToolContext): object {
	return {
		toolCallId: context.toolCallId,
		abortSignal: context.signal,
		get messages() {
			return context.messages;
		},
		context,
		experimental_context: context,
	};
}

function approvalOf(source: AnyTool): EngineTool["approval"] {
	if (typeof source.approval === "function")
		return (params) => source.approval?.(params) as boolean | Promise<boolean>;
	const needed = (source as { needsApproval?: unknown }).needsApproval;
	if (needed === true) return () => false;
	// The AI SDK's question is the opposite one: what needs approval is not run without.
	if (typeof needed === "function") return async (params) => !(await needed.call(source, params, {}));
	return undefined;
}

// What a tool found out is recorded like any other result, so it has to be one.
async function reconciled(source: AnyTool, name: string, call: UnknownCall): Promise<Reconciliation> {
	const found: unknown = await source.reconcile?.({ ...call });
	if (found === undefined || found === null) return undefined;
	if (typeof found === "object" && "result" in found) return { result: plainJson(found.result) };
	if (typeof found === "object" && "error" in found) return { error: found.error };
	if (typeof found === "object" && "retry" in found && found.retry === true) return { retry: true };
	throw new HoldfastError(
		"invalid_reconciliation",
		`\`reconcile\` of the tool "${name}" returned something else than undefined, { result }, { error } or ` +
			"{ retry: true }, so the outcome of the call stays unknown. Return one of these.",
		{ data: { name } },
	);
}

function descriptionOf({ description, label }: AnyTool): string {
	// The AI SDK's descriptions may be made from a context, which nobody gives here.
	if (typeof description === "function") return String(description({ context: {} }));
	return typeof description === "string" ? description : (label ?? "");
}

type ResolvedOptions = Pick<EngineTool, "sequential" | "dependsOn" | "retryPolicy" | "maxModelCharacters">;

function resolveOptions(source: AnyTool, name: string): ResolvedOptions {
	const {
		sequential = false,
		dependsOn = [],
		retryPolicy = "manual-recovery",
		maxModelCharacters = Number.POSITIVE_INFINITY,
	} = source;
	if (!Array.isArray(dependsOn) || !dependsOn.every((other) => typeof other === "string")) {
		throw invalid(`The tool "${name}" has a \`dependsOn\` that is not a list of tool names.`);
	}
	if (!RETRY_POLICIES.includes(retryPolicy)) {
		const meant = nearest(String(retryPolicy), RETRY_POLICIES);
		throw invalid(
			`The tool "${name}" has the unknown \`retryPolicy\` ${JSON.stringify(retryPolicy)}` +
				`${meant === undefined ? "" : `; did you mean "${meant}"?`}. Use ${RETRY_POLICIES.join(", ")}.`,
		);
	}
	if (typeof maxModelCharacters !== "number" || !(maxModelCharacters > 0)) {
		throw invalid(`The tool "${name}" has a \`maxModelCharacters\` that is not a number above 0.`);
	}
	return { sequential: sequential === true, dependsOn: [...dependsOn], retryPolicy, maxModelCharacters };
}

function assertTool(tool: unknown, place: string): asserts tool is AnyTool {
	if (typeof tool === "function") {
		const name = tool.name === "" ? "the function" : `${tool.name}()`;
		throw invalid(`${place} is a function, not a tool. If it makes one, call it: ${name}.`);
	}
	if (typeof tool !== "object" || tool === null || Array.isArray(tool)) {
		const what = tool === null ? "null" : Array.isArray(tool) ? "an array" : `of type ${typeof tool}`;
		throw invalid(
			`${place} is ${what}, not a tool. Give an object with name, description, parameters and run.`,
		);
	}
	const { generate, stream } = tool as { generate?: unknown; stream?: unknown };
	if (typeof generate === "function" && typeof stream === "function") {
		throw new HoldfastError(
			"agent_is_not_a_tool",
			`${place} is an agent. A tool needs a schema of its own: declare a Tool whose run calls the agent, ` +
				"or give the agent in `subagents`.",
		);
	}
	const { type, inputSchema, isProviderExecuted } = tool as Record<string, unknown>;
	if (isProviderExecuted === true || (String(type).startsWith("provider") && inputSchema === undefined)) {
		throw invalid(
			`${place} is run by its provider, which is not supported. Give a tool with a function of its own.`,
		);
	}
}

function nameOf(tool: AnyTool, place: string): string {
	if (typeof tool.name === "string" && tool.name !== "") return tool.name;
	throw invalid(`${place} has no name. Add \`name\`, or give the tools as a record from name to tool.`);
}

// Errors about a schema say whose it is.
function named<Value>(name: string, read: () => Value): Value {
	try {
		return read();
	} catch (error) {
		if (!isHoldfastError(error) || error.code === "invalid_tool") throw error;
		throw new HoldfastError(error.code, `The tool "${name}" cannot be used. ${error.message}`, {
			cause: error,
			data: { ...error.data, tool: name },
		});
	}
}

function invalid(message: string): HoldfastError {
	return new HoldfastError("invalid_tool", message);
}
