// Reads entries around damaged ones: a damaged entry takes its place in the list, and the others remain (keeps I7).
import type { SessionInspection, SessionOwner } from "@holdfast/server";
import { type HoldfastError, isHoldfastError } from "holdfast";
import { type Entry, isUnreadable } from "holdfast/host";

/** An entry that cannot be read: its data is damaged, or a newer release wrote it. */
export interface UnreadableEntry {
	readonly seq: number;
	readonly error: HoldfastError;
}

/** An entry, or what is known of it. */
export type FoundEntry = Entry | UnreadableEntry;

/** Which session to read. */
export interface ReadFrom {
	readonly inspection: SessionInspection;
	readonly owner: SessionOwner;
	readonly sessionId: string;
	/** Name of a child session to read. Default: the session itself. */
	readonly child?: string | undefined;
	/** Seq of its last entry. Default: read if entries are damaged. */
	readonly last?: number;
}

/** Maximum number of entries of a page with damaged ones: its size is not measured. */
const mostAround = 200;

/** Whether an entry could be read. */
export function isReadable(found: FoundEntry): found is Entry {
	return "fact" in found;
}

/**
 * Returns a page of entries like `inspection.entries`, with damaged ones in their places. Rejects like it, except for
 * damaged entries.
 */
export async function entriesAround(
	of: ReadFrom,
	{ after: from, limit }: { readonly after: number; readonly limit: number },
): Promise<readonly FoundEntry[]> {
	const { inspection, owner, sessionId, child } = of;
	const read = (after: number, most: number): Promise<readonly Entry[]> =>
		inspection.entries(owner, sessionId, { after, limit: most, child });
	try {
		return await read(from, limit);
	} catch (error) {
		if (!isUnreadable(error)) throw error;
	}
	const found: FoundEntry[] = [];
	// A store that fails for every read must not look endless.
	const last = of.last ?? (await lastOf(of));
	const most = Math.min(limit, mostAround, Math.max(0, last - from));
	// Reads less until the damaged entry is alone, then more again.
	for (let after = from, count = Math.ceil(most / 2); found.length < most; ) {
		const wanted = Math.min(count, most - found.length);
		try {
			const page = await read(after, wanted);
			found.push(...page);
			// The end, or long entries: the caller continues.
			if (page.length < wanted) break;
			after = page.at(-1)?.seq ?? after;
			count *= 2;
		} catch (error) {
			const folded = foldedAt(error);
			if (isUnreadable(error) && wanted > 1) count = Math.ceil(wanted / 2);
			else if (isUnreadable(error)) found.push({ seq: ++after, error: error as HoldfastError });
			else if (folded !== undefined && found.length > 0 && !found.some(isReadable)) {
				// The damaged entry replaces the earlier ones, which do not exist.
				found.length = 0;
				after = folded - 1;
			} else if (found.length > 0) break;
			else throw error;
		}
	}
	return found;
}

/** Returns the seq of the last entry. */
async function lastOf({ inspection, owner, sessionId, child }: ReadFrom): Promise<number> {
	if (child === undefined) return (await inspection.head(owner, sessionId))?.seq ?? 0;
	const children = await inspection.children(owner, sessionId);
	return children.find((each) => each.child === child)?.seq ?? 0;
}

/** Returns the entry that replaces the requested ones, if they were folded. */
function foldedAt(error: unknown): number | undefined {
	const { code, data } = (isHoldfastError(error) ? error : {}) as Partial<HoldfastError>;
	return code === "events_expired" && typeof data?.folded === "number" ? data.folded : undefined;
}
