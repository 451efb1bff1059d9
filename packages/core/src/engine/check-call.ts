// What becomes of a call before anything is recorded of it: it may start, or it has its result already.
import { messageOf, type Tool, type ToolCall } from "@holdfast/upp";
import type { Caller } from "../caller/index.ts";
import type { PendingCall, ToolCallOutcome, ToolStarted } from "../facts/index.ts";
import type { DrivenStages, ToolCallDecision } from "../policy/index.ts";
import type { ApprovalContext, EngineTool } from "../tools/index.ts";
import { withinCall } from "./call-scope.ts";
import type { EngineAgent } from "./engine-agent.ts";

/** A call that was looked at. */
export type CheckedCall =
	| {
			readonly kind: "start";
			readonly tool: EngineTool;
			readonly input: unknown;
			readonly approved?: boolean;
	  }
	| {
			readonly kind: "settled";
			readonly outcome: ToolCallOutcome;
			readonly result: unknown;
			readonly approved?: boolean;
	  }
	/** Somebody outside gives the result, or says whether it may run. */
	| { readonly kind: "pending"; readonly tool: EngineTool; readonly awaits: PendingCall["awaits"] };

/** A hook of the caller threw while a call was checked: the run fails with what it threw. */
export class HookFailed extends Error {
	override readonly cause: unknown;
	constructor(cause: unknown) {
		super("a tool hook threw");
		this.cause = cause;
	}
}

/** Said of a call whose process died inside it and that must not be run again. */
const unknownOutcome =
	"The outcome of this call is unknown: the process died while it ran. It may or may not have had its effect. It was not run again; find out before you repeat it.";

/** In what circumstances a call is looked at. */
export interface CallSetting {
	readonly agent: EngineAgent;
	readonly interceptors: DrivenStages;
	/** Names the session of its run among all of this process. */
	readonly processKey: string | undefined;
	/** Whether it may be left to somebody outside. */
	readonly mayWait: boolean;
	/** Whether somebody outside let it run. */
	readonly approved?: true | undefined;
	/** What those are given who are asked about it. */
	readonly sessionKey: string | undefined;
	readonly caller: Caller | undefined;
}

/** Looks at a call that was never started: what an interceptor says, the tool, its arguments, whether it may run. */
export function checkCall(setting: CallSetting, call: ToolCall): CheckedCall | Promise<CheckedCall> {
	const { toolCall } = setting.interceptors;
	if (toolCall === undefined) return checkInput(setting, call, call.arguments);
	return intercepted(setting, call, toolCall);
}

async function intercepted(
	setting: CallSetting,
	call: ToolCall,
	toolCall: NonNullable<DrivenStages["toolCall"]>,
): Promise<CheckedCall> {
	const { toolCallId, toolName, arguments: input } = call;
	let decision: ToolCallDecision | undefined;
	try {
		decision = await toolCall({ toolCallId, toolName, input });
	} catch (error) {
		throw new HookFailed(error);
	}
	switch (decision?.action) {
		case "modify":
			return checkInput(setting, call, decision.input);
		case "reject-and-continue":
			return skipped(decision.message);
		case "synthesize":
			return { kind: "settled", outcome: "done", result: decision.output };
		case "error":
			throw new HookFailed(decision.error);
		default:
			return checkInput(setting, call, input);
	}
}

function checkInput(
	setting: CallSetting,
	call: ToolCall,
	input: unknown,
): CheckedCall | Promise<CheckedCall> {
	const { agent } = setting;
	const tool = agent.tools.get(call.toolName);
	if (tool === undefined) {
		const names = [...agent.tools.keys()];
		const available =
			names.length === 0 ? "No tools are available." : `Available tools: ${names.join(", ")}.`;
		return failedCall(`There is no tool "${call.toolName}". ${available}`);
	}
	if (tool.kind === "remote" && !setting.mayWait) {
		return failedCall(
			`The tool "${call.toolName}" has no function here and nobody is connected who could run it.`,
		);
	}
	if (call.invalidArguments !== undefined && input === call.arguments) {
		const given = call.invalidArguments.slice(0, 200);
		return failedCall(`The arguments of "${call.toolName}" are not a JSON object: ${given}`);
	}
	const uncheckable = (error: unknown): CheckedCall =>
		failedCall(`The arguments of "${call.toolName}" could not be checked: ${messageOf(error)}`);
	try {
		const validated = tool.validate(input);
		if (!(validated instanceof Promise)) return permit(setting, call, tool, validated);
		return validated.then((checked) => permit(setting, call, tool, checked), uncheckable);
	} catch (error) {
		return uncheckable(error);
	}
}

/**
 * A call that was started before and never settled: it continues where it waited for its sub-agent, and follows its tool's
 * retry policy where a crash cut it off.
 */
export function recoverCall(
	tool: EngineTool | undefined,
	call: ToolCall,
	started: ToolStarted,
	left: "waited" | "cut-off",
	processKey: string | undefined,
): CheckedCall | Promise<CheckedCall> {
	const unknown: CheckedCall = { kind: "settled", outcome: "unknown", result: unknownOutcome };
	if (tool === undefined) return unknown;
	const input = started.input ?? call.arguments;
	const again: CheckedCall = { kind: "start", tool, input };
	if (left === "waited" || tool.retryPolicy !== "manual-recovery") return again;
	if (tool.reconcile === undefined) return unknown;
	const { reconcile } = tool;
	return withinCall(processKey, () => reconciled(reconcile, started.idempotencyKey, input, again));
}

