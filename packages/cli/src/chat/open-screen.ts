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

export interface OpenScreenParts extends Omit<ComposerParts, "history" | "suspend"> {
	readonly transcript: Transcript;
	/** Absolute path of the database, next to which the input history is stored. */
	readonly db: string;
	readonly depth: ColourDepth;
	/** Returns what a pasted text becomes. */
	pasted(text: string): string;
}

/** Draws until the returned function is called; its promise settles when the terminal is restored. */
export function openScreen(parts: OpenScreenParts): () => Promise<void> {
	const composer = new Composer({
		...parts,
		history: new History(parts.db),
		suspend: () => suspend(() => clear(), parts.transcript),
	});
	const { unmount, waitUntilExit, clear } = render(
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

const SHOW_CURSOR = "\u001b[?25h\u001b[?2004l";
const HIDE_CURSOR = "\u001b[?25l\u001b[?2004h";

/** Stops the process and its group, as the terminal does for other programs. Windows has no such signal. */
function suspend(clear: () => void, transcript: Transcript): void {
	const { stdin, stdout } = process;
	if (process.platform === "win32") return;
	clear();
	stdin.setRawMode(false);
	stdout.write(SHOW_CURSOR);
	process.once("SIGCONT", () => {
		stdin.setRawMode(true);
		stdout.write(HIDE_CURSOR);
		// A new entry draws the screen again.
		transcript.note("Continued.", "quiet");
	});
	process.kill(0, "SIGTSTP");
}
