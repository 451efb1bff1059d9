// The hooks around a tool call: each handler sees the call or its result as the earlier handlers changed it.

import { plainJson } from "../../tools/index.ts";
import type {
	InterceptedCall,
	InterceptedResult,
	ReplacedResult,
	Stages,
	ToolCallDecision,
} from "../interceptor.ts";
import type { PluginTurn } from "../policy-run.ts";
import { guarded, hookContext, type Listener, pluginFailed, textOf } from "./hook-table.ts";
import type { PluginHooks, ToolResultReplacement } from "./plugin.ts";

/** Returns the decision of the handlers about a call. */
export async function decideCall(
	{ plugin, handler }: Listener<PluginHooks["tool.call"]>,
	turn: PluginTurn,
	agentSessionKey: string,
	{ toolCallId, toolName, input }: InterceptedCall,
): Promise<ToolCallDecision | undefined> {
	const context = Object.assign(hookContext(turn, agentSessionKey), {
		stepIndex: turn.stepIndex(),
		toolCallId,
		tool: toolName,
		input: copyOf(input),
	});
	const decision = await guarded(plugin, "tool.call", () => handler(context));
	switch (decision?.action) {
		case undefined:
			if (decision !== undefined && decision !== null) throw unknownDecision(plugin, decision);
			return undefined;
		case "allow":
			return undefined;
		case "modify":
			return { action: "modify", input: decision.input };
		case "reject-and-continue":
			return { action: "reject-and-continue", message: String(decision.message ?? notPermitted(toolName)) };
		case "synthesize":
			return { action: "synthesize", output: await plain(plugin, "tool.call", decision.output) };
		case "error":
			return { action: "error", error: pluginFailed(plugin, "tool.call", decision.error) };
		default:
			throw unknownDecision(plugin, decision);
	}
}

/** The text for the model when a plugin rejects a call without a message. */
function notPermitted(toolName: string): string {
	return `The call of "${toolName}" was not permitted.`;
}

/** Returns the result after the handlers. */
export async function replaceResult(
	{ plugin, handler }: Listener<PluginHooks["tool.result"]>,
	turn: PluginTurn,
	agentSessionKey: string,
	{ toolCallId, toolName, input, status, output, error }: InterceptedResult,
): Promise<ReplacedResult> {
	const result: ReplacedResult = { status, output, ...(status === "done" ? {} : { error }) };
	const context = Object.assign(hookContext(turn, agentSessionKey), {
		stepIndex: turn.stepIndex(),
		toolCallId,
		tool: toolName,
		input: copyOf(input),
		...result,
	});
	const replacement = await guarded(plugin, "tool.result", () => handler(context));
	if (replacement === undefined || replacement === null) return result;
	const replaced = resultOf(plugin, replacement);
	return { ...replaced, output: await plain(plugin, "tool.result", replaced.output) };
}

/** Returns the stages that pass each result, in the form in which it will be recorded, to a handler. */
export function recordStages(
	{ plugin, handler }: Listener<PluginHooks["result.record"]>,
	turn: PluginTurn,
): Stages {
	return {
		admits: ["tool.settled"],
		deltas: "as-is",
		async admit(fact) {
			if (fact.kind !== "tool.settled") return;
			const { callId: toolCallId, outcome, result: output } = fact;
			const replacement = await handler(Object.assign(hookContext(turn), { toolCallId, outcome, output }));
			if (replacement === undefined || replacement === null) return;
			return { fact: { ...fact, result: await plain(plugin, "result.record", replacement.output) } };
		},
	};
}

function resultOf(plugin: string, replacement: ToolResultReplacement): ReplacedResult {
	const { status } = replacement;
	if (status === "done") return { status, output: replacement.output };
	if (status === "error" || status === "cancelled") {
		const { error } = replacement;
		return { status, error, output: replacement.output ?? textOf(error ?? status) };
	}
	const wrong = new TypeError(
		`It returned the status ${JSON.stringify(status)}. Return "done", "error" or "cancelled", or nothing.`,
	);
	throw pluginFailed(plugin, "tool.result", wrong);
}

function unknownDecision(plugin: string, decision: unknown): Error {
	const { action } = decision as { action?: unknown };
	const wrong = new TypeError(
		`It returned the action ${JSON.stringify(action)}. Return "allow", "modify", "reject-and-continue", "synthesize" or "error", or nothing.`,
	);
	return pluginFailed(plugin, "tool.call", wrong);
}

/** Converts an output to a form that a journal and a model can hold. */
function plain(plugin: string, hook: string, output: unknown): Promise<unknown> {
	return guarded(plugin, hook, () => plainJson(output));
}

/**
 * Returns a copy that a handler may change without changing the call. A value that cannot be copied is passed unchanged.
 */
function copyOf(input: unknown): unknown {
	try {
		return structuredClone(input);
	} catch {
		return input;
	}
}
