// Runs one call of a model, or one that was queued or invoked, as the running prompt defines the name. A call that cannot
// run gets an error as its result, and never ends the loop.
import { after, isThenable, messageOf } from "@holdfast/upp";
import type { ToolContext } from "holdfast";
import type { NamespaceContext, ProjectItem, ThreadState, ToolArgs, ToolResult } from "../types/index.ts";
import type { Callable } from "./callable.ts";
import { boundName, boundText, sideOf } from "./flow.ts";
import type { LiveRun } from "./live-run.ts";
import { callMcp } from "./mcp-tools.ts";
import { askWhole, modelsOf } from "./model-binding.ts";
import { recordCall, tokensOf } from "./model-calls.ts";
import { callName } from "./project-index.ts";
import { assembleRequest, logged } from "./request.ts";
import { hookCall, type StoredResult } from "./row.ts";
import { callAgent, createAgent, isOffered, messageAgent } from "./subagents.ts";
import type { ThreadSystem } from "./system.ts";
import { costOf, failedCall } from "./thread-model.ts";

/** The context of a call. */
export interface CallParts {
	readonly system: ThreadSystem;
	readonly threadId: string;
	/** Absent outside an execution. */
	readonly live: LiveRun | undefined;
}

/** Executes a call of the model. */
export async function executeCall(
	system: ThreadSystem,
	live: LiveRun,
	name: string,
	args: Record<string, unknown>,
	context: ToolContext,
): Promise<StoredResult> {
	const loading = live.ready();
	if (loading !== undefined) await loading;
	const { index } = live;
	const collected = live.collect();
	let result: ToolResult;
	try {
		result = await carriedOut(system, live, name, args, context);
	} finally {
		collected.end();
	}
	const { signals } = collected;
	if (sideOf(index, live.flow).config?.sessionStatus !== undefined)
		await publishStatus(
			system,
			live,
			{ toolCallId: context.toolCallId, toolName: name, arguments: args },
			result,
		);
	const stored = result as StoredResult;
	return signals === undefined ? stored : { ...stored, signals };
}

/** Resolves a name and runs its call. */
function carriedOut(
	system: ThreadSystem,
	live: LiveRun,
	name: string,
	args: Record<string, unknown>,
	context: ToolContext,
): ToolResult | Promise<ToolResult> {
	const { index, flow, threadId } = live;
	const prompt = index.promptOf(flow);
	const listed = index.callable(prompt, name);
	const queued = flow.isQueued ? visibleTool(live, prompt.namespace, name) : undefined;
	const env = live.environment(prompt);
	const call = (offered: Callable | undefined): ToolResult | Promise<ToolResult> => {
		// A tool that is no longer offered can still be called; its result explains why it cannot run.
		const callable = queued ?? offered ?? (listed?.kind === "create" ? listed : undefined);
		if (callable === undefined) return failure(`There is no tool ${JSON.stringify(name)}.`);
		switch (callable.kind) {
			case "tool":
				return runTool({ system, live, threadId }, callable, args);
			case "mcp":
				return callMcp(callable, args, context);
			case "provider":
				return failure(`The tool "${name}" is executed by the provider, not here.`);
			case "prompt":
				return callPrompt(system, live, callable, args, context);
			case "handoff":
				return handOff(system, live, callable.item.name);
			case "agent":
				return callAgent(system, live, callable, args, context);
			case "create":
				return createAgent(system, live, callable, args, context);
			default:
				return messageAgent(system, live, args, context);
		}
	};
	const offered = listed && isOffered(system, live, listed, env);
	return after(offered, call);
}

/** Hands the thread over to another agent. */
async function handOff(system: ThreadSystem, live: LiveRun, agent: string): Promise<ToolResult> {
	await system.records.change(live.threadId, () => ({ agentId: agent }));
	live.signalled({ handoff: agent });
	return { status: "success", result: `The agent "${agent}" takes over.` };
}

