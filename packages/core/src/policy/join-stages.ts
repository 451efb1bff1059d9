// Joins several interceptors: each stage calls those that have it, in order. An unused stage is absent, so that it costs
// nothing.
import { HoldfastError, isAssistantMessage, isMessage, isThenable, type Message } from "@holdfast/upp";
import type { Entry } from "../facts/index.ts";
import type { MaybePromise } from "../host/index.ts";
import type { GenerateResult } from "../state/index.ts";
import type {
	InterceptedCall,
	InterceptedResult,
	ModelAnswer,
	ReplacedResult,
	Stages,
	ToolCallDecision,
} from "./interceptor.ts";

/** The stages of one interceptor, and its name. */
export interface NamedStages {
	readonly name: string;
	readonly stages: Stages;
	readonly answersMayNotWait?: boolean;
}

/** The stages that the engine calls while a run is driven; those around it, and `admit`, are joined elsewhere. */
export type DrivenStages = Omit<
	Stages,
	"before" | "after" | "onError" | "admit" | "admits" | "deltas" | "waits"
> & {
	/** Names of those that have `toolCall`: an input that passed others is not what these would have made of it. */
	readonly toolCallBy?: readonly string[];
	/** For a recorded run: applies `after` and `onError` to its result, which is recorded before the end. */
	leaving?(end: () => Promise<GenerateResult>): Promise<GenerateResult>;
	/** Set where an `admit` looks at answers, and its entry does not state what it does to those in an inbox. */
	readonly answersMayNotWait?: true;
};

/** The stages of a list, joined. */
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
		...(assemble && { assemble: (messages) => assembled(assemble, messages) }),
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
		...(committed && { committed: (entry) => heard(committed, entry) }),
		...(list.some(({ answersMayNotWait }) => answersMayNotWait) && { answersMayNotWait: true }),
		...(continues && { continues: () => continues.some((stage) => stage.call()) }),
	};
}

interface NamedCall<Call> {
	readonly name: string;
	readonly call: Call;
}

/** The functions of one stage, in order; undefined if there are none. */
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
): Promise<readonly Message[]> {
	let messages = given;
	for (const { name, call } of stages) {
		const shown = await call(messages);
		if (!Array.isArray(shown) || !shown.every(isMessage))
			throw policyInvalid(name, "assemble", "it returned no list of messages");
		messages = shown;
	}
	return messages;
}

/** A call of the model that is made once at most: what was streamed of the first cannot be taken back. */
function once(name: string, next: () => Promise<ModelAnswer>): () => Promise<ModelAnswer> {
	let called = false;
	return () => {
		if (called) throw policyInvalid(name, "modelCall", "it called the model a second time");
		called = true;
		return next();
	};
}

/** An answer as the journal can hold it. */
function answered(name: string, answer: ModelAnswer): ModelAnswer {
	const { message, usage, stopReason } = answer ?? {};
	const isCounted = typeof usage?.totalTokens === "number" && typeof usage.inputTokens === "number";
	if (isMessage(message) && isAssistantMessage(message) && isCounted && typeof stopReason === "string")
		return answer;
	throw policyInvalid(name, "modelCall", "it returned no {message, usage, stopReason} of an answer");
}

/** A decision that cannot be carried out fails the run: the call must not pass for want of a known action. */
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

/** Asks each in turn; a promise only where one of them needs time. */
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

/** Committed facts stay committed, even if an observer throws. */
function heard(stages: readonly NamedCall<NonNullable<Stages["committed"]>>[], entry: Entry): void {
	for (const { call } of stages) {
		try {
			call(entry);
		} catch {}
	}
}

/** The return value of an interceptor is invalid. */
export function policyInvalid(name: string, stage: string, why: string): HoldfastError {
	return new HoldfastError("policy_invalid", `The interceptor "${name}" failed in ${stage}: ${why}.`, {
		data: { interceptor: name, stage },
	});
}
