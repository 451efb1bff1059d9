/** A call that waits for approval: the change it would make, or why the change is no longer possible. */
import type { PendingToolCall } from "holdfast";
import { formatArguments, oneLine, spelledOut } from "../terminal/index.ts";
import { isChangingTool, type PlannedChange, planChange, shellTool, ToolRefusal } from "../tools/index.ts";

/** A call and its effect. */
export interface Proposal {
	readonly call: PendingToolCall;
	/** Identifies the call and the shown version of its file: `call_7@1f3a9c02b4d1`. */
	readonly word: string;
	/** The tool and its file, in one line. */
	readonly title: string;
	/** Undefined for tools that change no file, and if the change is impossible. */
	readonly change: PlannedChange | undefined;
	/** All arguments of the call, if the title shows only their beginning and nothing else shows them. */
	readonly details: string | undefined;
	/** The shell command that the call runs. */
	readonly command: string | undefined;
	/** Why the change is impossible. */
	readonly refusal: string | undefined;
}

/** Characters of a title. */
const titleLength = 120;

/** Whether a title shows a text unchanged. */
function isWhole(text: string): boolean {
	return oneLine(text, titleLength) === text;
}

/** Computes what a call would do now; without a folder, no call is treated as changing files. */
export async function propose(dir: string | undefined, call: PendingToolCall): Promise<Proposal> {
	const { toolCallId, toolName, arguments: given } = call;
	const titled = (what: string): string => spelledOut(oneLine(`${toolName} ${what}`, titleLength));
	const said = formatArguments(given);
	const nothing = {
		call,
		word: toolCallId,
		title: titled(said),
		change: undefined,
		details: isWhole(`${toolName} ${said}`) ? undefined : JSON.stringify(given, undefined, 2),
		command: undefined,
	};
	if (dir !== undefined && toolName === shellTool && call.path === undefined) {
		const command = String(given.command ?? "");
		return { ...nothing, command, details: undefined, title: titled(command), refusal: undefined };
	}
	if (dir === undefined || !isChangingTool(toolName)) return { ...nothing, refusal: undefined };
	try {
		const change = await planChange(dir, toolName, given);
		const word = `${toolCallId}@${change.versions.before?.slice(0, 12) ?? "new"}`;
		return {
			...nothing,
			word,
			title: titled(change.place.relative),
			change,
			details: undefined,
			refusal: undefined,
		};
	} catch (error) {
		if (!(error instanceof ToolRefusal)) throw error;
		return { ...nothing, refusal: error.message };
	}
}
