/**
 * The entries that have scrolled up. The drawing library draws each of them once. When the width of the terminal
 * changes, the terminal wraps what it shows in its own way, so the screen is cleared and the entries are drawn again.
 */
import { useStdout } from "ink";
import { useEffect, useRef, useState } from "react";
import type { ChatEntry, Snapshot } from "./chat-transcript.ts";
import type { ThemeName } from "./theme.ts";

/** Maximum number of entries drawn again. */
const MOST_AGAIN = 1_000;
/** Milliseconds without a further change of the size, before the entries are drawn again. */
const QUIET_MS = 80;
/** Clears the screen and the scrollback. */
const CLEAR = "\u001b[2J\u001b[3J\u001b[H";

/** The part of an array that `Static` uses; a frame copies no earlier entries. */
interface PastEntries {
	readonly length: number;
	slice(from: number): readonly ChatEntry[];
}

/** Returns the entries of a snapshot after the first `base`. */
function pastEntries({ count, entries }: Snapshot, base: number): PastEntries {
	return { length: count - base, slice: (from) => entries(base + from, count) };
}

/** Draws the entries again after the size of the terminal or the theme changed; `key` identifies the drawing. */
export function usePast(
	snapshot: Snapshot,
	{ columns, rows, theme }: { readonly columns: number; readonly rows: number; readonly theme: ThemeName },
	/** Returns the rows of the last frame. */
	height: () => number,
): { readonly key: number; readonly items: PastEntries } {
	const { stdout } = useStdout();
	const [drawing, setDrawing] = useState({ key: 0, base: 0 });
	const count = useRef(0);
	count.current = snapshot.count;
	const drawn = useRef({ columns, rows, theme, height: 0 });
	useEffect(() => {
		const before = drawn.current;
		const isCut = rows < before.rows && before.height >= rows;
		if (columns === before.columns && theme === before.theme && !isCut) {
			drawn.current = { ...before, rows };
			return;
		}
		const timer = setTimeout(() => {
			drawn.current = { columns, rows, theme, height: 0 };
			stdout.write(CLEAR);
			setDrawing(({ key }) => ({ key: key + 1, base: Math.max(0, count.current - MOST_AGAIN) }));
		}, QUIET_MS);
		return () => clearTimeout(timer);
	}, [columns, rows, theme, stdout]);
	useEffect(() => {
		drawn.current = { ...drawn.current, height: height() };
	});
	return { key: drawing.key, items: pastEntries(snapshot, drawing.base) };
}
