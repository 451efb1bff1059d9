// The diagrams of code that continues from its record: workflows and scripts.
import { arrow, box, line, type Part, picture, text } from "./draw.ts";

/** Draws a call of the function: executed by a process, or answered from the record. */
function workflowRow(y: number, call: string, first: string, second: string, isOnRecord: boolean): Part {
	return [
		text(16, y, call, "mono b"),
		text(164, y, first, `small ${isOnRecord ? "t-accent" : "t-warn"}`),
		text(262, y, second, `small ${isOnRecord ? "dim" : "t-accent"}`),
		line(16, y + 11, 344, y + 11, false),
	].join("");
}

export const workflowReplay = picture(
	"A workflow after a crash",
	"The first process completes a step and a sleep, then dies while the second step runs. The second process calls the function again. The journal answers the completed calls, and the second step runs according to its retryPolicy.",
	432,
	[
		text(164, 30, "process 1", "b"),
		text(262, 30, "process 2", "b"),
		line(16, 42, 344, 42, false),
		workflowRow(64, 'step("create")', "runs", "recorded", true),
		workflowRow(96, 'sleep("3 days")', "waits", "recorded", true),
		workflowRow(128, 'step("charge")', "✕  kill -9", "runs again *", false),
		workflowRow(160, 'event("reply")', "", "waits", false),
		arrow([
			[180, 176],
			[180, 200],
		]),
		box(16, 202, 328, 44, ["the journal", "each call with its start and its outcome, in order"], "store"),
		arrow([
			[180, 246],
			[180, 270],
		]),
		box(16, 272, 328, 44, ["process 2 calls your function again", "with the same input"], "accent"),
		text(16, 342, "Completed calls return their recorded results.", "small"),
		text(16, 359, "They do not run again, and no time passes.", "small dim"),
		text(16, 388, "* if its retryPolicy is “pure” or “idempotent”.", "small"),
		text(16, 405, "Otherwise, reconcile() determines the outcome, or", "small dim"),
		text(16, 421, "your code receives step_outcome_unknown.", "small dim"),
	],
);

export const codeMode = picture(
	"A script of code mode",
	"The model writes one script. The sandbox runs it. Each tool call of the script passes validation, policy and approval, is recorded in the journal and runs outside the sandbox. Only the value that the script returns reaches the model.",
	420,
	[
		box(16, 16, 328, 44, ["model", "one call of run_code, with a script"], "accent"),
		arrow([
			[90, 60],
			[90, 100],
		]),
		text(98, 86, "the script", "small dim"),
		box(16, 102, 150, 176, ["sandbox", "no files,", "no network,", "no imports"]),
		arrow([
			[166, 136],
			[204, 136],
		]),
		text(185, 126, "call", "small dim", "middle"),
		box(206, 102, 138, 68, ["checks", "schema, policy,", "approval"]),
		arrow([
			[275, 170],
			[275, 208],
		]),
		text(283, 194, "allowed", "small dim"),
		box(206, 210, 138, 68, ["your tool", "outside the", "sandbox"], "accent"),
		arrow([
			[206, 244],
			[168, 244],
		]),
		text(187, 234, "result", "small dim", "middle"),
		arrow(
			[
				[275, 278],
				[275, 302],
			],
			"dash",
		),
		box(16, 304, 328, 44, ["the journal", "each call with its key and its result"], "store"),
		arrow([
			[16, 190],
			[8, 190],
			[8, 38],
			[14, 38],
		]),
		text(16, 376, "The model reads only the value that the script", "small"),
		text(16, 392, "returns. After a crash, the script runs again from the", "small"),
		text(16, 408, "record, and no completed call repeats.", "small"),
	],
);
