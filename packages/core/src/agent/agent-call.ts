// One pure call of an agent: a run wrapped in its policy. The call drives the run at once and can cancel it at any
// moment.

import type { Message } from "@holdfast/upp";
import { checkOptions, HoldfastTypeError, optionNames } from "@holdfast/upp";
import type { AgentStreamEvent } from "../engine/index.ts";
import {
	type AskedSystem,
	askSystem,
	cancelled,
	drive,
	type EngineAgent,
	ephemeralRecorder,
	foldOptions,
	notifyComplete,
	Run,
	resultOf,
} from "../engine/index.ts";
import { initialSession, type Watcher } from "../facts/index.ts";
import type { OutputSchema } from "../output/index.ts";
import { type AgentPolicy, aroundRun, callersPolicy, type RunContext, RunMetadata } from "../policy/index.ts";
import { type AgentSetup, SessionEvents } from "../sessions/index.ts";
import type { GenerateResult } from "../state/index.ts";
import { AgentState } from "../state/index.ts";
import type { StrategyAgent } from "../strategies/index.ts";
import type { ToolContext } from "../tools/index.ts";
import { CallFrame } from "./call-frame.ts";
import type { Checkpoints, SessionCheckpoints } from "./checkpoints.ts";
import type { OpaqueStrategy } from "./opaque-strategy.ts";
import { hasNoOutput } from "./options.ts";
import type { CommittedFacts } from "./stream-events.ts";

/** Options of a single call besides its input and state. */
export interface CallOptions<Schema extends OutputSchema = OutputSchema> {
	/** The output schema of this call. Default: the agent's `output`. */
	readonly output?: Schema;
	/** Cancels the call: model and tools are notified, and the call rejects with code CANCELLED. */
	readonly signal?: AbortSignal;
	/** The context of the tool call that makes this call, if the agent works as a sub-agent. */
	readonly parentContext?: ToolContext;
}

/** The options of a sub-agent's call, with its caller's policy if it works under that. */
export interface SubAgentCallOptions extends CallOptions {
	readonly [callersPolicy]?: AgentPolicy | undefined;
}

/** Parts shared by all calls of an agent. */
export interface CallSetup {
	readonly agent: StrategyAgent;
	readonly engine: EngineAgent;
	/** Like `engine`, for calls with their own output schema. */
	engineWith(output: unknown): EngineAgent;
	/** The agent's policy, complete once its plugins are set up. Undefined if it has none. */
	readonly policed: {
		readonly policy: AgentPolicy | undefined;
		readonly setup: AgentSetup | undefined;
		readonly engineOfCalls?: ((output: unknown) => EngineAgent) | undefined;
	};
	readonly checkpoints: Checkpoints | undefined;
	/** Set if the agent has a custom strategy, which the engine does not drive. */
	readonly opaque: OpaqueStrategy | undefined;
}

/** Observes a run of the engine, or the stream of a custom strategy. */
export interface CallObserver {
	readonly watcher: Watcher;
	/** Called with each commit of an engine run, before it is folded into the state. */
	committed?(facts: CommittedFacts): void;
	push(event: AgentStreamEvent): void;
}

/** A running call. */
export interface StartedCall {
	readonly result: Promise<GenerateResult>;
	/** Cancels the call. Has no effect after its end. */
	stop(): void;
	/**
	 * Whether it was cancelled before its end. Not a getter: V8 gives each object created with one its own hidden class,
	 * which keeps everything the getter references alive past minor garbage collections.
	 */
	wasStopped(): boolean;
}

/**
 * Starts a call. Without policy the run starts before this returns.
 * @throws HoldfastError `invalid_option` for invalid options, before anything starts.
 */
