// A session as a conversation, with the streaming answer at its end.
import type { JSX } from "preact";
import { areThreads } from "./about.ts";
import { send } from "./acts.ts";
import { childrenFor } from "./child-entries.ts";
import { ChildRuns } from "./child-runs.tsx";
import type { Call, Conversation, Said } from "./conversation-model.ts";
import { toFork } from "./fork-dialog.tsx";
import { formatCost, formatCount, formatDuration, formatTime, summary } from "./format.ts";
import { Markdown } from "./markdown.tsx";
import { Act, CallInput, codeIn, Value } from "./parts.tsx";
import { SaidFileView } from "./said-file.tsx";
import type { Live, MessageSession, SessionStore } from "./session-store.ts";
import { VirtualList } from "./virtual-list.tsx";

export function ConversationTab(props: {
	readonly store: SessionStore;
	/** The entry whose message is in view. */
	readonly seq?: number | undefined;
}): JSX.Element {
	const { store, seq } = props;
	const version = store.version.value;
	return (
		<ConversationList
			of={store.conversation}
			live={store.live.value}
			version={version}
			store={store}
			seq={seq}
		/>
	);
}

/** Draws a conversation, and its streaming answer. */
export function ConversationList(props: {
	readonly of: Conversation;
	readonly live?: Live;
	/** Version of the conversation, which is mutated. */
	readonly version: number;
	/** The session, for files, sub-agents and actions. */
	readonly store: MessageSession;
	readonly label?: string;
	/** The entry whose message is in view. */
	readonly seq?: number | undefined;
}): JSX.Element {
	const { said, wait } = props.of;
	const { live, version, store, label = "Conversation", seq } = props;
	const current = seq === undefined ? undefined : said.findLastIndex((each) => each.seq <= seq);
	const isLive = live !== undefined && (live.text !== "" || live.thinking !== "" || live.calls.length > 0);
	const count = said.length + (isLive ? 1 : 0) + (wait === undefined ? 0 : 1);
	// Sub-agents and the last failure are drawn with the session's summary.
	const { children = [], status } = store.info.value ?? {};
	if (count === 0) return <p class="empty">No messages yet.</p>;
	return (
		<VirtualList
			label={label}
			class="conversation"
			count={count}
			lineHeight={96}
			version={`${version} ${children.length} ${status} ${current} ${
				live === undefined ? "" : `${live.text.length} ${live.thinking.length} ${live.calls.length} ${count}`
			}`}
			isMeasured
			current={current}
			isAtEnd
			keyOf={(index) => (index < said.length ? `${said[index]?.seq} ${index}` : index)}
			line={(index) => {
				const each = said[index];
				if (each !== undefined)
					return (
						<Message
							of={each}
							store={store}
							isChosen={index === current}
							{...(index === said.length - 1 ? { retry: said } : {})}
						/>
					);
				if (isLive && index === said.length) return <LiveMessage of={live} />;
				return <p class="message message-note">{wait}</p>;
			}}
		/>
	);
}

const speakers: Readonly<Record<Said["who"], string>> = {
	user: "User",
	assistant: "Assistant",
	error: "Failed",
	note: "Note",
};

