// The interface for the code of a workflow: each method is a recorded call.
import { checkOptions, HoldfastTypeError } from "@holdfast/upp";
import type { AgentOptions } from "../agent/index.ts";
import type { Caller } from "../caller/index.ts";
import type { OutputOf, OutputSchema } from "../output/index.ts";
import type { Branch } from "../replayer/index.ts";
import { delegateToolName } from "../subagents/index.ts";
import type { InferToolInput, InferToolOutput } from "../tools/index.ts";
import { approveTool, askTool, modelTool } from "./built-in-tools.ts";
import { type Duration, millisecondsOf, timeOf } from "./duration.ts";
import { inputText } from "./event-message.ts";
import type { FlowCall, StepContext, ToolOutcomeOfFlow } from "./flow-call.ts";
import {
	callOfPerson,
	checkName,
	inputOfTool,
	nameOf,
	randomOf,
	resultOf,
	storableOf,
} from "./flow-checks.ts";
import type { ChildWorkflow, FlowChild, NamedAgent } from "./flow-children.ts";
import {
	type EventOptions,
	eventNames,
	type ModelOptions,
	modelNames,
	type StepOptions,
	stepCall,
} from "./flow-options.ts";
import { modelWork } from "./model-work.ts";
import { Undos } from "./undos.ts";
import { outsideCode } from "./unrecorded.ts";

/** About the run that a workflow's code works in. */
export interface FlowAbout {
	readonly runId: string;
	readonly sessionKey: string | undefined;
	readonly caller: Caller | undefined;
	/** Prices of models. */
	readonly prices: AgentOptions["prices"];
	/** Checks an input of the workflow. Rejects with `invalid_input`. */
	checkInput(input: unknown): Promise<void>;
}

/**
 * The durable operations of a workflow. Each call is recorded before it is performed, and its result before your code
 * receives it. After a crash, your code runs again and receives the recorded results in the recorded order.
 *
 * Between these calls, use only plain computation. Put requests, file access and timers into steps, and use `now`,
 * `random` and `uuid` instead of the clock and random numbers of the process.
 */
export class Flow {
	readonly runId: string;
	/** Key of the session; undefined in a call without a session. */
	readonly sessionKey: string | undefined;
	/** The requester of the run, if known. */
	readonly caller: Caller | undefined;
	readonly #branch: Branch<FlowCall>;
	readonly #about: FlowAbout;
	readonly #undos: Undos;

	/** @internal */
	constructor(branch: Branch<FlowCall>, about: FlowAbout, undos: Undos = new Undos()) {
		this.#branch = branch;
		this.#about = about;
		this.#undos = undos;
		this.runId = about.runId;
		this.sessionKey = about.sessionKey;
		this.caller = about.caller;
	}

	/**
	 * Runs a function once and records its result. The result must be plain JSON data; other values are converted, so a
	 * `Date` becomes text. Names may repeat.
	 *
	 * Rejects with the error of the function as a `HoldfastError` with its code and message, `step_failed` if it has no
	 * code, `step_timeout`, `step_outcome_unknown`, `unserialisable_value`, and with `invalid_argument` and
	 * `invalid_option`.
	 */
	async step<Value>(
		name: string,
		run: (context: StepContext) => Value | Promise<Value>,
		options: StepOptions<NoInfer<Value>> = {},
	): Promise<Value> {
		checkName(name, "step");
		if (typeof run !== "function")
			throw new HoldfastTypeError("invalid_argument", "flow.step(name, run) takes a function as `run`.");
		const call = stepCall(run, options as StepOptions);
		const { undo } = options as StepOptions;
		const result = this.#branch.call(name, "step", call) as Promise<Value>;
		if (undo === undefined) return result;
		return this.#undos.follow(name, call, result, undo) as Promise<Value>;
	}

	/**
	 * Waits for a duration. The run occupies no process in the meantime.
	 *
	 * Rejects with `invalid_argument` for an invalid duration.
	 */
	async sleep(duration: Duration): Promise<void> {
		const milliseconds = millisecondsOf(duration, "flow.sleep()");
		const until = (now: number): number => now + milliseconds;
		await this.#branch.call("sleep", "sleep", { kind: "wait", until, event: undefined });
	}

