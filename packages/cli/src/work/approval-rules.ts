/**
 * Rules that approve later calls like one that the user has seen. A rule covers as little as possible: changes in one
 * folder, commands with one beginning, or calls of one tool of one agent. Rules are kept in memory only.
 */
import { dirname } from "node:path/posix";
import type { PendingToolCall } from "holdfast";
import type { Proposal } from "../render/index.ts";
import { oneLine, spelledOut } from "../terminal/index.ts";
import { beginningOf, isAllowed } from "../tools/index.ts";

/** A rule. */
export interface ApprovalRule {
	/** Describes what it covers. */
	readonly label: string;
	covers(proposal: Proposal): boolean;
}

/** Returns the rule that covers calls like this one. */
export function ruleFor({ call, change, command }: Proposal): ApprovalRule {
	if (command !== undefined) return ruleForCommand(command);
	if (change !== undefined) return ruleForFile(change.place.relative);
	const by = (call.path ?? []).map(({ agent }) => ` of ${agent}`).join("");
	const origin = originOf(call);
	return {
		label: shown(`every call of ${call.toolName}${by}`),
		covers: (other) =>
			other.change === undefined && other.command === undefined && originOf(other.call) === origin,
	};
}

/** Returns the rule that covers commands with the same beginning; only this command, if it is not simple. */
function ruleForCommand(command: string): ApprovalRule {
	const beginning = beginningOf(command);
	return beginning === undefined
		? { label: shown(`the command ${command}`), covers: (other) => other.command === command }
		: {
				label: shown(`commands that begin with ${beginning}`),
				covers: (other) => other.command !== undefined && isAllowed(other.command, [beginning]),
			};
}

function ruleForFile(path: string): ApprovalRule {
	const folder = dirname(path);
	return folder === "."
		? { label: shown(`changes of ${path}`), covers: ({ change }) => change?.place.relative === path }
		: {
				label: shown(`changes in ${folder}/`),
				covers: ({ change }) => change?.place.relative.startsWith(`${folder}/`) === true,
			};
}

/** A call of a sub-agent has another origin than one of the agent itself, even if the tools have the same name. */
function originOf({ toolName, path = [] }: PendingToolCall): string {
	return JSON.stringify([...path.map(({ agent }) => agent), toolName]);
}

function shown(label: string): string {
	return spelledOut(oneLine(label, 100));
}
