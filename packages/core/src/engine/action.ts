// The actions that a decider returns. Deciders are pure (keeps I1, I6); the engine executes their actions.
import type { JSONSchema, ModelTool, ToolExecution } from "@holdfast/upp";
import type { AssistantSaid, Entry, LastFact, RunOutput, ToolSettled } from "../facts/index.ts";
import type { MaybePromise } from "../host/index.ts";
import type { Interceptor } from "../policy/index.ts";
import type { AgentState } from "../state/index.ts";
import type { Run } from "./run.ts";

/** Calls the model. */
export interface ModelAction {
	readonly kind: "model";
	/** The purpose of the call: `act`, `reason`, `plan` or the decider's own tag; recorded with the answer. */
	readonly tag: string;
	/**
	 * `next` begins a new step with this call, `same` stays in the current step. Before the first step, the current step
	 * is 0.
	 */
	readonly step: "next" | "same";
	/** Shown to the model after the history, for this call only; never recorded. */
	readonly prompt?: string;
	/**
	 * Whether the model may call tools: `offered` (the default), `shown` (the model sees them, but its calls are not
	 * executed) or `withheld` (the model does not see them).
	 */
	readonly tools?: "offered" | "shown" | "withheld";
	/** Schema of the answer, or `none` for free text; default: the agent's own `structure`. */
	readonly structure?: JSONSchema | "none";
	/** Whether the step ends once the answer and the results of its calls exist. Default `ends-step`. */
	readonly afterwards?: "ends-step" | "continues";
	/**
	 * The handling of a failed model call: `fails` (the default) ends the run with the error; `decides` notes the error
	 * under the topic `model-failed` and calls the decider again.
	 */
	readonly failure?: "fails" | "decides";
	/**
	 * The handling of an answer without tool calls. `finishes`: the answer ends the run, and may therefore share the
	 * append of the end; `decide` must return the same if it is called after a crash or because a message arrived.
	 * Default `decides`: `decide` is called.
	 */
	readonly answered?: "finishes" | "decides";
}

/** A tool call that the strategy requests itself. */
export interface RequestedCall {
	/** A tool of the agent. */
	readonly toolName: string;
	/** Arguments in the form in which a model would give them. They are validated against the tool's schema. */
	readonly arguments: Record<string, unknown>;
	/** Identifies the call within this action. Default: a new UUIDv4. */
	readonly toolCallId?: string;
}

/**
 * Calls tools without asking a model. The engine treats them like calls of a model: it checks and approves them, runs
 * them in order, records each before it starts, and follows each tool's `retryPolicy` after a crash. The request is
 * recorded with the first call, so the strategy is never asked again for a decision that it has made.
 *
 * Neither the calls nor their results enter the history, because providers accept only calls that their model made. The
 * strategy finds the results in `executions()`, and can show them to a model in the `prompt` of a model action.
 */
export interface ToolsAction {
	readonly kind: "tools";
	/** The purpose of the calls: the strategy's own tag. `last` contains it once all results exist. Default `act`. */
	readonly tag?: string;
	/**
	 * `next` begins a new step with these calls, `same` continues the current one. Before the first step, the current
	 * step is 0.
	 */
	readonly step: "next" | "same";
	/** At least one. */
	readonly calls: readonly RequestedCall[];
	/** Whether the step ends once the results exist. Default `ends-step`. */
	readonly afterwards?: "ends-step" | "continues";
	/**
	 * For an action with one call: a decision that follows from its result alone. It is committed in the same append as
	 * the result. Must be pure. Not called for a result that arrives after a crash, from outside, or without the tool
	 * having run; in those cases the strategy uses an `ask` of the same topic. Default: none.
	 */
	concludes?(settled: ToolSettled): { readonly topic: string; readonly answer: unknown } | undefined;
}

/**
 * Waits for a time or for an outside input and ends with the first of the two. A session occupies no process during the
 * wait, and the wait survives crashes; a pure call waits in place. `last` is the one that came: `wait` or `input`.
 *
 * A strategy reads no clock. It asks for the time, and the answer is recorded: `{kind: "ask", topic: "wake-at", question:
 * () => Date.now() + 60_000}`, then `{kind: "wait", until: last.value}`.
 */
export interface WaitAction {
	readonly kind: "wait";
	/** The reason for the wait: the strategy's own tag. Default `wait`. */
	readonly tag?: string;
	/**
	 * Milliseconds since the epoch. Default: only an input ends the wait; a pure call, which receives no inputs, fails.
	 */
	readonly until?: number;
}

