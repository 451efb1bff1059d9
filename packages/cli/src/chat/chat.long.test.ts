/** The conversation in a real terminal. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";
import { type Reply, run, startModelServer } from "../command/spawn.fixture.ts";
import { hasTerminal, Terminal } from "./terminal.fixture.ts";

async function server(...replies: readonly Reply[]) {
	const model = await startModelServer(replies);
	onTestFinished(() => model.close());
	return model;
}

const textOf = (messages: readonly unknown[] | undefined): string => JSON.stringify(messages);

describe.skipIf(!hasTerminal)("a chat in a terminal (needs tmux)", () => {
	test("shows Markdown as it streams and calls as they run, reads named files, and remembers earlier inputs", async () => {
		const folder = temporaryFolder();
		writeFileSync(join(folder, "notes.md"), "The lamp is green.\n");
		const model = await server(
			{ tool: "read_file", arguments: { path: "notes.md" } },
			{ text: "# Lamps\n\nThe lamp is **green**:\n\n- one\n- two\n\n```js\nconst a = 1;\n```\nThat is all." },
			{ text: `${"very ".repeat(20).trim()}! You are welcome.` },
		);
		const terminal = new Terminal(["chat", "--model", model.model], { folder });
		await terminal.shows("no usage yet");
		terminal.type("What of @no");
		await terminal.shows("@no");
		terminal.press("Tab");
		await terminal.shows("> What of @notes.md");
		terminal.type("says lamps?");
		await terminal.shows("lamps?");
		terminal.press("Enter");
		await terminal.shows("That is all.");
		const { text } = terminal;
		expect(text).toContain("Read notes.md");
		expect(text).toMatch(/✓ read_file path=notes\.md/);
		expect(text).toMatch(/Lamps\n+The lamp is green:\n+• one\n• two\n+ {2}const a = 1;/);
		expect(text).not.toContain("**");
		expect(terminal.codes).toContain("\u001b[1mgreen");
		expect(textOf(model.requests[0]?.messages)).toContain("The lamp is green.");
		await terminal.shows(/tokens in, \d+ out/);

		terminal.type("Thank");
		terminal.press("C-j");
		terminal.paste("you,\nvery\tmuch");
		await terminal.shows(/> Thank\n\s+you,\n\s+very/);
		expect(model.requests).toHaveLength(2);
		terminal.press("Enter");
		await terminal.shows(/very very!\nYou are welcome\./);
		expect(textOf(model.requests[2]?.messages.at(-1) as never)).toContain("Thank\\nyou,\\nvery\\tmuch");

		terminal.press("Up", "Up", "Up", "Up");
		await terminal.shows(/> What of @notes\.md says lamps\? *\nchat-/);
		terminal.press("C-c");
		await terminal.shows("Press Ctrl-C again to leave.");
		terminal.press("C-c");
		await terminal.shows("left with 0");
		expect(terminal.text).toMatch(/continue: +holdfast chat --session chat-/);
	});

	test("lists commands, files and sessions while the user types, and finds earlier messages", async () => {
		const folder = temporaryFolder();
		writeFileSync(join(folder, "notes.md"), "The lamp is green.\n");
		const model = await server({ text: "One." });
		const first = await run(["run", "Which lamp?", "--model", model.model, "--session", "lamps"], { folder });
		expect(first.code).toBe(0);
		const terminal = new Terminal(["chat", "--model", model.model, "--session", "here"], { folder });
		await terminal.shows("no usage yet");
		terminal.type("/");
		await terminal.shows(/❯ help .*\n/);
		terminal.type("res");
		await terminal.shows(/❯ resume .*continue another session/);
		terminal.press("Enter");
		await terminal.shows(/❯ lamps +\d{4}-\d\d-\d\d \d\d:\d\d +Which lamp\?/);
		terminal.press("Escape");
		await terminal.shows(/> \/resume *\n\S*here · /);
		terminal.press("C-c");
		terminal.type("See #la");
		await terminal.shows(/ lamps +\d{4}/);
		terminal.press("Tab");
		await terminal.shows("> See #lamps");
		terminal.type("and @");
		await terminal.shows(/ notes\.md +19 bytes/);
		terminal.press("Down");
		await terminal.shows("❯ notes.md");
		terminal.press("Enter");
		await terminal.shows("> See #lamps and @notes.md");
		terminal.press("Enter");
		await terminal.shows("Read the sessions lamps");
		await model.asked(2);
		expect(textOf(model.requests[1]?.messages)).toContain("user: Which lamp?");
		expect(textOf(model.requests[1]?.messages)).toContain("The lamp is green.");
		terminal.press("C-r");
		terminal.type("see");
		await terminal.shows(/❯ See #lamps and @notes\.md/);
		terminal.press("Escape");
		await terminal.shows(/> *\nhere · /);
		await terminal.say("#lamps");
		await terminal.shows(/Continuing session lamps\.\n+> Which lamp\?/);
	});

	test("is steered while it works, and interrupted by Esc", async () => {
		const folder = temporaryFolder();
		const held = Promise.withResolvers<void>();
		const model = await server(
			{ calls: [{ id: "1", tool: "list_files", arguments: {} }], after: held.promise },
			{ text: "In short: nothing." },
			"hang",
			{ text: "Here again." },
		);
		const terminal = new Terminal(["chat", "--model", model.model], { folder });
		await terminal.shows("no usage yet");
		await terminal.say("Tell me all.");
		await model.asked(1);
		await terminal.shows("Esc to interrupt");
		await terminal.say("Be brief.");
		await terminal.shows("… Be brief.");
		terminal.press("Up");
		await terminal.shows(/> Be brief\. *\n/);
		expect(terminal.text).not.toContain("… Be brief.");
		terminal.press("C-u");
		await terminal.say("Be very brief.");
		await terminal.shows("… Be very brief.");
		held.resolve();
		await terminal.shows("In short: nothing.");
		const sent = textOf(model.requests[1]?.messages.slice(1));
		expect(sent).toContain("Be very brief.");
		expect(sent).not.toContain("Be brief.");
		await terminal.say("Once more.");
		await model.asked(3);
		terminal.press("Escape");
		await terminal.shows("Interrupted.");
		await terminal.say("Are you there?");
		await terminal.shows("Here again.");
	});

	test("shows changes as diffs and requests approval for each, which can be denied with a reason", async () => {
		const folder = temporaryFolder();
		writeFileSync(join(folder, "a.txt"), "one\n");
		const edit = (id: string, to: string): Reply => ({
			calls: [{ id, tool: "edit_file", arguments: { path: "a.txt", find: "one", replace: to } }],
		});
		const four = { path: "a.txt", find: "three", replace: "four" };
		const five = { path: "a.txt", find: "three", replace: "five" };
		const both: Reply = {
			calls: [
				{ id: "3", tool: "edit_file", arguments: four },
				{ id: "4", tool: "edit_file", arguments: five },
			],
		};
		const model = await server(edit("1", "two"), edit("2", "three"), { text: "Then it is three." }, both, {
			text: "I stopped.",
		});
		const terminal = new Terminal(["chat", "--model", model.model, "--allow-write"], { folder });
		await terminal.shows("no usage yet");
		await terminal.say("Change it.");
		await terminal.shows(/-one\n\+two/);
		await terminal.shows("or type a reason");
		expect(terminal.text).not.toMatch(/1@[0-9a-f]{12}/);
		await terminal.say("three is better");
		await terminal.shows(/-one\n\+three/);
		expect(readFileSync(join(folder, "a.txt"), "utf8")).toBe("one\n");
		expect(textOf(model.requests[1]?.messages)).toContain("three is better");
		await terminal.shows(/Denied \(three is better\): edit_file a\.txt\n(?:.*\n)*> *\n +y {2}yes, once/);
		terminal.press("Down");
		await terminal.shows(/❯ y {2}yes, once/);
		terminal.press("Enter");
		await terminal.shows("Approved: edit_file a.txt");
		await terminal.shows("Then it is three.");
		expect(readFileSync(join(folder, "a.txt"), "utf8")).toBe("three\n");
		await terminal.say("And now both.");
		await terminal.shows(/-three\n\+four/);
		terminal.press("Escape");
		await terminal.shows("Interrupted.");
		await terminal.say("Well?");
		await terminal.shows("I stopped.");
		expect(readFileSync(join(folder, "a.txt"), "utf8")).toBe("three\n");
	});

	test("approves calls that a rule covers, lists and revokes rules, and lets arguments be edited", async () => {
		const folder = temporaryFolder();
		const write = (id: string, path: string): Reply => ({
			calls: [{ id, tool: "write_file", arguments: { path, content: `${id}\n` } }],
		});
		const read = (path: string): string => readFileSync(join(folder, path), "utf8");
		const model = await server(
			write("one", "src/1.txt"),
			write("two", "src/2.txt"),
			{ text: "Both are written." },
			write("three", "src/3.txt"),
			{ text: "So is the third." },
		);
		const terminal = new Terminal(["chat", "--model", model.model, "--allow-write"], { folder });
		await terminal.shows("no usage yet");
		await terminal.say("Write.");
		await terminal.shows("always for changes in src/, until you leave this session");
		terminal.type("a");
		await terminal.shows("❯ a");
		terminal.press("Enter");
		await terminal.shows("Approved by your rule: changes in src/.");
		await terminal.shows("Both are written.");
		expect(read("src/1.txt") + read("src/2.txt")).toBe("one\ntwo\n");
		await terminal.say("/approvals");
		await terminal.shows("• changes in src/");
		terminal.type("/approvals ");
		await terminal.shows("Enter revokes it");
		terminal.press("Down", "Enter");
		await terminal.shows("Revoked.");
		await terminal.say("Again.");
		await terminal.shows(/\+three(?:.*\n)*> *\n/);
		terminal.type("e");
		await terminal.shows("❯ e");
		terminal.press("Enter");
		await terminal.shows("Edit the arguments, as JSON");
		await terminal.shows(/"content": "three\\n"\n/);
		terminal.press("C-e", "Up", "C-e", "BSpace", "BSpace", "BSpace");
		terminal.type('!\\n"');
		await terminal.shows("three!");
		terminal.press("Enter");
		await terminal.shows("+three!");
		terminal.type("y");
		terminal.press("Enter");
		await terminal.shows("So is the third.");
		expect(read("src/3.txt")).toBe("three!\n");
	});

	test("runs commands of the model and of the user after approval, and Esc ends them", async () => {
		const folder = temporaryFolder();
		const shell = (id: string, command: string): Reply => ({
			calls: [{ id, tool: "shell", arguments: { command } }],
		});
		const model = await server(
			shell("1", "echo the-lamp-is-green; exit 3"),
			{ text: "It failed." },
			{ text: "I see." },
			shell("2", "echo begun; sleep 600"),
			{ text: "Here again." },
		);
		const terminal = new Terminal(["chat", "--model", model.model, "--allow-shell"], { folder });
		await terminal.shows("no usage yet");
		await terminal.say("Try it.");
		await terminal.shows("$ echo the-lamp-is-green; exit 3");
		await terminal.shows("always for the command echo the-lamp-is-green; exit 3");
		terminal.type("y");
		terminal.press("Enter");
		await terminal.shows("It failed.");
		expect(textOf(model.requests[1]?.messages)).toMatch(/exit code 3 after [\d.]+ s\\nthe-lamp-is-green/);
		await terminal.say("!echo mine");
		await terminal.shows("$ echo mine");
		await terminal.shows("edit the arguments first");
		terminal.type("y");
		terminal.press("Enter");
		await terminal.shows(/✓ \$ echo mine · exit code 0[^\n]*\n +mine/);
		await terminal.say("And mine?");
		await terminal.shows("I see.");
		expect(textOf(model.requests[2]?.messages)).toMatch(
			/The user ran a command:\\n\$ echo mine\\nexit code 0[^"]*mine/,
		);
		await terminal.say("!echo begun; sleep 600");
		await terminal.shows("always for the command echo begun; sleep 600");
		terminal.type("a");
		terminal.press("Enter");
		await terminal.shows(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] \$ echo begun; sleep 600/);
		await terminal.shows(/\$ echo begun; sleep 600\n +begun\n/);
		terminal.press("Escape");
		await terminal.shows(/✗ \$ echo begun; sleep 600 · cancelled after/);
		await terminal.say("Now you.");
		// The rule covers the same command of the model.
		await terminal.shows("Approved by your rule: the command echo begun; sleep 600.");
		await terminal.shows(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] shell command=[^\n]*\n +begun\n/);
		terminal.press("Escape");
		await terminal.shows("Interrupted.");
		await terminal.say("Are you there?");
		await terminal.shows("Here again.");
	});

	test("sends the image whose path is pasted", async () => {
		const folder = temporaryFolder();
		const png =
			"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
		const image = join(folder, "a lamp.png");
		writeFileSync(image, Buffer.from(png, "base64"));
		const model = await server({ text: "A lamp." });
		const terminal = new Terminal(["chat", "--model", model.model], { folder });
		await terminal.shows("no usage yet");
		terminal.type("What is ");
		await terminal.shows("> What is");
		terminal.paste(image);
		await terminal.shows("a lamp.png");
		terminal.press("Enter");
		await terminal.shows("A lamp.");
		expect(terminal.text.replaceAll("\n", "")).toContain(`Attached ${image}`);
		expect(textOf(model.requests[0]?.messages)).toContain(`data:image/png;base64,${png}`);
	});

	test("shows the plan while it works, and opens the results of calls with a key", async () => {
		const folder = temporaryFolder();
		writeFileSync(
			join(folder, "notes.md"),
			Array.from({ length: 80 }, (_, line) => `line-${line}\n`).join(""),
		);
		const step = (text: string, status: string) => ({ text, status });
		const held = Promise.withResolvers<void>();
		const plan = { steps: [step("Read the notes", "done"), step("Change them", "in_progress")] };
		const model = await server(
			{ calls: [{ id: "1", tool: "read_file", arguments: { path: "notes.md" } }] },
			{ calls: [{ id: "2", tool: "update_plan", arguments: plan }] },
			{ text: "Done.", after: held.promise },
		);
		const terminal = new Terminal(["chat", "--model", model.model, "--allow-write"], { folder, rows: 20 });
		await terminal.shows("no usage yet");
		await terminal.say("Go.");
		await terminal.shows(/Plan: 1 of 2 done\n✓ Read the notes\n▸ Change them\n/);
		terminal.press("C-o");
		await terminal.shows(/✓ read_file path=notes\.md[^\n]*\npath: notes\.md\n/);
		await terminal.shows(/1 of 1 · lines 1–15 of \d+/);
		expect(terminal.text).not.toContain("line-79");
		terminal.press("NPage", "NPage", "NPage", "NPage", "NPage", "NPage", "NPage");
		await terminal.shows("line-79");
		terminal.press("Escape");
		await terminal.shows(/Plan: 1 of 2 done\n[\s\S]*\n> *\n/);
		held.resolve();
		await terminal.shows(/Done\.\n[\s\S]*Plan: 1 of 2 done/);
		expect(terminal.text).not.toContain("update_plan");
		terminal.type("typed");
		await terminal.shows("> typed");
	});

	test("undoes a turn with its changes, forks after a turn, exports, and measures the context", async () => {
		const folder = temporaryFolder();
		const lamp = join(folder, "lamp.txt");
		writeFileSync(lamp, "green\n");
		const edit = { path: "lamp.txt", find: "green", replace: "red" };
		const create = { path: "src/new.txt", content: "new\n" };
		const model = await server(
			{ text: "Good day.", usage: { prompt_tokens: 48, completion_tokens: 2 } },
			{
				calls: [
					{ id: "1", tool: "edit_file", arguments: edit },
					{ id: "2", tool: "write_file", arguments: create },
				],
			},
			{ text: "Both are done." },
			{ text: "Here." },
		);
		const terminal = new Terminal(["chat", "--model", model.model, "--allow-write", "--session", "s"], {
			folder,
			columns: 120,
			environment: { HOLDFAST_CONTEXT_WINDOW: "200" },
		});
		await terminal.shows("no usage yet");
		await terminal.say("Hello.");
		await terminal.shows("context 50 of 200 (25%)");
		await terminal.say("Change both.");
		for (const change of ["Approved: edit_file", "Approved: write_file"]) {
			await terminal.shows(/until you leave this session/);
			terminal.type("y");
			await terminal.shows("❯ y");
			terminal.press("Enter");
			await terminal.shows(change);
		}
		await terminal.shows("Both are done.");
		expect(readFileSync(lamp, "utf8")).toBe("red\n");
		await terminal.say("/undo");
		await terminal.shows("Undone: Change both.");
		await terminal.shows(/Restored (?:lamp\.txt, src\/new\.txt|src\/new\.txt, lamp\.txt)\./);
		expect(readFileSync(lamp, "utf8")).toBe("green\n");
		expect(existsSync(join(folder, "src/new.txt"))).toBe(false);
		await terminal.say("Are you there?");
		await terminal.shows("Here.");
		const asked = textOf(model.requests[3]?.messages);
		expect(asked).toContain("Hello.");
		expect(asked).not.toContain("Change both.");
		await terminal.say("/export talk.md");
		await terminal.shows(/Wrote \S+talk\.md\./);
		expect(readFileSync(join(folder, "talk.md"), "utf8")).toMatch(
			/## User\n\nHello\.\n\n## Assistant\n\nGood day\./,
		);
		await terminal.say("/export talk.md");
		await terminal.shows("talk.md exists.");
		terminal.type("/fork ");
		await terminal.shows(/ after 2 +\d{4}-\S+ \S+ +Are you there\?\n +after 1 +\d{4}-\S+ \S+ +Hello\./);
		terminal.press("Down", "Down", "Enter");
		await terminal.shows(/Continuing in s-undo-\S*fork\S*\. |Continuing in \S+fork\S+\./);
		await terminal.say("And here?");
		await model.asked(5);
		expect(textOf(model.requests[4]?.messages)).not.toContain("Are you there?");
	});

	test("continues a session that was left while it worked", async () => {
		const folder = temporaryFolder();
		const model = await server("hang", { text: "Done at last." });
		const terminal = new Terminal(["chat", "--model", model.model, "--session", "s"], { folder });
		await terminal.shows("no usage yet");
		await terminal.say("Work.");
		await model.asked(1);
		terminal.press("C-d");
		await terminal.shows("left with 0");
		const again = new Terminal(["chat", "--session", "s"], { folder });
		await again.shows("Done at last.");
		expect(again.text).toContain("> Work.");
	});

	test("is left with /quit at a question, which its session asks again below the greeting and the history", async () => {
		const folder = temporaryFolder();
		const agent = join(import.meta.dirname, "approval-agent.fixture.ts");
		const argv = ["chat", "--agent", agent, "--session", "s"];
		const terminal = new Terminal(argv, { folder });
		await terminal.shows("no usage yet");
		await terminal.say("Clean up.");
		await terminal.shows("or type a reason");
		await terminal.say("/quit");
		await terminal.shows("left with 0");
		expect(terminal.text).not.toContain("Denied");
		const again = new Terminal(argv, { folder });
		await again.shows("or type a reason");
		expect(again.text).toMatch(/\/help\s+lists the commands\n[\s\S]*> Clean up\.\n[\s\S]*remove/);
		await again.say("y");
		await again.shows("It is done.");
	});

	test("edited arguments cannot control the terminal, and are kept unchanged", async () => {
		const folder = temporaryFolder();
		const command = "echo a\u001b[8m hidden\u001b[0m";
		const model = await server({ tool: "shell", arguments: { command } }, { text: "Done." });
		const terminal = new Terminal(["chat", "--model", model.model, "--allow-shell"], { folder });
		await terminal.shows("no usage yet");
		await terminal.say("Go.");
		await terminal.shows("or type a reason");
		await terminal.say("e");
		await terminal.shows("Edit command");
		await terminal.shows("> echo a␛[8m hidden␛[0m");
		expect(terminal.codes).not.toContain("\u001b[8m");
		terminal.type(" x");
		await terminal.shows("hidden␛[0m x");
		terminal.press("Enter");
		await terminal.shows(/echo a\\u\{1b\}\[8m hidden\\u\{1b\}\[0m x/);
	});

	test("handles commands", async () => {
		const folder = temporaryFolder();
		const model = await server({ text: "One." }, { text: "We said one." }, { text: "Two." });
		const terminal = new Terminal(["chat", "--model", model.model, "--session", "first"], { folder });
		await terminal.shows("no usage yet");
		await terminal.say("Count.");
		await terminal.shows("One.");
		await terminal.say("/cost");
		await terminal.shows("This session: 10 tokens in, 2 out, cost unknown.");
		await terminal.say("/nonsense");
		await terminal.shows("Unknown command: /nonsense. See /help.");
		await terminal.say("/fork second");
		await terminal.shows("Continuing in second. first is unchanged.");
		await terminal.say("/sessions");
		await terminal.shows(/second · this one/);
		await terminal.say("/compact");
		await terminal.shows("instead of the earlier conversation");
		expect(textOf(model.requests[1]?.messages)).toContain("user: Count.");
		await terminal.say("/compact");
		await terminal.shows("The conversation has not changed since the last summary.");
		await terminal.say("/context");
		await terminal.shows(/your messages +about \d+/);
		await terminal.shows(/Now: context 2 of unknown\./);
		await terminal.say("Go on.");
		await terminal.shows("Two.");
		const asked = textOf(model.requests[2]?.messages);
		expect(asked).toContain("Summary of the conversation so far:\\nWe said one.");
		expect(asked).not.toContain("Count.");
		await terminal.say("/resume first");
		await terminal.shows(/Continuing session first\.\n+> Count\.\n+One\./);
		await terminal.say("/model offline");
		await terminal.shows("Switched to offline.");
		await terminal.say("/help");
		await terminal.shows("Press Ctrl-C twice to leave.");
		// What was written before is drawn again in the new colours.
		await terminal.say("/theme light");
		await terminal.shows("Theme: light.");
		await expect.poll(() => terminal.codes).not.toContain("[38;5;250m");
		await terminal.say("/quit");
		await terminal.shows("left with 0");
	});

	test("a requested summary is kept: after a kill, in a fork and for `holdfast run`, the model gets it instead of earlier messages", async () => {
		const folder = temporaryFolder();
		const model = await server(
			{ text: "One." },
			{ text: "We said one." },
			{ text: "Two." },
			{ text: "Three." },
			{ text: "We said one to three." },
			{ text: "Four." },
		);
		const asked = (at: number): string => textOf(model.requests[at]?.messages);
		const argv = ["chat", "--model", model.model, "--session", "first"];
		const terminal = new Terminal(argv, { folder });
		await terminal.shows("no usage yet");
		await terminal.say("Count to one.");
		await terminal.shows("One.");
		await terminal.say("/compact");
		await terminal.shows("instead of the earlier conversation");
		terminal.close();
		const again = new Terminal(argv, { folder });
		// All that was said is still there to be read.
		await again.shows(/> Count to one\.\n+One\./);
		await again.say("/fork second");
		await again.shows("Continuing in second");
		await again.say("Then two.");
		await again.shows("Two.");
		expect(asked(2)).toContain("We said one.");
		expect(asked(2)).not.toContain("Count to one.");
		again.close();
		const ran = await run(["run", "Then three.", "--session", "second"], { folder });
		expect(ran.stdout).toContain("Three.");
		expect(asked(3)).toContain("We said one.");
		expect(asked(3)).toContain("Then two.");
		expect(asked(3)).not.toContain("Count to one.");
		const last = new Terminal(["chat", "--session", "second"], { folder });
		await last.shows("Three.");
		await last.say("/compact");
		await last.shows("instead of the earlier conversation");
		// A summary of a summary, and of what came after it.
		expect(asked(4)).toContain("We said one.");
		expect(asked(4)).toContain("Then two.");
		expect(asked(4)).not.toContain("Count to one.");
		await last.say("And four.");
		await last.shows("Four.");
		expect(asked(5)).toContain("We said one to three.");
		expect(asked(5)).not.toContain("Then two.");
	});

	test("writes line by line for a screen reader: nothing is redrawn", async () => {
		const folder = temporaryFolder();
		const model = await server({ text: "Good **day**." });
		const environment = { INK_SCREEN_READER: "true" };
		const terminal = new Terminal(["chat", "--model", model.model], { folder, environment });
		await terminal.shows("You: ");
		terminal.type("Hello");
		terminal.press("Enter");
		await terminal.shows(/Good day\.\n[\s\S]*You: /);
		expect(terminal.text.match(/Good day\./g)).toHaveLength(1);
		expect(terminal.text).not.toContain("> Hello");
		terminal.type("/quit");
		terminal.press("Enter");
		await terminal.shows("left with 0");
	});

	test("fits into a narrow terminal, is resized, and can do without colours", async () => {
		const folder = temporaryFolder();
		const words = Array.from({ length: 60 }, (_, index) => `word${index}`).join(" ");
		const model = await server({
			text: `${words}\n\n| a | b |\n|---|---|\n| ${"c".repeat(30)} | d |\n\nEnd.`,
		});
		const terminal = new Terminal(["chat", "--model", model.model], {
			folder,
			columns: 24,
			rows: 12,
			environment: { NO_COLOR: "1" },
		});
		await terminal.shows(/^>/m);
		await terminal.say("Hi");
		await terminal.shows("End.");
		expect(terminal.text.replaceAll(/\s+/g, " ")).toContain("word58 word59");
		expect(terminal.text).toMatch(/b: d/);
		terminal.resize(60, 20);
		terminal.type("still here");
		await terminal.shows("> still here");
		await terminal.shows("tokens in");
		// Reverse video marks the cursor; nothing else is styled.
		// biome-ignore lint/suspicious/noControlCharactersInRegex: control codes are what is looked for
		expect(terminal.codes.replaceAll(/\u001b\[(?:7|0|27|39|49)*m/g, "")).not.toContain("\u001b[");
	});
});

describe("a chat in lines", () => {
	test("answers each line that is piped in, and runs commands", async () => {
		const folder = temporaryFolder();
		const model = await server({ text: "One." }, { text: "Two." });
		writeFileSync(join(folder, "lines"), "first\nsecond\n/cost\n");
		const { code, stdout, stderr } = await run(["chat", "--model", model.model, "--session", "s"], {
			folder,
			inputFile: join(folder, "lines"),
		});
		expect(stderr).toBe("");
		expect(stdout).toMatch(
			/> first\n\n?One\.\n\n> second\n\n?Two\.\n[\s\S]*This session: 20 tokens in, 4 out/,
		);
		expect(stdout).not.toContain("\u001b");
		expect(code).toBe(0);
		expect(existsSync(join(folder, ".holdfast/holdfast.db"))).toBe(true);
	});

	test("talks to the user's own agent", async () => {
		const folder = temporaryFolder();
		const model = await server({ text: "Mine." });
		const [, baseURL] = model.model.split("@");
		writeFileSync(
			join(folder, "agent.mjs"),
			`import { openaiCompatible } from ${JSON.stringify(join(import.meta.dirname, "../../../upp/src/index.ts"))};
			export default { model: openaiCompatible("stub", { baseURL: ${JSON.stringify(baseURL)} }), instructions: "You are mine." };`,
		);
		writeFileSync(join(folder, "lines"), "hello\n");
		const { stdout } = await run(["chat", "--agent", "agent.mjs"], {
			folder,
			inputFile: join(folder, "lines"),
		});
		expect(stdout).toContain("Mine.");
		expect(textOf(model.requests[0]?.messages)).toContain("You are mine.");
	});
});
