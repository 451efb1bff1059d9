// Replays a session step by step: its state after each entry.
import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { ConversationList } from "./conversation.tsx";
import { Conversation } from "./conversation-model.ts";
import { EntryDetails } from "./entry-details.tsx";
import { useKeys } from "./keyboard.ts";
import type { SessionStore } from "./session-store.ts";

export function ReplayTab({ store }: { readonly store: SessionStore }): JSX.Element {
	void store.version.value;
	const { entries } = store;
	const [at, setAt] = useState(1);
	const count = entries.length;
	const position = Math.min(at, count);
	// A key may be pressed again before the page has drawn the last move.
	const move = (by: number): void => setAt((last) => Math.max(1, Math.min(count, last + by)));
	useKeys({ "]": () => move(1), "[": () => move(-1), ArrowRight: () => move(1), ArrowLeft: () => move(-1) });
	const conversation = useMemo(() => {
		const made = new Conversation();
		for (const entry of entries.slice(0, position)) made.add(entry);
		return made;
	}, [entries, position]);
	const entry = entries[position - 1];
	if (entry === undefined) return <p class="empty">No activity yet.</p>;
	return (
		<div class="replay">
			<div class="replay-bar">
				<button type="button" onClick={() => move(-1)} disabled={position <= 1} aria-label="Step back">
					◀
				</button>
				<input
					type="range"
					aria-label="Entry"
					min={1}
					max={count}
					value={position}
					onInput={({ currentTarget }) => setAt(Number(currentTarget.value))}
				/>
				<button type="button" onClick={() => move(1)} disabled={position >= count} aria-label="Step forward">
					▶
				</button>
				<output>
					{position} of {count}: {entry.kind}
				</output>
			</div>
			<div class="split">
				<ConversationList of={conversation} version={position} store={store} label="Conversation so far" />
				<EntryDetails store={store} seq={entry.seq} />
			</div>
		</div>
	);
}
