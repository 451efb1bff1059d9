import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";
import { Transcript } from "./chat-transcript.ts";
import { Composer } from "./composer.ts";
import { History } from "./history.ts";
import type { Choice } from "./menu.ts";

const choice = (label: string, text = label): Choice => ({ text, label, detail: "" });

interface Offered {
	readonly isBusy?: boolean;
	readonly files?: readonly string[];
	readonly commands?: readonly Choice[];
	readonly models?: readonly string[];
	/** The mention of the clipboard's image. */
	readonly image?: string;
	/** Messages that the run has not received. */
	readonly queued?: string[];
}

function compose(
	{ isBusy = false, files = [], commands = [], models = [], image, queued = [] }: Offered = {},
	transcript = new Transcript(),
) {
	const db = join(temporaryFolder(), "db");
	const happened: string[] = [];
	const history = new History(db);
	const composer = new Composer({
		history,
		transcript,
		send: (text) => void happened.push(`send ${text}`),
		interrupt() {
			happened.push("interrupt");
			return isBusy;
		},
		leave: () => void happened.push("leave"),
		suspend: () => void happened.push("suspend"),
		recall: () => queued.pop(),
		pasteImage: async () => image,
		choices({ kind }) {
			if (kind === "command") return { form: "closed", choices: commands };
			if (kind === "argument") return { form: "open", choices: models.map((model) => choice(model)) };
			return { form: "open", choices: Promise.resolve(files.map((path) => choice(path, `@${path} `))) };
		},
	});
	const write = (text: string): void => composer.act({ type: "insert", text });
	const offered = (): readonly string[] =>
		(composer.snapshot().menu?.fitting ?? []).map(({ label }) => label);
	const selected = (): string | undefined => {
		const { menu } = composer.snapshot();
		return menu?.fitting[menu.selected]?.label;
	};
	const press = (
		...types: readonly ("up" | "down" | "send" | "complete" | "interrupt" | "search" | "backspace")[]
	) => {
		for (const type of types) composer.act({ type });
	};
	return {
		transcript,
		composer,
		happened,
		history,
		write,
		db,
		offered,
		selected,
		press,
		text: () => composer.snapshot().draft.text,
	};
}

test("Ctrl-C twice in a row leaves; any key between resets the first one", () => {
	const { composer, happened, write, text } = compose();
	write("half");
	composer.act({ type: "leave" });
	expect(text()).toBe("");
	expect(composer.snapshot().hint).toContain("again");
	write("x");
	expect(composer.snapshot().hint).toBe("");
	composer.act({ type: "leave" });
	composer.act({ type: "leave" });
	expect(happened).toEqual(["interrupt", "interrupt", "leave"]);
});

test("Esc interrupts the active run and keeps the typed text; otherwise it clears that, and Up restores it", () => {
	const busy = compose({ isBusy: true });
	busy.write("next");
	busy.composer.act({ type: "interrupt" });
	expect(busy.text()).toBe("next");
	const idle = compose();
	idle.write("never mind");
	idle.composer.act({ type: "interrupt" });
	expect(idle.text()).toBe("");
	idle.composer.act({ type: "up" });
	expect(idle.text()).toBe("never mind");
});

test("a backslash at the end of a line starts a new one, and an empty message is not sent", () => {
	const { composer, happened, write } = compose();
	composer.act({ type: "send" });
	write("one \\");
	composer.act({ type: "send" });
	write("two");
	composer.act({ type: "send" });
	expect(happened).toEqual(["send one \ntwo"]);
});

test("end of input leaves only if the input is empty", () => {
	const { composer, happened, write } = compose();
	write("a");
	composer.act({ type: "home" });
	composer.act({ type: "end-of-input" });
	expect(happened).toEqual([]);
	composer.act({ type: "end-of-input" });
	expect(happened).toEqual(["leave"]);
});

test("a path after @ gets a menu, and is replaced only on request", async () => {
	const files = ["src/notes.md", "test/notes.md", "notices.md"];
	const { write, text, press, offered, selected, happened } = compose({ files });
	write("see @not");
	await expect.poll(offered).toEqual(["notices.md", "src/notes.md", "test/notes.md"]);
	expect(selected()).toBeUndefined();
	press("send");
	expect(happened).toEqual(["send see @not"]);
	write("see @notes");
	await expect.poll(offered).toEqual(["src/notes.md", "test/notes.md", "notices.md"]);
	press("down", "down", "send");
	expect(text()).toBe("see @test/notes.md ");
	expect(offered()).toEqual([]);
});

test("Tab selects the first choice, even if the choices are not loaded yet", async () => {
	const { write, text, press } = compose({ files: ["notes.md", "notices.md"] });
	write("@notes");
	press("complete");
	await expect.poll(text).toBe("@notes.md ");
});

test("Tab without a match leaves the typed word", async () => {
	const { composer, write, text, press } = compose({ files: ["a.md"] });
	write("@bob");
	press("complete");
	await expect.poll(() => composer.snapshot().menu?.all).toHaveLength(1);
	expect(text()).toBe("@bob");
});

const commands = [choice("help", "/help"), choice("model", "/model "), choice("new", "/new")];

