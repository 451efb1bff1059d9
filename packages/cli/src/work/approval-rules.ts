/**
 * Rules that approve later calls like one that the user has seen. A rule covers one tool of one agent, and as little as
 * possible: changes in one folder, or the calls of a user's tool. Rules are kept in memory only.
 */
import { dirname } from "node:path/posix";
import type { PendingToolCall } from "holdfast";
import type { Proposal } from "../render/index.ts";
import { oneLine, spelledOut } from "../terminal/index.ts";

/** A rule. */
export interface ApprovalRule {
	/** Describes what it covers. */
	readonly label: string;
	/** The agent and the tool; the same for all tools that change files. */
	readonly scope: string;
	/** The folder that a changed file must be in, with a slash at its end, or the file itself; undefined for any call. */
	readonly within: string | undefined;
}

/** Returns the rule that covers calls like this one. */
export function ruleFor({ call, change }: Proposal): ApprovalRule {
	const scope = scopeOf(call, change !== undefined);
	if (change === undefined) {
		const by = (call.path ?? []).map(({ agent }) => ` of ${agent}`).join("");
		return { label: shown(`every call of ${call.toolName}${by}`), scope, within: undefined };
	}
	const { relative } = change.place;
	const folder = dirname(relative);
	const within = folder === "." ? relative : `${folder}/`;
	return { label: shown(folder === "." ? `changes of ${relative}` : `changes in ${within}`), scope, within };
}

/** Whether a rule covers a call. */
export function covers({ scope, within }: ApprovalRule, { call, change }: Proposal): boolean {
	if (scope !== scopeOf(call, change !== undefined)) return false;
	if (within === undefined) return true;
	const path = change?.place.relative ?? "";
	return within.endsWith("/") ? path.startsWith(within) : path === within;
}

/** A call of a sub-agent has another scope than one of the agent itself, even if the tools have the same name. */
function scopeOf({ toolName, path = [] }: PendingToolCall, isChange: boolean): string {
	return JSON.stringify([...path.map(({ agent }) => agent), isChange ? "change" : `tool ${toolName}`]);
}

function shown(label: string): string {
	return spelledOut(oneLine(label, 100));
}
