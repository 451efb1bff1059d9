// The spans, metrics and log lines of one run, as a fold over its events.
//
// none ── run_start ──▶ working ── run_end ──▶ ended
//                        │   ▲
//            waiting ────┤   └── run_start again (answered, resumed, after a crash)
//                        ▼
//                     resting
//
// Each time that a process works on the run is a separate span, `invoke_agent`, which ends when the run waits, ends, or
// sends its last event. All are in one trace: those after the first are children of the first and linked to the previous
// one. No span covers the time between processes.
import { type Attributes, type Link, type Span, SpanKind, SpanStatusCode } from "@opentelemetry/api";
import type { RunEvent } from "holdfast";
import { messageParts } from "../content/index.ts";
import { type Place, traceIdOf } from "../ids/index.ts";
import { CallSpans } from "./call-spans.ts";
import { type Destination, given, linkTo, SpanWriter } from "./span-writer.ts";

/** The parent span of a sub-agent's run. */
export interface RunParent extends Place {
	/** `child`: it shares its parent's trace. `link`: it continues independently, in a separate trace. */
	readonly relation: "child" | "link";
}

type Start = Extract<RunEvent, { type: "run_start" }>;

export class RunTrace {
	readonly traceId: string;
	readonly #writer: SpanWriter;
	readonly #calls: CallSpans;
	readonly #started: Start;
	readonly #parent: RunParent | undefined;
	/** Span of the first part; the parent of the later ones. */
	#first: Span | undefined;
	#part: Span | undefined;
	/** The previous part, to which the next one is linked. */
	#before: Span | undefined;
	#lastAt: number;
	/** The user's messages until the model has answered. */
	#inputs: unknown[] = [];

	constructor(to: Destination, sessionKey: string, started: Start, parent: RunParent | undefined) {
		const { runId, agentName, at } = started;
		this.traceId = parent?.relation === "child" ? parent.traceId : traceIdOf(runId);
		this.#writer = new SpanWriter(to, { sessionKey, runId, traceId: this.traceId, agentName });
		this.#calls = new CallSpans(this.#writer, this.traceId, runId);
		this.#started = started;
		this.#parent = parent;
		this.#lastAt = at;
	}

	get runId(): string {
		return this.#started.runId;
	}

	/** Returns the ids of the span of a call in flight. */
	placeOfCall(toolCallId: string): Place {
		return this.#calls.placeOf(toolCallId);
	}

	/** Processes the next event. `isRepeated`: it was reported before, and only its spans are created again. */
	notify(event: RunEvent, isRepeated: boolean): void {
		this.#writer.isRepeated = isRepeated;
		if (event.type === "run_start") this.#begin(event);
		if ("at" in event) this.#lastAt = Math.max(this.#lastAt, event.at);
		if (event.type === "input") this.#heard(event);
		else if (event.type === "message") this.#answered(event);
		else if (event.type === "tool_start") this.#calls.started(event, this.#part);
		else if (event.type === "tool_end") this.#calls.ended(event, this.#part);
		else if (event.type === "note") this.#noted(event);
		else if (event.type === "waiting") this.#waits(event);
		else if (event.type === "run_suspended") this.#parked(event.reason);
		else if (event.type === "run_end") this.#ended(event);
	}

	/** Ends open spans: the session has been deleted, or is no longer observed. */
	leave(outcome: string): void {
		this.#endPart({ "holdfast.run.outcome": outcome });
	}

