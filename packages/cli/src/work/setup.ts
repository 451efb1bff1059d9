/** The effective settings of a session: requested ones, otherwise the previous ones, otherwise the defaults. */
import type { CommandIo } from "../terminal/index.ts";
import { checkFolder } from "./assistant.ts";
import { type ChosenModel, chooseModel, offlineModel } from "./models.ts";
import { readSettings, writeSettings } from "./session-settings.ts";
import { UsageError } from "./usage-error.ts";

/** The settings as given. */
export interface WorkOptions {
	/** Absolute path of the folder to work in. */
	readonly dir: string | undefined;
	readonly model: string | undefined;
	readonly allowNetwork: boolean | undefined;
	readonly allowWrite: boolean | undefined;
	readonly allowShell?: boolean | undefined;
	/** Beginnings of shell commands that run without approval. */
	readonly allowedCommands?: readonly string[] | undefined;
	/** Absolute path of a module that exports an agent; undefined for the built-in assistant. */
	readonly agent: string | undefined;
}

/** The effective settings of a session. */
export interface Setup {
	readonly key: string;
	readonly dir: string;
	/** The assistant's model. */
	readonly model: ChosenModel;
	readonly allowNetwork: boolean;
	readonly allowWrite: boolean;
	readonly allowShell: boolean;
	/** Never stored: each process that works on the session must be given them. */
	readonly allowedCommands: readonly string[];
	/** Absolute path of the module of the user's agent. */
	readonly agent: string | undefined;
}

/** Requested settings take precedence over previous ones, and these over the defaults. */
export function prepare(
	command: WorkOptions & { readonly db: string; readonly agent?: string | undefined },
	key: string,
	io: CommandIo,
): Setup {
	const before = readSettings(command.db, key);
	const agent = command.agent ?? before?.agent;
	if (agent !== undefined) {
		const theAssistants = (["dir", "model", "allowNetwork", "allowWrite", "allowShell"] as const).find(
			(option) => command[option] !== undefined,
		);
		if (theAssistants !== undefined)
			throw new UsageError(
				`The option --${theAssistants.replace(/[A-Z]/, (letter) => `-${letter.toLowerCase()}`)} applies only to the assistant: the agent of ${agent} has its own settings. Omit one of them.`,
			);
		return setupOfFile(key, agent, io.folder);
	}
	const dir = command.dir ?? before?.dir ?? io.folder;
	checkFolder(dir);
	return {
		key,
		dir,
		model: chooseModel(command.model ?? before?.model, io.environment),
		allowNetwork: command.allowNetwork ?? before?.allowNetwork ?? false,
		allowWrite: command.allowWrite ?? before?.allowWrite ?? false,
		allowShell: command.allowShell ?? before?.allowShell ?? false,
		allowedCommands: command.allowedCommands ?? [],
		agent: undefined,
	};
}

/**
 * Returns the assistant's folder. Undefined for a user's agent, whose tools may have the same names but different
 * effects.
 */
export function assistantsFolder({ dir, agent }: Setup): string | undefined {
	return agent === undefined ? dir : undefined;
}

/** Returns the setup of a session whose agent's file defines everything else. */
export function setupOfFile(key: string, agent: string, dir: string): Setup {
	const may = { allowNetwork: false, allowWrite: false, allowShell: false, allowedCommands: [] };
	return { key, dir, agent, model: offlineModel, ...may };
}

/** Stores the settings of the work on a session. */
export function keepSettings(db: string, { key, dir, model, agent, ...may }: Setup): void {
	const { allowNetwork, allowWrite, allowShell } = may;
	const settings = { dir, model: model.name, allowNetwork, allowWrite, allowShell };
	writeSettings(db, key, agent === undefined ? settings : { ...settings, agent });
}
