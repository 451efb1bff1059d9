// A session: its details, its actions and its tabs.
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { ShownSession } from "../wire/index.ts";
import { areThreads } from "./about.ts";
import { interrupt as interruptRun, removeSession } from "./acts.ts";
import { inspectPath, post } from "./api.ts";
import { SessionCharts } from "./charts.tsx";
import { Composer } from "./composer.tsx";
import { ContextTab } from "./context-tab.tsx";
import { EffectsTab } from "./effects.tsx";
import { FilesTab } from "./files.tsx";
import { ForkDialog, toFork } from "./fork-dialog.tsx";
import { formatCount, formatDuration, formatPrice } from "./format.ts";
import { useKeys } from "./keyboard.ts";
import { Act, attempt, Figure, Status } from "./parts.tsx";
import { PendingCalls } from "./pending-calls.tsx";
import { PlanTab } from "./plan.tsx";
import { PlaygroundTab } from "./playground.tsx";
import { ReplayTab } from "./replay.tsx";
import { go, isWorkflow, linkTo, type Place, type Tab, tabsNow } from "./route.ts";
import { SessionPanes, TracePage } from "./session-panes.tsx";
import { SessionStore } from "./session-store.ts";
import { onChanges } from "./sessions-store.ts";
import { toCompare } from "./sessions-view.tsx";
import { StepsTab } from "./steps.tsx";
import { TreeTab } from "./tree.tsx";
import { ValuesTab } from "./values.tsx";
import { hasWorkflow } from "./workflow-model.ts";
import { WorkflowTab } from "./workflow-tab.tsx";

type SessionPlace = Extract<Place, { view: "session" }>;

/** Creates the store of a session, for the lifetime of its view. */
export function useSession(sessionId: string, child?: string): SessionStore {
	const [store] = useState(() => new SessionStore(sessionId, child));
	useEffect(() => {
		store.start();
		const stop = onChanges((changed) => {
			if (changed.has(sessionId)) store.look();
		});
		return () => {
			stop();
			store.close();
		};
	}, [store]);
	return store;
}

/** Shows the tab of workflows for sessions that have one. Looks at new entries only. */
function useWorkflow(store: SessionStore): void {
	const seen = useRef(0);
	const version = store.version.value;
	useEffect(() => {
		if (seen.current > store.entries.length) seen.current = 0;
		if (hasWorkflow(store.entries.slice(seen.current))) isWorkflow.value = true;
		seen.current = store.entries.length;
	}, [store, version]);
	useEffect(
		() => () => {
			isWorkflow.value = false;
		},
		[],
	);
}

const tabNames: Readonly<Record<Tab, string>> = {
	files: "Files",
	values: "Values",
	effects: "Effects",
	conversation: "Conversation",
	timeline: "Trace",
	steps: "Requests",
	context: "Context",
	workflow: "Workflow",
	tree: "Tree",
	plan: "Plan & audit",
	charts: "Charts",
	replay: "Replay",
	playground: "Playground",
};

/** Statuses of a run that can be interrupted. */
const isUnderWay: ReadonlySet<string> = new Set(["running", "waiting", "parked", "interrupted"]);

