// The spans of a run's tool calls: one for each time that a call runs.
import { type Attributes, type Span, SpanKind, SpanStatusCode } from "@opentelemetry/api";
import type { RunEvent } from "holdfast";
import { type Place, spanIdOf } from "../ids/index.ts";
import { linkTo, type SpanWriter } from "./span-writer.ts";

type ToolStart = Extract<RunEvent, { type: "tool_start" }>;
type ToolEnd = Extract<RunEvent, { type: "tool_end" }>;

/** A call that was started and has no result yet. Its span ends when the process that ran it leaves. */
interface OpenCall {
	readonly span: Span;
	readonly isOver: boolean;
}

export class CallSpans {
	readonly #writer: SpanWriter;
	readonly #traceId: string;
	readonly #runId: string;
	readonly #open = new Map<string, OpenCall>();

	constructor(writer: SpanWriter, traceId: string, runId: string) {
		this.#writer = writer;
		this.#traceId = traceId;
		this.#runId = runId;
	}

	/** Returns the ids of the span of a call in flight; of its first attempt if the span is unknown here. */
	placeOf(toolCallId: string): Place {
		const open = this.#open.get(toolCallId)?.span.spanContext();
		return open ?? { traceId: this.#traceId, spanId: spanIdOf(this.#runId, callName(toolCallId, 1)) };
	}

	started(event: ToolStart, part: Span | undefined): void {
		const { call, attempt, at, toolName, step, input } = event;
		const { toolCallId } = call;
		const { content } = this.#writer.to;
		const before = this.#open.get(toolCallId)?.span.spanContext();
		const span = this.#writer.start({
			what: callName(toolCallId, attempt),
			name: `execute_tool ${toolName}`,
			kind: SpanKind.INTERNAL,
			at,
			inside: part?.spanContext(),
			links: before === undefined ? [] : [linkTo(before, "retries")],
			attributes: {
				...attributesOf(event),
				"holdfast.tool.attempt": attempt,
				...(content === undefined ? {} : { "gen_ai.tool.call.arguments": content.json(input) }),
			},
		});
		this.#open.set(toolCallId, { span, isOver: false });
		const texts = content === undefined ? {} : { input: content.masked(input) };
		this.#writer.log("info", "tool started", { step, tool: toolName, toolCallId, attempt, ...texts }, span);
	}

	ended(event: ToolEnd, part: Span | undefined): void {
		const { call, at, toolName, outcome, duration, step, result, stack } = event;
		const { toolCallId } = call;
		const { content } = this.#writer.to;
		const span = this.#spanOf(event, part);
		this.#open.delete(toolCallId);
		span.setAttribute("holdfast.tool.outcome", outcome);
		if (content !== undefined) span.setAttribute("gen_ai.tool.call.result", content.json(result));
		const failed: Attributes = outcome === "done" ? {} : { "error.type": outcome };
		span.setAttributes(failed);
		if (outcome !== "done") span.setStatus({ code: SpanStatusCode.ERROR, message: outcome });
		span.end(at);
		const about = { "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": toolName };
		this.#writer.count((metrics) => metrics.operation(duration, { ...about, ...failed }));
		const thrown = stack === undefined ? {} : { stack };
		const line = { step, tool: toolName, toolCallId, outcome, durationMs: duration, ...thrown };
		const texts = content === undefined ? {} : { output: content.masked(result) };
		this.#writer.log(outcome === "done" ? "info" : "warn", "tool ended", { ...line, ...texts }, span);
	}

	/** Ends the spans of calls that are no longer in progress; their outcome is not known yet. */
	left(at: number): void {
		for (const [toolCallId, { span, isOver }] of this.#open) {
			if (isOver) continue;
			span.setAttribute("holdfast.tool.outcome", "open");
			span.end(at);
			this.#open.set(toolCallId, { span, isOver: true });
		}
	}

	/**
	 * Returns the span that a result ends. A call may have no open span: it was never started here, because its tool is
	 * remote or it was denied, or its process left. It then gets a span at the time of its result.
	 */
	#spanOf(event: ToolEnd, part: Span | undefined): Span {
		const { call, toolName, at, duration } = event;
		const open = this.#open.get(call.toolCallId);
		if (open?.isOver === false) return open.span;
		return this.#writer.start({
			what: callName(call.toolCallId, "settled"),
			name: `execute_tool ${toolName}`,
			kind: SpanKind.INTERNAL,
			at: open === undefined ? at - duration : at,
			inside: part?.spanContext(),
			links: open === undefined ? [] : [linkTo(open.span.spanContext(), "continues")],
			attributes: attributesOf(event),
		});
	}
}

function callName(toolCallId: string, attempt: number | "settled"): string {
	return `call ${attempt} ${toolCallId}`;
}

function attributesOf({ call, toolName, step }: ToolStart | ToolEnd): Attributes {
	return {
		"gen_ai.operation.name": "execute_tool",
		"gen_ai.tool.name": toolName,
		"gen_ai.tool.call.id": call.toolCallId,
		"gen_ai.tool.type": "function",
		"holdfast.step": step,
	};
}
