// What the code of a workflow calls: each method is a call on record.
import { checkOptionNames, HoldfastError, HoldfastTypeError, optionNames } from "@holdfast/upp";
import type { Caller } from "../caller/index.ts";
import type { Branch } from "../replayer/index.ts";
import { delegateToolName } from "../subagents/index.ts";
import type { InferToolInput, InferToolOutput, Reconciliation } from "../tools/index.ts";
import { approveTool, askTool } from "./built-in-tools.ts";
import { type Duration, millisecondsOf, timeOf } from "./duration.ts";
import type { FlowCall, StepCall, StepContext, ToolOutcomeOfFlow } from "./flow-call.ts";

/** Options of a step. */
export interface StepOptions<Value = unknown> {
	/**
	 * What happens if the process dies during the step. `pure`: it may run again any number of times. `idempotent`: it
	 * runs again with the same `idempotencyKey`. `manual-recovery` (the default): it does not run again, and the code
	 * receives the error `step_outcome_unknown`, unless `reconcile` determines the outcome.
	 */
	readonly retryPolicy?: "pure" | "idempotent" | "manual-recovery";
	/** How often the step is tried again after an error. An error whose `retryable` is false is final. Default 0. */
	readonly retries?: number;
	/** The delay before the first retry. It doubles with each further one. Default 1 second. */
	readonly retryDelay?: Duration;
	/** The longest delay between two attempts. Default 5 minutes. */
	readonly maxRetryDelay?: Duration;
	/**
	 * How long an attempt may take. After that, its signal is aborted and the attempt fails with `step_timeout`. Default:
	 * no limit.
	 */
	readonly timeout?: Duration;
	/**
	 * Determines the outcome of a step during which the process died: `{ result }`, `{ error }`, `{ retry: true }` to run
	 * it again, or undefined if the outcome stays unknown. Only for `manual-recovery`. Default: none.
	 */
	reconcile?(call: { readonly idempotencyKey: string }): Reconciliation | Promise<Reconciliation>;
	/**
	 * Undoes the step if the workflow fails after it. Undo functions run in reverse order, each as a step with the same
	 * options. Default: none.
	 */
	undo?(value: Value, context: StepContext): unknown;
}

/** Options of a wait for an event. */
export interface EventOptions {
	/** How long to wait. Default: no limit. */
	readonly timeout?: Duration;
}

const stepNames = optionNames<StepOptions>({
	retryPolicy: true,
	retries: true,
	retryDelay: true,
	maxRetryDelay: true,
	timeout: true,
	reconcile: true,
	undo: true,
});
const eventNames = optionNames<EventOptions>({ timeout: true });

/** About the run that a workflow's code works in. */
export interface FlowAbout {
	readonly runId: string;
	readonly sessionKey: string | undefined;
	readonly caller: Caller | undefined;
}

/** A completed step that can be undone. */
interface Undo {
	readonly name: string;
	readonly call: StepCall;
}

/**
 * The durable operations of a workflow. Each call is on record before it is performed, and its result before your code
 * receives it. After a crash, your code runs again and receives the recorded results in the recorded order.
 *
 * Between these calls, use only plain computation. Put requests, file access and timers into steps, and use `now`,
 * `random` and `uuid` instead of the clock and random numbers of the process.
 */
export class Flow {
	/** Id of the run. */
	readonly runId: string;
	/** Key of the session; undefined in a call without a session. */
	readonly sessionKey: string | undefined;
	/** The requester of the run, if known. */
	readonly caller: Caller | undefined;
	readonly #branch: Branch<FlowCall>;
	readonly #about: FlowAbout;
	readonly #undos: Undo[];

