// Records `holdfast chat` in a terminal: the agent asks for approval, the user leaves, and answers in a new process.
import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { film } from "./film.ts";
import { type Frame, RecordedTerminal } from "./record-terminal.ts";

const root = join(import.meta.dirname, "../..");
const columns = 47;
const rows = 24;

/** Records the conversation. Needs tmux. */
export async function recordChat(): Promise<readonly Frame[]> {
	const folder = mkdtempSync(join(tmpdir(), "holdfast-chat-"));
	symlinkSync(join(import.meta.dirname, "desk-agent.ts"), join(folder, "desk.ts"));
	const holdfast = [process.execPath, "--conditions=holdfast-source", "--no-warnings"]
		.concat(join(root, "packages/cli/bin/holdfast.js"))
		.map((word) => `'${word}'`)
		.join(" ");
	try {
		using terminal = new RecordedTerminal(folder, columns, rows, { holdfast: `exec ${holdfast} "$@"` });
		await terminal.shows(/^\$/, 300);
		await terminal.enter("holdfast chat --agent desk.ts --session 42");
		await terminal.shows(/no usage yet/, 700);
		await terminal.enter("Refund order A-7. They crackle.");
		await terminal.shows(/yes, once/, 2_200);
		terminal.press("C-d");
		await terminal.shows(/continue:[^$]*\$ *\n*$/, 1_500);
		await terminal.enter("clear");
		await terminal.shows(/^\$ *\n*$/, 300);
		await terminal.enter("holdfast chat --session 42");
		await terminal.shows(/yes, once/, 1_500);
		await terminal.enter("y");
		await terminal.shows(/R-A-7\.(?![\s\S]*working)/, 5_000);
		// The chat shows the folder's path, which differs from run to run.
		return terminal.frames.map(({ lines, ms }) => ({
			lines: lines.map((each) => each.replaceAll(folder, "~/shop")),
			ms,
		}));
	} finally {
		rmSync(folder, { recursive: true, force: true });
	}
}

/** Returns the recording as an animated picture. */
export function chatFilm(frames: readonly Frame[]): string {
	return film(
		"A conversation in holdfast chat",
		"The user asks for a refund. The agent finds the order and asks for approval. The user leaves, opens the session again in a new process, and approves. The agent confirms the refund.",
		frames,
		rows,
		560,
	);
}
