// What a sub-agent did for a call, inside the call, with a link to its own session.
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { SessionLook } from "../wire/index.ts";
import { childEntries } from "./child-entries.ts";
import { Message } from "./conversation.tsx";
import { Conversation, type Said } from "./conversation-model.ts";
import { useRead } from "./latest.ts";
import { Status } from "./parts.tsx";
import { linkTo } from "./route.ts";
import type { MessageSession } from "./session-store.ts";

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
	useRead(
		(signal) => childEntries(sessionId, of, callId, signal),
		[seen, callId],
		(result) => {
			if (result === undefined) return setFound("nothing");
			const conversation = new Conversation();
			for (const entry of result.entries) conversation.add(entry);
			setFound({ child: result.child, said: conversation.said });
		},
		({ message }) => setFound(`The sub-agent's session could not be read: ${message}`),
	);
	if (found === undefined) return <p class="quiet">Reading…</p>;
	if (found === "nothing") return <p class="quiet">This call has no sub-agent session yet.</p>;
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
