import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";
import { Composer } from "./composer.ts";
import { History } from "./history.ts";

function compose({ isBusy = false, words = [] as readonly string[] } = {}) {
	const db = join(temporaryFolder(), "db");
	const happened: string[] = [];
	const history = new History(db);
	const composer = new Composer({
		history,
		send: (text) => void happened.push(`send ${text}`),
		interrupt() {
			happened.push("interrupt");
			return isBusy;
		},
		leave: () => void happened.push("leave"),
		complete: async (word) => words.filter((each) => each.startsWith(word.slice(1))),
	});
	const write = (text: string): void => composer.act({ type: "insert", text });
	return { composer, happened, history, write, db, text: () => composer.snapshot().draft.text };
}

test("Ctrl-C twice in a row leaves; any key between takes the first one back", () => {
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

test("Esc interrupts what is under way and leaves what is written; else it clears that, and Up finds it", () => {
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

test("a backslash at the end of a line begins a new one, and nothing is not sent", () => {
	const { composer, happened, write } = compose();
	composer.act({ type: "send" });
	write("one \\");
	composer.act({ type: "send" });
	write("two");
	composer.act({ type: "send" });
	expect(happened).toEqual(["send one \ntwo"]);
});

test("end of input leaves only where nothing is written", () => {
	const { composer, happened, write } = compose();
	write("a");
	composer.act({ type: "home" });
	composer.act({ type: "end-of-input" });
	expect(happened).toEqual([]);
	composer.act({ type: "end-of-input" });
	expect(happened).toEqual(["leave"]);
});

test("a word is completed as far as all that fit agree, and what fits is shown", async () => {
	const { composer, write, text } = compose({ words: ["notes.md", "notices.md"] });
	write("see @no");
	composer.act({ type: "complete" });
	await expect.poll(() => composer.snapshot().hint).toBe("notes.md  notices.md");
	expect(text()).toBe("see @not");
	write("e");
	composer.act({ type: "complete" });
	await expect.poll(text).toBe("see @notes.md ");
});

test("what was sent is known to the next chat, once", () => {
	const { composer, write, db } = compose();
	for (const text of ["one", "two", "one"]) {
		write(text);
		composer.act({ type: "send" });
	}
	expect(new History(db).texts).toEqual(["two", "one"]);
});
