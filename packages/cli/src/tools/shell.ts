/**
 * The tool `shell`: runs a command in the folder, with the rights of the user. It is not confined to the folder, so each
 * command requires approval, except those that the user's list allows.
 */
import {
	type AssistantTool,
	type AssistantToolContext,
	numberArgument,
	ToolRefusal,
	textArgument,
} from "./assistant-tool.ts";
import { type CommandResult, runCommand } from "./run-command.ts";

const LONGEST_SECONDS = 600;
const DEFAULT_SECONDS = 120;
/** An approver has to read it. */
const LONGEST_COMMAND = 10_000;

export const shellTool = "shell";

/** Creates `shell`. `allowed` lists the beginnings of commands that run without approval. */
export function createShell(
	root: string,
	allowed: readonly string[],
	environment: Readonly<Record<string, string | undefined>>,
): AssistantTool {
	return {
		name: shellTool,
		description:
			"Run a shell command in the folder and return its output. No input, no terminal; background processes end with the command. " +
			"Prefer the file tools for reading, searching and changing files.",
		parameters: {
			type: "object",
			properties: {
				command: { type: "string", description: "The command, for /bin/sh." },
				timeout_seconds: {
					type: "integer",
					description: `Seconds until it is killed (default ${DEFAULT_SECONDS}, at most ${LONGEST_SECONDS}).`,
				},
			},
			required: ["command"],
			additionalProperties: false,
		},
		// It is unknown whether a command that was cut off by a crash had its effect.
		retryPolicy: "manual-recovery",
		maxModelCharacters: 40_000,
		editableApproval: true,
		needsApproval: async (params) => !isAllowed(String(params.command ?? ""), allowed),
		async run(params, context?: AssistantToolContext) {
			const command = textArgument(params, "command")?.trim() ?? "";
			if (command === "" || command.includes("\0") || command.length > LONGEST_COMMAND)
				throw new ToolRefusal(
					"tool_input_invalid",
					`"command" must be a string of 1 to ${LONGEST_COMMAND} characters.`,
				);
			const limits = { default: DEFAULT_SECONDS, minimum: 1, maximum: LONGEST_SECONDS };
			const timeoutMs = 1_000 * numberArgument(params, "timeout_seconds", limits);
			return commandReport(
				await runCommand(command, {
					dir: root,
					timeoutMs,
					signal: context?.signal,
					environment,
					onOutput: (text) => show(context, text),
				}),
			);
		},
	};
}

/** Shows output. Too much of it does not count as a failure of the command. */
function show(context: AssistantToolContext | undefined, text: string): void {
	try {
		void Promise.resolve(context?.emit?.(text)).catch(() => {});
	} catch {
		// The result has the beginning and the end.
	}
}

/** Formats a result: how the command ended, then its output. */
export function commandReport({ output, exitCode, ended, duration }: CommandResult): string {
	const seconds = `${(duration / 1_000).toFixed(1)} s`;
	const how =
		ended === "exited"
			? exitCode === undefined
				? `killed by a signal after ${seconds}`
				: `exit code ${exitCode} after ${seconds}`
			: ended === "not started"
				? "not started"
				: `${ended} after ${seconds}`;
	return output.trim() === "" ? `${how}, no output` : `${how}\n${output.trimEnd()}`;
}

/**
 * Whether a command begins with the words of an allowed one. Commands with quotes, variables, patterns, redirections or
 * several parts never do, because their effect is more than their first words.
 */
export function isAllowed(command: string, allowed: readonly string[]): boolean {
	if (!isSimple(command)) return false;
	const words = wordsOf(command);
	return allowed.some((beginning) => {
		const wanted = wordsOf(beginning);
		return wanted.length > 0 && wanted.every((word, index) => word === words[index]);
	});
}

/** Whether a shell takes each word of the command literally. */
function isSimple(command: string): boolean {
	return /^[\w@%+:,./-][\w@%+=:,./ -]*$/.test(command.trim());
}

function wordsOf(command: string): readonly string[] {
	return command
		.trim()
		.split(/ +/)
		.filter((word) => word !== "");
}

/** Programs whose next words decide what happens. */
const wrappers =
	/^(?:sudo|doas|su|env|exec|eval|command|builtin|sh|bash|zsh|dash|ksh|fish|busybox|xargs|find|rm|ssh|nohup|setsid|stdbuf|time|timeout|nice|ionice)$/;

/** Returns the beginning that a rule for commands like this one covers; undefined if a rule covers only this command. */
export function beginningOf(command: string): string | undefined {
	if (!isSimple(command)) return undefined;
	const words = wordsOf(command);
	const [program = "", action, script] = words;
	// The program comes after the variables that are set for it.
	if (program.includes("=") || action === undefined) return undefined;
	if (wrappers.test(program.slice(program.lastIndexOf("/") + 1))) return undefined;
	if (!/^[a-z][a-z0-9:-]*$/.test(action)) return undefined;
	return action === "run" || action === "exec"
		? script && `${program} ${action} ${script}`
		: `${program} ${action}`;
}
