/** @jsxImportSource react */
// The page: plain React and the AI SDK's `useChat`. Reload it in the middle of an answer, or restart the server: it continues.
import { useChat } from "@ai-sdk/react";
import { HoldfastChatTransport } from "@holdfast/client/ai-sdk";
import type { UIMessage } from "ai";
import { type FormEvent, type ReactNode, useState } from "react";
import { createRoot } from "react-dom/client";

const transport = new HoldfastChatTransport<UIMessage>();
// One chat for each browser; an id in the address would do as well.
const id = localStorage.getItem("chat") ?? crypto.randomUUID();
localStorage.setItem("chat", id);

function Chat({ before }: { readonly before: UIMessage[] }): ReactNode {
	const [text, setText] = useState("");
	const { messages, sendMessage, stop, status, error } = useChat({
		id,
		transport,
		messages: before,
		resume: true,
	});

	function submit(event: FormEvent): void {
		event.preventDefault();
		void sendMessage({ text });
		setText("");
	}

	return (
		<main data-status={status}>
			{messages.map((message) => (
				<p key={message.id} className={message.role}>
					{message.parts.map((part) => (part.type === "text" ? part.text : ""))}
				</p>
			))}
			{error && <p className="error">{error.message}</p>}
			<form onSubmit={submit}>
				<input value={text} onChange={(event) => setText(event.target.value)} aria-label="Message" />
				<button type="submit">Send</button>
				<button type="button" onClick={() => void stop()}>
					Stop
				</button>
			</form>
		</main>
	);
}

createRoot(document.querySelector("#root") as Element).render(<Chat before={await transport.load(id)} />);