/** Returns a tool by the name that a call uses for it. */
function visibleTool(
	{ index }: LiveRun,
	namespace: NamespaceContext,
	name: string,
): Extract<Callable, { kind: "tool" }> | undefined {
	const direct = index.tool(namespace, name);
	if (direct !== undefined) return direct;
	const named = index.project.names(namespace, "tool").find((each) => callName(each) === name);
	return named === undefined ? undefined : index.tool(namespace, named);
}

/** A tool that reports on the session sets the thread's status. */
async function publishStatus(
	system: ThreadSystem,
	{ index, flow, threadId }: LiveRun,
	call: Parameters<typeof boundText>[1],
	result: ToolResult,
): Promise<void> {
	const binding = sideOf(index, flow).config?.sessionStatus;
	if (binding === undefined || boundName(binding) !== call.toolName || result.status === "error") return;
	const status = boundText(binding, call, result as StoredResult);
	await system.records.change(threadId, () => ({ status }));
	system.emit(threadId, "status", { status });
}

/** Runs a tool of the project. Never rejects. */
export async function runTool(
	{ system, live, threadId }: CallParts,
	callable: Extract<Callable, { kind: "tool" }>,
	given: Record<string, unknown>,
): Promise<ToolResult> {
	const { item, name, config } = callable;
	const { definition } = item;
	if (definition.executionMode === "provider")
		return failure(`The tool "${name}" is executed by the provider, not here.`);
	try {
		const args = definition.args === null ? { value: given } : await readArguments(definition.args, given);
		if ("error" in args) return failure(`The arguments of "${name}" are invalid: ${args.error}`);
		const known = live?.hasChildren === false ? live.states.get(callable) : undefined;
		const record = live?.place.record ?? (await system.records.get(threadId));
		if (record === undefined) return failure("The thread was deleted.");
		const tool = { namespace: item.namespace, uses: definition.uses, env: config.env };
		const state = known ?? (await system.state(record, { live, tool }));
		live?.states.set(callable, state);
		// For a definition without `tenvs`, the value is null.
		if (definition.variables.length > 0 || definition.tenvs) {
			const missing = await missingValue(definition, state);
			if (missing !== undefined) return failure(`The tool "${name}" cannot run: ${missing}`);
		}
		const { execute } = definition;
		const returned: unknown = definition.args === null ? execute(state) : execute(state, args.value);
		return readToolResult(isThenable(returned) ? await returned : returned, name);
	} catch (error) {
		return failed(error);
	}
}

async function readArguments(
	schema: ToolArgs | null,
	given: Record<string, unknown>,
): Promise<{ readonly value: unknown } | { readonly error: string }> {
	if (schema === null) return { value: given };
	const parsed = await schema.safeParseAsync(given);
	if (parsed.success) return { value: parsed.data };
	const issues = parsed.error.issues.map(({ path, message }) => {
		const at = path.length === 0 ? "" : `${path.map(String).join(".")}: `;
		return `${at}${message}`;
	});
	return { error: issues.join("; ") };
}

/** Returns the environment value that a tool requires and that is not set. */
async function missingValue(
	{ tenvs, variables }: ProjectItem<"tool">["definition"],
	state: ThreadState,
): Promise<string | undefined> {
	const has = async (name: string): Promise<boolean> =>
		state.env(name).then(
			() => true,
			() => false,
		);
	for (const { name, required, description } of variables)
		if (required && !(await has(name)))
			return `the variable ${JSON.stringify(name)} (${description}) is not set.`;
	for (const [name, schema] of Object.entries(tenvs?.shape ?? {})) {
		const value = (await has(name)) ? await state.env(name) : undefined;
		const parsed = await schema.safeParseAsync(value);
		if (!parsed.success)
			return `the thread's environment value ${JSON.stringify(name)} is not set, or is invalid.`;
	}
	return undefined;
}

