// A session as a conversation, with the streaming answer at its end.
import type { JSX } from "preact";
import type { Call, Conversation, Said } from "./conversation-model.ts";
import { formatCost, formatCount, formatDuration, formatTime, summary } from "./format.ts";
import { Value } from "./parts.tsx";
import type { Live, SessionStore } from "./session-store.ts";
import { VirtualList } from "./virtual-list.tsx";

export function ConversationTab({ store }: { readonly store: SessionStore }): JSX.Element {
	const version = store.version.value;
	return <ConversationList of={store.conversation} live={store.live.value} version={version} />;
}

/** Draws a conversation, and its streaming answer. */
export function ConversationList(props: {
	readonly of: Conversation;
	readonly live?: Live;
	/** Version of the conversation, which is mutated. */
	readonly version: number;
	readonly label?: string;
}): JSX.Element {
	const { said, wait } = props.of;
	const { live, version, label = "Conversation" } = props;
	const isLive = live !== undefined && (live.text !== "" || live.thinking !== "" || live.calls.length > 0);
	const count = said.length + (isLive ? 1 : 0) + (wait === undefined ? 0 : 1);
	if (count === 0) return <p class="empty">No messages yet.</p>;
	return (
		<VirtualList
			label={label}
			class="conversation"
			count={count}
			lineHeight={96}
			version={
				live === undefined
					? version
					: `${version} ${live.text.length} ${live.thinking.length} ${live.calls.length} ${count}`
			}
			isMeasured
			isAtEnd
			keyOf={(index) => (index < said.length ? `${said[index]?.seq} ${index}` : index)}
			line={(index) => {
				const each = said[index];
				if (each !== undefined) return <Message of={each} />;
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

function Message({ of }: { readonly of: Said }): JSX.Element {
	const { who, text, thinking, calls, sources = [], at, model, tokens, cost, duration, stopped } = of;
	return (
		<article class={`message message-${who}`}>
			<header>
				<strong>{speakers[who]}</strong>
				{model === undefined ? null : <span>{model}</span>}
				{duration === undefined ? null : <span>{formatDuration(duration)}</span>}
				{tokens === undefined ? null : <span>{formatCount(tokens)} tokens</span>}
				{cost === undefined ? null : <span>{formatCost(cost)}</span>}
				{stopped === undefined ? null : <span>{stopped}</span>}
				<time dateTime={new Date(at).toISOString()}>{formatTime(at)}</time>
			</header>
			{thinking === undefined ? null : (
				<details class="thinking">
					<summary>Thinking</summary>
					<p class="text">{thinking}</p>
				</details>
			)}
			{text === "" ? null : <p class="text">{text}</p>}
			{calls.map((call) => (
				<CallDetails key={call.callId} of={call} />
			))}
			{sources.length === 0 ? null : <Sources of={sources} />}
		</article>
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

function CallDetails({ of }: { readonly of: Call }): JSX.Element {
	const { name, input, outcome, result, duration, attempts } = of;
	const failed = outcome !== undefined && outcome !== "done";
	return (
		<details class={`call ${failed ? "is-failed" : ""}`}>
			<summary>
				<code>{name}</code> <span class="quiet">{summary(input, 80)}</span>{" "}
				<span class="call-outcome">
					{outcome ?? (attempts > 0 ? "running" : "not started")}
					{duration === undefined ? "" : ` · ${formatDuration(duration)}`}
					{attempts > 1 ? ` · attempt ${attempts}` : ""}
				</span>
			</summary>
			<h3>Input</h3>
			<Value of={input} label={`Input of ${name}`} />
			{outcome === undefined ? null : (
				<>
					<h3>Result</h3>
					<Value of={result} label={`Result of ${name}`} />
				</>
			)}
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
			<p class="text">{text}</p>
			{calls.length === 0 ? null : <p class="quiet">calls {calls.join(", ")}…</p>}
		</article>
	);
}
