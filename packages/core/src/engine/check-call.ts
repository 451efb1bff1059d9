// Checks a call before anything about it is recorded. The call then either may start or already has its result.
import { after, attempt, cutText, HoldfastError, messageOf, type Tool, type ToolCall } from "@holdfast/upp";
import type { Caller } from "../caller/index.ts";
import type { OfferedTools, PendingCall, ToolCallOutcome } from "../facts/index.ts";
import type { MaybePromise } from "../host/index.ts";
import type { DrivenStages, ToolCallDecision } from "../policy/index.ts";
import type { ApprovalContext, EngineTool, ValidatedInput } from "../tools/index.ts";
import { withinCall } from "./call-scope.ts";
import type { EngineAgent } from "./engine-agent.ts";
import { toolOf } from "./tool-of.ts";

/** The outcome of checking a call. */
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
			/** For watchers; the model does not see it. */
			readonly details?: unknown;
			readonly approved?: boolean;
	  }
	/** The result or an approval comes from outside. */
	| {
			readonly kind: "pending";
			readonly tool: EngineTool;
			readonly awaits: PendingCall["awaits"];
			/** The input that is shown, approved and used for the run. */
			readonly input: unknown;
			/** The input that was passed to the schema. */
			readonly given: unknown;
	  };

/** Thrown if a user's hook throws while a call is checked. The run fails with the original error. */
export class HookFailed extends Error {
	override readonly cause: unknown;
	constructor(cause: unknown) {
		super("a tool hook threw");
		this.cause = cause;
	}
}

/** The context in which a call is checked. */
export interface CallSetting {
	readonly agent: EngineAgent;
	readonly interceptors: DrivenStages;
	/** Identifies the run's session within this process. */
	readonly processKey: string | undefined;
	/** Whether the call may wait for an outside answer. */
	readonly mayWait: boolean;
	/** The context of approval functions. */
	readonly sessionKey: string | undefined;
	readonly caller: Caller | undefined;
	/** The tools that the model was sent. Default: a strategy made the call, which may use all tools. */
	readonly offered?: OfferedTools | undefined;
}

/** Checks a call that was never started: interceptors, the tool's existence, its arguments, and its approval. */
export function checkCall(setting: CallSetting, call: ToolCall): CheckedCall | Promise<CheckedCall> {
	const { toolCall } = setting.interceptors;
	// Hooks never receive an incomplete call, because they might complete it differently.
	if (call.invalidArguments === "") return cutOff(call);
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
	const tool = availableTool(setting, call);
	if (tool === undefined) return failedCall(noSuchTool(setting, call));
	if (tool.kind === "remote" && !setting.mayWait) {
		const remedy = "Run the agent in a session and answer the call there, or give the tool a function.";
		return unasked(
			new HoldfastError(
				"remote_tool_unavailable",
				`The call of "${tool.name}" was not run: the tool is remote, and this run cannot wait for its result. ${remedy}`,
			),
		);
	}
	if (call.invalidArguments !== undefined && input === call.arguments) {
		const given = cutText(call.invalidArguments, 200);
		return failedCall(`The arguments of "${call.toolName}" are not a JSON object: ${given}`);
	}
	const way: CallOnItsWay = { call, tool, given: input };
	const checked = validate(tool, input);
	return checked instanceof Promise ? judgedLater(setting, way, checked) : judged(setting, way, checked);
}

/** A call to a tool that the model was not sent is refused like a call to an unknown tool. */
function availableTool({ agent, offered }: CallSetting, call: ToolCall): EngineTool | undefined {
	const tool = toolOf(agent, call);
	if (tool === undefined || offered === undefined || call.approvalId !== undefined) return tool;
	const { active, loaded } = offered;
	if (active !== undefined) return active.includes(tool.name) ? tool : undefined;
	return tool.loadedBy === undefined || loaded.includes(tool.name) ? tool : undefined;
}

function noSuchTool({ agent, offered }: CallSetting, { toolName }: ToolCall): string {
	const { active, loaded = [] } = offered ?? {};
	const { loadedBy } = agent.tools.get(toolName) ?? {};
	if (loadedBy !== undefined && (active === undefined || active.includes(loadedBy)))
		return `The tool "${toolName}" is not loaded, so it did not run. Call "${loadedBy}" to load it, then call it again.`;
	const sent = active ?? [...agent.toolList.map(({ name }) => name), ...loaded];
	// The journal may name tools that the agent no longer has.
	const names = sent.filter((name) => agent.tools.has(name));
	const available = names.length === 0 ? "No tools are available." : `Available tools: ${names.join(", ")}.`;
	const isKnown = agent.tools.has(toolName);
	return `${isKnown ? `The tool "${toolName}" is not available in this step.` : `There is no tool "${toolName}".`} ${available}`;
}

function judged(
	setting: CallSetting,
	way: CallOnItsWay,
	checked: ValidatedInput,
): CheckedCall | Promise<CheckedCall> {
	return checked.ok ? permit(setting, way, checked.value) : failedCall(checked.message);
}

// Separate from the check itself, which runs for every call and thus needs no closure.
async function judgedLater(
	setting: CallSetting,
	way: CallOnItsWay,
	checking: Promise<ValidatedInput>,
): Promise<CheckedCall> {
	return judged(setting, way, await checking);
}

/** A call being checked: its tool, and the input to the tool's schema. */
interface CallOnItsWay {
	readonly call: ToolCall;
	readonly tool: EngineTool;
	readonly given: unknown;
}

