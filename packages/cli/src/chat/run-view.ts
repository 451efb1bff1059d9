/** Adds the events of a run to the transcript. */
import type { RunEvent, RunResult } from "holdfast";
import {
	callLines,
	nestedLines,
	planLines,
	planOf,
	replacementNote,
	stopNote,
	toolLine,
} from "../render/index.ts";
import { formatArguments, formatDuration, oneLine, printable } from "../terminal/index.ts";
import type { Place } from "../work/index.ts";
import { type Block, BlockStream } from "./block-stream.ts";
import type { Transcript } from "./chat-transcript.ts";
import { piecesOfLine } from "./highlight.ts";

/** Maximum number of characters kept of a thought. */
const LONGEST_THOUGHT = 50_000;
/** Maximum number of columns of a call's line. */
const WIDTH = 160;

interface OpenCall {
	readonly input: unknown;
	readonly attempt: number;
}

export class RunView {
	readonly #transcript: Transcript;
	readonly #place: Place;
	readonly #blocks = new BlockStream();
	readonly #calls = new Map<string, OpenCall>();
	readonly #ended = callLines(
		(text, outcome) => this.#transcript.add({ kind: "tool", text, isDone: outcome === "done" }),
		() => WIDTH,
	);
	/** Whether the current answer was streamed. */
	#isStreamed = false;
	/** The model's reasoning since `since`, in milliseconds of the process. */
	#thought = { text: "", since: 0 };

	/** `place`: where the run happens. Messages of a run elsewhere were not typed here. */
	constructor(transcript: Transcript, place: Place) {
		this.#transcript = transcript;
		this.#place = place;
	}

	event(event: RunEvent): void {
		if (event.type !== "tool_start" && event.type !== "tool_end") this.#ended.flush();
		switch (event.type) {
			case "run_start":
				if (event.attempt > 1 && event.reason !== "answered")
					this.#transcript.note(`Resumed (attempt ${event.attempt}).`, "quiet");
				return;
			case "input":
				if (event.placement !== "turn") this.#heard(event.message.text);
				else if (this.#place === "elsewhere")
					this.#transcript.add({ kind: "user", text: event.message.text });
				return;
			case "model_start":
				this.#isStreamed = false;
				return;
			case "model":
				if (event.event.type === "reasoning_delta") this.#think(event.event.delta.text ?? "");
				if (event.event.type !== "text_delta" && event.event.type !== "object_delta") return;
				this.#endThought();
				this.#isStreamed = true;
				this.#text(event.event.delta.text ?? "");
				return;
			case "message":
				this.#endThought();
				if (event.replaces !== undefined) this.#transcript.note(replacementNote, "warning");
				if (!this.#isStreamed) this.#text(event.message.text);
				this.#isStreamed = false;
				this.endText();
				return;
			case "model_retry":
				this.#transcript.note(
					`The model failed, trying again in ${formatDuration(event.delay)}: ${oneLine(event.error.message, WIDTH)}`,
					"warning",
				);
				return;
			case "tool_start": {
				const { call, input, attempt } = event;
				const plan = planOf(call.toolName, input);
				if (plan !== undefined) this.#transcript.set({ plan });
				this.#calls.set(call.toolCallId, { input, attempt });
				const text = oneLine(`${call.toolName} ${formatArguments(input)}`, WIDTH);
				const calls = [...this.#transcript.live.calls, { id: call.toolCallId, text }];
				this.#transcript.set({ calls });
				return;
			}
			case "tool_end": {
				const { toolCallId } = event.call;
				const { input = event.call.arguments, attempt = 1 } = this.#calls.get(toolCallId) ?? {};
				this.#calls.delete(toolCallId);
				const calls = this.#transcript.live.calls.filter(({ id }) => id !== toolCallId);
				this.#transcript.set({ calls });
				const isPlan = event.outcome === "done" && planOf(event.toolName, input) !== undefined;
				// The plan is shown instead.
				if (isPlan) return;
				this.#transcript.keep(toolLine(event, input, attempt, WIDTH), detailOf(input, event.result));
				this.#ended.ended({ event, input, attempt });
				return;
			}
			case "tool_delta":
				this.#transcript.output(event.toolCallId, printable(event.delta));
				return;
			case "nested":
				for (const text of nestedLines(event.event)) {
					this.#transcript.note(text, "quiet");
					this.#inside(event.toolCallId, text);
				}
				return;
			case "waiting": {
				const { until, tag, model } = event.wait ?? {};
				if (until === undefined) return;
				const what = model === undefined ? oneLine(tag ?? "a time", WIDTH) : "the provider";
				const time = new Date(until).toLocaleTimeString("en-GB");
				this.#transcript.note(`Waiting for ${what} until ${time}.`, "warning");
				return;
			}
			case "tools_pending":
				for (const { call, awaits } of event.calls) {
					const what = awaits === "approval" ? "requires approval" : "waits for its result";
					this.#transcript.note(
						`${oneLine(call.toolName, WIDTH)} ${what}; another call still runs.`,
						"warning",
					);
				}
				return;
			case "history_cut":
			case "turn_start":
			case "step_start":
			case "step_end":
			case "note":
			case "run_suspended":
			case "run_end":
				break;
			default:
				event satisfies never;
				break;
		}
	}

	/** Shows the rest of the text, and that the run ended. */
	end(): void {
		this.#ended.flush();
		this.#endThought();
		this.endText();
		this.#calls.clear();
		this.#transcript.set({ calls: [], tail: "" });
	}

	endText(): void {
		this.#show(this.#blocks.end());
	}

	#think(text: string): void {
		if (this.#thought.text === "") this.#thought.since = performance.now();
		if (this.#thought.text.length < LONGEST_THOUGHT) this.#thought.text += text;
		this.#transcript.set({ thought: (this.#transcript.live.thought + text).slice(-WIDTH) });
	}

	#endThought(): void {
		const { text, since } = this.#thought;
		if (text === "") return;
		this.#thought = { text: "", since: 0 };
		this.#transcript.set({ thought: "" });
		const title = `Thought for ${formatDuration(performance.now() - since)}`;
		this.#transcript.keep(title, text);
		this.#transcript.note(`∴ ${title}`, "quiet");
	}

	/** Shows the last activity of a sub-agent below its call. */
	#inside(id: string, inner: string): void {
		const calls = this.#transcript.live.calls.map((call) => (call.id === id ? { ...call, inner } : call));
		this.#transcript.set({ calls });
	}

	#text(text: string): void {
		this.#show(this.#blocks.push(printable(text)));
	}

	#show(blocks: readonly Block[]): void {
		// An empty line separates an answer from the calls and notes before it.
		if (blocks.length > 0 && this.#transcript.last === "other")
			this.#transcript.add({ kind: "answer", text: "\n" });
		for (const block of blocks)
			this.#transcript.add(
				typeof block === "string"
					? { kind: "answer", text: block }
					: { kind: "code", pieces: piecesOfLine(block.code, block.language, block.before) },
			);
		const { tail } = this.#blocks;
		if (tail !== this.#transcript.live.tail) this.#transcript.set({ tail });
	}

	/** The run received a message from the user. */
	#heard(text: string): void {
		const { queued } = this.#transcript.live;
		const at = queued.findIndex((each) => text.startsWith(each));
		if (at < 0) return;
		this.#transcript.set({ queued: queued.toSpliced(at, 1) });
		this.#transcript.add({ kind: "user", text: queued[at] as string });
	}
}

