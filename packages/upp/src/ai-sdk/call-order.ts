// Keeps a prompt in the order that providers demand: each call has a unique id and one result right after it, and each
// message has content. Histories that were cut, seeded or edited may have lost a call or a result.
//
// Per conversation: calls are open from the message that makes them until their results arrive. While calls are open, a
// user message is held back until after the results. An answer of the model closes any open calls.

import type { Turns } from "./dialect.ts";
import type { PromptMessage, PromptPart } from "./language-model-types.ts";

/** Replaces a result that is missing in the history. */
const missing = { type: "text", value: "No result is recorded for this call." };
/** Inserted between results and a user message, if a run ended before the model answered. */
const unanswered: PromptMessage = { role: "assistant", content: [{ type: "text", text: "(no answer)" }] };
/** Inserted before an answer that starts a conversation, such as a greeting. */
const unasked: PromptMessage = {
	role: "user",
	content: [{ type: "text", text: "(start of the conversation)" }],
};

export class CallOrder {
	readonly #turns: Turns;
	/** How often each id has been used. */
	readonly #used = new Map<string, number>();
	/** The calls without a result, by the ids in their messages. */
	readonly #open = new Map<string, PromptPart>();
	/** Results of calls whose message has other open calls. */
	#arrived: PromptPart[] = [];
	#held: PromptMessage[] = [];
	#last: PromptMessage["role"] | undefined;

	constructor(turns: Turns) {
		this.#turns = turns;
	}

	/** Appends the next message of the conversation to the prompt. */
	add(message: PromptMessage, prompt: PromptMessage[]): void {
		if (message.content.length === 0) return;
		switch (message.role) {
			case "tool":
				this.#results(message, prompt);
				break;
			case "assistant":
				this.#close(prompt);
				this.#put(this.#withOwnIds(message), prompt);
				break;
			default:
				if (this.#open.size > 0) this.#held.push(message);
				else this.#put(message, prompt);
		}
	}

	/** Completes the end of a copy of the prompt. The conversation itself may still continue with a result. */
	end(prompt: PromptMessage[]): void {
		// If nothing is left of a conversation, for example only results without calls: providers refuse an empty prompt.
		if (prompt.length === 0) prompt.push(unasked);
		if (this.#open.size === 0) return;
		prompt.push(this.#withMissing());
		if (this.#turns.answersTools && this.#held.length > 0) prompt.push(unanswered);
		prompt.push(...this.#held);
	}

	/** Adds results for open calls, and places messages that were held back. */
	#close(prompt: PromptMessage[]): void {
		if (this.#open.size === 0) return;
		this.#put(this.#withMissing(), prompt);
		this.#open.clear();
		this.#arrived = [];
		this.#release(prompt);
	}

	/**
	 * Collects the results of a message. They are placed with those of the other calls, because Google requires them in
	 * one message.
	 */
	#results(message: PromptMessage, prompt: PromptMessage[]): void {
		const given = message.content as readonly PromptPart[];
		const parts: PromptPart[] = [];
		for (const part of given) {
			if (part.type === "tool-approval-response") {
				parts.push(part);
				continue;
			}
			const id = part.toolCallId ?? "";
			const call = this.#open.get(id);
			if (call === undefined) continue;
			this.#open.delete(id);
			parts.push(call.toolCallId === id ? part : { ...part, toolCallId: call.toolCallId as string });
		}
		const isWhole = this.#arrived.length === 0 && parts.every((part, index) => part === given[index]);
		this.#arrived.push(...parts);
		if (this.#open.size > 0 || this.#arrived.length === 0) return;
		const content = this.#arrived;
		this.#arrived = [];
		this.#put(isWhole && parts.length === given.length ? message : { ...message, content }, prompt);
		this.#release(prompt);
	}

	#withMissing(): PromptMessage {
		const missed = Array.from(this.#open.values(), ({ toolCallId = "", toolName = "" }) => {
			return { type: "tool-result", toolCallId, toolName, output: missing };
		});
		return { role: "tool", content: [...this.#arrived, ...missed] };
	}

	/** Returns the message with a different id for each call whose id was already used. */
	#withOwnIds(message: PromptMessage): PromptMessage {
		if (typeof message.content === "string") return message;
		let content: PromptPart[] | undefined;
		for (const [index, part] of message.content.entries()) {
			if (part.type !== "tool-call" || part.providerExecuted === true) continue;
			const id = part.toolCallId ?? "";
			const times = this.#used.get(id) ?? 0;
			this.#used.set(id, times + 1);
			let own = part;
			if (times > 0) {
				own = { ...part, toolCallId: this.#fresh(id, times) };
				content ??= [...message.content];
				content[index] = own;
			}
			this.#open.set(id, own);
		}
		return content === undefined ? message : { ...message, content };
	}

	/** Returns an unused id of the same length, because Mistral accepts no other length. */
	#fresh(id: string, times: number): string {
		for (let number = times; ; number++) {
			const suffix = number.toString(36);
			const fresh = `${id.slice(0, Math.max(1, id.length - suffix.length - 1))}x${suffix}`;
			if (this.#used.has(fresh)) continue;
			this.#used.set(fresh, 1);
			return fresh;
		}
	}

	#release(prompt: PromptMessage[]): void {
		const held = this.#held;
		this.#held = [];
		for (const message of held) this.#put(message, prompt);
	}

	#put(message: PromptMessage, prompt: PromptMessage[]): void {
		const { answersTools, startsWithUser } = this.#turns;
		if (answersTools && this.#last === "tool" && message.role === "user") prompt.push(unanswered);
		if (startsWithUser && this.#last === undefined && message.role === "assistant") prompt.push(unasked);
		this.#last = message.role;
		prompt.push(message);
	}
}
