// Runs a custom strategy unchanged: it gets the agent's model as an LLMInstance that runs the agent's tools, and its
// result is the call's. Each onStepEnd is a checkpoint; the work of its sub-agents becomes traces.

import { HoldfastError, type Tool } from "@holdfast/upp";
import type { AgentStreamEvent } from "../engine/index.ts";
import { type AgentStrategy, cancelled, type EngineAgent } from "../engine/index.ts";
import type { DrivenStages, RunContext } from "../policy/index.ts";
import type { GenerateResult } from "../state/index.ts";
import { AgentState } from "../state/index.ts";
import {
	boundHooks,
	type ExecutionContext,
	type ExecutionStrategy,
	type StrategyAgent,
} from "../strategies/index.ts";
import type { CallOptions } from "./agent-call.ts";
import type { CallFrame } from "./call-frame.ts";
import type { SessionCheckpoints } from "./checkpoints.ts";
import { type InstanceOptions, opaqueInstance } from "./opaque-instance.ts";
import { OpaqueProgress } from "./opaque-progress.ts";

/** A custom strategy with everything it needs from its agent. */
export interface OpaqueStrategy extends Pick<InstanceOptions, "llmOptions"> {
	readonly strategy: ExecutionStrategy;
}

/** A call for a custom strategy to run. */
export interface OpaqueCallSetup {
	readonly agent: StrategyAgent;
	readonly engine: EngineAgent;
	readonly opaque: OpaqueStrategy;
	readonly call: RunContext;
	readonly options: CallOptions;
	readonly checkpoints: SessionCheckpoints | undefined;
	/** The policy of the call. */
	readonly frame: CallFrame | undefined;
	/** Receives the events of the strategy's own `stream`. If undefined, `execute` is called. */
	readonly push: ((event: AgentStreamEvent) => void) | undefined;
}

/** A running custom strategy. */
export interface OpaqueCall {
	readonly result: Promise<GenerateResult>;
	/** Notifies `onComplete` of the caller's result, unless the strategy failed. */
	completed(result: GenerateResult): Promise<unknown>;
	stop(): void;
}

/** Runs a custom strategy. */
export function runOpaque(setup: OpaqueCallSetup): OpaqueCall {
	const { agent, engine, opaque, options, checkpoints, frame, push } = setup;
	if (frame?.policy.admitting !== undefined) throw recordsNothing(opaque.strategy.name);
	const { input, state } = setup.call;
	const controller = new AbortController();
	const { signal } = controller;
	const progress = new OpaqueProgress(state, checkpoints);
	const hooks = boundHooks(engine.hooks);
	const { llmOptions } = opaque;
	const stages = frame?.policy.stages ?? {};
	const cut = Promise.withResolvers<never>();
	cut.promise.catch(() => {}); // if the call is never cancelled, this stays pending
	const context: ExecutionContext = {
		agent,
		llm: opaqueInstance({ engine, llmOptions, signal, options, progress, push, stages, fail: cut.reject }),
		input,
		state,
		tools: agent.tools as readonly Tool[],
		strategy: observed(hooks, progress, stages.stop),
		signal,
	};
	let failed = false;
	const execute = async (): Promise<GenerateResult> => {
		try {
			await Promise.race([stages.turnBefore?.(), cut.promise]);
			const working =
				push === undefined ? opaque.strategy.execute(context) : follow(opaque.strategy, context, push);
			const { turn, state: given } = checked(opaque.strategy, await Promise.race([working, cut.promise]));
			return { turn, state: progress.finished(given) };
		} catch (error) {
			failed = true;
			if (signal.aborted) throw cancelled();
			const recovered = await Promise.race([hooks.onError?.(error, progress.state), cut.promise]);
			if (recovered !== undefined && recovered !== null) return recovered as GenerateResult;
			throw error;
		}
	};
	return {
		result: execute(),
		async completed(result) {
			if (!failed) await Promise.race([hooks.onComplete?.(result), cut.promise]);
		},
		stop() {
			controller.abort(cancelled());
			cut.reject(cancelled());
		},
	};
}

/** Wraps the hooks of the strategy so that its reports are observed here too. */
function observed(
	hooks: AgentStrategy,
	progress: OpaqueProgress,
	stopCondition: DrivenStages["stop"],
): AgentStrategy {
	const { stopCondition: own } = hooks;
	const stop = async (state: AgentState): Promise<boolean> =>
		(await own?.(state)) === true || (await stopCondition?.(state)) === true;
	return {
		...hooks,
		onStepStart(step, state) {
			progress.begin(step, state);
			return hooks.onStepStart?.(step, state);
		},
		onStepEnd(step, result) {
			progress.end(result.state);
			return hooks.onStepEnd?.(step, result);
		},
		...(stopCondition === undefined ? {} : { stopCondition: stop }),
		// The caller's result is known once the strategy has returned. No middleware changes it afterwards.
		...(hooks.onComplete === undefined ? {} : { onComplete() {} }),
	};
}

/** Uses the strategy's own stream. A strategy without one runs all the same, but emits no events. */
async function follow(
	strategy: ExecutionStrategy,
	context: ExecutionContext,
	push: (event: AgentStreamEvent) => void,
): Promise<GenerateResult> {
	if (typeof (strategy as Partial<ExecutionStrategy>).stream !== "function") return strategy.execute(context);
	const { signal } = context;
	const stream = strategy.stream(context);
	signal?.addEventListener("abort", () => stream.abort?.(), { once: true });
	stream.result.catch(() => {}); // iterating throws the same error first
	for await (const event of stream) {
		if (signal?.aborted) break;
		push(event);
	}
	return stream.result;
}

function checked(strategy: ExecutionStrategy, result: GenerateResult | undefined): GenerateResult {
	if (result?.state instanceof AgentState && typeof result.turn === "object") return result;
	throw new HoldfastError(
		"invalid_strategy",
		`The strategy "${strategy.name}" did not give {turn, state}. Return the turn of the model and the state after it.`,
	);
}

/** An interceptor's admission would be recorded, so it must not be skipped silently. */
function recordsNothing(strategy: string): HoldfastError {
	return new HoldfastError(
		"conflicting_options",
		`An interceptor has \`admit\`, but the strategy "${strategy}" has its own \`execute\` and records no facts to admit. Create the strategy with strategy({name, decide}), or remove the interceptor.`,
	);
}
