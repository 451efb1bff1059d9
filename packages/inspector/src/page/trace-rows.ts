// The timeline as a tree: a run contains its steps, a step its answers of models and calls of tools, and a call the runs of
// its sub-agent, once they are read. The rows of the tree, in order.
import type { Span, Timeline } from "./timeline-model.ts";

/** A row. */
export interface TraceRow {
	/** Unique among the rows, and the same while the session grows. */
	readonly key: string;
	readonly depth: number;
	readonly kind: Span["kind"] | "step";
	readonly label: string;
	readonly detail: string;
	readonly start: number;
	readonly end: number | undefined;
	readonly failed: boolean;
	readonly tokens?: number;
	readonly cost?: number;
	/** The run whose time axis its bar uses. */
	readonly run: Span | undefined;
	/** The entry that it shows. */
	readonly seq: number;
	/** The journal of that entry; undefined for the session's own. */
	readonly child: string | undefined;
	readonly callId?: string;
	/** Keys of the rows that contain it. */
	readonly within: readonly string[];
	readonly hasRows: boolean;
}

/** What a sub-agent did for a call. */
export interface ChildTrace {
	readonly child: string;
	readonly timeline: Timeline;
}

/** Returns all rows. `childOf` returns what was read of the sub-agent of a call by its id and tool, or `unread` if there is one. */
export function traceRows(
	timeline: Timeline,
	childOf: (callId: string, name: string) => ChildTrace | "unread" | undefined = () => undefined,
): readonly TraceRow[] {
	const rows: TraceRow[] = [];
	addRows(rows, timeline.spans, { childOf, child: undefined, within: [], base: undefined });
	return rows;
}

interface Place {
	readonly childOf: (callId: string, name: string) => ChildTrace | "unread" | undefined;
	readonly child: string | undefined;
	readonly within: readonly string[];
	/** The run that the bars of a sub-agent are placed on: that of its parent. */
	readonly base: Span | undefined;
}

function addRows(rows: TraceRow[], spans: readonly Span[], place: Place): void {
	const { childOf, child, within, base } = place;
	const prefix = child === undefined ? "" : `${child} `;
	let run: Span | undefined;
	let inRun: readonly string[] = within;
	let step = 0;
	let inStep: readonly string[] = within;
	spans.forEach((span, index) => {
		const key = `${prefix}${span.seq} ${span.kind}`;
		if (span.run !== run || span.kind === "run") {
			run = span.run;
			step = 0;
			inRun = run === undefined ? within : [...within, `${prefix}${run.seq} run`];
			inStep = inRun;
		}
		const isOwnRun = span.kind === "run";
		const number = isOwnRun ? 0 : (span.step ?? 0);
		if (number > 0 && number !== step) {
			step = number;
			const stepKey = `${prefix}${span.seq} step`;
			rows.push({ ...stepRow(spans, index, stepKey, base), child, within: inRun, depth: inRun.length });
			inStep = [...inRun, stepKey];
		}
		// Entries without their own step, such as the end of a wait, belong to the current step.
		const parents = isOwnRun ? within : inStep;
		const found = span.callId === undefined ? undefined : childOf(span.callId, span.label);
		rows.push({
			...span,
			key,
			child,
			run: base ?? span.run,
			within: parents,
			depth: parents.length,
			hasRows: found !== undefined || (isOwnRun && spans[index + 1]?.run === span),
		});
		if (typeof found === "object")
			addRows(rows, found.timeline.spans, {
				childOf,
				child: found.child,
				within: [...parents, key],
				base: base ?? span.run,
			});
	});
}

/** The row of the step that begins with a span: the sum of the spans of the step that follow each other. */
function stepRow(
	spans: readonly Span[],
	from: number,
	key: string,
	base: Span | undefined,
): Omit<TraceRow, "child" | "within" | "depth"> {
	const first = spans[from] as Span;
	let { start, end, failed } = first;
	let tokens = 0;
	let cost: number | undefined;
	const names: string[] = [];
	for (let at = from; at < spans.length; at++) {
		const span = spans[at] as Span;
		if (span.run !== first.run || span.kind === "run") break;
		if (span.step === undefined) continue;
		if (span.step !== first.step) break;
		start = Math.min(start, span.start);
		end = end === undefined || span.end === undefined ? undefined : Math.max(end, span.end);
		failed ||= span.failed;
		tokens += span.tokens ?? 0;
		if (span.cost !== undefined) cost = (cost ?? 0) + span.cost;
		if (span.kind === "tool") names.push(span.label);
	}
	return {
		...{ key, kind: "step", label: `Step ${first.step}`, detail: [...new Set(names)].join(", ") },
		...{ start, end, failed, run: base ?? first.run, seq: first.seq, hasRows: true },
		...(tokens === 0 ? {} : { tokens }),
		...(cost === undefined ? {} : { cost }),
	};
}

/** Returns the rows that are shown: those that match with the rows that contain them, or those that no closed row hides. */
export function shownRows(
	rows: readonly TraceRow[],
	closed: ReadonlySet<string>,
	search: string,
): readonly TraceRow[] {
	const words = search.toLowerCase().split(/\s+/).filter(Boolean);
	if (words.length === 0) return rows.filter(({ within }) => !within.some((key) => closed.has(key)));
	const kept = new Set<string>();
	for (const { key, kind, label, detail, within } of rows) {
		const text = `${kind} ${label} ${detail}`.toLowerCase();
		if (words.every((word) => text.includes(word))) for (const each of [key, ...within]) kept.add(each);
	}
	return rows.filter(({ key }) => kept.has(key));
}
