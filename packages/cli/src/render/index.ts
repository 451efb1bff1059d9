/** Renders a run as text, live in a terminal, or as JSON. */
import type { Output } from "../terminal/index.ts";
import { jsonRenderer } from "./json.ts";
import { plainRenderer } from "./plain-renderer.ts";
import type { Renderer } from "./renderer.ts";
import { terminalRenderer } from "./terminal.ts";

export { callLines } from "./call-lines.ts";
export type { ChangeLine } from "./change-lines.ts";
export { contextLines, contextOf } from "./context-report.ts";
export {
	type CallText,
	effectLines,
	lineOfCall,
	outcomeMarks,
	replacementNote,
	stopNote,
	toolText,
} from "./lines.ts";
export { nestedLines } from "./nested-lines.ts";
export { type PlanStep, planLines, planOf } from "./plan.ts";
export { type Proposal, propose } from "./proposal.ts";
export type { Renderer, RunHeader, RunSummary } from "./renderer.ts";
export { WorkflowCalls } from "./workflow-calls.ts";

/** Chooses JSON if requested, a live view in a terminal, otherwise plain text. */
export function chooseRenderer(output: Output, format: "json" | "text"): Renderer {
	if (format === "json") return jsonRenderer(output);
	return output.isTerminal ? terminalRenderer(output) : plainRenderer(output);
}