/** Records data outside the messages. */
export interface NoteAction {
	readonly kind: "note";
	/** Identifies the note; `last` contains it. */
	readonly topic: string;
	/** Plain data. */
	readonly value: unknown;
	/** Whether the step ends with this note. Default `continues`. */
	readonly afterwards?: "ends-step" | "continues";
}

/** Puts a question to user code. The answer is recorded before it is used. */
export interface AskAction {
	readonly kind: "ask";
	/** Identifies the question; `last` contains it with the answer. */
	readonly topic: string;
	/** May be asynchronous. Must return plain data. */
	question(state: AgentState, context: QuestionContext): unknown;
	/**
	 * The calls that follow from the admitted answer. If nothing else intervenes, the answer is committed in the append
	 * that starts them. Must be pure and return what `decide` returns once the answer is recorded: `decide` is called
	 * instead after a crash, or if a message arrived. Default: none.
	 */
	follows?(answer: unknown): ToolsAction | undefined;
}

/** The second argument of a strategy's question; the first is the state. */
export interface QuestionContext {
	/** Fires when the run is stopped. The answer is then ignored and not recorded. */
	readonly signal: AbortSignal;
	readonly runId: string;
	/** Absent in a pure call. */
	readonly sessionKey?: string;
}

/** Ends the run, either completed or with an error. */
export interface FinishAction {
	readonly kind: "finish";
	/** The run fails with this error. Default: it completes. */
	readonly error?: unknown;
	/**
	 * The final text of the run for its readers and watchers. It is committed atomically with the end, as an assistant
	 * message without a model call. Cannot be combined with `error`. Default: no message.
	 */
	readonly text?: string;
}

/** The next action of a decider. */
export type Action = ModelAction | ToolsAction | WaitAction | NoteAction | AskAction | FinishAction;

/** The input of a decider. A decider is called only when every tool call has its result. */
export interface Situation<Own = unknown> {
	/** The conversation so far. */
	readonly state: AgentState;
	/** The number of steps that this run has begun. */
	readonly step: number;
	/** The number of completed rounds of tool calls in this run. */
	readonly rounds: number;
	/** What happened last. `results` follows an answer that called tools, or a `tools` action, and keeps its tag. */
	readonly last: LastFact;
	/** The last answer of the model in this run. */
	readonly answer: AssistantSaid | undefined;
	/** The verdicts on the run's structured answers; undefined before the first. */
	readonly output?: RunOutput | undefined;
	/** The agent's tools. */
	readonly tools: readonly Pick<ModelTool, "name" | "description">[];
	/** Returns the tool executions since the current step began. */
	executions(): readonly ToolExecution[];
	/**
	 * The state that the strategy's own `evolve` derived from the facts of this run; undefined if the strategy has none.
	 */
	readonly own: Own;
}

/**
 * A strategy reduced to one decision. It can fold state of its own for each run with `initial` and `evolve`: pure
 * functions, called in order for every fact of the run, including after another process resumes it. Notes of policy and
 * of retries are left out.
 */
export interface Decider<Own = unknown> {
	/** Names the strategy in errors. */
	readonly name: string;
	/** Set if the strategy itself ends runs after a number of steps. */
	readonly limitsSteps?: true;
	/** The maximum number of steps. A run that would begin another one fails. Default: none. */
	readonly maxSteps?: number;
	/** Returns the next action. Must be pure: the same situation gives the same action. */
	decide(situation: Situation<Own>): Action;
	/** The state before the first fact. Default: undefined. */
	initial?(): Own;
	/**
	 * The strategy's own policy. It comes first in every agent that uses the strategy, before the agent's `middleware`.
	 */
	readonly policy?: readonly Interceptor[];
	/**
	 * Carries out the whole run instead of `decide`. Resolves when the run is to complete; the run fails if it rejects.
	 * @internal
	 */
	readonly code?: (run: Run) => Promise<void>;
	/**
	 * The inputs that never begin a run: they wait for the open one. `check` throws if the open run accepts no more; without
	 * an open run, `own` is undefined.
	 * @internal
	 */
	readonly events?: {
		isEvent(text: string): boolean;
		check(text: string, own: unknown): void;
	};
	/**
	 * Checks the input of a run before it is accepted. Throws or rejects if no run can begin with it.
	 * @internal
	 */
	readonly checkInput?: (text: string) => MaybePromise<void>;
	/** Returns the state after one more fact, without changing the given one. If it throws, the run fails. */
	evolve?(own: Own, entry: Entry): Own;
}
