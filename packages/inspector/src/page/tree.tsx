// The origin of a session, its forks, and the sessions of its sub-agents.
import type { JSX } from "preact";
import type { SessionLook } from "../wire/index.ts";
import { formatCount, formatTime } from "./format.ts";
import { Status } from "./parts.tsx";
import { linkTo } from "./route.ts";
import { Scrolls } from "./scrolls.tsx";
import type { SessionStore } from "./session-store.ts";

export function TreeTab({ store }: { readonly store: SessionStore }): JSX.Element {
	const info = store.info.value;
	if (info === undefined) return <p class="empty">Reading…</p>;
	const { sessionId, origin, children, forks } = info;
	return (
		<Scrolls class="scrolls tree" label="Tree">
			<h2>Branches</h2>
			<ul>
				{origin === undefined ? null : (
					<li>
						<a href={linkTo({ view: "session", sessionId: origin.sessionId, tab: "tree" })}>
							{origin.sessionId}
						</a>{" "}
						<span class="quiet">up to entry {origin.seq}</span>
					</li>
				)}
				<li aria-current="true">
					<strong>{sessionId}</strong> <Status of={info.status} />
					<ul>
						{forks.map((fork) => (
							<li key={fork.sessionId}>
								<a href={linkTo({ view: "session", sessionId: fork.sessionId, tab: "tree" })}>
									{fork.sessionId}
								</a>{" "}
								<span class="quiet">from entry {fork.seq}</span>{" "}
								<a href={linkTo({ view: "compare", left: sessionId, right: fork.sessionId })}>compare</a>
							</li>
						))}
					</ul>
				</li>
			</ul>
			<h2>Sub-agents</h2>
			{children.length === 0 ? (
				<p class="quiet">No sub-agents yet.</p>
			) : (
				<Children of={undefined} all={children} sessionId={sessionId} />
			)}
		</Scrolls>
	);
}

function Children(props: {
	readonly of: string | undefined;
	readonly all: readonly SessionLook[];
	readonly sessionId: string;
}): JSX.Element | null {
	const own = props.all.filter(({ parent }) => parent === props.of);
	if (own.length === 0) return null;
	return (
		<ul>
			{own.map(({ child, sessionId, subagent, status, failure, seq, updatedAt }) => (
				<li key={child}>
					<a
						href={linkTo(
							sessionId === undefined
								? { view: "session", sessionId: props.sessionId, tab: "conversation", child }
								: { view: "session", sessionId, tab: "conversation" },
						)}
					>
						{subagent}
					</a>{" "}
					<Status of={status} />{" "}
					<span class="quiet">
						{formatCount(seq)} entries · {formatTime(updatedAt)}
					</span>{" "}
					{failure === undefined ? null : <span class="problem">{failure.message}</span>}
					<Children of={child} all={props.all} sessionId={props.sessionId} />
				</li>
			))}
		</ul>
	);
}