	#begin({ reason, attempt, agentName, runKind, agentChanged, at }: Start): void {
		// Only earlier events show when the previous process was working.
		this.#endPart({ "holdfast.run.outcome": reason ?? "left" }, reason === "crash" ? "crash" : undefined);
		this.#part = this.#writer.start({
			what: `part ${attempt}`,
			name: agentName === undefined || agentName === "" ? "invoke_agent" : `invoke_agent ${agentName}`,
			kind: SpanKind.INTERNAL,
			at,
			inside: this.#first?.spanContext() ?? (this.#parent?.relation === "child" ? this.#parent : undefined),
			links: this.#links(),
			attributes: {
				"gen_ai.operation.name": "invoke_agent",
				...this.#writer.agent,
				"holdfast.run.kind": runKind,
				"holdfast.run.attempt": attempt,
				...given("holdfast.run.resume_reason", reason),
				...(agentChanged === undefined ? {} : { "holdfast.agent.changed": [...agentChanged] }),
			},
		});
		this.#first ??= this.#part;
		this.#log("info", attempt === 1 ? "run started" : "run resumed", { attempt, reason });
	}

	#links(): readonly Link[] {
		if (this.#before !== undefined) return [linkTo(this.#before.spanContext(), "continues")];
		return this.#parent?.relation === "link" ? [linkTo(this.#parent, "delegated")] : [];
	}

	#heard({ message }: Extract<RunEvent, { type: "input" }>): void {
		if (this.#writer.to.content !== undefined) this.#inputs.push(messageParts(message));
	}

	#answered(event: Extract<RunEvent, { type: "message" }>): void {
		const { at, duration, modelId, usage, stopReason, step, tag, cost, message, seq, cacheBreak } = event;
		const { content, providerOf } = this.#writer.to;
		const about = {
			"gen_ai.operation.name": "chat",
			"gen_ai.provider.name": providerOf(modelId),
			"gen_ai.request.model": modelId,
		};
		const said = content && {
			...(this.#inputs.length === 0 ? {} : { "gen_ai.input.messages": content.json(this.#inputs) }),
			"gen_ai.output.messages": content.json([messageParts(message, stopReason)]),
		};
		this.#inputs = [];
		const span = this.#writer.start({
			what: `entry ${seq}`,
			name: `chat ${modelId}`,
			kind: SpanKind.CLIENT,
			at: at - duration,
			inside: this.#part?.spanContext(),
			attributes: {
				...about,
				...this.#writer.agent,
				"gen_ai.response.finish_reasons": [stopReason],
				"gen_ai.usage.input_tokens": usage.inputTokens,
				"gen_ai.usage.output_tokens": usage.outputTokens,
				...given("gen_ai.usage.cache_read.input_tokens", usage.cacheReadTokens),
				...given("gen_ai.usage.cache_creation.input_tokens", usage.cacheWriteTokens),
				...given("gen_ai.usage.reasoning.output_tokens", usage.reasoningTokens),
				...given("holdfast.cost_usd", cost),
				"holdfast.step": step,
				"holdfast.tag": tag,
				...(cacheBreak === undefined
					? {}
					: {
							"holdfast.cache.break_reasons": [...cacheBreak.reasons],
							"holdfast.cache.break_from": cacheBreak.from,
						}),
				...said,
			},
		});
		span.end(at);
		this.#writer.count((metrics) => {
			metrics.operation(duration, about);
			metrics.answer(usage, cost, about);
		});
		const { inputTokens, outputTokens } = usage;
		const texts = content === undefined ? {} : { text: content.masked(message.text) };
		const line = { step, model: modelId, durationMs: duration, inputTokens, outputTokens, cost, stopReason };
		this.#log("info", "model answered", { ...line, ...texts }, span);
	}

	#waits({ at, calls, wait }: Extract<RunEvent, { type: "waiting" }>): void {
		const awaited = calls.map(({ awaits, call }) => `${awaits} ${call.toolName} ${call.toolCallId}`);
		const attributes = { "holdfast.awaits": awaited, ...given("holdfast.wait", wait?.tag) };
		this.#part?.addEvent("holdfast.waiting", attributes, at);
		this.#log("info", "run waits", { calls: awaited, wait: wait?.tag, until: wait?.until });
		this.#endPart({ "holdfast.run.outcome": "waiting" });
	}

	/** Reports the lines that the code of a workflow logs. Their texts are content. */
	#noted({ topic, value }: Extract<RunEvent, { type: "note" }>): void {
		if (topic !== "workflow-log") return;
		const { content } = this.#writer.to;
		const { message, data } = value as { readonly message: string; readonly data?: unknown };
		const texts =
			content === undefined
				? {}
				: { text: content.masked(message), ...(data === undefined ? {} : { data: content.json(data) }) };
		this.#log("info", "workflow logged", texts);
	}

	#parked(reason: string): void {
		if (reason === "parked") this.#log("error", "run parked", { outcome: reason });
		this.#endPart({ "holdfast.run.outcome": reason }, reason === "parked" ? reason : undefined);
	}

	#ended(event: Extract<RunEvent, { type: "run_end" }>): void {
		const { at, outcome, error, usage, steps, cost } = event;
		const { inputTokens, outputTokens } = usage;
		const attributes = { "holdfast.run.outcome": outcome, "holdfast.run.steps": steps };
		this.#endPart({ ...attributes, ...given("holdfast.run.cost_usd", cost) }, errorTypeOf(event));
		const durationMs = at - this.#started.at;
		this.#writer.count((metrics) => {
			const failed = given("error.type", error?.code);
			metrics.run(durationMs, { ...this.#writer.agent, "holdfast.run.outcome": outcome, ...failed });
		});
		const sums = { steps, durationMs, inputTokens, outputTokens, cost };
		this.#log(outcome === "error" ? "error" : "info", "run ended", { outcome, code: error?.code, ...sums });
	}

	/** Ends the span of this process's part, and the spans of its open calls. */
	#endPart(attributes: Attributes, errorType?: string): void {
		const part = this.#part;
		if (part === undefined) return;
		this.#calls.left(this.#lastAt);
		part.setAttributes(attributes);
		if (errorType !== undefined) {
			part.setAttribute("error.type", errorType);
			part.setStatus({ code: SpanStatusCode.ERROR, message: errorType });
		}
		part.end(this.#lastAt);
		this.#before = part;
		this.#part = undefined;
	}

	#log(
		level: "info" | "warn" | "error",
		message: string,
		fields: Readonly<Record<string, unknown>>,
		span: Span | undefined = this.#part ?? this.#before,
	): void {
		this.#writer.log(level, message, fields, span);
	}
}

function errorTypeOf({ error, outcome }: Extract<RunEvent, { type: "run_end" }>): string | undefined {
	return error?.code ?? (outcome === "completed" ? undefined : outcome);
}
