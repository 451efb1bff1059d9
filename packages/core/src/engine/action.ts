// What a decider may answer: the next thing to do. Deciders are pure (keeps I1, I6); the engine carries actions out.
import type { JSONSchema, ModelTool, ToolExecution } from "@holdfast/upp";
import type { AssistantSaid, Entry, LastFact, RunOutput, ToolSettled } from "../facts/index.ts";
import type { Interceptor } from "../policy/index.ts";
import type { AgentState } from "../state/index.ts";

/** Ask the model. */
export interface ModelAction {
	readonly kind: "model";
	/** What the call is for: `act`, `reason`, `plan` or a word of the decider's own; recorded with the answer. */
	readonly tag: string;
	/** `next` begins a new step with this call, `same` stays in the current one; before the first step that is 0. */
	readonly step: "next" | "same";
	/** Shown to the model after the history of this call only; never recorded. */
	readonly prompt?: string;
	/**
	 * Whether the model may call tools: `offered` (the default), `shown` (it sees them, but calls are not carried out) or
	 * `withheld` (it does not see them).
	 */
	readonly tools?: "offered" | "shown" | "withheld";
	/** Schema of the answer, or `none` for free text; default: the agent's own `structure`. */
	readonly structure?: JSONSchema | "none";
	/** What becomes of the step once the answer and the results of its calls are there. Default `ends-step`. */
	readonly afterwards?: "ends-step" | "continues";
	/**
	 * What a failing model call does: `fails` (the default) ends the run with its error; `decides` notes the error under
	 * the topic `model-failed` and asks the decider again.
	 */
	readonly failure?: "fails" | "decides";
	/**
	 * What an answer that calls no tool leads to. `finishes`: to the end of the run, as `decide` says too when it is asked after
	 * a crash or because somebody said something meanwhile; so the answer may be committed in the append of the end. Default
	 * `decides`: `decide` is asked.
	 */
	readonly answered?: "finishes" | "decides";
}

/** A tool call of a strategy's own. */
export interface RequestedCall {
	readonly toolName: string;
	/** What a model would give: it is checked against the tool's schema all the same. */
	readonly arguments: Record<string, unknown>;
	/** Names the call within this action. Default: a new UUIDv4. */
	readonly toolCallId?: string;
}

/**
 * Call tools without asking a model. They are carried out like calls of a model: checked, approved, in their order, on
 * record before they start, and each with its tool's `retryPolicy` after a crash. The request is recorded with the first of
 * them, so the strategy is not asked again for what it has decided.
 *
 * Neither the calls nor their results enter the history: providers want calls that their model made. The strategy finds the
 * results in `executions()`, and shows a model what it wants to in the `prompt` of a model action.
 */
export interface ToolsAction {
	readonly kind: "tools";
	/** What the calls are for: a word of the strategy's own. `last` has it when all results are there. Default `act`. */
	readonly tag?: string;
	/** `next` begins a new step with these calls, `same` continues the current one; before the first step that is 0. */
	readonly step: "next" | "same";
	/** At least one. */
	readonly calls: readonly RequestedCall[];
	/** What becomes of the step once the results are there. Default `ends-step`. */
	readonly afterwards?: "ends-step" | "continues";
	/**
	 * Of an action with one call: a decision that follows from its result alone, so that nobody has to be asked. It is
	 * committed in the append of the result. Pure, and not called for a result that comes after a crash, from outside, or
	 * without the tool having run: then the strategy asks by an `ask` of the same topic. Default: none.
	 */
	concludes?(settled: ToolSettled): { readonly topic: string; readonly answer: unknown } | undefined;
}

/**
 * Wait for a time, or for an input from outside, whichever comes first. A session holds no process meanwhile, and the wait
 * outlives all of them; a pure call waits in place. `last` says what came: `wait`, or `input`.
 *
 * A strategy reads no clock. It asks for one, and the answer is on record:
 * `{kind: "ask", topic: "wake-at", question: () => Date.now() + 60_000}`, then `{kind: "wait", until: last.value}`.
 */
