// A model's answer while it is emitted: its blocks in sequence, each started, continued and ended, and its tool calls by
// position. Models number their calls from 0, or together with the blocks of their answer. A call that arrives before an
// item with a lower number therefore waits for it, because only then is its position known. Parts missing from the stream
// are emitted from the complete message at the end.
import { type AssistantMessage, replacedId, type StreamDelta, type StreamEvent } from "@holdfast/upp";
import { GrowingText } from "../facts/index.ts";
import type { ExecuteEvent } from "./execute-event.ts";
import { sessionCall } from "./session-message.ts";

type Kind = "text" | "thinking";

interface Call {
	/** The position that the provider's stream assigns to it. */
	readonly place: number;
	readonly id: string | undefined;
	readonly name: string | undefined;
	hasArguments: boolean;
	/** Its position among the calls, once known. */
	index: number | undefined;
	/** The pieces of its arguments that arrived before its position was known. */
	readonly held: string[];
}

export class OpenAnswer {
	#events: ExecuteEvent[] = [];
	/** Whether any part of it was emitted. */
	isEmitted = false;
	#block: { readonly kind: Kind; readonly index: number; readonly text: GrowingText } | undefined;
	/** The number of emitted blocks of each kind. */
	readonly #emitted = { text: 0, thinking: 0 };
	/** The emitted calls, by position. */
	readonly #calls: Call[] = [];
	/** All calls: the first of each place under that place, and further ones under place and id. */
	readonly #known = new Map<number | string, Call>();
	/** Calls that wait for an item with a lower place, by their own place. */
	readonly #held = new Map<number, Call[]>();
	#nextHeld = 0;
	/** Positions of emitted blocks and calls, and the lowest one not emitted. */
	readonly #seen = new Set<number>();
	#nextPlace = 0;

	/** Returns the events of one event of the model's stream. */
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

	/** Returns the remaining events of the answer once it is complete. */
	finish(message: AssistantMessage): readonly ExecuteEvent[] {
		this.#events = [];
		this.#start(replacedId(message));
		const seen = { text: 0, thinking: 0 };
		for (const [index, block] of message.content.entries()) {
			if ((block.type !== "text" && block.type !== "reasoning") || block.text === "") continue;
			const kind = block.type === "text" ? "text" : "thinking";
			if (++seen[kind] < this.#emitted[kind]) continue;
			if (seen[kind] > this.#emitted[kind]) this.#text(kind, -1 - index, block.text);
			else if (this.#block?.kind === kind) this.#rest(block.text);
		}
		this.#endBlock();
		// A call keeps the index under which it was emitted, even if the stream had a different order than the answer.
		const indexes = new Map(this.#calls.map((call, index) => [call.id, index] as const).reverse());
		for (const [place, call] of (message.toolCalls ?? []).entries()) {
			const index = indexes.get(call.toolCallId) ?? place;
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

	/** Returns the end of an answer that will not be completed. */
	cut(): readonly ExecuteEvent[] {
		this.#events = [];
		this.#endBlock();
		return this.#events;
	}

	#start(replaces?: string): void {
		if (this.isEmitted) return;
		this.isEmitted = true;
		const replacing = replaces === undefined ? {} : { replaces };
		this.#events.push({ type: "message_start", role: "assistant", ...replacing });
	}

	#text(kind: Kind, index: number, delta: string): void {
		this.#start();
		if (this.#block?.kind !== kind || this.#block.index !== index) {
			this.#endBlock();
			this.#block = { kind, index, text: new GrowingText(delta) };
			this.#emitted[kind]++;
			this.#see(index);
			this.#events.push({ type: `${kind}_start` });
		} else this.#block.text.append(delta);
		this.#events.push({ type: `${kind}_delta`, delta });
	}

	/** Emits the remainder of the complete block. */
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
		const known = this.#find(place, id);
		const call = known ?? this.#add({ place, id, name, hasArguments: false, index: undefined, held: [] });
		if (call.index === undefined) call.held.push(delta);
		else if (delta !== "") this.#arguments(call.index, delta);
		if (known !== undefined || call.index !== undefined) this.#release();
	}

	/** Finds a call by its place; if several have the same place, also by its id. */
	#find(place: number, id: string | undefined): Call | undefined {
		const first = this.#known.get(place);
		if (first === undefined || id === undefined || first.id === undefined || first.id === id) return first;
		return this.#known.get(`${place} ${id}`);
	}

	/** Emits a call at once, or holds it until its position is known. */
	#add(call: Call): Call {
		const { place, id } = call;
		this.#known.set(this.#known.has(place) ? `${place} ${id}` : place, call);
		if (place <= this.#nextPlace) this.#begin(call);
		else {
			const held = this.#held.get(place);
			if (held === undefined) this.#held.set(place, [call]);
			else held.push(call);
		}
		return call;
	}

	/** Emits the start of a call; returns its index. */
	#begin(call: Call): number {
		const { id, name, place } = call;
		const index = this.#calls.push(call) - 1;
		call.index = index;
		this.#see(place);
		const known = { ...(id === undefined ? {} : { id }), ...(name === undefined ? {} : { name }) };
		this.#events.push({ type: "toolcall_start", index, ...known });
		return index;
	}

	#see(place: number): void {
		this.#seen.add(place);
		while (this.#seen.has(this.#nextPlace)) this.#nextPlace++;
	}

	#arguments(index: number, delta: string): void {
		(this.#calls[index] as Call).hasArguments = true;
		this.#events.push({ type: "toolcall_delta", index, delta });
	}

	/** Emits the calls that waited for items emitted since. */
	#release(): void {
		for (; this.#nextHeld <= this.#nextPlace; this.#nextHeld++) {
			for (const call of this.#held.get(this.#nextHeld) ?? []) {
				const index = this.#begin(call);
				const said = call.held.join("");
				if (said !== "") this.#arguments(index, said);
			}
			this.#held.delete(this.#nextHeld);
		}
	}
}
