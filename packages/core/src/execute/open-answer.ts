// A model's answer while it is emitted: its blocks one after the other, each begun, continued and ended, and its tool
// calls by their position. What the stream left out is emitted from the whole message at the end.
import type { AssistantMessage, StreamDelta, StreamEvent } from "@holdfast/upp";
import { GrowingText } from "../facts/index.ts";
import type { ExecuteEvent } from "./execute-event.ts";
import { sessionCall } from "./session-message.ts";

type Kind = "text" | "thinking";

interface Call {
	/** Where the provider's stream places it. */
	readonly index: number;
	readonly id: string | undefined;
	hasArguments: boolean;
}

export class OpenAnswer {
	#events: ExecuteEvent[] = [];
	/** Whether anything of it was emitted. */
	isEmitted = false;
	#block: { readonly kind: Kind; readonly index: number; readonly text: GrowingText } | undefined;
	/** How many blocks of each kind were emitted. */
	readonly #emitted = { text: 0, thinking: 0 };
	readonly #calls: Call[] = [];

	/** The events of one event of the model's stream. */
	add({ type, index, delta }: StreamEvent): readonly ExecuteEvent[] {
		this.#events = [];
		if (type === "text_delta" || type === "object_delta" || type === "reasoning_delta") {
			const kind = type === "reasoning_delta" ? "thinking" : "text";
			if (delta.text !== undefined && delta.text !== "") this.#text(kind, index, delta.text);
		} else if (type === "tool_call_delta") {
			this.#call(index, delta);
		}
		return this.#events;
	}

	/** The rest of the answer, once it is whole. */
	finish(message: AssistantMessage): readonly ExecuteEvent[] {
		this.#events = [];
		this.#start();
		const seen = { text: 0, thinking: 0 };
		for (const [index, block] of message.content.entries()) {
			if ((block.type !== "text" && block.type !== "reasoning") || block.text === "") continue;
			const kind = block.type === "text" ? "text" : "thinking";
			if (++seen[kind] < this.#emitted[kind]) continue;
			if (seen[kind] > this.#emitted[kind]) this.#text(kind, -1 - index, block.text);
			else if (this.#block?.kind === kind) this.#rest(block.text);
		}
		this.#endBlock();
		for (const [place, call] of (message.toolCalls ?? []).entries()) {
			const index = this.#emittedIndex(place, call.toolCallId);
			const emitted = this.#calls[index];
			const { toolCallId: id, toolName: name } = call;
			if (emitted === undefined) this.#events.push({ type: "toolcall_start", index, id, name });
			if (emitted?.hasArguments !== true) {
				const delta = JSON.stringify(call.arguments);
				this.#events.push({ type: "toolcall_delta", index, delta });
			}
			this.#events.push({ type: "toolcall_end", index, toolCall: sessionCall(call) });
		}
		return this.#events;
	}

	/** The end of an answer that will not be whole. */
	cut(): readonly ExecuteEvent[] {
		this.#events = [];
		this.#endBlock();
		return this.#events;
	}

	/** The index under which a call was emitted: its own, except where the stream had another order than the answer. */
	#emittedIndex(place: number, id: string): number {
		const index = this.#calls.findIndex((call) => call.id === id);
		return index < 0 ? place : index;
	}

	#start(): void {
		if (this.isEmitted) return;
		this.isEmitted = true;
		this.#events.push({ type: "message_start", role: "assistant" });
	}

	#text(kind: Kind, index: number, delta: string): void {
		this.#start();
		if (this.#block?.kind !== kind || this.#block.index !== index) {
			this.#endBlock();
			this.#block = { kind, index, text: new GrowingText(delta) };
			this.#emitted[kind]++;
			this.#events.push({ type: `${kind}_start` });
		} else this.#block.text.append(delta);
		this.#events.push({ type: `${kind}_delta`, delta });
	}

	/** What the whole block has beyond what was emitted of it. */
	#rest(whole: string): void {
		const block = this.#block;
		const emitted = block?.text.toString() ?? "";
		if (block !== undefined && whole.length > emitted.length && whole.startsWith(emitted))
			this.#text(block.kind, block.index, whole.slice(emitted.length));
	}

	#endBlock(): void {
		const block = this.#block;
		this.#block = undefined;
		if (block === undefined) return;
		const text = block.text.toString();
		this.#events.push(
			block.kind === "text" ? { type: "text_end", text } : { type: "thinking_end", thinking: text },
		);
	}

	#call(place: number, { toolCallId: id, toolName: name, argumentsJson: delta = "" }: StreamDelta): void {
		this.#start();
		this.#endBlock();
		const same = (call: Call): boolean =>
			call.index === place && (id === undefined || call.id === undefined || call.id === id);
		let index = this.#calls.findIndex(same);
		if (index < 0) {
			index = this.#calls.push({ index: place, id, hasArguments: false }) - 1;
			const known = { ...(id === undefined ? {} : { id }), ...(name === undefined ? {} : { name }) };
			this.#events.push({ type: "toolcall_start", index, ...known });
		}
		if (delta === "") return;
		(this.#calls[index] as Call).hasArguments = true;
		this.#events.push({ type: "toolcall_delta", index, delta });
	}
}