export function startCall(
	setup: CallSetup,
	input: Message,
	state: AgentState,
	options: CallOptions,
	observer?: CallObserver,
): StartedCall {
	checkCallOptions(options);
	const { opaque } = setup;
	const policed = policedBelow(setup, (options as SubAgentCallOptions)[callersPolicy]);
	if (options.output !== undefined && opaque !== undefined) throw hasNoOutput(opaque.strategy.name);
	let engine = options.output === undefined ? setup.engine : setup.engineWith(options.output);
	let checkpoints = setup.checkpoints?.session(state);
	const started = checkpoints === undefined ? state : checkpoints.identify(state);
	const runId = engine.ports.ids.uuid();
	/**
	 * Variables, not members: V8 allocates a function assigned to a member in the old generation, along with everything
	 * it references.
	 */
	let stopWork: (() => void) | undefined;
	let whenCompleted: ((result: GenerateResult) => Promise<unknown>) | undefined;
	let stopped = false;
	let over = false;
	let cut: ((error: unknown) => void) | undefined;

	const execute = async (context: RunContext, frame: CallFrame | undefined): Promise<GenerateResult> => {
		const moment = engine.fairness.begin();
		if (moment !== undefined) await moment;
		if (stopped) throw cancelled();
		checkpoints = checkpoints?.of(context.state);
		if (opaque !== undefined) {
			const { agent } = setup;
			const push = observer?.push;
			// Custom strategies are rare, so the code that runs them is loaded on demand.
			const { runOpaque } = await import("./opaque-strategy.ts");
			if (stopped) throw cancelled();
			const call = runOpaque({ agent, engine, opaque, call: context, options, checkpoints, frame, push });
			stopWork = call.stop;
			whenCompleted = call.completed;
			return call.result;
		}
		const asked = engine.instruct === undefined ? undefined : await instructed();
		const run: Run = new Run({
			agent: engine,
			runId,
			state: initialSession(context.state, foldOptions(engine).show),
			recorder: ephemeralRecorder(
				observer?.committed && ((batch) => observer.committed?.({ ...batch, before: run.state })),
			),
			asks: observer === undefined ? "whole" : "streamed",
			watchers: observer && [observer.watcher],
			parentContext: options.parentContext,
			afterStep: checkpoints?.save,
			interceptors: frame?.policy.stages,
			admitting: frame?.policy.admitting,
		});
		stopWork = () => run.stop("interrupt");
		if (frame !== undefined) attach(frame, run, policed.policy);
		const message = context.input;
		if (asked !== undefined && "error" in asked) run.systemFailed = asked;
		const told = asked === undefined || "error" in asked ? {} : { system: asked.system };
		const fingerprint = fingerprintOf(engine);
		const committed = run.commit([
			{ kind: "run.started", runKind: "user-turn", agentId: engine.id, fingerprint, ...told },
			{ kind: "input", inputId: message.id, placement: "turn", shape: "message", message },
		]);
		if (committed instanceof Promise) await committed;
		const outcome = await drive(run);
		if (frame !== undefined && outcome.kind === "ended") void policed.policy?.ended(frame, outcome.outcome);
		// Cancelled at the moment it ended: the end was not reported yet, so it counts as cancelled.
		if (stopped && outcome.kind === "ended" && outcome.outcome === "completed") throw cancelled();
		whenCompleted = (result) => notifyComplete(run, outcome, result);
		return resultOf(run, outcome);
	};

	/** A stopped call does not wait for the function. */
	const instructed = (): Promise<AskedSystem | undefined> =>
		new Promise((resolve, reject) => {
			stopWork = () => reject(cancelled());
			const { caller } = options.parentContext ?? {};
			Promise.resolve(askSystem(engine, { caller })).then(resolve, reject);
		});

	const throughPolicy = async (): Promise<GenerateResult> => {
		await policed.setup?.over();
		const { policy, engineOfCalls } = policed;
		if (engineOfCalls !== undefined) engine = engineOfCalls(options.output);
		const context: RunContext = { agent: setup.agent, input, state: started, metadata: new RunMetadata() };
		if (policy === undefined) return execute(context, undefined);
		const frame = new CallFrame(policy, runId, context, stopping().signal, options.parentContext);
		try {
			return await aroundRun(frame.policy.around, context, (changed) => {
				frame.context = changed;
				return execute(changed, frame);
			});
		} finally {
			policy.callOver(frame);
		}
	};

	/** Created only for interceptors: a run has its own signal. */
	let controller: AbortController | undefined;
	const stopping = (): AbortController => {
		controller ??= new AbortController();
		if (stopped && !controller.signal.aborted) controller.abort(cancelled());
		return controller;
	};
	const executing =
		policed.policy === undefined && policed.setup === undefined
			? execute({ agent: setup.agent, input, state: started, metadata: new RunMetadata() }, undefined)
			: new Promise<GenerateResult>((resolve, reject) => {
					cut = reject; // an interceptor that never returns must not block a cancelled call
					throughPolicy().then(resolve, reject);
				});
	// The result is final. Only now is it certain that the call completed.
	const result = executing
		.then((given) => completed(identified(given, checkpoints)))
		.finally(() => {
			over = true;
			options.signal?.removeEventListener("abort", stop);
		});

	async function completed(given: GenerateResult): Promise<GenerateResult> {
		if (engine.hooks.onComplete !== undefined) await whenCompleted?.(given);
		return given;
	}

	function stop(): void {
		if (over || stopped) return;
		stopped = true;
		controller?.abort(cancelled());
		if (stopWork !== undefined) stopWork();
		else cut?.(cancelled());
	}

	const { signal } = options;
	if (signal?.aborted) stop();
	else signal?.addEventListener("abort", stop, { once: true });
	return { result, stop, wasStopped: () => stopped };
}

