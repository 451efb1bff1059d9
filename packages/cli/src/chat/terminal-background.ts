/** Asks the terminal for its background, to choose a theme that can be read on it. */
import type { ThemeName } from "./theme.ts";

/** Milliseconds to wait for a terminal that does not answer. */
const ANSWER_MS = 200;
// The second question is one that every terminal answers, so that none that ignores the first one is waited for.
const QUESTIONS = "\u001b]11;?\u0007\u001b[c";
// biome-ignore lint/suspicious/noControlCharactersInRegex: control sequences are what is looked for
const background = /\u001b\]11;(?:rgba?:)?([^\u0007\u001b]*)(?:\u0007|\u001b\\)/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control sequences are what is looked for
const identity = /\u001b\[\?[\d;]*c/;

/** A terminal that can be asked. */
export interface AskedTerminal {
	readonly input: Pick<NodeJS.ReadStream, "on" | "off" | "setRawMode" | "unshift" | "read" | "isRaw">;
	readonly output: { write(text: string): unknown };
}

/** Returns the theme for the terminal's background; undefined if it does not answer. Keys typed in the meantime are not lost. */
export async function askForTheme(
	{ input, output }: AskedTerminal,
	answerMs: number = ANSWER_MS,
): Promise<"dark" | "light" | undefined> {
	const wasRaw = input.isRaw === true;
	input.setRawMode(true);
	let received = "";
	const answered = Promise.withResolvers<void>();
	// As the drawing library reads it: a stream that flowed would have to be resumed.
	const take = (): void => {
		for (let data = input.read(); data !== null; data = input.read()) received += String(data);
		if (identity.test(received)) answered.resolve();
	};
	input.on("readable", take);
	const limit = setTimeout(answered.resolve, answerMs);
	output.write(QUESTIONS);
	await answered.promise;
	clearTimeout(limit);
	input.off("readable", take);
	input.setRawMode(wasRaw);
	const [, colour = ""] = background.exec(received) ?? [];
	const typed = received.replace(background, "").replace(identity, "");
	if (typed !== "") input.unshift(Buffer.from(typed));
	return themeFor(colour);
}

/** Returns the theme for a background such as `1e1e/1e1e/2e2e`. */
export function themeFor(colour: string): "dark" | "light" | undefined {
	const parts = /^#?([0-9a-f]{1,4})\/([0-9a-f]{1,4})\/([0-9a-f]{1,4})/i.exec(colour)?.slice(1);
	if (parts === undefined) return undefined;
	const [red = 0, green = 0, blue = 0] = parts.map(
		(part) => Number.parseInt(part, 16) / (16 ** part.length - 1),
	);
	return 0.299 * red + 0.587 * green + 0.114 * blue > 0.5 ? "light" : "dark";
}

/** Returns the theme by the variable that some terminals set. */
export function themeOfEnvironment({
	COLORFGBG = "",
}: Readonly<Record<string, string | undefined>>): ThemeName | undefined {
	const last = /;(\d+)$/.exec(COLORFGBG)?.[1];
	if (last === undefined) return undefined;
	return last === "7" || Number(last) > 8 ? "light" : "dark";
}
