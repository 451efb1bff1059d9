// The entries of the sub-agent that worked for a call.
import type { SessionLook, ShownEntry } from "../wire/index.ts";
import { ask, inspectPath } from "./api.ts";
import type { EntriesPage, MessageSession } from "./session-store.ts";

/** Maximum number of sub-agents that are searched for a call. */
const mostChildren = 8;

/** Returns the sub-agents that a tool of this name may have asked, the last one first. */
export function childrenFor(name: string, store: MessageSession): readonly SessionLook[] {
	const { children = [] } = store.info.value ?? {};
	const delegated = name.startsWith("delegate_to_") ? name.slice("delegate_to_".length) : undefined;
	return children
		.filter(
			({ parent, subagent }) =>
				parent === store.child && (subagent === delegated || subagent === `tool ${name}`),
		)
		.slice(-mostChildren)
		.reverse();
}

/** What a sub-agent wrote for a call. */
export interface ChildEntries {
	readonly child: SessionLook;
	readonly entries: readonly ShownEntry[];
}

/** Finds the sub-agent of a call. Resolves with undefined if none of these worked for it. */
export async function childEntries(
	sessionId: string,
	children: readonly SessionLook[],
	callId: string,
	signal: AbortSignal,
): Promise<ChildEntries | undefined> {
	for (const child of children) {
		const entries = await allEntries(sessionId, child.child, signal);
		const runs = new Set<string>();
		for (const { kind, runId, body } of entries) {
			const parent = body.parent as { toolCallId?: string } | undefined;
			if (kind === "run.started" && parent?.toolCallId === callId) runs.add(runId);
		}
		if (runs.size > 0) return { child, entries: entries.filter(({ runId }) => runs.has(runId)) };
		// Threads do not record the call: the last thread of the agent that was asked is shown.
		if (child.sessionId !== undefined) return { child, entries };
	}
	return undefined;
}

async function allEntries(
	sessionId: string,
	child: string,
	signal: AbortSignal,
): Promise<readonly ShownEntry[]> {
	const all: ShownEntry[] = [];
	for (;;) {
		const of = `/entries?after=${all.at(-1)?.seq ?? 0}&child=${encodeURIComponent(child)}`;
		const { entries, isLast } = await ask<EntriesPage>(inspectPath(sessionId, of), signal);
		all.push(...entries);
		if (isLast || entries.length === 0) return all;
	}
}
