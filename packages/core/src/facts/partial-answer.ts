// The text of an answer while it is streamed. It is shown if the answer never finishes, and never sent to a model.
import { AssistantMessage, type StreamEvent } from "@holdfast/upp";
import { GrowingText } from "./flat-text.ts";

/** The kind of block that a delta belongs to. A structured answer is text. */
const kinds: Partial<Record<StreamEvent["type"], "text" | "reasoning">> = {
	text_delta: "text",
	object_delta: "text",
	reasoning_delta: "reasoning",
};

/** The streamed part of an answer, kept in case it never finishes. */
export class PartialAnswer {
	#blocks: { type: "text" | "reasoning"; text: GrowingText; index: number }[] = [];

	add(event: StreamEvent): void {
		const type = kinds[event.type];
		if (type === undefined || event.delta.text === undefined) return;
		const last = this.#blocks.at(-1);
		if (last !== undefined && last.type === type && last.index === event.index)
			last.text.append(event.delta.text);
		else this.#blocks.push({ type, text: new GrowingText(event.delta.text), index: event.index });
	}

	message(): AssistantMessage | undefined {
		if (this.#blocks.length === 0) return undefined;
		return new AssistantMessage(this.#blocks.map(({ type, text }) => ({ type, text: text.toString() })));
	}
}
