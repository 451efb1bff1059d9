// create-holdfast from its arguments to its exit code: asks for missing values on a terminal, writes the folder, and
// prints the next steps.
import { readFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { readArguments } from "./arguments.ts";
import { packageFolder } from "./package-folder.ts";
import { type Template, type TemplateName, templates } from "./templates.ts";
import { writeTemplate } from "./write-template.ts";

/** The command's interface to the process. */
export interface CreateIo {
	/** The working folder. */
	readonly folder: string;
	/** Whether there is a terminal for questions. */
	readonly isTerminal: boolean;
	/** The value of `npm_config_user_agent`: the package manager that started this command. */
	readonly userAgent: string;
	out(text: string): void;
	err(text: string): void;
	/** Asks for missing values; undefined if the user wants to leave. */
	ask(known: Partial<Choice>): Promise<Choice | undefined>;
	/** Runs `work` with a signal that aborts when the user presses Ctrl-C. */
	interruptible<Result>(work: (signal: AbortSignal) => Promise<Result>): Promise<Result>;
}

/** The chosen template, and the target folder. */
export interface Choice {
	readonly folder: string;
	readonly template: TemplateName;
}

/** The choices of `--yes`. */
export const defaults: Choice = { folder: "my-agent", template: "script" };

/**
 * Runs a command line; returns the exit code: 0 created, 1 not created, 2 invalid arguments, 130 cancelled by the user.
 */
export async function create(argv: readonly string[], io: CreateIo): Promise<number> {
	const asked = readArguments(argv);
	if (asked.name === "help") io.out(help());
	if (asked.name === "version") io.out(`create-holdfast ${version()}\n`);
	if (asked.name === "mistaken") io.err(`${asked.problem}\nSee npm create holdfast@latest -- --help\n`);
	if (asked.name !== "create") return asked.name === "mistaken" ? 2 : 0;
	const { yes, ...said } = asked;
	const known = Object.fromEntries(
		Object.entries(said).filter(([key, value]) => key !== "name" && value !== undefined),
	) as Partial<Choice>;
	let choice: Choice | undefined;
	if (yes) choice = { ...defaults, ...known };
	else if (known.folder !== undefined && known.template !== undefined) choice = known as Choice;
	else if (io.isTerminal) choice = await io.ask(known);
	else {
		io.err(`Without a terminal, the command cannot ask. Name the folder and the template:
  npm create holdfast@latest ${defaults.folder} -- --template ${defaults.template}
`);
		return 2;
	}
	if (choice === undefined) return 130;
	return write(choice, io);
}

function write(choice: Choice, io: CreateIo): Promise<number> {
	return io.interruptible((signal) => writeUntil(signal, choice, io));
}

async function writeUntil(signal: AbortSignal, { folder, template }: Choice, io: CreateIo): Promise<number> {
	const place = resolve(io.folder, folder);
	try {
		const { written, inTheWay } = await writeTemplate({ template, folder: place, signal });
		if (inTheWay.length > 0) {
			const shown = inTheWay.slice(0, 3).join(", ") + (inTheWay.length > 3 ? ", …" : "");
			io.err(`${folder} is not empty (${shown}), so nothing was written. Name a new folder.\n`);
			return 1;
		}
		const chosen = templates.find(({ name }) => name === template) as Template;
		io.out(nextSteps(chosen, relative(io.folder, place), written.length, managerOf(io.userAgent)));
		return 0;
	} catch (error) {
		if (signal.aborted) {
			io.err(`Cancelled. Nothing was left in ${folder}.\n`);
			return 130;
		}
		io.err(`${folder} could not be created, and nothing was left there: ${(error as Error).message}\n`);
		return 1;
	}
}

function nextSteps(template: Template, folder: string, files: number, manager: string): string {
	const run = (script: string): string =>
		manager === "npm" && !/^(?:start|test)$/.test(script) ? `npm run ${script}` : `${manager} ${script}`;
	const commands: (readonly [command: string, what: string])[] = [
		...(folder === "" ? [] : [[`cd ${quoted(folder)}`, ""] as const]),
		[`${manager} install`, ""],
		...template.scripts.map(({ script, what }) => [run(script), what] as const),
	];
	const width = Math.max(...commands.map(([command]) => command.length)) + 3;
	const lines = commands.map(
		([command, what]) => `  ${what === "" ? command : command.padEnd(width)}${what}`,
	);
	return `
${template.title}: created ${files} files in ${folder === "" ? "this folder" : folder}. Next:

${lines.join("\n")}

It runs at once, without a key: its model follows a few fixed rules. ${template.realModel}
`;
}

/** Returns the package manager that started this command, which the next steps use. */
function managerOf(userAgent: string): string {
	return /^(?:pnpm|yarn|bun)(?=\/)/.exec(userAgent)?.[0] ?? "npm";
}

/** Quotes a path as one word for a shell. */
function quoted(path: string): string {
	return /^[\w./@+-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}

function version(): string {
	return JSON.parse(readFileSync(join(packageFolder(), "package.json"), "utf8")).version;
}

function help(): string {
	const width = Math.max(...templates.map(({ name }) => name.length)) + 3;
	return `Creates a new Holdfast project that runs at once, without a key.

  npm create holdfast@latest [FOLDER] -- [--template NAME] [--yes]

  FOLDER            where it is made: new, or empty
  -t, --template    ${templates.map(({ name }) => name).join(", ")}
  -y, --yes         asks nothing: uses ${defaults.folder} and ${defaults.template} unless given
  -v, --version     this program's version
  -h, --help        this text

${templates.map(({ name, hint }) => `  ${name.padEnd(width)}${hint}`).join("\n")}
`;
}