const callOptionNames = optionNames<CallOptions>({ output: true, signal: "signal", parentContext: "object" });

const inSession = "It belongs to a session: `agent.session(key).send(input, options)`.";
const ofAgent = "It is an option of the agent.";
const insteadOfCallOptions = {
	abortSignal: "Write `signal`.",
	caller: inSession,
	dedupeKey: inSession,
	messageId: inSession,
	runId: inSession,
	sessionId: inSession,
	maxSteps: ofAgent,
	params: ofAgent,
	system: ofAgent,
	tools: ofAgent,
	schema: "Write `output`.",
};

function checkCallOptions(options: unknown): void {
	if (typeof options !== "object" || options === null)
		throw new HoldfastTypeError("invalid_option", "The options of a call must be an object: { signal }.");
	checkOptions(options, callOptionNames, { of: "A call of an agent", instead: insteadOfCallOptions });
	const { signal } = options as { signal?: Partial<AbortSignal> | null };
	if (signal !== undefined && signal !== null && typeof signal.addEventListener !== "function")
		throw new HoldfastTypeError(
			"invalid_option",
			"The option `signal` must be an AbortSignal, such as `new AbortController().signal`.",
		);
}

/** The result with the session's id in its state, even if a hook or a middleware returned it. */
function identified(given: GenerateResult, checkpoints: SessionCheckpoints | undefined): GenerateResult {
	if (checkpoints === undefined || !(given?.state instanceof AgentState)) return given;
	const state = checkpoints.identify(given.state);
	return state === given.state ? given : { ...given, state };
}

/** Only per-step changes and loaded tools make the requests of a call differ in their beginning. */
function fingerprintOf({ prepare, loadable, fingerprint }: EngineAgent): string {
	return (prepare ?? loadable) === undefined ? "" : fingerprint();
}

/** Returns the policy of a call below its caller's policy. */
function policedBelow({ agent, policed }: CallSetup, caller: AgentPolicy | undefined): CallSetup["policed"] {
	if (caller === undefined) return policed;
	return {
		get policy() {
			return caller.over(policed.policy, agent);
		},
		get setup() {
			return policed.setup;
		},
		get engineOfCalls() {
			return policed.engineOfCalls;
		},
	};
}

/** Connects the run of a call to its policy and its observers. */
function attach(frame: CallFrame, run: Run, policy: AgentPolicy | undefined): void {
	frame.attach(run);
	if (policy?.looksOn !== true) return;
	const events = new SessionEvents();
	void events.return(); // these events are not consumed here, and none are kept
	events.onEvent = (event) => policy.notify(event, frame);
	run.watch({
		notify: (event) => events.notify(event),
		settled: () => events.settled(),
		passed: (event) => events.passed(event),
	});
}
