// A session as a timeline: each line is a run, or an event in it, with a bar for its time within the run.
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { EntryDetails } from "./entry-details.tsx";
import { formatCost, formatCount, formatDuration, formatTime } from "./format.ts";
import { useKeys } from "./keyboard.ts";
import type { SessionStore } from "./session-store.ts";
import { placeOf, type Span, type Timeline } from "./timeline-model.ts";
import { VirtualList } from "./virtual-list.tsx";

export function TimelineTab({ store }: { readonly store: SessionStore }): JSX.Element {
	void store.version.value;
	const { timeline } = store;
	const [selected, select] = useState<number | undefined>(undefined);
	const index = timeline.spans.findIndex(({ seq }) => seq === selected);
	const move = (by: number): void => {
		const next = timeline.spans[Math.max(0, Math.min(timeline.spans.length - 1, index + by))];
		select(next?.seq);
	};
	useKeys({ j: () => move(1), k: () => move(-1), ArrowDown: () => move(1), ArrowUp: () => move(-1) });
	return (
		<div class="split">
			<TimelineList of={timeline} selected={selected} select={select} current={index} />
			{selected === undefined ? null : (
				<EntryDetails store={store} seq={selected} close={() => select(undefined)} />
			)}
		</div>
	);
}

export function TimelineList(props: {
	readonly of: Timeline;
	readonly selected?: number | undefined;
	readonly select?: (seq: number) => void;
	readonly current?: number;
	readonly label?: string;
}): JSX.Element {
	const { of: timeline, selected, select, current, label = "Timeline" } = props;
	const { spans, last } = timeline;
	if (spans.length === 0) return <p class="empty">No activity yet.</p>;
	return (
		<VirtualList
			label={label}
			class="timeline"
			count={spans.length}
			lineHeight={30}
			version={`${spans.length} ${last} ${selected}`}
			keyOf={(index) => index}
			current={current}
			line={(index) => {
				const span = spans[index];
				return span === undefined ? null : (
					<SpanLine of={span} last={last} isSelected={span.seq === selected} select={select} />
				);
			}}
		/>
	);
}

function SpanLine(props: {
	readonly of: Span;
	readonly last: number;
	readonly isSelected: boolean;
	readonly select: ((seq: number) => void) | undefined;
}): JSX.Element {
	const { of: span, last, isSelected, select } = props;
	const { left, width } = placeOf(span, last);
	const duration =
		span.end === undefined ? "under way" : span.end > span.start ? formatDuration(span.end - span.start) : "";
	return (
		<button
			type="button"
			class={`span span-${span.kind} ${span.failed ? "is-failed" : ""}`}
			aria-pressed={isSelected}
			onClick={() => select?.(span.seq)}
		>
			<span class="span-kind">{span.kind}</span>
			<span class="span-label">
				{span.step === undefined || span.step === 0 ? "" : `${span.step} · `}
				{span.label} <span class="quiet">{span.detail}</span>
			</span>
			<span class="span-bar" aria-hidden="true">
				<span style={{ left: `${left * 100}%`, width: `max(3px, ${width * 100}%)` }} />
			</span>
			<span class="span-numbers">
				<span class="span-more">
					{span.tokens === undefined ? "" : `${formatCount(span.tokens)} tok `}
					{span.cost === undefined ? "" : `${formatCost(span.cost)} `}
				</span>
				{duration === "" ? formatTime(span.start) : duration}
			</span>
		</button>
	);
}
