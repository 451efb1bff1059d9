// Asks in the terminal for the folder and the template.
import { existsSync, readdirSync } from "node:fs";
import { resolve } from "node:path";
import type { Readable, Writable } from "node:stream";
import { cancel, intro, isCancel, select, text } from "@clack/prompts";
import { type Choice, defaults } from "./create.ts";
import { templates } from "./templates.ts";

/** Asks for missing values; undefined if the user leaves with Ctrl-C or Escape. */
export async function ask(
	known: Partial<Choice>,
	from: string,
	terminal: { readonly input?: Readable; readonly output?: Writable } = {},
): Promise<Choice | undefined> {
	intro("A new Holdfast project", terminal);
	const folder =
		known.folder ??
		(await text({
			...terminal,
			message: "Where?",
			placeholder: defaults.folder,
			defaultValue: defaults.folder,
			validate: (value = "") => problemOf(resolve(from, value || defaults.folder)),
		}));
	if (isCancel(folder)) return leave(terminal);
	const template =
		known.template ??
		(await select({
			...terminal,
			message: "What?",
			initialValue: defaults.template,
			options: templates.map(({ name, title, hint }) => ({ value: name, label: title, hint })),
		}));
	return isCancel(template) ? leave(terminal) : { folder, template };
}

function leave(terminal: { readonly output?: Writable }): undefined {
	cancel("Nothing was created.", terminal);
}

/** Returns why a folder cannot be used. This is an early check; writing checks again. */
function problemOf(folder: string): string | undefined {
	if (!existsSync(folder)) return undefined;
	try {
		return readdirSync(folder).some((name) => !name.startsWith("."))
			? "That folder is not empty. Name a new one."
			: undefined;
	} catch {
		return "That is not a folder.";
	}
}
