// One pure call of an agent: middleware around a run that is driven at once and can be stopped at any moment.
import type { Message } from "@holdfast/upp";
import type { AgentStreamEvent } from "../engine/index.ts";
import { cancelled, conclude, drive, type EngineAgent, ephemeralRecorder, Run } from "../engine/index.ts";
import { initialSession, type Watcher } from "../facts/index.ts";
import {
	type Middleware,
	type MiddlewareAgent,
	type MiddlewareContext,
	runMiddleware,
} from "../policy/index.ts";
import type { GenerateResult } from "../state/index.ts";
import { AgentState } from "../state/index.ts";
import type { StrategyAgent } from "../strategies/index.ts";
import type { ToolContext } from "../tools/index.ts";
import type { Checkpoints, SessionCheckpoints } from "./checkpoints.ts";
import { type OpaqueStrategy, runOpaque } from "./opaque-strategy.ts";

/** What a single call may be given beside its input and state. */
export interface CallOptions {
	/** Cancels the call: model and tools are told, and the call rejects with code CANCELLED. */
	readonly signal?: AbortSignal;
	/** The context of the tool call that makes this call, when the agent works as a sub-agent. */
	readonly parentContext?: ToolContext;
}

/** What all calls of an agent share. */
export interface CallSetup {
	readonly agent: MiddlewareAgent & StrategyAgent;
	readonly engine: EngineAgent;
	readonly middleware: readonly Middleware[];
	readonly checkpoints: Checkpoints | undefined;
	/** Set when the agent's strategy is a custom one, which the engine does not drive. */
	readonly opaque: OpaqueStrategy | undefined;
}

/** Who looks on: at a run of the engine, or at the stream of a custom strategy. */
export interface CallObserver {
	readonly watcher: Watcher;
	push(event: AgentStreamEvent): void;
}

/** A call under way. */
export interface StartedCall {
	readonly result: Promise<GenerateResult>;
	/** Cancels it. Harmless when it is over. */
	stop(): void;
	/** Whether it was cancelled before it was over. */
	readonly stopped: boolean;
}

/**
 * Starts a call. Without middleware the run begins before this returns.
 * @throws TypeError for options that are none, before anything begins.
 */
export function startCall(
	setup: CallSetup,
	input: Message,
	state: AgentState,
	options: CallOptions,
	observer?: CallObserver,
): StartedCall {
	checkOptions(options);
	const { engine, middleware, opaque } = setup;
	let checkpoints = setup.checkpoints?.session(state);
	const started = checkpoints === undefined ? state : checkpoints.identify(state);
	let stopWork: (() => void) | undefined;
	let stopped = false;
	let over = false;
	let cut: ((error: unknown) => void) | undefined;

	const execute = async (context: MiddlewareContext): Promise<GenerateResult> => {
		if (stopped) throw cancelled();
		checkpoints = checkpoints?.of(context.state);
		if (opaque !== undefined) {
			const { stopCondition } = stopConditionOf(middleware, context);
			const { agent } = setup;
			const push = observer?.push;
			const call = runOpaque({
				agent,
				engine,
				opaque,
				call: context,
				options,
				checkpoints,
				stopCondition,
				push,
			});
			stopWork = call.stop;
			return call.result;
		}
		const run = new Run({
			agent: engine,
			runId: engine.ports.ids.uuid(),
			state: initialSession(context.state),
			recorder: ephemeralRecorder(),
			...(observer === undefined ? {} : { watchers: [observer.watcher] }),
			...(options.parentContext === undefined ? {} : { parentContext: options.parentContext }),
			...(checkpoints === undefined ? {} : { afterStep: checkpoints.save }),
			...stopConditionOf(middleware, context),
		});
		stopWork = () => run.stop("interrupt");
		const message = context.input;
		run.commit([
			{ kind: "run.started", runKind: "user-turn", agentId: engine.id, fingerprint: "" },
			{ kind: "input", inputId: message.id, placement: "turn", shape: "message", message },
		]);
		const outcome = await drive(run);
		// Cancelled in the very moment of its end: nobody was told of the end yet, so it counts as cancelled.
		if (stopped && outcome.kind === "ended" && outcome.outcome === "completed") throw cancelled();
		return conclude(run, outcome);
	};

	const context: MiddlewareContext = { agent: setup.agent, input, state: started, metadata: {} };
	const executing =
		middleware.length === 0
			? execute(context)
			: new Promise<GenerateResult>((resolve, reject) => {
					cut = reject; // a middleware that never answers does not hold up a cancelled call
					runMiddleware(middleware, context, execute).then(resolve, reject);
				});
	const result = executing
		.then((given) => identified(given, checkpoints))
		.finally(() => {
			over = true;
			options.signal?.removeEventListener("abort", stop);
		});

	function stop(): void {
		if (over || stopped) return;
		stopped = true;
		if (stopWork !== undefined) stopWork();
		else cut?.(cancelled());
	}

	const { signal } = options;
	if (signal?.aborted) stop();
	else signal?.addEventListener("abort", stop, { once: true });
	return {
		result,
		stop,
		get stopped() {
			return stopped;
		},
	};
}

function checkOptions(options: unknown): void {
	if (typeof options !== "object" || options === null)
		throw new TypeError("The options of a call must be an object: { signal }.");
	const { signal } = options as { signal?: Partial<AbortSignal> | null };
	if (signal !== undefined && signal !== null && typeof signal.addEventListener !== "function")
		throw new TypeError(
			"The option `signal` must be an AbortSignal, such as `new AbortController().signal`.",
		);
}

/** The result with the session's id in its state, also where a hook or a middleware gave the result. */
function identified(given: GenerateResult, checkpoints: SessionCheckpoints | undefined): GenerateResult {
	if (checkpoints === undefined || !(given?.state instanceof AgentState)) return given;
	const state = checkpoints.identify(given.state);
	return state === given.state ? given : { ...given, state };
}

/** Middleware may end a run after any of its steps. */
function stopConditionOf(
	middleware: readonly Middleware[],
	context: MiddlewareContext,
): { stopCondition?: (state: AgentState) => Promise<boolean> } {
	const asked = middleware.filter((each) => each.stop !== undefined);
	if (asked.length === 0) return {};
	return {
		stopCondition: async (state) => {
			for (const each of asked) if (await each.stop?.(context, state)) return true;
			return false;
		},
	};
}
