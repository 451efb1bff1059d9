// Converts tools of every supported form into an EngineTool. It never changes the caller's object, and looks up its
// functions at each call, so a wrapper or spy installed later takes effect.

import { HoldfastError, isHoldfastError, isThenable, type ProviderMetadata } from "@holdfast/upp";
import { aiSdkOptions } from "./ai-sdk-tool.ts";
import { readToolInput, type ToolInput } from "./tool-input.ts";
import { invalidTool, resolveToolOptions } from "./tool-options.ts";
import type { AnyTool, EngineTool, ToolForm, ToolSet } from "./types.ts";

type ModelOutputTool = AnyTool & { toModelOutput?(call: unknown): unknown };

interface Known {
	/** The tool's properties when it was normalised. If they change, it is normalised again. */
	readonly properties: Readonly<Record<string, unknown>>;
	readonly tool: EngineTool;
}

const known = new WeakMap<object, Known>();

/**
 * Converts a tool of any form into the engine's form. The result is cached per object.
 *
 * @throws HoldfastError `invalid_tool`, `agent_is_not_a_tool`, `invalid_schema`, `schema_not_convertible`.
 */
export function normaliseTool(tool: AnyTool): EngineTool {
	assertTool(tool, "The tool");
	return remembered(tool, nameOf(tool, "The tool"));
}

/**
 * Converts the tools of an agent into the engine's form, by name. In a record, the key is the name.
 *
 * @throws HoldfastError `duplicate_tool`, and the errors of `normaliseTool`.
 */
export function normaliseTools(tools: ToolSet | undefined): ReadonlyMap<string, EngineTool> {
	const byName = new Map<string, EngineTool>();
	if (tools === undefined) return byName;
	if (typeof tools !== "object" || tools === null) {
		throw invalidTool(
			`\`tools\` is of type ${typeof tools}. Pass a list of tools, or a record of tools by name.`,
		);
	}
	if (isThenable(tools)) throw invalidTool("`tools` is a promise. Await it first.");
	if (!Array.isArray(tools) && typeof (tools as { readonly name?: unknown }).name === "string")
		throw invalidTool("`tools` is a single tool. Give it in a list: `tools: [tool]`.");
	for (const [key, tool] of Object.entries(tools) as [string, AnyTool][]) {
		const place = Array.isArray(tools) ? `tools[${key}]` : `tools.${key}`;
		assertTool(tool, place);
		const name = Array.isArray(tools) ? nameOf(tool, place) : key;
		if (byName.has(name)) {
			throw new HoldfastError(
				"duplicate_tool",
				`Two tools are named "${name}". A model distinguishes tools by name: rename one of them.`,
				{ data: { name } },
			);
		}
		byName.set(name, remembered(tool, name));
	}
	return byName;
}

/** Whether a tool has a local function. A tool without one is remote. */
export function isLocalTool(tool: AnyTool): boolean {
	return formOf(tool) !== "remote";
}

function remembered(source: AnyTool, name: string): EngineTool {
	const before = known.get(source);
	const properties = { ...source } as Record<string, unknown>;
	if (before?.tool.name === name && haveSameValues(before.properties, properties)) return before.tool;
	const tool = build(source, name);
	known.set(source, { properties, tool });
	return tool;
}

function haveSameValues(left: Readonly<Record<string, unknown>>, right: Record<string, unknown>): boolean {
	const keys = Object.keys(left);
	return keys.length === Object.keys(right).length && keys.every((key) => left[key] === right[key]);
}

function build(source: AnyTool, name: string): EngineTool {
	const { parameters, validate } = named(name, () => inputOf(source, name));
	const { label } = source;
	const { toModelOutput } = source as ModelOutputTool;
	const form = formOf(source);
	if (form === "remote") refuseLocalOptions(source, name);
	const approval = approvalOf(source, name);
	const needsApproval = needsApprovalOf(source, name);
	return {
		name,
		description: descriptionOf(source),
		...(typeof label === "string" ? { label } : {}),
		parameters,
		source,
		form,
		kind: form === "remote" && !isRunByProvider(source) ? "remote" : "local",
		...sentOf(source),
		...resolveToolOptions(source, name),
		...(approval === undefined ? {} : { approval }),
		...(needsApproval === undefined ? {} : { needsApproval }),
		...(form === "ai-sdk" && typeof toModelOutput === "function"
			? { toModelOutput: (call) => (source as ModelOutputTool).toModelOutput?.(call) }
			: {}),
		validate,
		start: starterOf(source, form, name),
	};
}

/** A remote tool runs elsewhere, so options about an interrupted function have no effect on it. */
function refuseLocalOptions(source: AnyTool, name: string): void {
	for (const option of ["retryPolicy", "reconcile"] as const)
		if (source[option] !== undefined)
			throw invalidTool(
				`The tool "${name}" is remote, and \`${option}\` has no effect on it: no function runs here. Remove it, or give the tool a \`run\`.`,
			);
}