	/**
	 * Waits until a time: a Date, milliseconds since the epoch, or ISO 8601 text.
	 *
	 * Rejects with `invalid_argument` for an invalid time.
	 */
	async until(time: Date | number | string): Promise<void> {
		const at = timeOf(time, "flow.until()");
		await this.#branch.call("sleep", "sleep", { kind: "wait", until: () => at, event: undefined });
	}

	/**
	 * Waits for an event and returns its payload; undefined after the timeout. An event that arrives before the code waits
	 * for it is kept, and the first call that waits for its name receives it. Up to 1,000 events are kept. A message that
	 * does not name an event is the event `message`, with its text as the payload.
	 *
	 * Rejects with `invalid_argument` and `invalid_option`. Events cannot be sent to a child workflow, so a wait without
	 * `timeout` rejects there with `workflow_event_unreachable` once only such waits are open.
	 */
	async event<Payload = unknown>(name: string, options: EventOptions = {}): Promise<Payload | undefined> {
		checkName(name, "event");
		checkOptions(options, eventNames, { of: "flow.event()" });
		const { timeout } = options;
		const milliseconds = timeout === undefined ? undefined : millisecondsOf(timeout, "`timeout`");
		const until = (now: number): number | undefined => milliseconds && now + milliseconds;
		return this.#branch.call(name, "event", { kind: "wait", until, event: name }) as Promise<
			Payload | undefined
		>;
	}

