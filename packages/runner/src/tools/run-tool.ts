// Runs one tool call to its end: validates the input, then makes attempts, each with a time limit, and waits in
// between.

import type { DatabaseClient, MemoryClient } from "@holdfast/memory";
import { after, isThenable } from "@holdfast/upp";
import { compileSchema, formatIssues } from "holdfast/execution";
import type { MaybePromise } from "holdfast/host";
import type {
	CallAnswer,
	MemoryChange,
	ResultError,
	RunnerTool,
	RunnerToolContext,
	ToolMeta,
	ToolRetryOptions,
} from "../contract/index.ts";
import { type Attempt, readError, readOutput, refused } from "./read-output.ts";

/** The default time limit of an attempt in milliseconds. */
const defaultTimeout = 30_000;
/** The longest wait that a server may request. */
const longestRetryAfter = 30_000;

/** The context of a call. */
export interface ToolCall {
	readonly tool: RunnerTool;
	readonly input: unknown;
	readonly context: Omit<RunnerToolContext, "signal" | "attempt" | "memory">;
	/** Fires when the run is aborted. */
	readonly signal: AbortSignal;
	readonly memory: MemoryClient;
	/** The changes that the tool made through that memory; more are added while it runs. */
	readonly changes: readonly MemoryChange[];
	/** The agent's options, for tools without their own. */
	readonly retry: ToolRetryOptions;
	readonly timers: { after(milliseconds: number, wake: () => void): () => void };
	/** Called before each attempt; if it returns an error, the attempt is not made. */
	refuses?(attempt: number): MaybePromise<ResultError | undefined>;
	/** An attempt starts. */
	called(attempt: number): void;
	/** An attempt failed. */
	failed(error: ResultError): void;
	/** Receives the work of each attempt, including abandoned ones. */
	track(work: Promise<unknown>): void;
}

/**
 * Runs a tool; returns a promise only if the tool, or a pause between two attempts, takes time. Throws only if the run
 * was aborted.
 */
export function runTool(call: ToolCall): MaybePromise<CallAnswer> {
	const problem = checked(call.tool, call.input);
	if (problem === undefined) return attempted(call, { attempt: 1, latency: 0, failures: [] });
	call.failed(problem.error);
	return answer(problem, { attempts: 0, latency: 0, failures: [] }, call.changes);
}

/** The attempts so far. */
interface Attempts {
	/** The next attempt, starting at 1. */
	readonly attempt: number;
	readonly latency: number;
	readonly failures: readonly ResultError[];
}

/** Makes the next attempt, and further ones. */
function attempted(call: ToolCall, so: Attempts): MaybePromise<CallAnswer> {
	return after(call.refuses?.(so.attempt), (refusal) => attemptedUnless(refusal, call, so));
}

function attemptedUnless(
	refusal: ResultError | undefined,
	call: ToolCall,
	so: Attempts,
): MaybePromise<CallAnswer> {
	const { attempt, latency, failures } = so;
	if (refusal !== undefined) {
		call.failed(refusal);
		const came = refused(refusal.code ?? "TOOL_REFUSED", refusal.message, refusal.info);
		return answer(came, { attempts: attempt - 1, latency, failures: [...failures, refusal] }, call.changes);
	}
	call.called(attempt);
	const began = call.context.clock.now();
	return after(once(call, attempt), (came) => afterAttempt(came, began, call, so));
}

function afterAttempt(came: Attempt, began: number, call: ToolCall, so: Attempts): MaybePromise<CallAnswer> {
	const { tool, signal, context, changes } = call;
	const { attempt } = so;
	signal.throwIfAborted();
	const latency = so.latency + Math.max(0, context.clock.now() - began);
	const failures = came.ok ? so.failures : [...so.failures, came.error];
	if (!came.ok) call.failed(came.error);
	const retry = { ...call.retry, ...tool.retry };
	if (came.ok || !came.retriable || attempt >= Math.max(1, retry.maxAttempts ?? 3))
		return answer(came, { attempts: attempt, latency, failures }, changes);
	return pause(call, delayBefore(attempt, retry, context.rng, came.meta)).then(() => {
		signal.throwIfAborted();
		return attempted(call, { attempt: attempt + 1, latency, failures });
	});
}

function checked({ id, schema }: RunnerTool, input: unknown): Extract<Attempt, { ok: false }> | undefined {
	if (schema === undefined) return undefined;
	const issues = compileSchema(schema)(input ?? {});
	if (issues.length === 0) return undefined;
	const message = `The input of the tool ${JSON.stringify(id)} is invalid: ${formatIssues(issues)}`;
	const paths = issues.map(({ path }) => path);
	return refused("TOOL_INPUT_INVALID", message, { paths }) as Extract<Attempt, { ok: false }>;
}

/** Runs one attempt. Work that a tool does after its time limit or after an abort has no effect. */
function once(call: ToolCall, attempt: number): MaybePromise<Attempt> {
	const { tool } = call;
	const signal = new LateSignal(call.signal);
	let returned: unknown;
	let isLater: boolean;
	try {
		returned = tool.run(call.input, new AttemptContext(call, attempt, signal));
		isLater = isThenable(returned);
	} catch (error) {
		return readError(tool, error);
	}
	return isLater ? inTime(call, Promise.resolve(returned), signal) : readOutput(returned);
}

