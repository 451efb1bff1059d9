// Runs a started tool to its outcome. It may return a value, a promise, `{output, details}`, or an async iterable of
// deltas. A failing tool has an outcome too; nothing is thrown from here.

import { cutText, failureText, isThenable, isUPPError } from "@holdfast/upp";
import { aiSdkOutcome } from "./ai-sdk-tool.ts";
import { plainDetails, plainJson } from "./plain-json.ts";
import type { EngineTool, ToolContext, ToolExecutionEvent, ToolOutcome } from "./types.ts";

/**
 * Runs a tool with arguments that passed `tool.validate`.
 *
 * @param onDelta called with each piece of output that a streaming tool yields. If it returns a promise, the next piece
 * is
 *   requested once the promise settles.
 * @returns how the call ended, failures included. If the tool is asynchronous, a promise that never rejects. Cancelling
 * is up to the
 *   caller, which races this against the signal.
 */
export function runTool(
	tool: EngineTool,
	input: unknown,
	context: ToolContext,
	onDelta: (delta: string) => unknown,
): ToolOutcome | Promise<ToolOutcome> {
	try {
		const started = tool.start(input, context);
		if (tool.toModelOutput !== undefined || isThenable(started) || isAsyncIterable(started))
			return awaitOutcome(tool, started, input, context, onDelta);
		return outcomeOf(tool, started);
	} catch (error) {
		return failure(error);
	}
}

/**
 * Returns the result of a tool within its `timeoutMs`. After that the call has expired, even if its function never
 * returns, and later output is ignored. `expire` aborts the signal that the tool was given; `stopped` clears the timer
 * when the run stops.
 */
export function withinItsTime(
	tool: EngineTool,
	ran: ToolOutcome | Promise<ToolOutcome>,
	timers: { after(milliseconds: number, wake: () => void): () => void },
	{ stopped, expire }: { readonly stopped: AbortSignal; expire(reason: unknown): void },
): ToolOutcome | Promise<ToolOutcome> {
	const { timeoutMs } = tool;
	if (timeoutMs === undefined || !(ran instanceof Promise)) return ran;
	return new Promise((resolve) => {
		const callOff = timers.after(timeoutMs, () => {
			const output = `The tool "${tool.name}" did not finish within ${timeoutMs} ms. It may still have its effect.`;
			const error = new DOMException(output, "TimeoutError");
			stopped.removeEventListener("abort", callOff);
			resolve({ output, isError: true, error, expired: true });
			expire(error);
		});
		stopped.addEventListener("abort", callOff, { once: true });
		ran.then((outcome) => {
			callOff();
			stopped.removeEventListener("abort", callOff);
			resolve(outcome);
		});
	});
}

async function awaitOutcome(
	tool: EngineTool,
	started: unknown,
	input: unknown,
	context: ToolContext,
	onDelta: (delta: string) => unknown,
): Promise<ToolOutcome> {
	try {
		const value = isThenable(started) ? await started : started;
		const outcome = isAsyncIterable(value)
			? await drain(tool, value, context.signal, onDelta)
			: outcomeOf(tool, value);
		if (tool.toModelOutput === undefined || outcome.isError) return outcome;
		return await aiSdkOutcome(tool.toModelOutput, { toolCallId: context.toolCallId, input }, outcome);
	} catch (error) {
		return failure(error);
	}
}

function failure(error: unknown): ToolOutcome {
	return { output: describeError(error), isError: true, error };
}

/** Returns the error text for a model: the error's message and that of its cause. Never throws, for any value. */
export function describeError(error: unknown): string {
	try {
		return messageOf(error);
	} catch {
		return "The tool failed with an error that cannot be read.";
	}
}

/** The maximum number of characters of a stack that are kept. */
const longestStack = 2_000;

/** The first stack frame outside the tool. Later frames depend on the host. */
const ownFrame = /^\s+at (async )?(runTool|awaitOutcome|drain) /;

/**
 * Returns the location of an error: only the stack frames, because the message may contain secrets. Undefined if there
 * are no frames.
 */
export function stackOf(error: unknown): string | undefined {
	try {
		if (!(error instanceof Error) || typeof error.stack !== "string") return undefined;
		const { stack, message } = error;
		const said = message === "" ? -1 : stack.indexOf(message);
		const frames = (said < 0 ? stack : stack.slice(said + message.length))
			.split("\n")
			.filter((line) => /^\s+at /.test(line));
		const ours = frames.findIndex((line) => ownFrame.test(line));
		if (ours >= 0) frames.length = ours;
		return frames.length === 0 ? undefined : cutText(frames.join("\n"), longestStack);
	} catch {
		return undefined;
	}
}

