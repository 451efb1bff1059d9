/** A chat in a terminal that changes its size: no part of an earlier frame is left behind. */
import { describe, expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";
import { startModelServer } from "../command/spawn.fixture.ts";
import { hasTerminal, Terminal } from "./terminal.fixture.ts";

const widths = [60, 45, 100, 42, 90, 70, 41, 100];

/** Waits until a size is drawn, then returns the whole text. */
async function resized(terminal: Terminal, columns: number, rows = 40): Promise<string> {
	terminal.resize(columns, rows);
	let last = "";
	await expect
		.poll(
			() => {
				const before = last;
				last = terminal.text.replaceAll(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/g, "*");
				return before === last;
			},
			{ timeout: 20_000, interval: 150 },
		)
		.toBe(true);
	return last;
}

const count = (text: string, pattern: RegExp): number => [...text.matchAll(pattern)].length;

describe.skipIf(!hasTerminal)("a chat whose terminal is resized (needs tmux)", () => {
	test("keeps one frame while the agent works, in a menu, and at an approval", async () => {
		const folder = temporaryFolder();
		const command = "echo a fairly long command line that does not fit into the width of a narrow terminal";
		const model = await startModelServer([{ tool: "shell", arguments: { command } }, "hang"]);
		onTestFinished(() => model.close());
		const terminal = new Terminal(["chat", "--model", model.model, "--allow-shell", "--session", "s"], {
			folder,
		});
		await terminal.shows("no usage yet");
		terminal.type("/");
		await terminal.shows("choose");
		for (const width of widths) {
			const text = await resized(terminal, width);
			expect.soft(count(text, /^❯ help/gm), `menu at ${width}\n${text}`).toBe(1);
			expect.soft(count(text, /^s · /gm), `menu footer at ${width}`).toBe(1);
		}
		terminal.press("C-u");
		await terminal.say("Run it.");
		await terminal.shows("or type a reason");
		for (const width of widths) {
			const text = await resized(terminal, width);
			expect.soft(count(text, /once/g), `question at ${width}\n${text}`).toBe(1);
			expect.soft(count(text, /^s · /gm), `question footer at ${width}`).toBe(1);
		}
		terminal.type("y");
		await terminal.shows("❯ y");
		terminal.press("Enter");
		await model.asked(2);
		await terminal.shows("working");
		for (const width of widths) {
			const text = await resized(terminal, width);
			expect.soft(count(text, /working/g), `working at ${width}`).toBe(1);
			expect.soft(count(text, /^> Run it\./gm), `the message at ${width}`).toBe(1);
			expect.soft(count(text, /^s · /gm), `working footer at ${width}`).toBe(1);
		}
		terminal.press("C-j", "C-j", "C-j", "C-j", "C-j", "C-j", "C-j", "C-j");
		for (const rows of [16, 40, 12, 30]) {
			const text = await resized(terminal, 100, rows);
			expect.soft(count(text, /working/g), `working in ${rows} rows`).toBe(1);
			expect.soft(count(text, /^s · /gm), `footer in ${rows} rows`).toBe(1);
		}
	});
});
