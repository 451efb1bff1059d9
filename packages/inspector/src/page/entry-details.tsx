// An entry in full, and for a model's answer the request behind it.
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { ShownEntry, ShownStep } from "../wire/index.ts";
import { hasPlayground } from "./about.ts";
import { ask, inspectPath } from "./api.ts";
import { formatCount, formatDuration, formatShare, formatTime } from "./format.ts";
import { useRead } from "./latest.ts";
import { Figure, Value } from "./parts.tsx";
import { Price } from "./price.tsx";
import { ContextBar, RequestVerdict, RequestView } from "./request-details.tsx";
import { linkTo } from "./route.ts";

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
	useRead(
		url === undefined ? undefined : (signal) => ask<Answer>(url, signal),
		[url, look],
		(value) => setFound(url === undefined ? {} : { url, value }),
		({ message }) => setFound(url === undefined ? {} : { url, problem: message }),
	);
	return found.url === url ? found : {};
}

/** The journal that an entry belongs to. */
export interface EntrySource {
	readonly sessionId: string;
	readonly child: string | undefined;
	readonly entries: readonly ShownEntry[];
}

function pathOf({ sessionId, child }: EntrySource, what: string, seq: number): string {
	return inspectPath(
		sessionId,
		`/${what}/${seq}${child === undefined ? "" : `?child=${encodeURIComponent(child)}`}`,
	);
}

/** Returns the entries of a run, those that were cut in full. */
export function wholeEntries(of: EntrySource, runId: string): Promise<readonly ShownEntry[]> {
	const own = of.entries.filter((each) => each.runId === runId);
	return Promise.all(
		own.map((each) => (each.isCut === true ? ask<ShownEntry>(pathOf(of, "entries", each.seq)) : each)),
	);
}

export function EntryDetails({
	store,
	seq,
}: {
	readonly store: EntrySource;
	readonly seq: number;
}): JSX.Element {
	const entry = store.entries.find((each) => each.seq === seq);
	return (
		<section class="details" aria-label={`Entry ${seq}`}>
			<header>
				<h2>
					{seq} · {entry?.kind ?? "no entry"}
				</h2>
				{entry === undefined ? null : <time>{formatTime(entry.at)}</time>}
			</header>
			{entry?.kind === "assistant" ? (
				<AnswerDetails of={store} entry={entry} />
			) : (
				<WholeEntry of={store} entry={entry} label="Entry" />
			)}
		</section>
	);
}

/** An entry with nothing cut, or a part of it. */
export function WholeEntry(props: {
	readonly of: EntrySource;
	readonly entry: ShownEntry | undefined;
	readonly label: string;
	readonly part?: (body: ShownEntry["body"]) => unknown;
}): JSX.Element {
	const { of, entry, label, part = (body) => body } = props;
	const path = entry?.isCut === true ? pathOf(of, "entries", entry.seq) : undefined;
	const whole = useAnswer<ShownEntry>(path);
	return (
		<>
			{whole.problem === undefined ? null : <p class="notice is-error">{whole.problem}</p>}
			<Value of={entry === undefined ? "" : part(whole.value?.body ?? entry.body)} label={label} />
		</>
	);
}

/** A model's request next to its reply. */
export function AnswerDetails({
	of,
	entry,
}: {
	readonly of: EntrySource;
	readonly entry: ShownEntry;
}): JSX.Element {
	const step = useAnswer<ShownStep>(pathOf(of, "steps", entry.seq));
	const { usage = {}, cost, duration = 0, cacheBreak, stopReason = "" } = entry.body as Partial<AnswerBody>;
	const { inputTokens = 0, outputTokens = 0, cacheReadTokens = 0, cacheWriteTokens = 0 } = usage;
	return (
		<>
			{step.problem === undefined ? null : <p class="notice is-error">{step.problem}</p>}
			<dl class="figures">
				<Figure name="input">{formatCount(inputTokens)} tokens</Figure>
				<Figure name="from the cache">
					{cacheReadTokens === 0
						? "nothing"
						: `${formatCount(cacheReadTokens)} (${formatShare(cacheReadTokens, inputTokens)})`}
				</Figure>
				{cacheWriteTokens === 0 ? null : (
					<Figure name="into the cache">{formatCount(cacheWriteTokens)}</Figure>
				)}
				<Figure name="output">{formatCount(outputTokens)} tokens</Figure>
				<Figure name="cost">
					<Price cost={cost ?? 0} unpriced={cost === undefined ? 1 : 0} />
				</Figure>
				<Figure name="duration">{formatDuration(duration)}</Figure>
				<Figure name="stopped">{stopReason}</Figure>
			</dl>
			{cacheBreak === undefined ? null : (
				<p class="cache-break">
					The cache was broken by {cacheBreak.reasons.join(", ")}:{" "}
					{cacheBreak.from === 0
						? "nothing before it is reused"
						: `the first ${cacheBreak.from} messages are reused`}
					.
				</p>
			)}
			{step.value === undefined ? null : (
				<>
					<RequestVerdict of={step.value} />
					<ContextBar of={step.value.request} tokens={inputTokens} />
				</>
			)}
			<div class="pair">
				<div>
					<h3>Request</h3>
					<RequestView
						of={step.value}
						tryAt={
							of.child === undefined && hasPlayground()
								? linkTo({
										...{ view: "session", sessionId: of.sessionId, tab: "playground" },
										entry: entry.seq,
									})
								: undefined
						}
					/>
				</div>
				<div>
					<h3>Reply</h3>
					<Value of={step.value?.reply.body ?? entry.body} label="Reply" />
				</div>
			</div>
		</>
	);
}

interface AnswerBody {
	readonly usage?: Readonly<Record<string, number>>;
	readonly cost?: number;
	readonly duration: number;
	readonly stopReason: string;
	readonly cacheBreak?: { readonly reasons: readonly string[]; readonly from: number };
}
