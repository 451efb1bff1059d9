// A page that uses @holdfast/client: it shows every event it gets, with a button where a call waits to be let run.
import { createClient, type ExecuteEvent, type ExecuteResult } from "@holdfast/client";

/** What a page has seen of an execution. */
export interface Seen {
	readonly events: readonly { readonly type: string }[];
	readonly result: ExecuteResult;
}

declare global {
	interface Window {
		/** Sends a message to a new session; settles at its end. */
		send(sessionId: string, input: string): Promise<Seen>;
		/** How often the connection was resumed. */
		reconnects: number;
	}
}

window.reconnects = 0;
const client = createClient({
	url: "",
	reconnectDelayMs: 20,
	maxReconnectDelayMs: 200,
	maxReconnects: 200,
	onReconnect: () => {
		window.reconnects++;
	},
});
const root = document.querySelector("#root") as HTMLElement;

function show(tag: string, text: string): HTMLElement {
	const element = document.createElement(tag);
	element.textContent = text;
	root.append(element);
	return element;
}

function ask(name: string): Promise<boolean> {
	const button = show("button", `Let ${name} run`);
	return new Promise((resolve) => {
		button.addEventListener("click", () => {
			button.remove();
			resolve(true);
		});
	});
}

window.send = async (sessionId, input) => {
	const said = show("p", "");
	const events: (ExecuteEvent | { readonly type: "execute_complete" })[] = [];
	const stream = client.execute({
		sessionId,
		input,
		context: {},
		tools: [{ name: "where", run: () => `on the page "${document.title}"` }],
		unknownTools: "leave",
		approve: ({ name }) => ask(name),
	});
	for await (const event of stream) {
		events.push(event);
		if (event.type === "text_start") said.textContent = "";
		if (event.type === "text_delta") said.textContent += event.delta;
		if (event.type === "tool_execution_end") show("pre", event.output);
	}
	return { events, result: await stream.result() };
};
