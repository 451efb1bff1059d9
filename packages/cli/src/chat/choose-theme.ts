/** The theme of a chat: stored next to the database, otherwise the one that suits the terminal's background. */
import { type CommandIo, oneLine } from "../terminal/index.ts";
import { readChatTheme, writeChatTheme } from "../work/index.ts";
import type { Transcript } from "./chat-transcript.ts";
import { loadHighlighter } from "./highlight.ts";
import { type AskedTerminal, askForTheme, themeOfEnvironment } from "./terminal-background.ts";
import { isThemeName, type ThemeName, themeNames } from "./theme.ts";

/** The parts of the choice. */
interface ThemeParts {
	readonly io: Pick<CommandIo, "environment">;
	/** Absolute path of the database. */
	readonly db: string;
}

const hasNoColour = ({ io }: ThemeParts): boolean => (io.environment.NO_COLOR ?? "") !== "";

/** Returns the theme to begin with; asks the terminal if none is stored. */
export async function firstTheme(parts: ThemeParts, terminal: AskedTerminal): Promise<ThemeName> {
	if (hasNoColour(parts)) return "none";
	const stored = readChatTheme(parts.db);
	if (isThemeName(stored)) return stored;
	return (await askForTheme(terminal)) ?? themeOfEnvironment(parts.io.environment) ?? "dark";
}

/** Shows the theme, or switches to another one and stores it. `auto` forgets the stored one. */
export async function chooseTheme(transcript: Transcript, parts: ThemeParts, name: string): Promise<void> {
	const names = themeNames.join(", ");
	if (name === "")
		transcript.note(`Current theme: ${transcript.live.theme}. To switch: /theme NAME (${names} or auto)`);
	else if (hasNoColour(parts)) transcript.note("NO_COLOR is set, so the chat has no colours.", "warning");
	else if (name === "auto") {
		writeChatTheme(parts.db, undefined);
		transcript.note("The next chat chooses the theme by the terminal's background.");
	} else if (!isThemeName(name))
		transcript.note(`There is no theme "${oneLine(name, 40)}". Choose ${names} or auto.`, "warning");
	else {
		if (name !== "none") await loadHighlighter();
		writeChatTheme(parts.db, name);
		transcript.note(`Theme: ${name}.`);
		transcript.set({ theme: name });
	}
}