function messageOf(error: unknown): string {
	if (!(error instanceof Error)) {
		return error === undefined ? "The tool failed without a reason." : String(plainText(error));
	}
	// The provider's own message is only for logs: it may contain keys and account names.
	if (isUPPError(error)) return failureText(error.code) ?? error.code;
	const message = error.message === "" ? error.name : error.message;
	const { cause } = error;
	if (isUPPError(cause))
		return message.includes(cause.message) ? (failureText(cause.code) ?? message) : message;
	if (!(cause instanceof Error) || cause.message === "" || message.includes(cause.message)) return message;
	return `${message}: ${cause.message}`;
}

async function drain(
	tool: EngineTool,
	iterable: AsyncIterable<unknown>,
	signal: AbortSignal,
	onDelta: (delta: string) => unknown,
): Promise<ToolOutcome> {
	const deltas: string[] = [];
	const iterator = iterable[Symbol.asyncIterator]();
	let last: unknown;
	while (true) {
		const { done, value } = await iterator.next();
		if (done === true) {
			const final = value === undefined ? last : value;
			return final === undefined ? complete(deltas.join(""), undefined) : outcomeOf(tool, final);
		}
		if (isComplete(value)) {
			await iterator.return?.();
			return complete(value.output, value.details);
		}
		if (signal.aborted) {
			// Without this, a tool that ignores its signal would continue indefinitely.
			await iterator.return?.();
			throw signal.reason;
		}
		const delta = deltaOf(tool, value);
		if (delta !== undefined) {
			deltas.push(delta);
			try {
				const heard = onDelta(delta);
				if (isThenable(heard)) await heard;
			} catch (error) {
				await iterator.return?.();
				throw error;
			}
		} else {
			last = value;
		}
	}
}

function outcomeOf(tool: EngineTool, value: unknown): ToolOutcome {
	if (typeof value === "string") return { output: value, isError: false };
	if (isOutputWithDetails(tool, value)) return complete(value.output, value.details);
	return complete(value, undefined);
}

function complete(output: unknown, details: unknown): ToolOutcome {
	const plain = plainOutcome(output);
	if (details === undefined) return plain;
	return { ...plain, details: plainDetails(details) };
}

/** Converts an output into a form that a journal and a model can hold, or an error result if that is impossible. */
export function plainOutcome(output: unknown): ToolOutcome {
	try {
		return { output: plainJson(output), isError: false };
	} catch (error) {
		const why = describeError(error).split("\n", 1)[0];
		return { output: `The tool ran, but its result cannot be written as JSON: ${why}`, isError: true, error };
	}
}

// A tool with `execute` returns `{output, details?}`. For other tools, an object that merely has an `output` is an
// ordinary result.
function isOutputWithDetails(
	tool: EngineTool,
	value: unknown,
): value is { output: string; details?: unknown } {
	if (typeof value !== "object" || value === null || tool.form === "ai-sdk") return false;
	const keys = Object.keys(value);
	if (typeof (value as { output?: unknown }).output !== "string") return false;
	if (tool.form === "execute") return keys.every((key) => key === "output" || key === "details");
	return keys.length === 2 && Object.hasOwn(value, "details");
}

// Iterables of AI SDK tools yield whole results that replace each other; strings from all other tools are pieces.
function deltaOf(tool: EngineTool, value: unknown): string | undefined {
	if (typeof value === "string") return tool.form === "ai-sdk" ? undefined : value;
	if (typeof value !== "object" || value === null) return undefined;
	const { type, delta } = value as { type?: unknown; delta?: unknown };
	return type === "delta" && typeof delta === "string" ? delta : undefined;
}

function isComplete(value: unknown): value is Extract<ToolExecutionEvent, { type: "complete" }> {
	return (
		typeof value === "object" &&
		value !== null &&
		(value as { type?: unknown }).type === "complete" &&
		Object.hasOwn(value, "output")
	);
}

function plainText(error: unknown): string {
	try {
		return typeof error === "object" ? JSON.stringify(plainJson(error)) : String(error);
	} catch {
		return "The tool failed with a value that cannot be written as text.";
	}
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
	return (
		typeof value === "object" &&
		value !== null &&
		typeof (value as { [Symbol.asyncIterator]?: unknown })[Symbol.asyncIterator] === "function"
	);
}
