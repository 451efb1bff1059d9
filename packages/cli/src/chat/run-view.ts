/** Adds the events of a run to the transcript. */
import type { Message } from "@holdfast/upp";
import type { PendingToolCall, RunEvent, RunResult } from "holdfast";
import {
	callLines,
	lineOfCall,
	nestedLines,
	planLines,
	planOf,
	replacementNote,
	stopNote,
	toolText,
	WorkflowCalls,
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

/** Earlier messages shown when a session is opened. */
const SHOWN_PAST = 6;
/** Lines of a sub-agent that are kept, and those that are shown below its call. */
const MOST_INNER = 500;
const SHOWN_INNER = 12;

interface OpenCall {
	readonly text: string;
	readonly input: unknown;
	readonly attempt: number;
	/** The activity of its sub-agent or script. */
	inner: readonly string[];
}

export class RunView {
	readonly #transcript: Transcript;
	readonly #place: Place;
	readonly #blocks = new BlockStream();
	readonly #calls = new Map<string, OpenCall>();
	readonly #ended = callLines(
		(call, outcome) => this.#transcript.add({ kind: "tool", ...call, isDone: outcome === "done" }),
		() => WIDTH,
	);
	readonly #workflow = new WorkflowCalls();
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
				if (this.#heard(event.message.text)) return;
				if (event.placement === "turn" && this.#place === "elsewhere")
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
				const text = oneLine(`${call.toolName} ${formatArguments(input)}`, WIDTH);
				this.#calls.set(call.toolCallId, { text, input, attempt, inner: [] });
				this.#showCall(call.toolCallId, text);
				return;
			}
			case "tool_end": {
				const { toolCallId } = event.call;
				const open = this.#calls.get(toolCallId);
				const { input = event.call.arguments, attempt = 1, inner = [] } = open ?? {};
				this.#calls.delete(toolCallId);
				this.#hideCall(toolCallId);
				const isPlan = event.outcome === "done" && planOf(event.toolName, input) !== undefined;
				// The plan is shown instead.
				if (isPlan) return;
				const title = lineOfCall(toolText(event, input, attempt, WIDTH));
				const detail = detailOf(input, event.result);
				this.#transcript.keep(title, inner.length === 0 ? detail : `${inner.join("\n")}\n\n${detail}`);
				this.#ended.ended({ event, input, attempt });
				this.#showInner(inner);
				return;
			}
			case "tool_delta":
				this.#transcript.output(event.toolCallId, printable(event.delta));
				return;
			case "nested":
				for (const text of nestedLines(event.event)) this.#inside(event.toolCallId, text);
				return;
			case "note": {
				const change = this.#workflow.read(event);
				if (change?.type === "began") this.#showCall(change.id, change.id);
				if (change?.type === "noted") this.#transcript.note(change.text, "quiet");
				if (change?.type !== "ended") return;
				this.#hideCall(change.id);
				this.#transcript.add({ kind: "tool", ...change.call, isDone: change.isDone });
				return;
			}
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
		// A call whose sub-agent waits has no line yet.
		for (const { text, inner } of this.#calls.values()) {
			if (inner.length === 0) continue;
			this.#transcript.note(`… ${text}`, "quiet");
			this.#showInner(inner);
		}
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

	#showCall(id: string, text: string): void {
		this.#transcript.set({ calls: [...this.#transcript.live.calls, { id, text }] });
	}

	#hideCall(id: string): void {
		this.#transcript.set({ calls: this.#transcript.live.calls.filter((call) => call.id !== id) });
	}

	/** Shows the activity of a sub-agent below its call, which is its last line so far while it runs. */
	#inside(id: string, line: string): void {
		const open = this.#calls.get(id);
		if (open === undefined) {
			this.#transcript.note(line, "quiet");
			return;
		}
		open.inner = [...open.inner, line].slice(-MOST_INNER);
		const inner = open.inner.slice(-SHOWN_INNER);
		const calls = this.#transcript.live.calls.map((call) => (call.id === id ? { ...call, inner } : call));
		this.#transcript.set({ calls });
	}

	/** Keeps the last lines of a sub-agent below the line of its call. */
	#showInner(inner: readonly string[]): void {
		if (inner.length === 0) return;
		const left = inner.length - SHOWN_INNER;
		const more = left > 0 ? [`  … ${left} earlier lines, Ctrl-O shows them`] : [];
		this.#transcript.note([...more, ...inner.slice(-SHOWN_INNER)].join("\n"), "quiet");
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

	/** Shows a message that waited, because the run has received it. Returns whether it did wait. */
	#heard(text: string): boolean {
		const { queued } = this.#transcript.live;
		// What a message carries follows on other lines.
		const at = queued.findIndex((each) => text === each || text.startsWith(`${each}\n`));
		if (at < 0) return false;
		this.#transcript.set({ queued: queued.toSpliced(at, 1) });
		this.#transcript.add({ kind: "user", text: queued[at] as string });
		return true;
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

/** Shows the last messages of a session that is opened. */
export function showPast(transcript: Transcript, messages: readonly Message[]): void {
	const past = messages.filter(({ type, text }) => type !== "tool_result" && text !== "");
	if (past.length > SHOWN_PAST) transcript.note(`… ${past.length - SHOWN_PAST} earlier messages`, "quiet");
	for (const { type, text } of past.slice(-SHOWN_PAST))
		transcript.add({ kind: type === "user" ? "user" : "answer", text });
}

/** Moves the plan to the entries, where it stays. */
export function endPlan(transcript: Transcript): void {
	const { plan } = transcript.live;
	if (plan.length === 0) return;
	transcript.set({ plan: [] });
	transcript.note(printable(planLines(plan, plan.length).join("\n")), "quiet");
}

/** Notes that calls wait for results which the user cannot give here. */
export function noteElsewhere(transcript: Transcript, calls: readonly PendingToolCall[]): void {
	const names = calls.flatMap(({ awaits, toolName }) => (awaits === "result" ? [oneLine(toolName, 60)] : []));
	const elsewhere =
		names.length === 0 ? "" : `${names.join(", ")} waits for its result, which comes from outside this chat.`;
	if (elsewhere !== "") transcript.note(elsewhere, "warning");
	transcript.set({ elsewhere });
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
