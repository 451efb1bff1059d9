/** The built-in assistant: a model, tools for one folder, and its instructions. */
import { existsSync, statSync } from "node:fs";
import { Agent, type AgentOptions, type Host } from "holdfast";
import { createAssistantTools } from "../tools/index.ts";
import { chatSummaries } from "./chat-summary.ts";
import type { ChosenModel } from "./models.ts";
import { followedPlugins } from "./project-skills.ts";
import { UsageError } from "./usage-error.ts";

const INSTRUCTIONS = `You answer questions about the files of one folder, which you can only read.
Look before you answer: list files, search, and read what matters; make calls that do not depend on each other at once.
Rest every statement on what you read and cite it as path:line. If the files do not say it, say so plainly.
Paths are relative to the folder. Be brief.`;

const WRITING_INSTRUCTIONS = `You work on the files of one folder: you answer questions about them, and change them when asked.
Look before you answer or change: list files, search, and read what matters; make calls that do not depend on each other at once.
Rest every statement on what you read and cite it as path:line. If the files do not say it, say so plainly.
Change files with edit_file; use write_file for new or completely different files. Change no more than was asked.
The user sees each change and may refuse it. Take a refusal and its reason for an answer: do not try the same again.
Paths are relative to the folder. Be brief.`;

const SHELL_INSTRUCTIONS = `
Run commands with shell, such as tests and builds, if that helps. The user sees each command and may refuse it.`;

/** Asks the assistant for the folder's AGENTS.md. */
export const initPrompt: string =
	"Write AGENTS.md for this folder: what the project is, how to build and test it, its structure and its conventions, in at most 60 lines. " +
	"Read what you need first. If there is an AGENTS.md, improve it and keep what is right.";

/** Options of an assistant. */
export interface AssistantOptions {
	readonly host: Host;
	/** Absolute path of the folder. */
	readonly dir: string;
	readonly model: ChosenModel;
	readonly allowNetwork: boolean;
	/** Whether it may change files; each change requires approval. */
	readonly allowWrite: boolean;
	/** Whether it may run shell commands; each requires approval unless it is allowed. */
	readonly allowShell: boolean;
	/** Beginnings of commands that run without approval. */
	readonly allowedCommands?: readonly string[];
	/** Receives a sentence for each AGENTS.md that is not used. Default: ignored. */
	readonly onNotice?: (notice: string) => void;
}

/** Creates the assistant. */
export function createAssistant(options: AssistantOptions): Agent {
	return new Agent(assistantOptions(options));
}

/** Returns the agent options of the assistant. */
export function assistantOptions(options: AssistantOptions): AgentOptions {
	const { dir: root, allowNetwork, allowWrite, allowShell, allowedCommands: allowed = [] } = options;
	const shell = allowShell ? { allowed, environment: process.env } : undefined;
	const does = allowWrite ? WRITING_INSTRUCTIONS : INSTRUCTIONS;
	return {
		model: options.model.reference,
		instructions: `${does}${allowShell ? SHELL_INSTRUCTIONS : ""}`,
		tools: createAssistantTools({ root, allowNetwork, allowWrite, shell }),
		host: options.host,
		plugins: [chatSummaries(), ...followedPlugins(root, options.onNotice)],
		...(options.model.price === undefined
			? {}
			: { prices: { [options.model.reference.modelId]: options.model.price } }),
		name: "assistant",
	};
}

/**
 * Checks that the folder is usable.
 * @throws UsageError if it does not exist or is not a folder.
 */
export function checkFolder(dir: string): void {
	if (!existsSync(dir))
		throw new UsageError(`The folder ${dir} does not exist. Give an existing one with --dir.`);
	if (!statSync(dir).isDirectory()) throw new UsageError(`${dir} is not a folder. Give a folder with --dir.`);
}
