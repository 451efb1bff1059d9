/** The terminal is asked for its background; keys that are typed meanwhile reach the chat. */
import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { askForTheme, themeFor, themeOfEnvironment } from "./terminal-background.ts";

/** A terminal that replies with these pieces. */
function terminal(...replies: readonly string[]) {
	const raw: boolean[] = [];
	const input = Object.assign(new PassThrough(), {
		isRaw: false,
		setRawMode(is: boolean) {
			raw.push(is);
			return input;
		},
	});
	const output = {
		write() {
			for (const reply of replies) input.write(reply);
		},
	};
	return { asked: { input: input as never, output }, input, raw };
}

test("the theme suits the background that the terminal reports, also in pieces and between keys", async () => {
	const { asked, input, raw } = terminal(
		"he",
		"\u001b]11;rgb:ffff/ff",
		"ff/eeee\u001b\\",
		"ll\u001b[?62;22co",
	);
	expect(await askForTheme(asked)).toBe("light");
	expect(input.read()?.toString()).toBe("hello");
	expect(raw).toEqual([true, false]);
	expect(await askForTheme(terminal("\u001b]11;rgb:1e1e/1e1e/2e2e\u0007\u001b[?1c").asked)).toBe("dark");
});

test("a terminal that does not know the question, or answers nothing, is not waited for", async () => {
	expect(await askForTheme(terminal("\u001b[?1;2c").asked, 60_000)).toBeUndefined();
	expect(await askForTheme(terminal().asked, 1)).toBeUndefined();
});

test("backgrounds are light or dark by their brightness", () => {
	expect(themeFor("00/00/00")).toBe("dark");
	expect(themeFor("fdfd/f6f6/e3e3")).toBe("light");
	expect(themeFor("0000/2b2b/3636/ffff")).toBe("dark");
	expect(themeFor("?")).toBeUndefined();
	expect(themeOfEnvironment({ COLORFGBG: "0;15" })).toBe("light");
	expect(themeOfEnvironment({ COLORFGBG: "15;default;0" })).toBe("dark");
	expect(themeOfEnvironment({})).toBeUndefined();
});
