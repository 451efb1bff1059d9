/**
 * Sessions that are being pruned: hidden under a key of their own, until all of their rows are gone. The journals that
 * use the file leave them to the next prune, which also removes what is kept of their runs.
 */

/** What such keys begin with, as they are in their column: with the quotation mark that hides a session. */
export const prunedPrefix = '"pruned ';

/** The key of such a session. */
export function prunedKey(id: number): string {
	return `${prunedPrefix}${id}`;
}
