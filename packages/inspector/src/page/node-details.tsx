// The details of a node of the trace: its input next to its output, its numbers, and the data to copy.
import type { JSX } from "preact";
import { useRef } from "preact/hooks";
import type { ShownEntry } from "../wire/index.ts";
import { areThreads } from "./about.ts";
import { Copy } from "./copy.tsx";
import { AnswerDetails, type EntrySource, WholeEntry, wholeEntries } from "./entry-details.tsx";
import { formatDuration, formatTime } from "./format.ts";
import { useFocusBack } from "./keyboard.ts";
import { curlOf, nodeOf, type TraceNode, testCaseOf } from "./node-model.ts";
import { CallInput, Figure, Value } from "./parts.tsx";
import type { TraceRow } from "./trace-rows.ts";

export function NodeDetails(props: {
	readonly row: TraceRow;
	readonly of: EntrySource;
	/** Instructions of the agent, for a test. */
	readonly system: string | undefined;
	readonly close: () => void;
}): JSX.Element {
	const { row, of, system, close } = props;
	const section = useRef<HTMLElement>(null);
	useFocusBack(section);
	const node = nodeOf(of.entries, row.seq);
	const entry = of.entries.find(({ seq }) => seq === row.seq);
	return (
		<section ref={section} class="details" aria-label={`Details of ${row.label}`}>
			<header>
				<h2>{row.label}</h2>
				<span class="quiet">
					{row.kind} · entry {row.seq}
				</span>
				<time class="quiet">{formatTime(row.start)}</time>
				<button type="button" aria-label="Close details" onClick={close}>
					×
				</button>
			</header>
			{node === undefined ? <p class="quiet">Reading…</p> : <Node of={of} node={node} />}
			{entry === undefined ? null : <Copies of={of} runId={entry.runId} system={system} />}
		</section>
	);
}

function Copies(props: {
	readonly of: EntrySource;
	readonly runId: string;
	readonly system: string | undefined;
}): JSX.Element | null {
	const { of, runId, system } = props;
	if (areThreads() || of.child !== undefined) return null;
	return (
		<p class="acts">
			<Copy
				text={async () => testCaseOf(await wholeEntries(of, runId), runId, system)}
				label="Copy the run as a test case"
			/>
			<Copy
				text={async () => curlOf(await wholeEntries(of, runId), runId, location.origin)}
				label="Copy the run as curl"
			/>
		</p>
	);
}

function Node({ of, node }: { readonly of: EntrySource; readonly node: TraceNode }): JSX.Element {
	switch (node.kind) {
		case "model":
			return <AnswerDetails of={of} entry={node.entry} />;
		case "tool":
			return <CallNode of={of} node={node} />;
		case "run":
			return <RunNode of={of} started={node.started} ended={node.ended} />;
		case "entry":
			return <WholeEntry of={of} entry={node.entry} label="Entry" />;
	}
}

function CallNode(props: {
	readonly of: EntrySource;
	readonly node: Extract<TraceNode, { kind: "tool" }>;
}): JSX.Element {
	const {
		of,
		node: { started, settled, input, name },
	} = props;
	const { outcome, duration, stack } = (settled?.body ?? {}) as {
		outcome?: string;
		duration?: number;
		stack?: string;
	};
	const { attempt, idempotencyKey } = (started?.body ?? {}) as { attempt?: number; idempotencyKey?: string };
	return (
		<>
			<dl class="figures">
				<Figure name="outcome">{outcome ?? (started === undefined ? "not started" : "running")}</Figure>
				{duration === undefined ? null : <Figure name="duration">{formatDuration(duration)}</Figure>}
				{attempt === undefined ? null : <Figure name="attempt">{attempt}</Figure>}
			</dl>
			<div class="pair">
				<div>
					<h3>Input</h3>
					<CallInput of={input ?? {}} name={name} />
				</div>
				<div>
					<h3>Output</h3>
					{settled === undefined ? (
						<p class="quiet">None yet.</p>
					) : (
						<WholeEntry
							of={of}
							entry={settled}
							label={`Output of ${name}`}
							part={({ result }) => result ?? ""}
						/>
					)}
				</div>
			</div>
			{stack === undefined ? null : (
				<>
					<h3>Stack, for operators only</h3>
					<Value of={stack} label="Stack" />
				</>
			)}
			{idempotencyKey === undefined ? null : (
				<p class="quiet">
					Idempotency key <code>{idempotencyKey}</code>
				</p>
			)}
		</>
	);
}

function RunNode(props: {
	readonly of: EntrySource;
	readonly started: ShownEntry;
	readonly ended: ShownEntry | undefined;
}): JSX.Element {
	const { of, started, ended } = props;
	const { outcome, error } = (ended?.body ?? {}) as {
		outcome?: string;
		error?: { readonly code: string; readonly message: string; readonly retryable?: boolean };
	};
	return (
		<>
			<dl class="figures">
				<Figure name="outcome">{outcome ?? "open"}</Figure>
				{ended === undefined ? null : (
					<Figure name="duration">{formatDuration(ended.at - started.at)}</Figure>
				)}
			</dl>
			{error === undefined ? null : (
				<p class="notice is-error">
					<span>
						<strong>{error.code}</strong>: {error.message}
						{error.retryable === true ? " It can be retried." : ""}
					</span>
				</p>
			)}
			<div class="pair">
				<div>
					<h3>Start</h3>
					<WholeEntry of={of} entry={started} label="Start" />
				</div>
				<div>
					<h3>End</h3>
					{ended === undefined ? (
						<p class="quiet">It has not ended.</p>
					) : (
						<WholeEntry of={of} entry={ended} label="End" />
					)}
				</div>
			</div>
		</>
	);
}