	/**
	 * Calls one of the workflow's tools and returns its result. Approvals, retry policies, timeouts and `reconcile` of the
	 * tool apply as in a model's calls. If the call needs an outside answer, it waits without a process.
	 *
	 * Rejects with `tool_call_failed` if the call has no result: the tool failed or is unknown, the input is invalid, or the
	 * call was denied or expired. Rejects with `unserialisable_value` if the input is not JSON data, and with
	 * `value_too_large` if the store refuses its size.
	 */
	async tool<Given extends { readonly name: string }>(
		tool: Given,
		input: InferToolInput<Given>,
	): Promise<InferToolOutput<Given>> {
		const name = nameOf(tool, "tool");
		const given = inputOfTool(input, `The input of the tool ${JSON.stringify(name)}`);
		const call: FlowCall = { kind: "tool", toolName: name, arguments: () => given };
		const ended = (await this.#branch.call(name, "tool", call)) as ToolOutcomeOfFlow;
		return resultOf(`The call of the tool ${JSON.stringify(name)}`, ended) as InferToolOutput<Given>;
	}

	/**
	 * Gives a prompt to one of the workflow's sub-agents and returns its answer: the output of an agent with the option
	 * `output`, otherwise its text. Each call is a session of the sub-agent's own. While the sub-agent waits for an
	 * approval or an answer, so does the workflow, and its `pending()` lists the call.
	 *
	 * Rejects with `tool_call_failed` if the sub-agent failed or was cancelled, or is not one of the workflow's, with
	 * `invalid_argument` for a prompt that is not text, and with `value_too_large` if the store refuses its size.
	 */
	async agent<Output>(
		agent: NamedAgent<Output>,
		prompt: string,
	): Promise<unknown extends Output ? string : Output> {
		const name = nameOf(agent, "agent");
		if (typeof prompt !== "string")
			throw new HoldfastTypeError("invalid_argument", "flow.agent(agent, prompt) takes text as the prompt.");
		const call: FlowCall = {
			kind: "tool",
			toolName: delegateToolName(name),
			arguments: (id) => ({ prompt, sessionKey: id }),
		};
		const ended = (await this.#branch.call(name, "agent", call)) as ToolOutcomeOfFlow;
		const answer = resultOf(`The work of the sub-agent ${JSON.stringify(name)}`, ended);
		const { text, output } = answer as { readonly text?: string; readonly output?: Output };
		return (output === undefined ? text : output) as unknown extends Output ? string : Output;
	}

	/**
	 * Calls a model once and returns its text, or its answer as the schema in `output` validates it. The call is recorded
	 * with its usage, which the workflow's budget counts. After a crash during the call, the model is called again. For
	 * a conversation, or for tools that the model calls, use `agent()`.
	 *
	 * Rejects with `tool_call_failed` if the call has no result: the model failed, its answer stayed invalid, or the
	 * workflow's policy refused the call. Rejects with `invalid_argument`, `invalid_option` and `invalid_schema`.
	 */
	async model<const Schema extends OutputSchema = never>(
		model: NonNullable<AgentOptions["model"]>,
		prompt: string,
		options: ModelOptions<Schema> = {},
	): Promise<[Schema] extends [never] ? string : OutputOf<Schema>> {
		checkOptions(options, modelNames, { of: "flow.model()" });
		if (typeof prompt !== "string" || prompt === "")
			throw new HoldfastTypeError("invalid_argument", "flow.model(model, prompt) takes a non-empty prompt.");
		const { name = "model" } = options;
		checkName(name, "model");
		const { work, modelId } = outsideCode(() => modelWork(model, options, this.#about.prices));
		const call: FlowCall = {
			kind: "tool",
			toolName: modelTool,
			arguments: () => ({ prompt, model: modelId }),
			work,
		};
		const ended = (await this.#branch.call(name, "model", call)) as ToolOutcomeOfFlow;
		const answer = resultOf(`The model call ${JSON.stringify(name)}`, ended);
		const { text, output } = answer as { readonly text?: string; readonly output?: unknown };
		return (options.output === undefined ? text : output) as never;
	}

	/**
	 * Runs one of the workflow's `workflows` in a session of its own and returns its result. While the child waits, so does
	 * this workflow, and its `pending()` lists the child's calls. If this run ends first, the child is cancelled.
	 *
	 * Rejects with `tool_call_failed` if the child failed or was cancelled, or is not one of the workflow's, and with
	 * `invalid_input` if the input is not JSON.
	 */
	async child<Input, Output>(workflow: ChildWorkflow<Input, Output>, input: Input): Promise<Output> {
		return this.#startChild(workflow, input, "child").result;
	}

	/**
	 * Like `child()`, but returns a handle at once, for a child that runs alongside other work. Await `result()` or
	 * `cancel()` of the handle before the code returns: otherwise the run is parked with `workflow_open_children`.
	 *
	 * @throws HoldfastError `invalid_argument` for something other than a workflow; `invalid_input` if the input is not JSON.
	 */
	spawn<Input, Output>(workflow: ChildWorkflow<Input, Output>, input: Input): FlowChild<Output> {
		const { id, result } = this.#startChild(workflow, input, "spawn");
		return {
			id,
			result: () => result,
			cancel: async () => {
				await this.#branch.call("cancel", "cancel", { kind: "cancel", of: id });
				await result.catch(() => {});
			},
		};
	}

	#startChild<Input, Output>(
		workflow: ChildWorkflow<Input, Output>,
		input: Input,
		does: "child" | "spawn",
	): { readonly id: string; readonly result: Promise<Output> } {
		const name = nameOf(workflow, does);
		const prompt = inputText(
			storableOf(input, `The input of the workflow ${JSON.stringify(name)}`, "invalid_input"),
		);
		const call: FlowCall = {
			kind: "tool",
			toolName: delegateToolName(name),
			arguments: (id) => ({ prompt, sessionKey: id }),
		};
		const { id, result } = this.#branch.begin(name, does, call);
		const outputOf = (ended: unknown): Output => {
			const answer = resultOf(`The workflow ${JSON.stringify(name)}`, ended as ToolOutcomeOfFlow);
			return (answer as { readonly output?: unknown }).output as Output;
		};
		const output = result.then(outputOf);
		output.catch(() => {}); // handled by those who await it
		return { id, result: output };
	}

	/**
	 * Records a line for people. It appears once, however often the code runs again: as an event with the topic
	 * `workflow-log`, in the inspector and in telemetry. `data` must be JSON data.
	 *
	 * Rejects with `invalid_argument` for an empty message, and `unserialisable_value`.
	 */
	async log(message: string, data?: unknown): Promise<void> {
		if (typeof message !== "string" || message === "")
			throw new HoldfastTypeError("invalid_argument", "flow.log(message) takes a non-empty text.");
		const stored = storableOf(data, "The data of flow.log()", "unserialisable_value");
		const value = stored === undefined ? { message } : { message, data: stored };
		await this.#branch.call("log", "log", { kind: "value", topic: "log", value: () => value });
	}

	/**
	 * Publishes a value that shows how far the workflow is. `state()` of its session returns the last one, also in other
	 * processes, over HTTP, and after the run has ended. It must be JSON data.
	 *
	 * Rejects with `unserialisable_value`.
	 */
	async state(value: unknown): Promise<void> {
		const state = storableOf(value, "The value of flow.state()", "unserialisable_value") ?? null;
		await this.#branch.call("state", "state", { kind: "value", topic: "state", value: () => ({ state }) });
	}

	/**
	 * Begins the workflow again from its first line, with another input and an empty record, so that a workflow that never
	 * ends stays small. The run keeps its id, its published state, and the events that no code has waited for. Completed steps
	 * can no longer be undone. The promise never settles: write `return flow.continueAsNew(input)`.
	 *
	 * Rejects with `invalid_input` if the schema refuses the input or it is not JSON.
	 */
	async continueAsNew(input?: unknown): Promise<never> {
		const stored = storableOf(input, "The input of flow.continueAsNew()", "invalid_input");
		await outsideCode(() => this.#about.checkInput(stored ?? null));
		return this.#branch.call("continue", "continue", {
			kind: "continue",
			input: inputText(stored),
		}) as Promise<never>;
	}

	/**
	 * Asks a person to approve something, and returns the decision. The call waits without a process. `pending()` lists it
	 * with its name and details, and `answer()` decides it.
	 *
	 * Rejects with `tool_call_failed` if the session's policy ends the call, and with `unserialisable_value`.
	 */
	async approve(name: string, details: unknown = null): Promise<boolean> {
		checkName(name, "approve");
		const call = callOfPerson(approveTool, { name }, details);
		const ended = (await this.#branch.call(name, "approve", call)) as ToolOutcomeOfFlow;
		if (ended.approved === false) return false;
		return resultOf(`The approval ${JSON.stringify(name)}`, ended) === true;
	}

	/**
	 * Asks a person or another program for an answer, and returns it. The call waits without a process. `pending()` lists it
	 * with the question and its details, for example a form, and `answer()` answers it.
	 *
	 * Rejects with `tool_call_failed` if the answer reports an error, and with `unserialisable_value`.
	 */
	async ask<Answer = unknown>(question: string, details: unknown = null): Promise<Answer> {
		checkName(question, "ask");
		const call = callOfPerson(askTool, { question }, details);
		const ended = (await this.#branch.call(question, "ask", call)) as ToolOutcomeOfFlow;
		return resultOf(`The question ${JSON.stringify(question)}`, ended) as Answer;
	}

	/** Returns the time in milliseconds since the epoch. */
	async now(): Promise<number> {
		return this.#value("now", ({ now }) => now()) as Promise<number>;
	}

	/** Returns a random number from 0 up to, but not including, 1. */
	async random(): Promise<number> {
		return this.#value("random", ({ uuid }) => randomOf(uuid())) as Promise<number>;
	}

	/** Returns a new UUIDv4. */
	async uuid(): Promise<string> {
		return this.#value("uuid", ({ uuid }) => uuid()) as Promise<string>;
	}

	/**
	 * Guards a change of the code. Returns true in runs that first reach this point with the change deployed, and false
	 * in runs that passed it with the earlier code. Once no run of the earlier code is open, remove the guard.
	 *
	 * Rejects with `invalid_argument` for an invalid name.
	 */
	async version(change: string): Promise<boolean> {
		checkName(change, "version");
		return this.#branch.callIfNew(change, "version", {
			kind: "value",
			value: () => true,
		}) as Promise<boolean>;
	}

	/**
	 * Returns operations for code that runs concurrently with other code of the workflow. Calls of one branch are recorded
	 * in their own order, so a change of the code in one branch does not affect another.
	 *
	 * @throws HoldfastError `invalid_argument` for an invalid name.
	 */
	branch(name: string): Flow {
		checkName(name, "branch");
		return new Flow(this.#branch.branch(name), this.#about, this.#undos);
	}

	/** Undoes steps after a failure: see `Undos.undo`. @internal */
	undo(): Promise<readonly string[]> {
		return this.#undos.undo(this.#branch);
	}

	#value(name: string, value: (ports: { now(): number; uuid(): string }) => unknown): Promise<unknown> {
		return this.#branch.call(name, name, { kind: "value", value });
	}
}