/** Returns the value that a tool returned, if it is a result. */
function readToolResult(given: unknown, name: string): ToolResult {
	const { status, result, error, stack, attachments } = (given ?? {}) as Partial<ToolResult>;
	if (status !== "success" && status !== "error")
		return failure(`The tool "${name}" returned no result: its \`status\` must be "success" or "error".`);
	const text = (value: unknown): string =>
		typeof value === "string" ? value : (JSON.stringify(value) ?? "");
	const read: ToolResult = { status };
	if (result !== undefined) read.result = text(result);
	if (error !== undefined) read.error = text(error);
	if (stack !== undefined) read.stack = text(stack);
	if (Array.isArray(attachments)) read.attachments = attachments;
	return read;
}

function failed(error: unknown): ToolResult {
	const stack = error instanceof Error ? error.stack : undefined;
	return { status: "error", error: messageOf(error), ...(stack === undefined ? {} : { stack }) };
}

function failure(error: string): ToolResult {
	return { status: "error", error };
}

/** Calls a prompt as a tool: one call of its model, whose text is the result. */
async function callPrompt(
	system: ThreadSystem,
	live: LiveRun,
	{ item, config, name }: Extract<Callable, { kind: "prompt" }>,
	given: Record<string, unknown>,
	context: ToolContext,
): Promise<ToolResult> {
	const { definition } = item;
	const { includeTextResponse = true, includeToolCalls = true, includeErrors = true } = config;
	const args = await readArguments((definition.requiredSchema as ToolArgs | undefined) ?? null, given);
	if ("error" in args) return failure(`The arguments of "${name}" are invalid: ${args.error}`);
	const before = live.promptPath;
	live.promptPath = [...before, definition.name];
	try {
		const { place } = live;
		const env = system.parts.environment(place, {
			agent: live.index.agent(live.flow.agent)?.env,
			prompt: definition.env,
		});
		const named = given[config.initUserMessageProperty ?? "message"];
		const text = typeof named === "string" ? named : JSON.stringify(args.value);
		const assembled = await assembleRequest({
			system,
			live,
			prompt: item,
			env,
			place,
			input: { role: "user", content: text },
		});
		const { threadId } = live;
		const { response, model: answeredBy } = await askWhole({
			models: await modelsOf(live.index, item, env),
			signal: context.signal,
			limits: system.limits,
			request: (model) => logged(system, threadId, model, assembled(model)),
			failed({ item: { name: model } }, error, isLast) {
				const message = `The model "${model}" failed: ${messageOf(error)}`;
				system.log({ threadId, level: isLast ? "error" : "warn", topic: "model", message, data: { model } });
				void failedCall(system, live, item, model, error.code);
			},
		});
		const cost = costOf(answeredBy.item.definition, response.usage);
		await recordCall(system.host, system.storeKeyOf(threadId), system.newId(), {
			model: answeredBy.item.name,
			prompt: item.name,
			createdAt: system.now(),
			...tokensOf(response.usage),
			...(cost === undefined ? {} : { cost }),
		});
		const { message } = response;
		const said = includeTextResponse ? [message.text] : [];
		const calls = includeToolCalls ? (message.toolCalls ?? []).map(hookCall) : [];
		if (calls.length > 0) said.push(JSON.stringify({ tool_calls: calls }));
		return { status: "success", result: said.filter((each) => each !== "").join("\n") };
	} catch (error) {
		context.signal.throwIfAborted();
		throwWait(context, error);
		return includeErrors ? failed(error) : failure(`The prompt "${name}" failed.`);
	} finally {
		live.promptPath = before;
	}
}

/** Makes the call wait for a busy provider, if the thread waits for its models. */
function throwWait(context: ToolContext, error: unknown): void {
	const waiting = context as Partial<{ waitForModel(error: unknown): Error | undefined }>;
	const wait = waiting.waitForModel?.(error);
	if (wait !== undefined) throw wait;
}