/** Draws a message with its calls. */
export function Message(props: {
	readonly of: Said;
	readonly store: MessageSession;
	/** For the last message: all messages, so that a failed run can be repeated. */
	readonly retry?: readonly Said[];
	/** Its node of the trace is chosen. */
	readonly isChosen?: boolean;
}): JSX.Element {
	const { of, store, retry, isChosen } = props;
	const {
		who,
		text,
		thinking,
		calls,
		sources = [],
		files = [],
		at,
		model,
		tokens,
		cost,
		duration,
		stopped,
	} = of;
	const canFork = who === "user" && store.child === undefined && !areThreads();
	return (
		<article class={`message message-${who} ${isChosen === true ? "is-chosen" : ""}`}>
			<header>
				<strong>{speakers[who]}</strong>
				{model === undefined ? null : <span>{model}</span>}
				{duration === undefined ? null : <span>{formatDuration(duration)}</span>}
				{tokens === undefined ? null : <span>{formatCount(tokens)} tokens</span>}
				{cost === undefined ? null : <span>{formatCost(cost)}</span>}
				{stopped === undefined ? null : <span>{stopped}</span>}
				<time dateTime={new Date(at).toISOString()}>{formatTime(at)}</time>
				{canFork ? (
					<button
						type="button"
						class="small"
						onClick={() => {
							toFork.value = { sessionId: store.sessionId, runId: of.runId };
						}}
					>
						Fork from here…
					</button>
				) : null}
			</header>
			{thinking === undefined ? null : (
				<details class="thinking">
					<summary>Thinking</summary>
					<Markdown text={thinking} />
				</details>
			)}
			{text === "" ? null : who === "assistant" ? <Markdown text={text} /> : <p class="text">{text}</p>}
			{files.map((file) => (
				<SaidFileView key={file.index} of={file} seq={of.seq} store={store} />
			))}
			{calls.map((call) => (
				<CallDetails key={call.callId} of={call} store={store} />
			))}
			{sources.length === 0 ? null : <Sources of={sources} />}
			{who === "error" && retry !== undefined ? <Retry of={of} said={retry} store={store} /> : null}
		</article>
	);
}

/** Repeats a failed run: here, or in a fork that does not change this session. */
function Retry(props: {
	readonly of: Said;
	readonly said: readonly Said[];
	readonly store: MessageSession;
}): JSX.Element | null {
	const { of, said, store } = props;
	const input = said.findLast(({ who, runId }) => who === "user" && runId === of.runId)?.text ?? "";
	if (input === "" || store.child !== undefined) return null;
	return (
		<p class="acts">
			<Act does={() => send(store.sessionId, input)} title="Sends the last message of this run again">
				Retry
			</Act>
			{areThreads() ? null : (
				<button
					type="button"
					onClick={() => {
						toFork.value = { sessionId: store.sessionId, runId: of.runId };
					}}
				>
					Retry in a fork…
				</button>
			)}
		</p>
	);
}

function Sources({ of }: { readonly of: NonNullable<Said["sources"]> }): JSX.Element {
	return (
		<ul class="sources">
			{of.map(({ title, url }) => (
				<li key={url ?? title}>
					{url !== undefined && /^https?:/.test(url) ? (
						<a href={url} rel="noreferrer noopener" target="_blank">
							{title}
						</a>
					) : (
						title
					)}
				</li>
			))}
		</ul>
	);
}

function CallDetails({ of, store }: { readonly of: Call; readonly store: MessageSession }): JSX.Element {
	const children = childrenFor(of.name, store);
	const { name, input, outcome, result, duration, attempts } = of;
	const failed = outcome !== undefined && outcome !== "done";
	return (
		<details class={`call ${failed ? "is-failed" : ""}`}>
			<summary>
				<code>{name}</code> <span class="quiet">{summary(codeIn(input) ?? input, 80)}</span>{" "}
				<span class={outcome === undefined ? "quiet" : "call-outcome"}>
					{outcome ?? (attempts > 0 ? "running" : "not started")}
					{duration === undefined ? "" : ` · ${formatDuration(duration)}`}
					{attempts > 1 ? ` · attempt ${attempts}` : ""}
				</span>
			</summary>
			<h3>Input</h3>
			<CallInput of={input} name={name} />
			{outcome === undefined ? null : (
				<>
					<h3>Result</h3>
					<Value of={result} label={`Result of ${name}`} />
				</>
			)}
			{children.length === 0 ? null : <ChildRuns of={children} callId={of.callId} store={store} />}
		</details>
	);
}

function LiveMessage({ of: { text, thinking, calls } }: { readonly of: Live }): JSX.Element {
	return (
		<article class="message message-assistant is-live" aria-busy="true">
			<header>
				<strong>Assistant</strong>
				<span>{text === "" && thinking !== "" ? "thinks…" : "speaks…"}</span>
			</header>
			{thinking === "" || text !== "" ? null : <p class="text thinking">{thinking}</p>}
			<Markdown text={text} />
			{calls.length === 0 ? null : <p class="quiet">calls {calls.join(", ")}…</p>}
		</article>
	);
}