/** The provider knows the schema of a tool that it defines. If the schema cannot be read here, it is not checked here. */
function inputOf(source: AnyTool, name: string): ToolInput {
	try {
		return readToolInput(source, name);
	} catch (error) {
		if (!isProviderType((source as { type?: unknown }).type)) throw error;
		return readToolInput({ parameters: { type: "object" } }, name);
	}
}

/** The provider options of the AI SDK's tools. */
function sentOf(source: AnyTool): Pick<EngineTool, "metadata" | "strict" | "inputExamples" | "provider"> {
	const { metadata, providerOptions, strict, inputExamples, type, id, args } = source as Record<
		string,
		unknown
	>;
	const options = isObject(providerOptions)
		? providerOptions
		: isObject(metadata) && !isAiSdk(source)
			? metadata
			: undefined;
	return {
		...(options === undefined ? {} : { metadata: options as ProviderMetadata }),
		...(typeof strict === "boolean" ? { strict } : {}),
		...(Array.isArray(inputExamples) ? { inputExamples } : {}),
		...(isProviderType(type) && typeof id === "string"
			? { provider: { id, args: isObject(args) ? args : {} } }
			: {}),
	};
}

/** In AI SDK tools, `metadata` is for watchers; in other tools, it is for the provider. */
function isAiSdk(source: AnyTool): boolean {
	return source.inputSchema !== undefined;
}

function isProviderType(type: unknown): boolean {
	return type === "provider" || type === "provider-defined";
}

function isRunByProvider(source: AnyTool): boolean {
	const { type, isProviderExecuted, inputSchema } = source as Record<string, unknown>;
	if (!isProviderType(type) || formOf(source) !== "remote") return false;
	// In older AI SDK versions without the flag, a tool without a schema is the provider's.
	return isProviderExecuted === true || (isProviderExecuted === undefined && inputSchema === undefined);
}

function isObject(value: unknown): value is Record<string, unknown> {
	return typeof value === "object" && value !== null && !Array.isArray(value);
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
				if (isRunByProvider(source))
					throw invalidTool(`The tool "${name}" is run by its provider, not here.`);
				throw new HoldfastError(
					"remote_tool",
					`The tool "${name}" has no function here: it is remote. Send its result instead of running it.`,
					{ data: { name } },
				);
			};
	}
}

function call(source: AnyTool, ...parameters: unknown[]): unknown {
	return (source as { execute(...parameters: unknown[]): unknown }).execute(...parameters);
}

function approvalOf(source: AnyTool, name: string): EngineTool["approval"] {
	const given: unknown = source.approval;
	if (given === undefined) return undefined;
	if (typeof given !== "function")
		throw invalidTool(`The tool "${name}" has an \`approval\` that is not a function.`);
	return (params, context) => source.approval?.(params, context);
}

/** Only a boolean decides. Any other answer requires approval. */
function needsApprovalOf(source: AnyTool, name: string): EngineTool["needsApproval"] {
	const needsApproval: unknown = source.needsApproval;
	if (needsApproval === undefined || needsApproval === false) return undefined;
	if (needsApproval === true) return () => true;
	if (typeof needsApproval !== "function")
		throw invalidTool(`The tool "${name}" has a \`needsApproval\` that is neither a boolean nor a function.`);
	return (params, context) => {
		const answer: unknown = needsApproval.call(source, params, context);
		return isThenable(answer) ? Promise.resolve(answer).then((given) => given !== false) : answer !== false;
	};
}

function descriptionOf({ description, label }: AnyTool): string {
	// The AI SDK's descriptions may be functions of a context that is not available here.
	if (typeof description === "function") return String(description({ context: {} }));
	return typeof description === "string" ? description : (label ?? "");
}

function assertTool(tool: unknown, place: string): asserts tool is AnyTool {
	if (typeof tool === "function") {
		const name = tool.name === "" ? "the function" : `${tool.name}()`;
		throw invalidTool(`${place} is a function, not a tool. If it makes one, call it: ${name}.`);
	}
	if (typeof tool !== "object" || tool === null || Array.isArray(tool)) {
		const what = tool === null ? "null" : Array.isArray(tool) ? "an array" : `of type ${typeof tool}`;
		throw invalidTool(
			`${place} is ${what}, not a tool. Give an object with name, description, parameters and run.`,
		);
	}
	if (isThenable(tool)) throw invalidTool(`${place} is a promise. Await it first.`);
	const { generate, stream } = tool as { generate?: unknown; stream?: unknown };
	if (typeof generate === "function" && typeof stream === "function") {
		throw new HoldfastError(
			"agent_is_not_a_tool",
			`${place} is an agent. A tool needs a schema of its own: declare a Tool whose run calls the agent, ` +
				"or give the agent in `subagents`.",
		);
	}
}

function nameOf(tool: AnyTool, place: string): string {
	if (typeof tool.name === "string" && tool.name !== "") return tool.name;
	const { type, id } = tool as { type?: unknown; id?: unknown };
	if (isProviderType(type) && typeof id === "string" && id.includes("."))
		return id.slice(id.indexOf(".") + 1);
	throw invalidTool(`${place} has no name. Add \`name\`, or pass the tools as a record by name.`);
}

// Adds the tool's name to errors about a schema.
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