test("Enter runs the selected command, and opens the menu of its argument", () => {
	const { write, text, press, offered, happened, selected } = compose({
		commands,
		models: ["gpt", "claude"],
	});
	write("/");
	expect(offered()).toEqual(["help", "model", "new"]);
	press("down", "down", "send");
	expect(happened).toEqual(["send /new"]);
	write("/mo");
	press("send");
	expect(text()).toBe("/model ");
	expect(offered()).toEqual(["gpt", "claude"]);
	expect(selected()).toBeUndefined();
	write("gpt-9");
	press("send");
	expect(happened).toEqual(["send /new", "send /model gpt-9"]);
	write("/model ");
	press("up", "send");
	expect(happened.at(-1)).toBe("send /model claude");
});

test("Esc closes the menu first and interrupts nothing; another word opens one again", async () => {
	const { write, press, offered, happened, text } = compose({ isBusy: true, files: ["a.md", "b.md"] });
	write("@");
	await expect.poll(offered).toHaveLength(2);
	press("interrupt");
	expect(offered()).toEqual([]);
	expect(happened).toEqual([]);
	write("a");
	expect(offered()).toEqual([]);
	press("interrupt");
	expect(happened).toEqual(["interrupt"]);
	expect(text()).toBe("@a");
	write(" @b");
	await expect.poll(offered).toEqual(["b.md"]);
});

test("a recalled input opens no menu, so that Up and Down keep recalling", () => {
	const { write, press, offered, text } = compose({ commands });
	for (const each of ["first", "/help", "last"]) {
		write(each);
		press("send");
	}
	press("up", "up");
	expect(text()).toBe("/help");
	expect(offered()).toEqual([]);
	press("up");
	expect(text()).toBe("first");
});

test("Ctrl-R finds earlier inputs by a part of them; Enter inserts, Esc restores the draft", () => {
	const { write, press, offered, happened, text } = compose();
	for (const each of ["run the tests", "fix the lamp", "test again"]) {
		write(each);
		press("send");
	}
	write("lam");
	press("search");
	expect(offered()).toEqual(["fix the lamp"]);
	press("send");
	expect(text()).toBe("fix the lamp");
	press("interrupt");
	write("test");
	press("search", "search");
	write("s");
	expect(offered()).toEqual(["run the tests"]);
	press("interrupt");
	expect(text()).toBe("test");
	press("search");
	write(" nothing");
	press("send");
	expect(text()).toBe("test nothing");
	expect(happened).toEqual(["send run the tests", "send fix the lamp", "send test again", "interrupt"]);
});

test("sent inputs are available in the next chat, once", () => {
	const { composer, write, db } = compose();
	for (const text of ["one", "two", "one"]) {
		write(text);
		composer.act({ type: "send" });
	}
	expect(new History(db).texts).toEqual(["two", "one"]);
});

const choices = [choice("y"), choice("a"), choice("n")];

test("a question replaces the draft, and restores it once it is answered", () => {
	const { transcript, write, press, text, happened, history, selected } = compose();
	write("meanwhile I wri");
	transcript.set({ status: "asking", question: { text: "May it?", choices, draft: "" } });
	expect(text()).toBe("");
	// Enter meant for the earlier text answers nothing.
	press("send");
	expect(happened).toEqual([]);
	expect(selected()).toBeUndefined();
	press("down", "down");
	expect(selected()).toBe("a");
	press("send");
	expect(happened).toEqual(["send a"]);
	transcript.set({ status: "working", question: undefined });
	expect(text()).toBe("meanwhile I wri");
	expect(history.texts).toEqual([]);
});

test("a letter selects its answer, other text is a reason, and Esc interrupts", () => {
	const { transcript, write, press, offered, selected, happened } = compose({ isBusy: true });
	transcript.set({ status: "asking", question: { text: "May it?", choices, draft: "" } });
	write("n");
	expect(selected()).toBe("n");
	write("ot now");
	expect(offered()).toEqual([]);
	press("send");
	expect(happened).toEqual(["send not now"]);
	press("interrupt");
	expect(happened).toEqual(["send not now", "interrupt"]);
});

test("a question that was pending before the chat opened has its menu", () => {
	const transcript = new Transcript();
	transcript.set({
		status: "asking",
		question: { text: "May it?", choices: [choice("y"), choice("n")], draft: "" },
	});
	expect(compose({}, transcript).offered()).toEqual(["y", "n"]);
});

test("a question can start with a text to edit", () => {
	const { transcript, write, press, text, happened } = compose();
	transcript.set({ status: "asking", question: { text: "Edit it.", choices: [], draft: "npm test" } });
	expect(text()).toBe("npm test");
	write(" -- a");
	press("send");
	expect(happened).toEqual(["send npm test -- a"]);
});

test("Ctrl-V inserts the image of the clipboard at the cursor, if there is one", async () => {
	const { composer, write, text } = compose({ image: "@/tmp/clipboard.png " });
	write("See now");
	composer.act({ type: "word-left" });
	composer.act({ type: "paste-image" });
	await expect.poll(text).toBe("See @/tmp/clipboard.png now");
	const without = compose();
	without.write("See");
	without.composer.act({ type: "paste-image" });
	await Promise.resolve();
	expect(without.text()).toBe("See");
});

test("Up takes back a message that waits, before it recalls earlier inputs, and never while the user writes", () => {
	const { write, text, press, happened } = compose({ isBusy: true, queued: ["first", "second"] });
	write("sent");
	press("send");
	write("half");
	press("up");
	expect(text()).toBe("sent");
	press("down");
	expect(text()).toBe("half");
	for (const _ of "half") press("backspace");
	press("up");
	expect(text()).toBe("second");
	write(", better");
	press("send", "up");
	expect(happened).toEqual(["send sent", "send second, better"]);
	expect(text()).toBe("first");
	press("send", "up");
	expect(text()).toBe("first");
});