/** Everything about a call: its arguments, each on its own lines, and its result. */
function detailOf(input: unknown, result: unknown): string {
	const given = typeof input === "object" && input !== null ? Object.entries(input) : [];
	const lines = given.map(([name, value]) => `${name}: ${textOf(value)}`);
	return [...lines, "", textOf(result)].join("\n").trim();
}

function textOf(value: unknown): string {
	return typeof value === "string" ? value : (JSON.stringify(value, undefined, 2) ?? "");
}

/** Moves the plan to the entries, where it stays. */
export function endPlan(transcript: Transcript): void {
	const { plan } = transcript.live;
	if (plan.length === 0) return;
	transcript.set({ plan: [] });
	transcript.note(printable(planLines(plan, plan.length).join("\n")), "quiet");
}

/** Notes how a run ended, unless it simply completed. */
export function noteEnd(
	transcript: Transcript,
	{ outcome, error, stopReason }: Pick<RunResult, "outcome" | "error" | "stopReason">,
): void {
	const stopped = outcome === "completed" ? stopNote(stopReason) : undefined;
	if (stopped !== undefined) transcript.note(stopped, "warning");
	if (outcome === "aborted" || outcome === "killed") transcript.note("Interrupted.", "warning");
	if (outcome === "suspended") transcript.note("The run was suspended. You can resume it.", "warning");
	if (outcome === "error")
		transcript.note(`${error?.message ?? "It failed."} (${error?.code ?? "run_failed"})`, "warning");
}
