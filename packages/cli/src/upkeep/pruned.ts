/** Sessions that are being removed: out of reach under a key of their own, until all of their rows are gone. */

const mark = "\0pruned\0";

/** Whether a key is that of a session whose removal was begun. */
export function isPruned(key: string): boolean {
	return key.startsWith(mark);
}

/** The key of such a session, as it stands in its column. */
export function prunedKey(id: number): string {
	return JSON.stringify(`${mark}${id}`).slice(1, -1);
}

/** What such keys begin with, as they stand in their column. */
export const prunedPrefix: string = JSON.stringify(mark).slice(1, -1);
