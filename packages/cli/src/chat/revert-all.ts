/** Takes the approved changes of a turn back. */
import { type PlannedChange, revertChange, ToolRefusal } from "../tools/index.ts";

/** Reverts changes in the given order; returns the files restored, and those left alone. */
export async function revertAll(
	dir: string,
	changes: readonly PlannedChange[],
): Promise<{ readonly restored: readonly string[]; readonly left: readonly string[] }> {
	const restored = new Set<string>();
	const left = new Set<string>();
	for (const change of changes) {
		const { relative } = change.place;
		// An older change of a file depends on the later one.
		if (left.has(relative)) continue;
		try {
			const isRestored = await revertChange(dir, change);
			(isRestored ? restored : left).add(relative);
		} catch (error) {
			if (!(error instanceof ToolRefusal)) throw error;
			left.add(relative);
		}
	}
	return { restored: [...restored].filter((path) => !left.has(path)), left: [...left] };
}
