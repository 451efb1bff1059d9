// Joins several interceptors: each stage calls those that have it, in order. Unused stages are absent, so they cost
// nothing.
import { HoldfastError, isAssistantMessage, isMessage, isThenable, type Message } from "@holdfast/upp";
import type { Entry } from "../facts/index.ts";
import type { MaybePromise } from "../host/index.ts";
import type { GenerateResult } from "../state/index.ts";
import type { AgentPolicy } from "./agent-policy.ts";
import { AssembledRequest } from "./assembled-request.ts";
import type {
	InterceptedCall,
	InterceptedResult,
	ModelAnswer,
	ReplacedResult,
	Stages,
	ToolCallDecision,
} from "./interceptor.ts";
import { isOwnView } from "./own-views.ts";

/** The stages of one interceptor, with its name. */
export interface NamedStages {
	readonly name: string;
	readonly stages: Stages;
	readonly answersMayNotWait?: boolean;
	/** Set if the stages never hold for a sub-agent that works under the policy. */
	readonly notBelow?: true;
	/** Set if `toolResult` removes nothing from results. */
	readonly addsToResults?: true;
}

/** The stages that the engine calls during a run. Those around it, and `admit`, are joined elsewhere. */
export type DrivenStages = Omit<
	Stages,
	"before" | "after" | "onError" | "admit" | "admits" | "deltas" | "waits" | "assemble"
> & {
	/** Returns the messages that the model sees. Default of `request`: that of messages of no session. */
	assemble?(messages: readonly Message[], request?: AssembledRequest): MaybePromise<readonly Message[]>;
	/**
	 * Names of the interceptors that have `toolCall`: an input that passed different ones may not be valid under these.
	 */
	readonly toolCallBy?: readonly string[];
	/** For a recorded run: applies `after` and `onError` to its result, which is recorded before the end of the run. */
	leaving?(end: () => Promise<GenerateResult>): Promise<GenerateResult>;
	/** Set if a `toolResult` may remove something from a result, so that no output is emitted before it. */
	readonly withholdsOutput?: true;
	/** The policy that the stages are from. */
	readonly agentPolicy?: AgentPolicy;
	/** Set if an `admit` receives answers, and its entry does not declare its effect on those in an inbox. */
	readonly answersMayNotWait?: true;
};

/** Joins the stages of a list. */
export function joinStages(list: readonly NamedStages[]): DrivenStages {
	const turnBefore = all(list, "turnBefore");
	const stepBefore = all(list, "stepBefore");
	const stepAfter = all(list, "stepAfter");
	const stop = all(list, "stop");
	const assemble = all(list, "assemble");
	const modelCall = all(list, "modelCall");
	const toolCall = all(list, "toolCall");
	const toolResult = all(list, "toolResult");
	const committed = all(list, "committed");
	const continues = all(list, "continues");
	return {
		...(turnBefore && { turnBefore: () => each(turnBefore, (stage) => stage()) }),
		...(stepBefore && { stepBefore: (step) => each(stepBefore, (stage) => stage(step)) }),
		...(stepAfter && { stepAfter: (step) => each(stepAfter, (stage) => stage(step)) }),
		...(stop && { stop: (state) => any(stop.map((stage) => () => stage.call(state))) }),
		...(assemble && { assemble: (messages, request) => assembled(assemble, messages, request) }),
		...(modelCall && {
			modelCall: (call, next) =>
				modelCall.reduceRight<() => Promise<ModelAnswer>>(
					(inner, stage) => async () => answered(stage.name, await stage.call(call, once(stage.name, inner))),
					next,
				)(),
		}),
		...(toolCall && {
			toolCall: (call) => decided(toolCall, call),
			toolCallBy: toolCall.map(({ name }) => name),
		}),
		...(toolResult && { toolResult: (result) => replaced(toolResult, result) }),
		...(list.some(({ stages, addsToResults }) => stages.toolResult && !addsToResults) && {
			withholdsOutput: true,
		}),
		...(committed && { committed: (entry) => heard(committed, entry) }),
		...(list.some(({ answersMayNotWait }) => answersMayNotWait) && { answersMayNotWait: true }),
		...(continues && { continues: () => continues.some((stage) => stage.call()) }),
	};
}

interface NamedCall<Call> {
	readonly name: string;
	readonly call: Call;
}

