// The list of sessions, and the form that starts one.
import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { SessionCounts } from "../wire/index.ts";
import { areThreads } from "./about.ts";
import { agentNames, begin } from "./acts.ts";
import { formatCount, formatPrice, formatTime } from "./format.ts";
import { useKeys } from "./keyboard.ts";
import { attempt, Status } from "./parts.tsx";
import { go, linkTo } from "./route.ts";
import {
	counts,
	isCut,
	isListed,
	mostListed,
	search,
	shown,
	status,
	statuses,
	wantCounts,
} from "./sessions-store.ts";
import { VirtualList } from "./virtual-list.tsx";

const filters = [
	"any",
	"open",
	"running",
	"waiting",
	"parked",
	"interrupted",
	"queued",
	"completed",
	"error",
	"aborted",
	"killed",
	"idle",
];
/** The first of two sessions to compare. */
export const toCompare = signal<string | undefined>(undefined);

export function SessionsView(): JSX.Element {
	const list = shown.value;
	const [current, setCurrent] = useState(0);
	const seen = useRef<readonly [number, number]>([0, 20]);
	const ending = useRef(new AbortController());
	const at = Math.min(current, list.length - 1);
	useEffect(() => () => ending.current.abort(), []);
	useEffect(
		() => wantCounts(list.slice(seen.current[0], seen.current[1] + 1), ending.current.signal),
		[list],
	);
	const focusLine = (index: number): void => {
		const to = Math.max(0, Math.min(list.length - 1, index));
		setCurrent(to);
		requestAnimationFrame(() =>
			requestAnimationFrame(() => document.querySelector<HTMLElement>(`[data-index="${to}"] a`)?.focus()),
		);
	};
	const open = (): void => {
		const session = list[at];
		if (session !== undefined) go({ view: "session", sessionId: session.sessionId, tab: "conversation" });
	};
	const down = (): void => focusLine(document.activeElement?.closest(".list-line") === null ? at : at + 1);
	const up = (): void => focusLine(at - 1);
	useKeys({ j: down, ArrowDown: down, k: up, ArrowUp: up, Enter: open });
	const total = [...statuses.value.values()].reduce((sum, each) => sum + each, 0);
	return (
		<main class="sessions">
			<h1 class="hidden">Sessions</h1>
			<search class="filters">
				<input
					id="search"
					type="search"
					aria-label="Search sessions"
					placeholder="Search by id or first words"
					value={search.value}
					onInput={({ currentTarget }) => {
						search.value = currentTarget.value;
						setCurrent(0);
					}}
				/>
				<select
					aria-label="Status"
					value={status.value}
					onChange={({ currentTarget }) => {
						status.value = currentTarget.value;
						setCurrent(0);
					}}
				>
					{filters.map((each) => (
						<option key={each} value={each}>
							{each === "any" ? "any status" : each}
							{statuses.value.has(each as never) ? ` (${statuses.value.get(each as never)})` : ""}
						</option>
					))}
				</select>
				<output class="quiet" aria-live="polite">
					{isListed.value ? `${formatCount(list.length)} of ${formatCount(total)}` : "reading…"}
					{isCut.value ? `; the first ${formatCount(mostListed)} ids` : ""}
				</output>
			</search>
			{toCompare.value === undefined ? null : (
				<p class="notice">
					Choose the session to compare {toCompare.value} with.
					<button
						type="button"
						onClick={() => {
							toCompare.value = undefined;
						}}
					>
						Never mind
					</button>
				</p>
			)}
			{list.length === 0 && isListed.value ? (
				<p class="empty">
					{total === 0 ? `No ${areThreads() ? "threads" : "sessions"} yet. Start one below.` : "No matches."}
				</p>
			) : (
				<VirtualList
					label="Sessions"
					count={list.length}
					lineHeight={64}
					version={list}
					keyOf={(index) => list[index]?.sessionId ?? index}
					current={at}
					onSeen={(first, last) => {
						seen.current = [first, last];
						wantCounts(list.slice(first, last + 1), ending.current.signal);
					}}
					line={(index) => <Line index={index} focused={() => setCurrent(index)} />}
				/>
			)}
			<Begin />
		</main>
	);
}

function Line({
	index,
	focused,
}: {
	readonly index: number;
	readonly focused: () => void;
}): JSX.Element | null {
	const session = shown.value[index];
	if (session === undefined) return null;
	const { sessionId, title = "No messages yet", updatedAt } = session;
	const of = counts.value.get(sessionId);
	const compared = toCompare.value;
	const link =
		compared === undefined
			? linkTo({ view: "session", sessionId, tab: "conversation" })
			: linkTo({ view: "compare", left: compared, right: sessionId });
	return (
		<a class="session-line" href={link} onFocus={focused}>
			<Status of={session.status} />
			<span class="session-title">{title}</span>
			<span class="session-id">
				{session.agent === undefined ? "" : `${session.agent} · `}
				{sessionId}
			</span>
			<span class="session-numbers">{of === undefined ? "" : numbersOf(of)}</span>
			<time class="session-time" dateTime={new Date(updatedAt).toISOString()}>
				{formatTime(updatedAt)}
			</time>
		</a>
	);
}

function numbersOf({ answers, inputTokens, outputTokens, cost, unpriced, errors }: SessionCounts): string {
	const words: string[] = [];
	if (answers > 0)
		words.push(
			`${formatCount(inputTokens + outputTokens)} tokens`,
			cost === 0 && unpriced > 0 ? "cost unknown" : formatPrice(cost, unpriced),
		);
	if (errors > 0) words.push(errors === 1 ? "1 error" : `${formatCount(errors)} errors`);
	return words.join(" · ");
}

/** Starts a session. */
function Begin(): JSX.Element {
	const [text, setText] = useState("");
	const [agents, setAgents] = useState<readonly string[]>([]);
	const [agent, setAgent] = useState<string | undefined>(undefined);
	useEffect(() => {
		if (!areThreads()) return;
		const ending = new AbortController();
		agentNames(ending.signal).then(setAgents, () => {});
		return () => ending.abort();
	}, []);
	const send = async (): Promise<void> => {
		if (text.trim() === "") return;
		await attempt(async () => {
			const sessionId = await begin(text, agent ?? agents[0]);
			setText("");
			go({ view: "session", sessionId, tab: "conversation" });
		});
	};
	return (
		<form
			class="composer"
			onSubmit={(event) => {
				event.preventDefault();
				void send();
			}}
		>
			{agents.length < 2 ? null : (
				<select
					aria-label="Agent"
					value={agent ?? agents[0] ?? ""}
					onChange={({ currentTarget }) => setAgent(currentTarget.value)}
				>
					{agents.map((each) => (
						<option key={each} value={each}>
							{each}
						</option>
					))}
				</select>
			)}
			<textarea
				id="composer"
				aria-label={areThreads() ? "Message of a new thread" : "Message of a new session"}
				placeholder={areThreads() ? "Start a thread" : "Start a session"}
				rows={1}
				value={text}
				onInput={({ currentTarget }) => setText(currentTarget.value)}
				onKeyDown={(event) => {
					if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) void send();
				}}
			/>
			<button type="submit" class="primary">
				Start
			</button>
		</form>
	);
}
