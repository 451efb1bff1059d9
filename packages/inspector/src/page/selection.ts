// The selected sessions of the table, and actions on all of them, each with its own result.
import { signal } from "@preact/signals";
import { interrupt, removeSession } from "./acts.ts";
import { inspectPath, isOver, keyNumber, post } from "./api.ts";

/** Ids of the selected sessions. */
export const selection = signal<ReadonlySet<string>>(new Set());

/** The session that was selected last: with Shift, a range starts there. */
let anchor: string | undefined;

/** Selects or deselects a session; with `range`, also those between it and the one before, in the order of `ids`. */
export function select(id: string, isSelected: boolean, range?: readonly string[]): void {
	const next = new Set(selection.value);
	const ids = range === undefined || anchor === undefined ? [id] : between(range, anchor, id);
	for (const each of ids) {
		if (isSelected) next.add(each);
		else next.delete(each);
	}
	anchor = id;
	selection.value = next;
}

export function selectAll(ids: readonly string[]): void {
	selection.value = new Set(ids);
}

function between(ids: readonly string[], from: string, to: string): readonly string[] {
	const [left, right] = [ids.indexOf(from), ids.indexOf(to)];
	return left === -1 || right === -1 ? [to] : ids.slice(Math.min(left, right), Math.max(left, right) + 1);
}

/** An action on several sessions. */
export type BulkAction = "release" | "interrupt" | "delete";

/** The result of an action on one session. */
export interface BulkResult {
	readonly sessionId: string;
	readonly state: "waiting" | "done" | "nothing" | "failed";
	readonly message?: string;
}

const does: Readonly<Record<BulkAction, (id: string) => Promise<Omit<BulkResult, "sessionId">>>> = {
	async release(id) {
		const { released } = await post<{ released: boolean }>(inspectPath(id, "/release"));
		return released ? { state: "done" } : { state: "nothing", message: "No run to continue" };
	},
	async interrupt(id) {
		await interrupt(id);
		return { state: "done" };
	},
	async delete(id) {
		await removeSession(id);
		return { state: "done" };
	},
};

/** How many requests are made at a time. */
const atOnce = 4;

/**
 * Acts on each of the sessions independently, and reports each result. After another key was given, the remaining ones
 * fail: with that key, their ids may be those of other sessions.
 */
export async function actOnAll(
	action: BulkAction,
	ids: readonly string[],
	report: (result: BulkResult) => void,
): Promise<void> {
	const left = [...ids];
	const key = keyNumber.value;
	const work = async (): Promise<void> => {
		for (let sessionId = left.shift(); sessionId !== undefined; sessionId = left.shift()) {
			try {
				if (keyNumber.value !== key) throw new DOMException("The key has changed.", "AbortError");
				report({ sessionId, ...(await does[action](sessionId)) });
			} catch (error) {
				const message = isOver(error) ? "The key has changed" : (error as Error).message;
				report({ sessionId, state: "failed", message });
			}
		}
	};
	await Promise.all(Array.from({ length: atOnce }, work));
}
