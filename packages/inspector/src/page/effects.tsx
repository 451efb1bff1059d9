// The effects of a thread: scheduled, running, and ended.
import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { publicPath } from "./acts.ts";
import { post } from "./api.ts";
import { useAnswer } from "./entry-details.tsx";
import { formatTime, summary } from "./format.ts";
import { Act } from "./parts.tsx";
import { Scrolls } from "./scrolls.tsx";
import type { SessionStore } from "./session-store.ts";

interface ShownEffect {
	readonly id: string;
	readonly name: string;
	readonly args: Readonly<Record<string, unknown>>;
	/** Microseconds since 1970. */
	readonly scheduledAt: number;
	readonly status: "pending" | "running" | "completed" | "failed" | "canceled";
	readonly error?: string;
}

/** Milliseconds between two requests while effects are pending: changes of effects are not entries of the thread. */
const looksApartMs = 1_000;

export function EffectsTab({ store }: { readonly store: SessionStore }): JSX.Element {
	const [look, setLook] = useState(0);
	const { value, problem } = useAnswer<{ readonly effects: readonly ShownEffect[] }>(
		publicPath(store.sessionId, "/effects"),
		`${store.version.value} ${look}`,
	);
	const effects = value?.effects ?? [];
	const isOpen = effects.some(({ status }) => status === "pending" || status === "running");
	useEffect(() => {
		if (!isOpen) return;
		const timer = setInterval(() => setLook((count) => count + 1), looksApartMs);
		return () => clearInterval(timer);
	}, [isOpen]);
	if (problem !== undefined) return <p class="notice is-error">{problem}</p>;
	if (value === undefined) return <p class="empty">Reading…</p>;
	if (effects.length === 0)
		return <p class="empty">No effects yet. Tools schedule them with scheduleEffect.</p>;
	const ask = async (id: string, what: "run" | "cancel"): Promise<void> => {
		await post(publicPath(store.sessionId, `/effects/${encodeURIComponent(id)}/${what}`));
		setLook((count) => count + 1);
	};
	return (
		<Scrolls class="scrolls" label="Effects">
			<ul class="effects">
				{effects.map(({ id, name, args, scheduledAt, status, error }) => (
					<li key={id}>
						<span class={`status effect-${status}`}>{status}</span>
						<span class="effect-name">
							<code>{name}</code> <span class="quiet">{summary(args, 100)}</span>
						</span>
						<time class="quiet">{formatTime(scheduledAt / 1_000)}</time>
						{status === "pending" ? (
							<span class="acts">
								<Act does={() => ask(id, "run")}>Run now</Act>
								<Act does={() => ask(id, "cancel")}>Cancel</Act>
							</span>
						) : null}
						{error === undefined ? null : <p class="effect-error">{error}</p>}
					</li>
				))}
			</ul>
		</Scrolls>
	);
}