/** The result of a call that cannot or may not run. */
export function failedCall(result: string): CheckedCall {
	return { kind: "settled", outcome: "error", result };
}

function permit(
	setting: CallSetting,
	call: ToolCall,
	tool: EngineTool,
	checked: Awaited<ReturnType<EngineTool["validate"]>>,
): CheckedCall | Promise<CheckedCall> {
	if (!checked.ok) return failedCall(checked.message);
	const { onToolCall, onBeforeCall } = setting.agent.toolStrategy;
	const { approval, needsApproval } = tool;
	if ((onToolCall ?? onBeforeCall ?? approval) !== undefined)
		return withinCall(setting.processKey, () => asked(setting, call, tool, checked.value));
	if (needsApproval === undefined || setting.approved === true)
		return passed(tool, checked.value, setting.approved);
	return withinCall(setting.processKey, () => askedIfNeeded(setting, call, tool, checked.value));
}

/** A promise only where the tool needs time to say whether it needs an approval: else the call starts with what asked for it. */
function askedIfNeeded(
	setting: CallSetting,
	call: ToolCall,
	tool: EngineTool,
	input: unknown,
): CheckedCall | Promise<CheckedCall> {
	const after = (isNeeded: boolean | undefined): CheckedCall => {
		if (isNeeded !== true) return passed(tool, input, setting.approved);
		return setting.mayWait ? { kind: "pending", tool, awaits: "approval" } : notApproved(tool);
	};
	const failed = (error: unknown): Promise<never> => Promise.reject(new HookFailed(error));
	try {
		const answer = tool.needsApproval?.(input, approvalContext(setting, call));
		return answer instanceof Promise ? answer.then(after, failed) : after(answer);
	} catch (error) {
		return failed(error);
	}
}

function approvalContext({ sessionKey, caller }: CallSetting, { toolCallId }: ToolCall): ApprovalContext {
	return {
		toolCallId,
		...(sessionKey === undefined ? {} : { sessionKey }),
		...(caller === undefined ? {} : { caller }),
	};
}

/** Nothing is in the way of the call any more. */
function passed(tool: EngineTool, input: unknown, approved: boolean | undefined): CheckedCall {
	if (tool.kind === "remote") return { kind: "pending", tool, awaits: "result" };
	return approved === undefined ? { kind: "start", tool, input } : { kind: "start", tool, input, approved };
}

async function asked(
	setting: CallSetting,
	call: ToolCall,
	tool: EngineTool,
	value: unknown,
): Promise<CheckedCall> {
	const context = approvalContext(setting, call);
	const strategy = setting.agent.toolStrategy;
	const source = tool.source as Tool;
	let input = value;
	// What is said of the call by those who may say it: only a boolean decides, and anything else asks.
	let asks = false;
	let approved: boolean | undefined = setting.approved;
	try {
		await strategy.onToolCall?.(source, input);
		if (strategy.onBeforeCall !== undefined) {
			const decision: unknown = (await strategy.onBeforeCall(source, input)) ?? true;
			const { proceed, params } =
				typeof decision === "object"
					? (decision as { proceed?: unknown; params?: unknown })
					: { proceed: decision, params: undefined };
			if (proceed === false) return skipped(`The call of "${tool.name}" was skipped: it was not permitted.`);
			if (proceed !== true) asks = true;
			if (params !== undefined) input = params;
		}
		if (tool.approval !== undefined) {
			const permitted = await tool.approval(input, context);
			if (permitted === false) return notApproved(tool);
			if (permitted === true) approved = true;
			else asks = true;
		}
		if (setting.approved !== true && (await tool.needsApproval?.(input, context)) === true) asks = true;
	} catch (error) {
		throw new HookFailed(error);
	}
	if (asks && setting.approved !== true)
		return setting.mayWait ? { kind: "pending", tool, awaits: "approval" } : notApproved(tool);
	return passed(tool, input, approved);
}

async function reconciled(
	reconcile: NonNullable<EngineTool["reconcile"]>,
	idempotencyKey: string,
	input: unknown,
	again: CheckedCall,
): Promise<CheckedCall> {
	let found: Awaited<ReturnType<typeof reconcile>>;
	try {
		found = await reconcile({ idempotencyKey, input });
	} catch (error) {
		const result = `${unknownOutcome} (Asking for it failed: ${messageOf(error)})`;
		return { kind: "settled", outcome: "unknown", result };
	}
	if (found === undefined) return { kind: "settled", outcome: "unknown", result: unknownOutcome };
	if ("retry" in found) return again;
	if ("error" in found) return failedCall(messageOf(found.error));
	return { kind: "settled", outcome: "done", result: found.result };
}

function notApproved({ name }: EngineTool): CheckedCall {
	return {
		kind: "settled",
		outcome: "skipped",
		result: `The call of "${name}" was not approved.`,
		approved: false,
	};
}

function skipped(result: string): CheckedCall {
	return { kind: "settled", outcome: "skipped", result };
}
