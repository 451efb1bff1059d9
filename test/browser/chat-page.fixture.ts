// A page with `useChat`: messages, a form, buttons to stop and to let calls run, and a tool of its own. It opens a chat
// with what was said before and continues with an answer that is being made.
import { useChat } from "@ai-sdk/react";
import { HoldfastChatTransport } from "@holdfast/client/ai-sdk";
import {
	type ChatTransport,
	DefaultChatTransport,
	lastAssistantMessageIsCompleteWithApprovalResponses,
	lastAssistantMessageIsCompleteWithToolCalls,
	type UIMessage,
} from "ai";
import { createElement as h, type ReactNode, useState } from "react";
import { createRoot } from "react-dom/client";

declare global {
	interface Window {
		/** How often the page's own tool was called. */
		toolCalls: number;
	}
}

window.toolCalls = 0;
const chosen = new URLSearchParams(location.search);
const id = chosen.get("id") ?? "chat";
const ours = new HoldfastChatTransport<UIMessage>({
	reconnectDelayMs: 20,
	maxReconnectDelayMs: 200,
	maxReconnects: 200,
});
const transport: ChatTransport<UIMessage> =
	chosen.get("transport") === "default" ? new DefaultChatTransport() : ours;

function ChatPage({ before }: { readonly before: UIMessage[] }): ReactNode {
	const [text, setText] = useState("");
	const chat = useChat({
		id,
		transport,
		messages: before,
		resume: true,
		sendAutomaticallyWhen: (options) =>
			lastAssistantMessageIsCompleteWithToolCalls(options) ||
			lastAssistantMessageIsCompleteWithApprovalResponses(options),
		onToolCall({ toolCall: { toolCallId, toolName } }) {
			if (toolName !== "where") return;
			window.toolCalls++;
			const output = { page: document.title };
			void chat.addToolOutput({ tool: "where", toolCallId, output });
		},
	});
	const answer = (approval: string): void =>
		void chat.addToolApprovalResponse({ id: approval, approved: true });
	return h(
		"div",
		{ id: "chat", "data-status": chat.status },
		chat.messages.map((message) =>
			h(
				"section",
				{ key: message.id, className: message.role },
				message.parts.map((part, index) => h(Part, { key: index, part, answer })),
			),
		),
		chat.error && h("p", { className: "error" }, chat.error.message),
		h(
			"form",
			{
				onSubmit(event: { preventDefault(): void }) {
					event.preventDefault();
					void chat.sendMessage({ text });
					setText("");
				},
			},
			h("input", {
				value: text,
				onChange: (event: { target: { value: string } }) => setText(event.target.value),
			}),
			h("button", { type: "button", onClick: () => void chat.stop() }, "Stop"),
		),
	);
}

type PartProps = { readonly part: UIMessage["parts"][number]; readonly answer: (approval: string) => void };

function Part({ part, answer }: PartProps): ReactNode {
	if (part.type === "text") return h("p", null, part.text);
	if (part.type === "reasoning") return h("em", null, part.text);
	if (!("toolCallId" in part)) return null;
	const shown = part.state === "output-available" ? JSON.stringify(part.output) : "";
	return h(
		"pre",
		{ "data-state": part.state },
		`${part.type}: ${part.state} ${shown}`,
		part.state === "approval-requested" &&
			h("button", { type: "button", onClick: () => answer(part.approval.id) }, "Let it run"),
	);
}

const before = await ours.load(id);
createRoot(document.querySelector("#root") as HTMLElement).render(h(ChatPage, { before }));
