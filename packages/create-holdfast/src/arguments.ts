// Parses the command line of create-holdfast.
import { parseArgs } from "node:util";
import { type TemplateName, templates } from "./templates.ts";

/** The parsed arguments. The user is asked for undefined values; with `--yes` they take their defaults. */
export type Arguments =
	| { readonly name: "help" | "version" }
	| {
			readonly name: "create";
			readonly folder: string | undefined;
			readonly template: TemplateName | undefined;
			/** Whether to skip all questions. */
			readonly yes: boolean;
	  }
	/** The arguments are invalid; `problem` explains why and what to type instead. */
	| { readonly name: "mistaken"; readonly problem: string };

/** Parses the arguments after the program's name; never throws. */
export function readArguments(argv: readonly string[]): Arguments {
	const mistaken = (problem: string): Arguments => ({ name: "mistaken", problem });
	let parsed: ReturnType<typeof parse>;
	try {
		parsed = parse(argv);
	} catch (error) {
		return mistaken(error instanceof Error ? (error.message.split(". ")[0] ?? "") : String(error));
	}
	const { values, positionals } = parsed;
	if (values.help === true) return { name: "help" };
	if (values.version === true) return { name: "version" };
	if (positionals.length > 1)
		return mistaken(`It takes one folder, not ${positionals.map((each) => `"${each}"`).join(" and ")}.`);
	const names = templates.map(({ name }) => name);
	const template = names.find((name) => name === values.template);
	if (values.template !== undefined && template === undefined)
		return mistaken(`There is no template "${values.template}". Choose one of ${names.join(", ")}.`);
	const [folder] = positionals;
	if (folder?.trim() === "") return mistaken("The folder has an empty name.");
	return { name: "create", folder, template, yes: values.yes === true };
}

function parse(argv: readonly string[]) {
	return parseArgs({
		args: [...argv],
		allowPositionals: true,
		options: {
			template: { type: "string", short: "t" },
			yes: { type: "boolean", short: "y" },
			help: { type: "boolean", short: "h" },
			version: { type: "boolean", short: "v" },
		},
	});
}