export interface WaitAction {
	readonly kind: "wait";
	/** What it waits for: a word of the strategy's own. Default `wait`. */
	readonly tag?: string;
	/** Milliseconds since the epoch. Default: an input alone ends the wait; a pure call, which gets none, fails. */
	readonly until?: number;
}

/** Remember something beside the messages. */
export interface NoteAction {
	readonly kind: "note";
	readonly topic: string;
	readonly value: unknown;
	/** Whether the step ends with this note. Default `continues`. */
	readonly afterwards?: "ends-step" | "continues";
}

/** Put a question to user code; the answer is recorded before it is used. */
export interface AskAction {
	readonly kind: "ask";
	readonly topic: string;
	/** May take its time. What it gives must be plain data. */
	question(state: AgentState, context: QuestionContext): unknown;
	/**
	 * The calls that follow from the answer, as it was admitted: where nothing else comes between, the answer is committed
	 * in the append of what starts. Pure, and the same that `decide` gives once the answer is on record: after a crash, or
	 * where somebody said something meanwhile, `decide` is asked. Default: none.
	 */
	follows?(answer: unknown): ToolsAction | undefined;
}

/** What a question of a strategy is given beside the state. */
export interface QuestionContext {
	/** Fires when the run is stopped: then nobody waits for the answer any more, and it is not recorded. */
	readonly signal: AbortSignal;
	readonly runId: string;
	/** Absent in a pure call. */
	readonly sessionKey?: string;
}

/** End the run, as completed or with an error. */
export interface FinishAction {
	readonly kind: "finish";
	readonly error?: unknown;
	/**
	 * What the run came to, for those who read or watch it: it is committed with the end, all or nothing, as an assistant
	 * message that no model was asked for. Not with `error`. Default: no message.
	 */
	readonly text?: string;
}

/** What a decider may ask for next. */
export type Action = ModelAction | ToolsAction | WaitAction | NoteAction | AskAction | FinishAction;

/** What a decider looks at. It is asked only when every tool call has its result. */
export interface Situation<Own = unknown> {
	readonly state: AgentState;
	/** Steps begun in this run. */
	readonly step: number;
	/** Rounds of tool calls finished in this run. */
	readonly rounds: number;
	/** What happened last. `results` follows an answer that called tools, or a `tools` action, and keeps its tag. */
	readonly last: LastFact;
	/** The last answer of the model in this run. */
	readonly answer: AssistantSaid | undefined;
	/** What the checks of the run's structured answers came to; undefined before the first. */
	readonly output?: RunOutput | undefined;
	/** The agent's tools. */
	readonly tools: readonly Pick<ModelTool, "name" | "description">[];
	/** The tools run since the current step began. */
	executions(): readonly ToolExecution[];
	/** What the strategy's own `evolve` has made of the facts of this run; undefined where it has none. */
	readonly own: Own;
}

/**
 * A strategy reduced to its one decision. What it knows of a run beyond the state it folds itself, with `initial` and
 * `evolve`: pure functions, called for every fact of the run in order, also when the run is resumed by another process.
 * Notes of policy and of retries are left out.
 */
export interface Decider<Own = unknown> {
	readonly name: string;
	/** Set where it ends runs after a number of steps by itself. */
	readonly limitsSteps?: true;
	/** Steps after which a run that would begin another fails. Default: none. */
	readonly maxSteps?: number;
	decide(situation: Situation<Own>): Action;
	/** What it knows before the first fact. Default: undefined. */
	initial?(): Own;
	/** Policy of its own: first in the list of every agent that it is given to, before the agent's `middleware`. */
	readonly policy?: readonly Interceptor[];
	/** What it knows after one more fact, without changing what it is given. What it throws fails the run. */
	evolve?(own: Own, entry: Entry): Own;
}
