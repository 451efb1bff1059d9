// Starts the spans of a run and writes its log lines, each with the ids of its session, run, trace and span.
import {
	type Attributes,
	type Link,
	ROOT_CONTEXT,
	type Span,
	type SpanContext,
	type SpanKind,
	TraceFlags,
	type Tracer,
	trace,
} from "@opentelemetry/api";
import type { Content } from "../content/index.ts";
import { type Place, type StableIds, spanIdOf } from "../ids/index.ts";
import type { RunLog } from "../logs/index.ts";
import type { RunMetrics } from "../metrics/index.ts";

/** The destination of observed data. */
export interface Destination {
	readonly tracer: Tracer;
	readonly ids: StableIds | undefined;
	readonly metrics: RunMetrics;
	readonly log: RunLog;
	/** Undefined: no content. */
	readonly content: Content | undefined;
	readonly providerOf: (modelId: string) => string;
}

/** A span that is to be started. */
export interface NewSpan {
	/** Identifies it within the run; never changes. */
	readonly what: string;
	readonly name: string;
	readonly kind: SpanKind;
	/** Milliseconds since the epoch. */
	readonly at: number;
	/** Its parent; undefined for the first span of its trace. */
	readonly inside: Place | undefined;
	readonly links?: readonly Link[];
	readonly attributes: Attributes;
}

/** The run a span or line belongs to. */
export interface AboutRun {
	readonly sessionKey: string;
	readonly runId: string;
	readonly traceId: string;
	readonly agentName: string | undefined;
}

export class SpanWriter {
	readonly to: Destination;
	readonly #about: AboutRun;
	/** Set while events are repeated: spans are created again, with the same ids, but nothing is counted or logged. */
	isRepeated = false;

	constructor(to: Destination, about: AboutRun) {
		this.to = to;
		this.#about = about;
	}

	start({ what, name, kind, at, inside, links = [], attributes }: NewSpan): Span {
		const { runId, traceId, sessionKey } = this.#about;
		const context =
			inside === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, contextOf(inside));
		const about = { "gen_ai.conversation.id": sessionKey, "holdfast.run.id": runId };
		const options = {
			kind,
			startTime: at,
			attributes: { ...attributes, ...about },
			links: [...links],
			root: inside === undefined,
		};
		const start = (): Span => this.to.tracer.startSpan(name, options, context);
		const { ids } = this.to;
		return ids === undefined ? start() : ids.use({ traceId, spanId: spanIdOf(runId, what) }, start);
	}

	/** Counts, unless the event is repeated. */
	count(counting: (metrics: RunMetrics) => void): void {
		if (!this.isRepeated) counting(this.to.metrics);
	}

	log(
		level: "info" | "warn" | "error",
		message: string,
		fields: Readonly<Record<string, unknown>>,
		span: Span | undefined,
	): void {
		if (this.isRepeated) return;
		const { sessionKey, runId, agentName, traceId } = this.#about;
		const ids = span?.spanContext();
		this.to.log.write(level, message, {
			sessionKey,
			runId,
			agent: agentName,
			trace_id: ids?.traceId ?? traceId,
			span_id: ids?.spanId,
			...fields,
		});
	}

	/** The agent's name, if it has one. */
	get agent(): Attributes {
		const { agentName } = this.#about;
		return agentName === undefined || agentName === "" ? {} : { "gen_ai.agent.name": agentName };
	}
}

function contextOf({ traceId, spanId }: Place): SpanContext {
	return { traceId, spanId, traceFlags: TraceFlags.SAMPLED };
}

/** Returns an attribute if there is a value. */
export function given(name: string, value: number | string | undefined): Attributes {
	return value === undefined ? {} : { [name]: value };
}

/** Creates a link with its reason. */
export function linkTo(context: Place, why: "continues" | "delegated" | "retries"): Link {
	return { context: contextOf(context), attributes: { "holdfast.link": why } };
}