/** Returns the functions of one stage, in order; undefined if there are none. */
function all<Name extends keyof DrivenStages & keyof Stages>(
	list: readonly NamedStages[],
	name: Name,
): readonly NamedCall<NonNullable<Stages[Name]>>[] | undefined {
	const found = list.flatMap((each) => {
		const call = each.stages[name]?.bind(each.stages);
		return call === undefined ? [] : [{ name: each.name, call: call as NonNullable<Stages[Name]> }];
	});
	return found.length === 0 ? undefined : found;
}

async function each<Call>(
	stages: readonly NamedCall<Call>[],
	call: (stage: Call) => MaybePromise<void>,
): Promise<void> {
	for (const stage of stages) await call(stage.call);
}

async function any(asked: readonly (() => MaybePromise<boolean>)[]): Promise<boolean> {
	for (const ask of asked) if (await ask()) return true;
	return false;
}

async function assembled(
	stages: readonly NamedCall<NonNullable<Stages["assemble"]>>[],
	given: readonly Message[],
	request: AssembledRequest = new AssembledRequest(given),
): Promise<readonly Message[]> {
	let messages = given;
	for (const { name, call } of stages) {
		const shown = await call(messages, request);
		if (shown === messages) continue;
		if (!Array.isArray(shown) || !(isOwnView(shown) || shown.every(isMessage)))
			throw policyInvalid(name, "assemble", "it returned no list of messages");
		messages = shown;
	}
	return messages;
}

/** Allows only one model call: what was streamed from the first cannot be retracted. */
function once(name: string, next: () => Promise<ModelAnswer>): () => Promise<ModelAnswer> {
	let called = false;
	return () => {
		if (called) throw policyInvalid(name, "modelCall", "it called the model a second time");
		called = true;
		return next();
	};
}

/** Converts an answer to a form that the journal can hold. */
function answered(name: string, answer: ModelAnswer): ModelAnswer {
	const { message, usage, stopReason } = answer ?? {};
	const isCounted = typeof usage?.totalTokens === "number" && typeof usage.inputTokens === "number";
	if (isMessage(message) && isAssistantMessage(message) && isCounted && typeof stopReason === "string")
		return answer;
	throw policyInvalid(name, "modelCall", "it returned no answer {message, usage, stopReason}");
}

/** An unknown decision fails the run, because a call must not pass only because its action is unknown. */
const callActions: ReadonlySet<unknown> = new Set<ToolCallDecision["action"]>([
	"modify",
	"reject-and-continue",
	"synthesize",
	"error",
]);

async function decided(
	stages: readonly NamedCall<NonNullable<Stages["toolCall"]>>[],
	given: InterceptedCall,
): Promise<ToolCallDecision | undefined> {
	let call = given;
	for (const stage of stages) {
		const decision = await stage.call(call);
		if (decision === undefined || decision === null || decision.action === "allow") continue;
		if (!callActions.has(decision.action))
			throw policyInvalid(
				stage.name,
				"toolCall",
				`it returned the unknown action ${JSON.stringify(decision.action)}`,
			);
		if (decision.action !== "modify") return decision;
		call = { ...call, input: decision.input };
	}
	return call === given ? undefined : { action: "modify", input: call.input };
}

/** Calls each function in turn. Returns a promise only if one of them is asynchronous. */
function replaced(
	stages: readonly NamedCall<NonNullable<Stages["toolResult"]>>[],
	given: InterceptedResult,
): MaybePromise<ReplacedResult> {
	const { error: _, ...about } = given;
	const from = (first: number, before: ReplacedResult): MaybePromise<ReplacedResult> => {
		let result = before;
		for (let at = first; at < stages.length; at++) {
			const next = stages[at]?.call({ ...about, ...result }) as MaybePromise<ReplacedResult>;
			if (isThenable(next)) return Promise.resolve(next).then((found) => from(at + 1, found));
			result = next;
		}
		return { status: result.status, output: result.output };
	};
	return from(0, given.status === "done" ? given : { ...given, error: given.output });
}

/** Committed facts remain committed, even if an observer throws. */
function heard(stages: readonly NamedCall<NonNullable<Stages["committed"]>>[], entry: Entry): void {
	for (const { call } of stages) {
		try {
			call(entry);
		} catch {}
	}
}

/** Creates the error for an interceptor's invalid return value. */
export function policyInvalid(name: string, stage: string, why: string): HoldfastError {
	return new HoldfastError("policy_invalid", `The interceptor "${name}" failed in ${stage}: ${why}.`, {
		data: { interceptor: name, stage },
	});
}
