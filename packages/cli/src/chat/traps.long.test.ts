/** What users and models do to a chat in a real terminal: pastes of any size and content, and Ctrl-C in each state. */
import { describe, expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";
import { type ModelServer, type Reply, startModelServer } from "../command/spawn.fixture.ts";
import { hasTerminal, Terminal } from "./terminal.fixture.ts";

async function open(columns: number, rows: number, replies: readonly Reply[]) {
	const model: ModelServer = await startModelServer(replies);
	onTestFinished(() => model.close());
	const argv = ["chat", "--model", model.model, "--session", "s", "--allow-shell"];
	const terminal = new Terminal(argv, { folder: temporaryFolder(), columns, rows });
	await terminal.shows("s · ");
	return { model, terminal };
}

const count = (text: string, pattern: RegExp): number => [...text.matchAll(pattern)].length;
const sent = (model: ModelServer): string => JSON.stringify(model.requests.at(-1)?.messages.at(-1));

describe.skipIf(!hasTerminal)("a chat in a terminal (needs tmux)", () => {
	test.each([
		[120, 40],
		[60, 20],
		[40, 15],
	])("keeps one frame of %d × %d while a paste of any size is edited and sent", async (columns, rows) => {
		const { model, terminal } = await open(columns, rows, [{ text: "Heard it." }]);
		for (const paste of ["x".repeat(100_000), "word ".repeat(20_000), "some line\n".repeat(10_000)]) {
			const before = model.requests.length;
			terminal.paste(paste);
			terminal.type("END");
			await terminal.shows(/END/);
			terminal.press("C-a", "C-e");
			expect(count(terminal.text, /^s · /gm)).toBe(1);
			expect(terminal.text.split("\n").length).toBeLessThan(400);
			terminal.press("Enter");
			await model.asked(before + 1);
			expect(sent(model)).toContain(`${paste.slice(-20).replaceAll("\n", "\\n")}END`);
			await terminal.shows(/Heard it\.\s+>/);
		}
	});

	test("neither a paste nor an answer controls the terminal", async () => {
		const control = "a\u001b]52;c;aGk=\u0007\u001b[2J\u001b[31m\u009b5Ab";
		const { model, terminal } = await open(100, 30, [{ text: `The ${control} end.` }]);
		terminal.paste(control);
		await terminal.shows(/> a.*b/);
		terminal.press("Enter");
		await terminal.shows("end.");
		expect(sent(model)).not.toMatch(/\\u001b|\\u009b|\\u0007/);
		expect(terminal.text).toContain("holdfast chat");
		for (const code of ["]52;c;aGk=\u0007", "[31ma"]) expect(terminal.codes).not.toContain(code);
	});

	test("Ctrl-C clears what is typed, closes menus, interrupts work and questions, and leaves when pressed twice", async () => {
		const { model, terminal } = await open(100, 30, [
			"hang",
			{ tool: "shell", arguments: { command: "echo hi" } },
			{ text: "Still here." },
		]);
		terminal.type("a draft");
		await terminal.shows("> a draft");
		terminal.press("C-c");
		await terminal.shows("Press Ctrl-C again to leave.");
		terminal.press("Up");
		await terminal.shows("> a draft");
		terminal.press("C-u");
		terminal.type("/");
		await terminal.shows("choose");
		terminal.press("C-c");
		await expect.poll(() => terminal.text).not.toContain("choose");
		await terminal.say("Wait.");
		await model.asked(1);
		terminal.press("C-c");
		await terminal.shows("Interrupted.");
		await terminal.say("Run it.");
		await terminal.shows("or type a reason");
		terminal.press("C-c");
		await expect.poll(() => count(terminal.text, /Interrupted\./g)).toBe(2);
		await terminal.say("Are you there?");
		await terminal.shows("Still here.");
		terminal.press("C-c", "C-c");
		await terminal.shows("left with 0");
	});
});
