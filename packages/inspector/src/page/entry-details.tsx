// An entry in full, and for a model's answer the request behind it.
import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { ShownEntry, ShownStep } from "../wire/index.ts";
import { ask, inspectPath, isOver } from "./api.ts";
import { formatTime } from "./format.ts";
import { Value } from "./parts.tsx";
import type { SessionStore } from "./session-store.ts";

/**
 * Returns a route's response, or the reason for a failure. A different `look` requests it again; the previous response
 * stays until the new one arrives.
 */
export function useAnswer<Answer>(
	url: string | undefined,
	look: unknown = undefined,
): {
	readonly value?: Answer;
	readonly problem?: string;
} {
	const [found, setFound] = useState<{ url?: string; value?: Answer; problem?: string }>({});
	useEffect(() => {
		if (url === undefined) return;
		const ending = new AbortController();
		ask<Answer>(url, ending.signal).then(
			(value) => setFound({ url, value }),
			(error: Error) => {
				if (!isOver(error)) setFound({ url, problem: error.message });
			},
		);
		return () => ending.abort();
	}, [url, look]);
	return found.url === url ? found : {};
}

export function EntryDetails(props: {
	readonly store: SessionStore;
	readonly seq: number;
	readonly close?: () => void;
}): JSX.Element {
	const { store, seq, close } = props;
	const entry = store.entries.find((each) => each.seq === seq);
	const child = store.child === undefined ? "" : `?child=${encodeURIComponent(store.child)}`;
	const isAnswer = entry?.kind === "assistant";
	const path = (what: string): string => inspectPath(store.sessionId, `/${what}/${seq}${child}`);
	const step = useAnswer<ShownStep>(isAnswer ? path("steps") : undefined);
	const whole = useAnswer<ShownEntry>(entry?.isCut === true && !isAnswer ? path("entries") : undefined);
	return (
		<section class="details" aria-label={`Entry ${seq}`}>
			<header>
				<h2>
					{seq} · {entry?.kind ?? "no entry"}
				</h2>
				{entry === undefined ? null : <time>{formatTime(entry.at)}</time>}
				{close === undefined ? null : (
					<button type="button" aria-label="Close details" onClick={close}>
						×
					</button>
				)}
			</header>
			{step.problem === undefined && whole.problem === undefined ? null : (
				<p class="notice is-error">{step.problem ?? whole.problem}</p>
			)}
			{isAnswer ? (
				<>
					<h3>Request</h3>
					<p class="quiet">
						As the journal has it: what was said before, with the instructions and tools of now
						{step.value?.agentChanged === true ? ", which have changed since" : ""}. Credentials are masked.
					</p>
					<Value of={step.value?.request ?? "…"} label="Request" />
					<h3>Reply</h3>
					<Value of={step.value?.reply.body ?? entry.body} label="Reply" />
				</>
			) : (
				<Value of={whole.value?.body ?? entry?.body ?? ""} label="Entry" />
			)}
		</section>
	);
}
