/**
 * Renders a run in a terminal: text as it streams, and below it a live block with a spinner for the model and each
 * running tool. The block is erased before permanent output is written, so the output reads like a log.
 */
import { styleText } from "node:util";
import type { RunEvent } from "holdfast";
import { formatArguments, formatDuration, type Output, oneLine, printable } from "../terminal/index.ts";
import { callLines } from "./call-lines.ts";
import type { ChangeLine } from "./change-lines.ts";
import { endLines, headerLine, proposalLines, replacementNote } from "./lines.ts";
import { nestedLines } from "./nested-lines.ts";
import type { Renderer } from "./renderer.ts";

const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const FRAME_MS = 80;
const MOST_LINES = 10;
const changeColours: Readonly<Record<ChangeLine["kind"], Parameters<typeof styleText>[0] | undefined>> = {
	file: "bold",
	place: "cyan",
	kept: undefined,
	removed: "red",
	added: "green",
	remark: "yellow",
};

interface RunningCall {
	readonly text: string;
	readonly since: number;
	readonly input: unknown;
	readonly attempt: number;
}

/** Creates the renderer for terminals. */
export function terminalRenderer(output: Output, now: () => number = () => performance.now()): Renderer {
	const colour = (style: Parameters<typeof styleText>[0], text: string): string =>
		output.hasColours ? styleText(style, text, { validateStream: false }) : text;
	const calls = new Map<string, RunningCall>();
	let thinkingSince: number | undefined;
	let drawn = 0;
	let drawnAt = now();
	let open = false;
	/** Whether the current answer was streamed. */
	let isStreamed = false;
	let lastWasText = false;
	let frame = 0;
	let timer: NodeJS.Timeout | undefined;

	const erase = (): void => {
		if (drawn > 0) output.write(`\x1b[${drawn}A\r\x1b[J`);
		drawn = 0;
	};
	const draw = (): void => {
		// While text streams, the block cannot be drawn below it.
		if (open) return;
		const width = Math.max(20, output.columns - 1);
		const spinner = FRAMES[frame % FRAMES.length] as string;
		const lines = [...calls.values()].map((call) => {
			const time = ` ${formatDuration(now() - call.since)}`;
			return { text: oneLine(call.text, width - time.length - 2), time };
		});
		// A block taller than the screen cannot be erased.
		const room = Math.max(1, Math.min(MOST_LINES, output.rows - 3));
		if (lines.length > room)
			lines.splice(room - 1, lines.length, { text: `and ${lines.length - room + 1} more`, time: "" });
		if (calls.size === 0 && thinkingSince !== undefined)
			lines.push({ text: "thinking", time: ` ${formatDuration(now() - thinkingSince)}` });
		for (const { text, time } of lines)
			output.write(`${colour("cyan", spinner)} ${text}${colour("dim", time)}\n`);
		drawn = lines.length;
		drawnAt = now();
	};
	/** Draws lasting states at once; states that last less than a frame wait for the timer. */
	const redraw = (): void => {
		erase();
		if (now() - drawnAt > FRAME_MS) draw();
		const busy = calls.size > 0 || thinkingSince !== undefined;
		if (busy && timer === undefined) {
			timer = setInterval(() => {
				frame++;
				erase();
				draw();
			}, FRAME_MS);
			timer.unref();
		} else if (!busy && timer !== undefined) {
			clearInterval(timer);
			timer = undefined;
		}
	};
	const line = (text: string): void => {
		erase();
		output.write(`${open ? "\n" : ""}${text}\n`);
		open = false;
		lastWasText = false;
		redraw();
	};
	const textOf = (text: string): void => {
		if (text === "") return;
		thinkingSince = undefined;
		erase();
		output.write(lastWasText ? text : `\n${text}`);
		open = !text.endsWith("\n");
		lastWasText = true;
		redraw();
	};

	const ended = callLines(
		({ mark, head, tail }, outcome) => {
			const painted = colour(outcome === "done" ? "green" : "red", mark);
			line(`${painted} ${head}${colour("dim", tail)}`);
		},
		() => output.columns - 1,
	);

	return {
		begin: (header) => line(colour("dim", oneLine(headerLine(header), output.columns - 1))),
		event(event: RunEvent) {
			if (event.type !== "tool_start" && event.type !== "tool_end") ended.flush();
			switch (event.type) {
				case "run_start":
					if (event.attempt > 1 && event.reason !== "answered")
						line(colour("yellow", `resumed (attempt ${event.attempt})`));
					break;
				case "model_start":
					isStreamed = false;
					thinkingSince = now();
					redraw();
					break;
				case "model":
					if (event.event.type !== "text_delta" && event.event.type !== "object_delta") break;
					isStreamed = true;
					textOf(printable(event.event.delta.text ?? ""));
					break;
				case "message":
					if (event.replaces !== undefined) line(colour("yellow", replacementNote));
					// Of a run in another process, only whole answers arrive.
					if (event.replaces !== undefined || !isStreamed) textOf(printable(event.message.text));
					isStreamed = false;
					thinkingSince = undefined;
					redraw();
					break;
				case "step_end":
					thinkingSince = undefined;
					redraw();
					break;
				case "model_retry":
					line(
						colour(
							"yellow",
							oneLine(
								`model failed, trying again in ${formatDuration(event.delay)}: ${event.error.message}`,
								500,
							),
						),
					);
					break;
				case "tool_start": {
					const text = `${event.call.toolName} ${formatArguments(event.input)}`;
					if (open) line("");
					calls.set(event.call.toolCallId, {
						text,
						since: now(),
						input: event.input,
						attempt: event.attempt,
					});
					redraw();
					break;
				}
				case "nested":
					for (const text of nestedLines(event.event, output.columns - 1)) line(colour("dim", text));
					break;
				case "tool_end": {
					const call = calls.get(event.call.toolCallId);
					calls.delete(event.call.toolCallId);
					ended.ended({
						event,
						input: call?.input ?? event.call.arguments,
						attempt: call?.attempt ?? 1,
					});
					redraw();
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
			for (const { kind, text } of proposalLines(proposal)) {
				const style = changeColours[kind];
				line(style === undefined ? text : colour(style, text));
			}
		},
		note(text) {
			ended.flush();
			line(colour("yellow", printable(text)));
		},
		end(summary) {
			ended.flush();
			calls.clear();
			thinkingSince = undefined;
			line("");
			const [first = "", ...rest] = endLines(summary);
			line(colour(summary.exitCode === 0 ? "green" : summary.exitCode >= 3 ? "yellow" : "red", first));
			for (const text of rest) line(colour("dim", text));
		},
	};
}
