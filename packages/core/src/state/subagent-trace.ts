// The record of a sub-agent's work: its task, its outcome and its tool calls. As JSON, times are ISO 8601.
import type { JSONValue, TokenUsage } from "@holdfast/upp";
import { frozenCopy } from "./frozen-copy.ts";
import {
	invalidState,
	readId,
	readList,
	readOptional,
	readRecord,
	readString,
	readValue,
} from "./read-json.ts";
import { readUsage } from "./token-usage.ts";
import { writeValue } from "./write-json.ts";

/** One tool call of a sub-agent. */
export interface ToolExecutionTrace {
	/** The tool that was called. */
	readonly toolName: string;
	/** The id of the call. */
	readonly toolCallId?: string;
	/** The arguments of the call. */
	readonly arguments: Readonly<Record<string, unknown>>;
	/** The result as text. */
	readonly result: string;
	/** Whether the call failed. */
	readonly isError?: boolean;
	/** In milliseconds. */
	readonly duration?: number;
}

/** The whole work of one sub-agent. */
export interface SubagentExecutionTrace {
	/** Identifies the execution (UUIDv4). */
	readonly subagentId: string;
	/** The sub-agent's type or name. */
	readonly subagentType: string;
	/** The tool call that started the sub-agent. */
	readonly parentToolCallId: string;
	/** The task it was given. */
	readonly prompt: string;
	/** In milliseconds since the epoch. */
	readonly startTime: number;
	/** In milliseconds since the epoch. */
	readonly endTime: number;
	/** Whether it returned an answer. */
	readonly success: boolean;
	/** Its answer, if it succeeded. */
	readonly result?: string;
	/** The reason it failed. */
	readonly error?: string;
	/** Its tool calls, in order. */
	readonly toolExecutions?: readonly ToolExecutionTrace[];
	/** The tokens that it used. */
	readonly usage?: TokenUsage;
}

/** A trace as JSON data: `startTime` and `endTime` are ISO 8601. */
export interface SubagentExecutionTraceJSON
	extends Omit<SubagentExecutionTrace, "startTime" | "endTime" | "toolExecutions"> {
	/** In ISO 8601. */
	startTime: string;
	/** In ISO 8601. */
	endTime: string;
	/** Its tool calls, in order. */
	toolExecutions?: JSONValue[];
}

/** Returns a frozen copy of a trace. @throws HoldfastError `invalid_state` with the path to the fault. */
export function readTrace(value: unknown, path: string): SubagentExecutionTrace {
	const trace = readRecord(value, path);
	readId(trace.subagentId, `${path}.subagentId`);
	for (const name of ["subagentType", "parentToolCallId", "prompt"]) {
		readString(trace[name], `${path}.${name}`);
	}
	for (const name of ["startTime", "endTime"]) readInstant(trace[name], `${path}.${name}`);
	readBoolean(trace.success, `${path}.success`);
	for (const name of ["result", "error"]) readOptional(trace[name], `${path}.${name}`, readString);
	readOptional(trace.toolExecutions, `${path}.toolExecutions`, (list, at) =>
		readList(list, at, checkExecution),
	);
	readOptional(trace.usage, `${path}.usage`, readUsage);
	return frozenCopy({ ...trace }) as unknown as SubagentExecutionTrace;
}

/** Reads a trace from JSON data; times may be ISO 8601 or milliseconds. @throws HoldfastError `invalid_state` */
export function readTraceJSON(json: unknown, path: string): SubagentExecutionTrace {
	const trace = { ...readRecord(readValue(json, path), path) };
	for (const name of ["startTime", "endTime"]) {
		if (typeof trace[name] === "string") trace[name] = Date.parse(trace[name]);
	}
	return readTrace(trace, path);
}

/** @throws HoldfastError `unserialisable_value` */
export function traceToJSON(trace: SubagentExecutionTrace, path: string): SubagentExecutionTraceJSON {
	const [startTime, endTime] = [trace.startTime, trace.endTime].map((time) => new Date(time).toISOString());
	return writeValue({ ...trace, startTime, endTime }, path) as unknown as SubagentExecutionTraceJSON;
}

function checkExecution(value: unknown, path: string): void {
	const execution = readRecord(value, path);
	readString(execution.toolName, `${path}.toolName`);
	readOptional(execution.toolCallId, `${path}.toolCallId`, readString);
	readRecord(execution.arguments, `${path}.arguments`);
	readString(execution.result, `${path}.result`);
	readOptional(execution.isError, `${path}.isError`, readBoolean);
	readOptional(execution.duration, `${path}.duration`, (duration, at) => {
		if (typeof duration !== "number") throw invalidState(at, "a number of milliseconds", duration);
	});
}

function readBoolean(value: unknown, path: string): void {
	if (typeof value !== "boolean") throw invalidState(path, "true or false", value);
}

function readInstant(value: unknown, path: string): void {
	if (Number.isInteger(value) && !Number.isNaN(new Date(value as number).getTime())) return;
	throw invalidState(path, "a time: whole milliseconds since the epoch, or ISO 8601 in JSON", value);
}
