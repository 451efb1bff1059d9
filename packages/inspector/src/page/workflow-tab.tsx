// A workflow as the calls of its code: steps, waits, events, approvals and undo, with their branches and attempts.
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { formatDuration, formatTime, summary } from "./format.ts";
import { Value } from "./parts.tsx";
import { go } from "./route.ts";
import { Scrolls } from "./scrolls.tsx";
import type { SessionStore } from "./session-store.ts";
import { type FlowCall, type FlowRun, flowRuns } from "./workflow-model.ts";

const stateNames: Readonly<Record<FlowCall["state"], string>> = {
	running: "running",
	waiting: "waiting",
	retrying: "retries",
	done: "done",
	failed: "failed",
};

const kindNames: Readonly<Record<string, string>> = {
	sleep: "waits until a time",
	event: "waits for an event",
	approve: "needs approval",
	ask: "asks a person",
	agent: "sub-agent",
	undo: "undo",
};

export function WorkflowTab({ store }: { readonly store: SessionStore }): JSX.Element {
	void store.version.value;
	const runs = flowRuns(store.entries);
	return (
		<Scrolls class="scrolls flow" label="Workflow">
			{runs.length === 0 ? <p class="quiet">The workflow has made no calls yet.</p> : null}
			{runs.map((run, index) => (
				<Run key={run.runId} of={run} number={index + 1} store={store} />
			))}
		</Scrolls>
	);
}

function Run(props: {
	readonly of: FlowRun;
	readonly number: number;
	readonly store: SessionStore;
}): JSX.Element {
	const {
		of: { start, outcome, error, calls, events },
		number,
		store,
	} = props;
	return (
		<section aria-label={`Run ${number}`}>
			<h2>
				Run {number}{" "}
				<span class={`status status-${outcome ?? "running"}`}>
					{outcome === "error" ? "failed" : (outcome ?? "open")}
				</span>{" "}
				<time class="quiet">{formatTime(start)}</time>
			</h2>
			{error === undefined ? null : (
				<p class="notice is-error">
					{error.code}: {error.message}
				</p>
			)}
			<ol class="flow-calls">
				{calls.map((call) => (
					<Call key={`${call.id} ${call.seq}`} of={call} store={store} />
				))}
			</ol>
			{events.length === 0 ? null : (
				<>
					<h3>Events that no call has taken yet</h3>
					<ul class="flow-calls">
						{events.map(({ name, at, payload }) => (
							<li key={`${name} ${at}`} class="flow-call">
								<span class="flow-name">
									<strong>{name}</strong> <span class="quiet">{summary(payload ?? "", 100)}</span>
								</span>
								<time class="quiet">{formatTime(at)}</time>
							</li>
						))}
					</ul>
				</>
			)}
		</section>
	);
}

function Call({ of: call, store }: { readonly of: FlowCall; readonly store: SessionStore }): JSX.Element {
	const [isOpen, setOpen] = useState(false);
	const { name, occurrence, branches, does, state, start, end, until, event, attempts } = call;
	const problem = call.error ?? (state === "retrying" ? call.lastError : undefined);
	const time =
		end !== undefined
			? formatDuration(end - start)
			: until !== undefined
				? `until ${formatTime(until)}`
				: "open";
	return (
		<li style={{ paddingLeft: `${branches.length * 1.2}rem` }}>
			<div class="flow-call">
				<span class={`status flow-${state}`}>{stateNames[state]}</span>
				<button type="button" class="flow-name" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
					<strong>{name}</strong>
					{occurrence > 1 ? ` #${occurrence}` : ""}{" "}
					<span class="quiet">
						{branches.length === 0 ? "" : `in ${branches.join(" › ")} · `}
						{kindNames[does] ?? (does === name ? "value" : does)}
						{event === undefined || event === name ? "" : ` ${event}`}
						{attempts > 1 ? ` · attempt ${attempts}` : ""}
						{problem === undefined ? "" : ` · ${problem.code}: ${summary(problem.message, 80)}`}
						{problem === undefined && call.value !== undefined ? ` · ${summary(call.value, 80)}` : ""}
					</span>
				</button>
				<time class="quiet" title={formatTime(start)}>
					{time}
				</time>
			</div>
			{isOpen ? (
				<div class="flow-details">
					<p class="quiet">
						Entry {call.seq}, {formatTime(start)}.{" "}
						<button
							type="button"
							class="small"
							onClick={() =>
								go({ view: "session", sessionId: store.sessionId, tab: "timeline", entry: call.seq })
							}
						>
							Show in the trace
						</button>
					</p>
					{problem === undefined ? null : <Value of={problem} label={`Error of ${name}`} />}
					{call.value === undefined ? null : <Value of={call.value} label={`Result of ${name}`} />}
				</div>
			) : null}
		</li>
	);
}