/** The context of a tool for one attempt. */
class AttemptContext implements RunnerToolContext {
	declare readonly agentId: string;
	declare readonly sessionId: string;
	declare readonly rng: () => number;
	declare readonly clock: { now(): number };
	declare readonly database?: DatabaseClient;
	declare readonly step: number;
	declare readonly idempotencyKey: string;
	declare readonly allowDbWrites: boolean;
	declare readonly signal: AbortSignal;
	readonly memory: MemoryClient;
	readonly attempt: number;
	readonly #signal: LateSignal;

	static readonly #ofSignal: PropertyDescriptor & ThisType<AttemptContext> = {
		get() {
			return this.#signal.get();
		},
		enumerable: true,
	};

	constructor({ context, memory }: ToolCall, attempt: number, signal: LateSignal) {
		Object.assign(this, context);
		this.memory = memory;
		this.attempt = attempt;
		this.#signal = signal;
		// An own member, for a tool that passes on a copy, `{ ...context }`.
		Object.defineProperty(this, "signal", AttemptContext.#ofSignal);
	}
}

async function inTime(call: ToolCall, work: Promise<unknown>, ofTool: LateSignal): Promise<Attempt> {
	const { tool, signal, timers } = call;
	const timeout = tool.timeoutMs ?? defaultTimeout;
	let abort = (): void => {};
	let callOff: (() => void) | undefined;
	call.track(work.catch(() => {}));
	const late = new Promise<Attempt>((resolve) => {
		abort = (): void => {
			ofTool.abort(signal.reason);
			resolve(refused("ABORTED", "The run was aborted."));
		};
		if (signal.aborted) return abort();
		signal.addEventListener("abort", abort, { once: true });
		if (timeout === Number.POSITIVE_INFINITY) return;
		callOff = timers.after(timeout, () => {
			const message = `The tool ${JSON.stringify(tool.id)} took longer than ${timeout} ms.`;
			const error = { code: "TOOL_TIMEOUT", message };
			resolve({ ok: false, error, retriable: tool.idempotent === true, fatal: false });
			ofTool.abort(Object.assign(new Error(message), { name: "TimeoutError", code: "TOOL_TIMEOUT" }));
		});
	});
	try {
		return await Promise.race([work.then(readOutput, (error) => readError(tool, error)), late]);
	} finally {
		callOff?.();
		signal.removeEventListener("abort", abort);
	}
}

/** The signal of one attempt, created when the tool accesses it: most never do. */
class LateSignal {
	readonly #ofRun: AbortSignal;
	#controller: AbortController | undefined;
	#aborted: { readonly reason: unknown } | undefined;

	constructor(ofRun: AbortSignal) {
		this.#ofRun = ofRun;
	}

	get(): AbortSignal {
		if (this.#controller === undefined) {
			this.#controller = new AbortController();
			if (this.#aborted !== undefined) this.#controller.abort(this.#aborted.reason);
			else if (this.#ofRun.aborted) this.#controller.abort(this.#ofRun.reason);
		}
		return this.#controller.signal;
	}

	abort(reason: unknown): void {
		this.#aborted ??= { reason };
		this.#controller?.abort(reason);
	}
}

/**
 * Returns the milliseconds before the next attempt: doubled each time, slightly different for each run, and never earlier
 * than a server allows.
 */
function delayBefore(
	attempt: number,
	{ baseDelayMs = 200, maxDelayMs = 30_000 }: ToolRetryOptions,
	rng: () => number,
	meta: ToolMeta | undefined,
): number {
	const backoff = Math.min(maxDelayMs, baseDelayMs * 2 ** (attempt - 1)) * (0.5 + rng() / 2);
	const wanted = meta?.retryAfterMs;
	const asked = typeof wanted === "number" && wanted > 0 ? Math.min(wanted, longestRetryAfter) : 0;
	return Math.round(Math.max(backoff, asked));
}

function pause({ timers, signal }: ToolCall, milliseconds: number): Promise<void> {
	return new Promise((resolve) => {
		const done = (): void => {
			callOff();
			signal.removeEventListener("abort", done);
			resolve();
		};
		const callOff = timers.after(milliseconds, done);
		signal.addEventListener("abort", done, { once: true });
	});
}

function answer(
	came: Attempt,
	{ attempts, latency, failures }: Pick<CallAnswer, "attempts" | "latency" | "failures">,
	changes: readonly MemoryChange[],
): CallAnswer {
	const { attachments, ...meta } = came.meta ?? {};
	const about = { latency, attempts, failures, changes: [...changes] };
	return {
		ok: came.ok,
		...(came.output === undefined ? {} : { output: came.output }),
		...(came.ok ? {} : { error: came.error }),
		...(Object.keys(meta).length === 0 ? {} : { meta }),
		...about,
		...textsOf(attachments),
		...(!came.ok && came.fatal ? { fatal: true } : {}),
	};
}

/** Returns the texts among a tool's attachments. */
function textsOf(attached: unknown): Pick<CallAnswer, "attachments"> {
	if (typeof attached !== "object" || attached === null) return {};
	const texts = Object.entries(attached).filter(([, each]) => typeof each === "string");
	return texts.length === 0 ? {} : { attachments: Object.fromEntries(texts) };
}
