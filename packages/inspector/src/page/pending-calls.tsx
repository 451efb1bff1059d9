// Calls that wait for an outside answer: an approval or a result.
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { client } from "./api.ts";
import type { Pending } from "./conversation-model.ts";
import { formatTime, formatValue } from "./format.ts";
import { Act } from "./parts.tsx";
import type { SessionStore } from "./session-store.ts";

export function PendingCalls({ store }: { readonly store: SessionStore }): JSX.Element | null {
	void store.version.value;
	const pending: readonly Pending[] = [
		...store.conversation.pending,
		...(store.info.value?.background ?? []),
	];
	if (pending.length === 0) return null;
	return (
		<section class="pending" aria-label="Waiting calls">
			{pending.map((call) => (
				<PendingCall key={call.callId} of={call} store={store} />
			))}
		</section>
	);
}

function PendingCall({ of, store }: { readonly of: Pending; readonly store: SessionStore }): JSX.Element {
	const { callId, name, input, awaits, runId, deadline, agents, taskId } = of;
	const about = { toolCallId: callId, ...(runId === undefined ? {} : { runId }) };
	const [text, setText] = useState("");
	const { sessionId } = store;
	const look = async (done: Promise<void>): Promise<void> => {
		await done;
		store.look();
	};
	const decide = (approved: boolean): Promise<void> =>
		look(
			client.answer(sessionId, [
				{ role: "approval", ...about, approved, ...(text === "" ? {} : { reason: text }) },
			]),
		);
	const answer = (isError: boolean): Promise<void> =>
		look(
			client.answer(sessionId, [{ role: "tool", ...about, output: text, ...(isError ? { isError } : {}) }]),
		);
	return (
		<fieldset>
			<legend>
				<code>{name}</code> {awaits === "approval" ? "asks whether it may run" : "waits for its result"}
				{agents === undefined ? "" : ` for ${agents.join(" › ")}`}
				{taskId === undefined ? "" : " in the background"}
				{deadline === undefined ? "" : ` until ${formatTime(deadline)}`}
			</legend>
			<pre class="value">{formatValue(input)}</pre>
			<input
				aria-label={awaits === "approval" ? `Reason for ${name}` : `Result of ${name}`}
				placeholder={awaits === "approval" ? "Reason, if any" : "Result"}
				value={text}
				onInput={({ currentTarget }) => setText(currentTarget.value)}
			/>
			{awaits === "approval" ? (
				<>
					<Act class="primary" does={() => decide(true)}>
						Approve
					</Act>
					<Act does={() => decide(false)}>Deny</Act>
				</>
			) : (
				<>
					<Act class="primary" does={() => answer(false)}>
						Answer
					</Act>
					<Act does={() => answer(true)}>Answer as failed</Act>
				</>
			)}
		</fieldset>
	);
}
