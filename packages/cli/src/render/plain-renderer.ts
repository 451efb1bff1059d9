/** Renders a run as plain text without control codes, for pipes, files and terminals that do not support them. */
import type { RunEvent } from "holdfast";
import { formatDuration, type Output, oneLine, printable } from "../terminal/index.ts";
import { callLines } from "./call-lines.ts";
import { endLines, headerLine, lineOfCall, proposalLines, replacementNote } from "./lines.ts";
import { nestedLines } from "./nested-lines.ts";
import type { Renderer } from "./renderer.ts";

const WIDTH = 200;

/** Creates the renderer for plain text. */
export function plainRenderer(output: Output): Renderer {
	const calls = new Map<string, { input: unknown; attempt: number }>();
	/** Whether the last output was text without a line end. */
	let open = false;
	let lastWasText = false;
	/** Whether the current answer was streamed. */
	let isStreamed = false;
	const line = (text: string): void => {
		output.write(`${open ? "\n" : ""}${text}\n`);
		open = false;
		lastWasText = false;
	};
	const textOf = (text: string): void => {
		if (text === "") return;
		output.write(lastWasText ? text : `\n${text}`);
		open = !text.endsWith("\n");
		lastWasText = true;
	};
	const ended = callLines(
		(call) => line(lineOfCall(call)),
		() => WIDTH,
	);
	return {
		begin: (header) => line(headerLine(header)),
		event(event: RunEvent) {
			if (event.type !== "tool_start" && event.type !== "tool_end") ended.flush();
			switch (event.type) {
				case "run_start":
					if (event.attempt > 1 && event.reason !== "answered") line(`resumed (attempt ${event.attempt})`);
					break;
				case "model_start":
					isStreamed = false;
					break;
				case "model":
					if (event.event.type !== "text_delta" && event.event.type !== "object_delta") break;
					isStreamed = true;
					textOf(printable(event.event.delta.text ?? ""));
					break;
				case "message":
					if (event.replaces !== undefined) line(replacementNote);
					// Of a run in another process, only whole answers arrive.
					if (event.replaces !== undefined || !isStreamed) textOf(printable(event.message.text));
					isStreamed = false;
					break;
				case "model_retry":
					line(
						`model failed, trying again in ${formatDuration(event.delay)}: ${oneLine(event.error.message, WIDTH)}`,
					);
					break;
				case "tool_start":
					calls.set(event.call.toolCallId, { input: event.input, attempt: event.attempt });
					break;
				case "nested":
					for (const text of nestedLines(event.event)) line(text);
					break;
				case "tool_end": {
					const call = calls.get(event.call.toolCallId);
					ended.ended({
						event,
						input: call?.input ?? event.call.arguments,
						attempt: call?.attempt ?? 1,
					});
					break;
				}
				case "run_end":
					if (open) output.write("\n");
					open = false;
					lastWasText = false;
					break;
				default:
			}
		},
		proposed(proposal) {
			ended.flush();
			for (const { text } of proposalLines(proposal)) line(text);
		},
		note(text) {
			ended.flush();
			line(printable(text));
		},
		end(summary) {
			ended.flush();
			line("");
			for (const text of endLines(summary)) line(text);
		},
	};
}
