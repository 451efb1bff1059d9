// The input for a message to a session: as the next message, or into the current run.
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { areThreads } from "./about.ts";
import { send as sendTo, steer } from "./acts.ts";
import { useDraft } from "./draft.ts";
import { attempt } from "./parts.tsx";
import type { SessionStore } from "./session-store.ts";

export function Composer({ store }: { readonly store: SessionStore }): JSX.Element {
	const [text, setText, sentText] = useDraft(`to ${store.sessionId}`);
	const [isBusy, setBusy] = useState(false);
	// A message to a thread always enters the current execution.
	const isRunning = store.info.value?.status === "running" && !areThreads();
	const send = async (how: "send" | "steer"): Promise<void> => {
		const input = text.trim();
		if (input === "" || isBusy) return;
		setBusy(true);
		const sent = await attempt(() =>
			how === "send" ? sendTo(store.sessionId, input) : steer(store.sessionId, input),
		);
		setBusy(false);
		if (sent) sentText(text);
		store.look();
	};
	return (
		<form
			class="composer"
			onSubmit={(event) => {
				event.preventDefault();
				void send("send");
			}}
		>
			<textarea
				id="composer"
				aria-label="Message"
				placeholder="Write a message"
				rows={1}
				value={text}
				onInput={({ currentTarget }) => setText(currentTarget.value)}
				onKeyDown={(event) => {
					if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) void send("send");
				}}
			/>
			<button type="submit" class="primary" disabled={isBusy}>
				Send
			</button>
			{isRunning ? (
				<button type="button" disabled={isBusy} onClick={() => void send("steer")}>
					Steer
				</button>
			) : null}
		</form>
	);
}