export function SessionView({ of }: { readonly of: SessionPlace }): JSX.Element {
	const { sessionId, child, tab } = of;
	const store = useSession(sessionId, child);
	const info = store.info.value;
	useWorkflow(store);
	const interrupt = (): Promise<void> => interruptRun(sessionId);
	useKeys({
		i: () => {
			if (child === undefined && info !== undefined && isUnderWay.has(info.status))
				void attempt(interrupt, "Interrupted.");
		},
	});
	if (store.status.value === "gone")
		return (
			<main class="door">
				<h1>{sessionId}</h1>
				<p>This session does not exist, or was deleted.</p>
				<a href={linkTo({ view: "sessions" })}>All sessions</a>
			</main>
		);
	const ofChild = info?.children.find((each) => each.child === child);
	const status = ofChild?.status ?? info?.status;
	return (
		<main class="session">
			<header class="session-head">
				<h1>
					<span class="session-name">{info?.title ?? sessionId}</span>{" "}
					{status === undefined ? null : <Status of={status} />}
				</h1>
				<p class="quiet session-id">
					{sessionId}
					{ofChild === undefined ? null : (
						<>
							{" › "}
							{ofChild.subagent}
							{" · "}
							<a href={linkTo({ view: "session", sessionId, tab: "conversation" })}>back to the session</a>
						</>
					)}
					{info?.agentName === undefined ? "" : ` · ${info.agentName}`}
					{info?.agent?.model === undefined || child !== undefined || isWorkflow.value
						? ""
						: ` · ${info.agent.model}`}
					{info?.origin === undefined ? null : (
						<>
							{" · forked from "}
							<a href={linkTo({ view: "session", sessionId: info.origin.sessionId, tab: "conversation" })}>
								{info.origin.sessionId}
							</a>
						</>
					)}
				</p>
				{child !== undefined ? null : (
					<dl class="figures">
						{info === undefined ? null : (
							<>
								<Figure name="runs">{formatCount(info.counts.runs)}</Figure>
								<Figure name="tokens">
									{formatCount(info.counts.inputTokens + info.counts.outputTokens)}
								</Figure>
								<Figure name="cost">{formatPrice(info.counts.cost, info.counts.unpriced)}</Figure>
								<Figure name="tool calls">{formatCount(info.counts.toolCalls)}</Figure>
								<Figure name="errors">{formatCount(info.counts.errors)}</Figure>
								<Figure name="model time">{formatDuration(info.counts.modelMs)}</Figure>
							</>
						)}
					</dl>
				)}
				{child !== undefined || info === undefined ? null : (
					<div class="acts">
						{isUnderWay.has(info.status) ? (
							<Act does={interrupt} done="Interrupted." title="i">
								Interrupt
							</Act>
						) : null}
						{info.status === "parked" || info.status === "interrupted" ? (
							<Act does={() => post(inspectPath(sessionId, "/release"))} done="Released.">
								Release
							</Act>
						) : null}
						{areThreads() ? null : (
							<button
								type="button"
								onClick={() => {
									toFork.value = { sessionId };
								}}
							>
								Fork…
							</button>
						)}
						<button
							type="button"
							onClick={() => {
								toCompare.value = sessionId;
								go({ view: "sessions" });
							}}
						>
							Compare…
						</button>
						<Act
							class="danger"
							does={async () => {
								if (!confirm(`Delete ${sessionId} permanently?`)) return;
								await removeSession(sessionId);
								go({ view: "sessions" });
							}}
						>
							Delete
						</Act>
					</div>
				)}
				{store.problem.value === undefined ? null : <p class="notice is-error">{store.problem.value}</p>}
				{store.streamProblem.value === undefined ? null : (
					<p class="notice is-error" role="status">
						{store.streamProblem.value}
					</p>
				)}
				{info === undefined || child !== undefined ? null : <Damage of={info} />}
			</header>
			<Tabs of={of} />
			<div class="panel" role="tabpanel" id="panel" aria-labelledby={`tab-${tab}`}>
				{store.status.value === "loading" && store.entries.length === 0 ? (
					<p class="empty">Reading…</p>
				) : (
					<Panel store={store} tab={tab} entry={of.entry} />
				)}
			</div>
			{child !== undefined ? null : (
				<footer class="session-foot">
					<PendingCalls store={store} />
					{/* A message would go to the session, not to the trial. */}
					{tab === "playground" ? null : <Composer store={store} />}
				</footer>
			)}
			{toFork.value?.sessionId === sessionId ? <ForkDialog store={store} /> : null}
		</main>
	);
}

/** The parts of a session that cannot be read. The others are shown. */
function Damage({ of: { damage = [], counts } }: { readonly of: ShownSession }): JSX.Element | null {
	const parts = damage.map(({ part, code }) => `${part} (${code})`);
	if (counts.unreadable > 0)
		parts.unshift(
			counts.unreadable === 1 ? "1 entry" : `${formatCount(counts.unreadable)} entries of its journal`,
		);
	if (parts.length === 0) return null;
	return (
		<p class="notice is-error" role="status">
			Some of this session's data cannot be read: {parts.join(", ")}. Restore a backup to get it back.
		</p>
	);
}

function Panel(props: {
	readonly store: SessionStore;
	readonly tab: Tab;
	readonly entry: number | undefined;
}): JSX.Element {
	const { store, tab, entry } = props;
	switch (tab) {
		case "conversation":
			return <SessionPanes store={store} entry={entry} />;
		case "timeline":
			return <TracePage store={store} entry={entry} />;
		case "steps":
			return <StepsTab store={store} />;
		case "context":
			return <ContextTab store={store} />;
		case "workflow":
			return <WorkflowTab store={store} />;
		case "tree":
			return <TreeTab store={store} />;
		case "plan":
			return <PlanTab store={store} />;
		case "files":
			return <FilesTab store={store} />;
		case "values":
			return <ValuesTab store={store} />;
		case "effects":
			return <EffectsTab store={store} />;
		case "charts":
			return <SessionCharts store={store} />;
		case "replay":
			return <ReplayTab store={store} />;
		case "playground":
			return <PlaygroundTab store={store} entry={entry} />;
	}
}

function Tabs({ of }: { readonly of: SessionPlace }): JSX.Element {
	const list = useRef<HTMLDivElement>(null);
	const tabs = tabsNow();
	useEffect(() => {
		// On a narrow page the selected tab may be out of view.
		list.current?.querySelector(`#tab-${of.tab}`)?.scrollIntoView({ block: "nearest", inline: "nearest" });
	}, [of.tab]);
	const move = (by: number): void => {
		const next = tabs[(tabs.indexOf(of.tab) + by + tabs.length) % tabs.length] ?? "conversation";
		go({ ...of, tab: next });
		list.current?.querySelector<HTMLElement>(`#tab-${next}`)?.focus();
	};
	return (
		<div
			class="tabs"
			role="tablist"
			aria-label="Views of the session"
			ref={list}
			onKeyDown={(event) => {
				if (event.key === "ArrowRight") move(1);
				if (event.key === "ArrowLeft") move(-1);
			}}
		>
			{tabs.map((tab) => (
				<button
					type="button"
					role="tab"
					key={tab}
					id={`tab-${tab}`}
					aria-selected={tab === of.tab}
					aria-controls="panel"
					tabIndex={tab === of.tab ? 0 : -1}
					onClick={() => go({ ...of, tab })}
				>
					{tabNames[tab]}
				</button>
			))}
		</div>
	);
}
