// What a sub-agent did for a call, inside the call, with a link to its own session.
import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { SessionLook, ShownEntry } from "../wire/index.ts";
import { ask, inspectPath, isOver } from "./api.ts";
import { Message } from "./conversation.tsx";
import { Conversation, type Said } from "./conversation-model.ts";
import { Status } from "./parts.tsx";
import { linkTo } from "./route.ts";
import type { MessageSession } from "./session-store.ts";

/** The most sub-agents that are searched for a call. */
const mostChildren = 8;

/** Returns the sub-agents that a tool of this name may have asked, the last one first. */
export function childrenFor(name: string, store: MessageSession): readonly SessionLook[] {
	const { children = [] } = store.info.value ?? {};
	const delegated = name.startsWith("delegate_to_") ? name.slice("delegate_to_".length) : undefined;
	return children
		.filter(
			({ parent, subagent }) =>
				parent === store.child && (subagent === delegated || subagent === `tool ${name}`),
		)
		.slice(-mostChildren)
		.reverse();
}

interface Found {
	readonly child: SessionLook;
	readonly said: readonly Said[];
}

export function ChildRuns(props: {
	readonly of: readonly SessionLook[];
	readonly callId: string;
	readonly store: MessageSession;
}): JSX.Element {
	const { of, callId, store } = props;
	const { sessionId } = store;
	const [found, setFound] = useState<Found | "nothing" | string | undefined>(undefined);
	const seen = of.map(({ child, seq }) => `${child} ${seq}`).join();
	useEffect(() => {
		const ending = new AbortController();
		findRuns(sessionId, of, callId, ending.signal).then(
			(result) => setFound(result ?? "nothing"),
			(error: Error) => {
				if (!isOver(error)) setFound(`The sub-agent's session could not be read: ${error.message}`);
			},
		);
		return () => ending.abort();
	}, [seen, callId]);
	if (found === undefined) return <p class="quiet">Reading…</p>;
	if (found === "nothing") return <p class="quiet">No session of a sub-agent belongs to this call yet.</p>;
	if (typeof found === "string") return <p class="quiet">{found}</p>;
	const { child, said } = found;
	return (
		<section class="child-run" aria-label={`What ${child.subagent} did`}>
			<p>
				<a
					href={linkTo(
						child.sessionId === undefined
							? { view: "session", sessionId, tab: "conversation", child: child.child }
							: { view: "session", sessionId: child.sessionId, tab: "conversation" },
					)}
				>
					Open the session of {child.subagent}
				</a>{" "}
				<Status of={child.status} />
			</p>
			{said.map((each, index) => (
				<Message
					key={`${each.seq} ${index}`}
					of={each}
					store={{ sessionId, child: child.child, info: store.info }}
				/>
			))}
		</section>
	);
}

async function findRuns(
	sessionId: string,
	children: readonly SessionLook[],
	callId: string,
	signal: AbortSignal,
): Promise<Found | undefined> {
	for (const child of children) {
		const of = `/entries?child=${encodeURIComponent(child.child)}`;
		const { entries } = await ask<{ entries: readonly ShownEntry[] }>(inspectPath(sessionId, of), signal);
		const runs = new Set<string>();
		for (const { kind, runId, body } of entries) {
			const parent = body.parent as { toolCallId?: string } | undefined;
			if (kind === "run.started" && parent?.toolCallId === callId) runs.add(runId);
		}
		// Threads do not record the call: the last thread of the agent that was asked is shown.
		if (runs.size === 0 && child.sessionId === undefined) continue;
		const conversation = new Conversation();
		for (const entry of entries) if (runs.size === 0 || runs.has(entry.runId)) conversation.add(entry);
		return { child, said: conversation.said };
	}
	return undefined;
}
