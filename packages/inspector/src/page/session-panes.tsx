// The conversation, with the trace and the details of its nodes next to it if the page is wide.
import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { ConversationTab } from "./conversation.tsx";
import type { SessionStore } from "./session-store.ts";
import { TraceTab } from "./timeline.tsx";

const wide = matchMedia("(min-width: 1150px)");
const isWide = signal(wide.matches);
wide.addEventListener("change", () => {
	isWide.value = wide.matches;
});

export function SessionPanes(props: {
	readonly store: SessionStore;
	/** The entry to show first. */
	readonly entry: number | undefined;
}): JSX.Element {
	const { store, entry } = props;
	const [seq, setSeq] = useState(entry);
	if (!isWide.value || store.entries.length === 0) return <ConversationTab store={store} seq={entry} />;
	return (
		<div class="panes">
			<ConversationTab store={store} seq={seq} />
			<TraceTab store={store} chosen={setSeq} entry={entry} isAtEnd />
		</div>
	);
}

/** The trace alone. */
export function TracePage(props: {
	readonly store: SessionStore;
	readonly entry: number | undefined;
}): JSX.Element {
	return (
		<div class="split">
			<TraceTab {...props} />
		</div>
	);
}
