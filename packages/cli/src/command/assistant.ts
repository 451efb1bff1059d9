/** The built-in assistant: a model, tools that read one folder, and what it is told about its work. */
import { existsSync, statSync } from "node:fs";
import { Agent, type AgentOptions, type Host } from "holdfast";
import { createAssistantTools } from "../tools/index.ts";
import type { ChosenModel } from "./models.ts";
import { UsageError } from "./usage-error.ts";

const INSTRUCTIONS = `You answer questions about the files of one folder, which you can only read.
Look before you answer: list files, search, and read what matters; make calls that do not depend on each other at once.
Rest every statement on what you read and cite it as path:line. If the files do not say it, say so plainly.
Paths are relative to the folder. Be brief.`;

/** What an assistant is made of. */
export interface AssistantOptions {
	readonly host: Host;
	/** Absolute path of the folder. */
	readonly dir: string;
	readonly model: ChosenModel;
	readonly allowNetwork: boolean;
}

/** Makes the assistant. */
export function createAssistant(options: AssistantOptions): Agent {
	return new Agent(assistantOptions(options));
}

/** What the assistant is made from. */
export function assistantOptions(options: AssistantOptions): AgentOptions {
	return {
		model: options.model.reference,
		instructions: INSTRUCTIONS,
		tools: createAssistantTools({ root: options.dir, allowNetwork: options.allowNetwork }),
		host: options.host,
		...(options.model.price === undefined
			? {}
			: { prices: { [options.model.reference.modelId]: options.model.price } }),
		name: "assistant",
	};
}

/**
 * Checks that the folder can be worked in.
 * @throws UsageError when it is not there or not a folder.
 */
export function checkFolder(dir: string): void {
	if (!existsSync(dir)) throw new UsageError(`There is no folder ${dir}. Give an existing one with --dir.`);
	if (!statSync(dir).isDirectory()) throw new UsageError(`${dir} is not a folder. Give a folder with --dir.`);
}
