// Runs a custom strategy unchanged: it gets the agent's model as an LLMInstance that runs the agent's tools, and its
// result is the call's. Its onStepEnd is a checkpoint; its sub-agents' work becomes traces.

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

/** A custom strategy with all it needs from its agent. */
export interface OpaqueStrategy extends Pick<InstanceOptions, "llmOptions"> {
	readonly strategy: ExecutionStrategy;
}

/** A call that a custom strategy is to carry out. */
export interface OpaqueCallSetup {
	readonly agent: StrategyAgent;
	readonly engine: EngineAgent;
	readonly opaque: OpaqueStrategy;
	readonly call: RunContext;
	readonly options: CallOptions;
	readonly checkpoints: SessionCheckpoints | undefined;
	/** The policy of the call. */
	readonly frame: CallFrame | undefined;
	/** Takes the events of the strategy's own `stream`; without it, `execute` is called. */
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
	cut.promise.catch(() => {}); // a call that was never cancelled leaves it open
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

/** The hooks of the strategy, wrapped so that its reports are observed here too. */
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
		// The caller's result is known when the strategy has returned, and no middleware changes it afterwards.
		...(hooks.onComplete === undefined ? {} : { onComplete() {} }),
	};
}

/** Through the strategy's own stream; one without a stream is carried out all the same, and emits no events. */
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

/** An interceptor's admission is recorded: it must not be skipped silently. */
function recordsNothing(strategy: string): HoldfastError {
	return new HoldfastError(
		"conflicting_options",
		`An interceptor has \`admit\`, and the strategy "${strategy}" with its own \`execute\` records nothing that it could admit. Make the strategy with strategy({name, decide}), or leave the interceptor out.`,
	);
}