	/** @internal */
	constructor(branch: Branch<FlowCall>, about: FlowAbout, undos: Undo[] = []) {
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
		const value = (await this.#branch.call(name, "step", call)) as Value;
		const { undo } = options as StepOptions;
		if (undo !== undefined)
			this.#undos.push({
				name,
				call: { ...call, run: (context) => undo(value, context), reconcile: undefined },
			});
		return value;
	}

	/**
	 * Waits for a duration. The run occupies no process meanwhile.
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
	 * Rejects with `invalid_argument` and `invalid_option`.
	 */
	async event<Payload = unknown>(name: string, options: EventOptions = {}): Promise<Payload | undefined> {
		checkName(name, "event");
		checkOptionNames(options, eventNames, { of: "flow.event()" });
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
	 * call was denied or expired.
	 */
	async tool<Given extends { readonly name: string }>(
		tool: Given,
		input: InferToolInput<Given>,
	): Promise<InferToolOutput<Given>> {
		const name = nameOf(tool, "tool");
		const call: FlowCall = {
			kind: "tool",
			toolName: name,
			arguments: () => input as Record<string, unknown>,
		};
		const ended = (await this.#branch.call(name, "tool", call)) as ToolOutcomeOfFlow;
		return resultOf(`The call of the tool ${JSON.stringify(name)}`, ended) as InferToolOutput<Given>;
	}

	/**
	 * Gives a prompt to one of the workflow's sub-agents and returns its answer: the output of an agent with the option
	 * `output`, otherwise its text. Each call is a session of the sub-agent's own. While the sub-agent waits for an
	 * approval or an answer, so does the workflow, and its `pending()` lists the call.
	 *
	 * Rejects with `tool_call_failed` if the sub-agent failed or was cancelled, or is not one of the workflow's.
	 */
	async agent<Output>(
		agent: NamedAgent<Output>,
		prompt: string,
	): Promise<unknown extends Output ? string : Output> {
		const name = nameOf(agent, "agent");
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
	 * Asks a person to approve something, and returns the decision. The call waits without a process. `pending()` lists it
	 * with its name and details, and `answer()` decides it.
	 *
	 * Rejects with `tool_call_failed` if the session's policy ends the call.
	 */
	async approve(name: string, details: unknown = null): Promise<boolean> {
		checkName(name, "approve");
		const call: FlowCall = { kind: "tool", toolName: approveTool, arguments: () => ({ name, details }) };
		const ended = (await this.#branch.call(name, "approve", call)) as ToolOutcomeOfFlow;
		if (ended.approved === false) return false;
		return resultOf(`The approval ${JSON.stringify(name)}`, ended) === true;
	}

	/**
	 * Asks a person or another program for an answer, and returns it. The call waits without a process. `pending()` lists it
	 * with the question and its details, for example a form, and `answer()` answers it.
	 *
	 * Rejects with `tool_call_failed` if the answer reports an error.
	 */
	async ask<Answer = unknown>(question: string, details: unknown = null): Promise<Answer> {
		checkName(question, "ask");
		const call: FlowCall = { kind: "tool", toolName: askTool, arguments: () => ({ question, details }) };
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
	 * Guards a change of the code: true in runs that reach this point for the first time with the change deployed, and
	 * false in runs that passed it with the earlier code. Once no run of the earlier code is open, remove the guard.
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

	/** Undoes the completed steps in reverse order. Returns the names of those that could not be undone. @internal */
	async undo(): Promise<readonly string[]> {
		const failed: string[] = [];
		for (const { name, call } of this.#undos.splice(0).reverse()) {
			try {
				await this.#branch.call(`undo ${name}`, "undo", call);
			} catch {
				failed.push(name);
			}
		}
		return failed;
	}

	#value(name: string, value: (ports: { now(): number; uuid(): string }) => unknown): Promise<unknown> {
		return this.#branch.call(name, name, { kind: "value", value });
	}
}

/** An agent with a name. */
interface NamedAgent<Output> {
	readonly name?: string;
	readonly "~types"?: { readonly output: Output } | undefined;
}

function nameOf(given: { readonly name?: unknown } | undefined, of: string): string {
	const { name } = given ?? {};
	if (typeof name === "string") return name;
	throw new HoldfastTypeError("invalid_argument", `flow.${of}() takes a ${of} with a name.`);
}

function resultOf(what: string, { outcome, result }: ToolOutcomeOfFlow): unknown {
	if (outcome === "done") return result;
	const why = typeof result === "string" ? result : JSON.stringify(result);
	throw new HoldfastError("tool_call_failed", `${what} has no result (${outcome}): ${why}`, {
		data: { outcome },
	});
}

function checkName(name: unknown, of: string): void {
	if (typeof name === "string" && name !== "" && name.length <= 200) return;
	throw new HoldfastTypeError("invalid_argument", `flow.${of}() takes a name: text of 1 to 200 characters.`);
}

/** @throws HoldfastError `invalid_option` naming the option. */
function stepCall(run: StepCall["run"], options: StepOptions): StepCall {
	checkOptionNames(options, stepNames, { of: "flow.step()" });
	const {
		retryPolicy = "manual-recovery",
		retries = 0,
		retryDelay = 1_000,
		maxRetryDelay = 300_000,
		timeout,
		reconcile,
		undo,
	} = options;
	if (!["pure", "idempotent", "manual-recovery"].includes(retryPolicy))
		throw invalid("`retryPolicy` must be `pure`, `idempotent` or `manual-recovery`");
	if (!(Number.isSafeInteger(retries) && retries >= 0) && retries !== Number.POSITIVE_INFINITY)
		throw invalid("`retries` must be a whole number from 0, or Infinity");
	if (retries === 0 && (options.retryDelay ?? options.maxRetryDelay) !== undefined)
		throw invalid("`retryDelay` and `maxRetryDelay` have no effect without `retries`");
	if (reconcile !== undefined && retryPolicy !== "manual-recovery")
		throw invalid("`reconcile` has no effect with this `retryPolicy`, which runs the step again");
	for (const [name, value] of Object.entries({ reconcile, undo }))
		if (value !== undefined && typeof value !== "function") throw invalid(`\`${name}\` must be a function`);
	return {
		kind: "step",
		run,
		retryPolicy,
		retries,
		retryDelayMs: millisecondsOf(retryDelay, "`retryDelay`"),
		maxRetryDelayMs: millisecondsOf(maxRetryDelay, "`maxRetryDelay`"),
		timeoutMs: timeout === undefined ? undefined : millisecondsOf(timeout, "`timeout`"),
		reconcile: reconcile?.bind(options),
	};
}

function invalid(why: string): HoldfastError {
	return new HoldfastTypeError("invalid_option", `An option of flow.step() was refused: ${why}.`);
}

/** The first 12 hexadecimal digits of a UUIDv4 are random. */
function randomOf(uuid: string): number {
	return Number.parseInt(uuid.replaceAll("-", "").slice(0, 12), 16) / 2 ** 48;
}
