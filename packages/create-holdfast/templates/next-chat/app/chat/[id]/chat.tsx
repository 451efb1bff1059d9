"use client";

import { useChat } from "@ai-sdk/react";
import { HoldfastChatTransport } from "@holdfast/client/ai-sdk";
import { lastAssistantMessageIsCompleteWithApprovalResponses, type UIMessage } from "ai";
import { type SubmitEvent, useEffect, useState } from "react";
import { Part } from "./part.tsx";

const transport = new HoldfastChatTransport<UIMessage>();

/** A chat: loads the earlier messages, and continues an answer that is being streamed. */
export function Chat({ id }: { readonly id: string }) {
	const [before, setBefore] = useState<UIMessage[] | string>();
	useEffect(() => {
		transport.load(id).then(setBefore, (error: Error) => setBefore(error.message));
	}, [id]);
	if (before === undefined) return <main aria-busy="true" />;
	if (typeof before === "string") return <main role="alert">{before}</main>;
	return <Conversation id={id} before={before} />;
}

function Conversation({ id, before }: { readonly id: string; readonly before: UIMessage[] }) {
	const [text, setText] = useState("");
	const { messages, sendMessage, addToolApprovalResponse, status, stop, error } = useChat({
		id,
		messages: before,
		transport,
		resume: before.length > 0,
		sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
	});
	const isBusy = status === "submitted" || status === "streaming";
	const send = (event: SubmitEvent<HTMLFormElement>): void => {
		event.preventDefault();
		if (text.trim() === "") return;
		void sendMessage({ text });
		setText("");
	};
	return (
		<main>
			<ol aria-live="polite">
				{messages.map(({ id: message, role, parts }) => (
					<li key={message} className={role}>
						{parts.map((part, place) => (
							// biome-ignore lint/suspicious/noArrayIndexKey: parts are only ever added
							<Part key={place} part={part} onDecision={addToolApprovalResponse} />
						))}
					</li>
				))}
			</ol>
			{error === undefined ? null : <p role="alert">{error.message}</p>}
			<form onSubmit={send}>
				<input
					aria-label="Message"
					placeholder="What is 2 + 3?"
					value={text}
					onChange={(event) => setText(event.target.value)}
				/>
				{isBusy ? (
					<button type="button" onClick={() => void stop()}>
						Stop
					</button>
				) : (
					<button type="submit">Send</button>
				)}
			</form>
		</main>
	);
}
