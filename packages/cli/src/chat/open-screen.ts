/**
 * Opens the screen in this terminal. The drawing code is loaded only here, because loading it takes a third of a second.
 */
import { render } from "ink";
import { createElement } from "react";
import type { Transcript } from "./chat-transcript.ts";
import { Composer, type ComposerParts } from "./composer.ts";
import { History } from "./history.ts";
import type { ColourDepth } from "./paint.ts";
import { Screen } from "./screen.ts";
import { Viewer } from "./viewer.ts";

export interface OpenScreenParts extends Omit<ComposerParts, "history"> {
	readonly transcript: Transcript;
	/** Absolute path of the database, next to which the input history is stored. */
	readonly db: string;
	readonly depth: ColourDepth;
	/** Returns what a pasted text becomes. */
	pasted(text: string): string;
}

/** Draws until the returned function is called; its promise settles when the terminal is restored. */
export function openScreen(parts: OpenScreenParts): () => Promise<void> {
	const composer = new Composer({ ...parts, history: new History(parts.db) });
	const { unmount, waitUntilExit } = render(
		createElement(Screen, {
			transcript: parts.transcript,
			composer,
			viewer: new Viewer(parts.transcript),
			depth: parts.depth,
			pasted: parts.pasted,
		}),
		{ exitOnCtrlC: false, patchConsole: true, interactive: true },
	);
	return async () => {
		const closed = waitUntilExit();
		unmount();
		await closed;
	};
}