/** Continues with the validation of an input. A validation that throws counts as an invalid input. */
export function validated<Value>(
	tool: EngineTool,
	input: unknown,
	then: (checked: ValidatedInput) => Value | Promise<Value>,
): Value | Promise<Value> {
	return after(validate(tool, input), then);
}

function validate(tool: EngineTool, input: unknown): MaybePromise<ValidatedInput> {
	try {
		const checked = tool.validate(input);
		return checked instanceof Promise ? checkable(tool, checked) : checked;
	} catch (error) {
		return uncheckable(tool, error);
	}
}

function checkable(tool: EngineTool, checking: Promise<ValidatedInput>): Promise<ValidatedInput> {
	return checking.catch((error) => uncheckable(tool, error));
}

function uncheckable({ name }: EngineTool, error: unknown): ValidatedInput {
	const message = `The arguments of "${name}" could not be checked: ${messageOf(error)}`;
	return { ok: false, message, issues: [] };
}

/** The answer ended in the middle of the call. */
function cutOff({ toolName }: ToolCall): CheckedCall {
	return failedCall(
		`The answer was cut off before the call of "${toolName}" was complete, so it was not run. Call it again.`,
	);
}

/** Creates the result of a call that cannot run or is not allowed to. */
export function failedCall(result: string): CheckedCall {
	return { kind: "settled", outcome: "error", result };
}

function permit(setting: CallSetting, way: CallOnItsWay, value: unknown): CheckedCall | Promise<CheckedCall> {
	const { tool } = way;
	const { onToolCall, onBeforeCall } = setting.agent.toolStrategy;
	const { approval, needsApproval } = tool;
	if ((onToolCall ?? onBeforeCall ?? approval) !== undefined)
		return withinCall(setting.processKey, () => asked(setting, way, value));
	if (needsApproval === undefined) return passed(way, value, undefined);
	return withinCall(setting.processKey, () => askedIfNeeded(setting, way, value));
}

/**
 * Returns a promise only if the tool needs time to decide whether it requires approval; otherwise the call starts in the
 * append that requests it.
 */
function askedIfNeeded(
	setting: CallSetting,
	way: CallOnItsWay,
	input: unknown,
): CheckedCall | Promise<CheckedCall> {
	return attempt(
		() => way.tool.needsApproval?.(input, approvalContext(setting, way.call)),
		(isNeeded) => (isNeeded === true ? asking(setting, way, input) : passed(way, input, undefined)),
		(error) => Promise.reject(new HookFailed(error)),
	);
}

function approvalContext({ sessionKey, caller }: CallSetting, { toolCallId }: ToolCall): ApprovalContext {
	return {
		toolCallId,
		...(sessionKey === undefined ? {} : { sessionKey }),
		...(caller === undefined ? {} : { caller }),
	};
}

/** Nothing prevents the call. */
function passed({ tool, given }: CallOnItsWay, input: unknown, approved: boolean | undefined): CheckedCall {
	if (tool.kind === "remote") return { kind: "pending", tool, awaits: "result", input, given };
	return approved === undefined ? { kind: "start", tool, input } : { kind: "start", tool, input, approved };
}

/** Requires a person's decision. If there is no way to ask, the call does not run, but does not count as denied. */
function asking({ mayWait }: CallSetting, { tool, given }: CallOnItsWay, input: unknown): CheckedCall {
	if (mayWait) return { kind: "pending", tool, awaits: "approval", input, given };
	const remedy =
		"Run the agent in a session and answer the call there, or let the tool's `approval` function decide.";
	return unasked(
		new HoldfastError(
			"approval_unavailable",
			`The call of "${tool.name}" was not run: it requires approval, and this run cannot wait for a person. ${remedy}`,
		),
	);
}

/** Returns the result of a call that needs an outside answer, in a run that cannot wait. */
function unasked({ code, message }: HoldfastError): CheckedCall {
	return { kind: "settled", outcome: "error", result: `${message} (${code})`, details: { code } };
}

async function asked(setting: CallSetting, way: CallOnItsWay, value: unknown): Promise<CheckedCall> {
	const { tool } = way;
	const strategy = setting.agent.toolStrategy;
	const source = tool.source as Tool;
	let input = value;
	// Only a boolean decides; any other value requires approval.
	let asks = false;
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
	} catch (error) {
		throw new HookFailed(error);
	}
	const permission = await permissionOf(setting, way, input);
	if (permission === "denied") return notApproved(tool);
	if (asks || permission === "asks") return asking(setting, way, input);
	return passed(way, input, tool.approval === undefined ? undefined : true);
}

/** Returns the tool's own approval decision for this input. Rejects with `HookFailed`. */
export async function permissionOf(
	setting: CallSetting,
	{ call, tool }: Pick<CallOnItsWay, "call" | "tool">,
	input: unknown,
): Promise<"granted" | "asks" | "denied"> {
	const context = approvalContext(setting, call);
	try {
		const permitted = tool.approval === undefined || (await tool.approval(input, context));
		if (permitted === false) return "denied";
		const isNeeded = permitted !== true || (await tool.needsApproval?.(input, context)) === true;
		return isNeeded ? "asks" : "granted";
	} catch (error) {
		throw new HookFailed(error);
	}
}

export function notApproved({ name }: EngineTool): CheckedCall {
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
