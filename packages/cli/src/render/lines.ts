/** The lines shared by terminals and pipes: headers, tool calls, endings. */
import type { RunEvent, RunResult } from "holdfast";
import {
	formatArguments,
	formatCost,
	formatCount,
	formatDuration,
	oneLine,
	quoted,
	spelledOut,
	summarise,
} from "../terminal/index.ts";
import { type ChangeLine, changeLines } from "./change-lines.ts";
import type { Proposal } from "./proposal.ts";
import type { RunHeader, RunSummary } from "./renderer.ts";

type ToolEnd = Extract<RunEvent, { type: "tool_end" }>;

/** Marks of a call's outcome. */
export const outcomeMarks: Readonly<Record<ToolEnd["outcome"], string>> = {
	done: "✓",
	error: "✗",
	cancelled: "✗",
	unknown: "?",
	expired: "expired",
	skipped: "–",
};

/** Formats the header of a run in one line. */
export function headerLine({ sessionKey, model, reason, dir, instructions = [] }: RunHeader): string {
	const why = reason === undefined ? "" : ` (${reason})`;
	const by = instructions.length === 0 ? "" : ` · following ${instructions.join(", ")}`;
	return `session ${oneLine(sessionKey, 80)} · model ${model}${why} · in ${dir}${by}`;
}

/** A completed call: what it did, and how it went. */
export interface CallText {
	readonly mark: string;
	readonly head: string;
	/** Begins with a separator. */
	readonly tail: string;
}

/** Formats a completed call in one line. */
export function lineOfCall({ mark, head, tail }: CallText): string {
	return `${mark} ${head}${tail}`;
}

/** Formats a completed call: name, arguments, duration, outcome. */
export function toolText(event: ToolEnd, input: unknown, attempt: number, width: number): CallText {
	const said =
		event.outcome === "done" ? summarise(event.result) : `${event.outcome}: ${reasonOf(event.result)}`;
	const again = attempt > 1 ? ` (attempt ${attempt})` : "";
	const tail = ` · ${formatDuration(event.duration)}${again} · ${oneLine(said, Math.max(20, Math.floor(width / 2)))}`;
	const head = `${event.call.toolName} ${argumentsOf(event.toolName, input)}`;
	return {
		mark: outcomeMarks[event.outcome],
		head: oneLine(head, Math.max(24, width - tail.length - 3)),
		tail,
	};
}

/** The arguments of a call. Changes are shown before they are approved, so their files are enough here. */
function argumentsOf(toolName: string, input: unknown): string {
	const { path } = (input ?? {}) as { readonly path?: unknown };
	const isChange = (toolName === "edit_file" || toolName === "write_file") && typeof path === "string";
	return isChange ? path : formatArguments(input);
}

/** A note about an answer that did not end normally; undefined for one that did. */
export function stopNote(stopReason: RunResult["stopReason"]): string | undefined {
	switch (stopReason) {
		case "length":
			return "The answer was cut off at the model's token limit.";
		case "content_filter":
			return "The model's provider refused or filtered the answer.";
		case "error":
		case "other":
			return "The model stopped without a known reason.";
		case "stop":
		case "tool_calls":
		case undefined:
			return undefined;
	}
}

/** The line before an answer that replaces the one above it. */
export const replacementNote = "The answer above was replaced by this one:";

/** Formats the last lines: how the run ended, what it cost, how to continue. */
export function endLines(summary: RunSummary): string[] {
	const { result, header } = summary;
	const parts = [
		`${endWord(summary)} ${result.outcome === "waiting" ? "after" : "in"} ${formatDuration(summary.duration)}`,
		`${formatCount(result.steps)} ${result.steps === 1 ? "step" : "steps"}`,
		...costParts(summary),
	];
	const lines = [parts.join(" · ")];
	const stopped = stopNote(result.stopReason);
	if (result.outcome === "completed" && stopped !== undefined) lines.push(stopped);
	if (result.outcome === "suspended") lines.push(`resume:       ${summary.resumeCommand}`);
	else if (result.wait !== undefined) lines.push(`continue it:  ${summary.workCommand}`);
	else if (result.outcome === "waiting") lines.push(...waitingLines(summary));
	else lines.push(`continue:     ${summary.continueCommand}`);
	lines.push(`show:         ${summary.showCommand}`);
	if (result.outcome === "error" && header.model !== "offline")
		lines.push("without a model service:  --model offline");
	return lines;
}

function waitingLines({ resumeCommand, waiting }: RunSummary): string[] {
	const one = waiting.length === 1 ? quoted(waiting[0] as string) : "CALL";
	return [
		`review:       ${resumeCommand}`,
		`approve all:  ${resumeCommand} --yes`,
		`approve one:  ${resumeCommand} --approve ${one}`,
		`deny one:     ${resumeCommand} --deny ${one} --reason "…"`,
	];
}

/** The reason of a failure often follows its first line. */
function reasonOf(result: unknown): string {
	return typeof result === "string" ? result.slice(0, 2_000) : summarise(result);
}

/** Formats a call that waits for approval: its name and the change it would make. */
export function proposalLines(proposal: Proposal): ChangeLine[] {
	const { title, word } = proposal;
	return [
		{ kind: "remark", text: `${title} needs approval: ${oneLine(word, 200)}` },
		...effectLines(proposal),
	];
}

/** Formats the command of a call, its long arguments, the change that it would make, or why that is impossible. */
export function effectLines({ change, command, details, refusal }: Proposal): ChangeLine[] {
	const placed = (text: string): ChangeLine => ({ kind: "place", text });
	const commands = command
		?.split("\n")
		.map((line, index) => `${index === 0 ? "$" : ">"} ${spelledOut(line)}`);
	return [
		...(commands ?? []).map(placed),
		...(details?.split("\n").map(spelledOut) ?? []).map(placed),
		...(change === undefined ? [] : changeLines(change)),
		...(refusal === undefined
			? []
			: [{ kind: "remark" as const, text: `This change cannot be applied now: ${oneLine(refusal, 400)}` }]),
	];
}

function endWord({ result, waiting }: RunSummary): string {
	if (result.wait !== undefined) {
		const { tag, until, model } = result.wait;
		const time = until === undefined ? "an input" : new Date(until).toISOString();
		return `waiting for ${time} (${model?.code ?? tag})`;
	}
	if (result.outcome === "waiting")
		return `waiting for approval of ${waiting.length === 1 ? "a call" : `${waiting.length} calls`}`;
	if (result.outcome === "suspended") return "interrupted";
	return result.outcome === "error" ? "failed" : result.outcome;
}

function costParts({ result, header }: RunSummary): string[] {
	if (header.model === "offline") return ["offline: no tokens, no cost"];
	const { inputTokens, outputTokens, cacheReadTokens } = result.usage;
	// Zero tokens mean that the model reports no usage, not that the answer was free.
	if (inputTokens + outputTokens === 0)
		return [
			result.steps === 0 ? "no tokens" : "tokens unknown",
			...(result.steps === 0 ? [] : ["cost unknown"]),
		];
	const cached = cacheReadTokens ? ` (${formatCount(cacheReadTokens)} cached)` : "";
	const tokens = `${formatCount(inputTokens)} tokens in${cached}, ${formatCount(outputTokens)} out`;
	return [tokens, result.cost === undefined ? "cost unknown" : formatCost(result.cost)];
}
