/**
 * What a worker works with: a user's agent for all sessions, a project for its threads, or the assistant, which each
 * session gets with the folder and model it started with.
 */

import type { Agent, AgentRun } from "holdfast";
import type { WorkOptions } from "holdfast/types";
import { type CommandIo, quoted } from "../terminal/index.ts";
import {
	checkFolder,
	chooseModel,
	createAssistant,
	openDatabase,
	readSettings,
	type SessionSettings,
	UsageError,
} from "../work/index.ts";
import type { Command } from "./arguments.ts";
import { Merged } from "./merged.ts";

export type WorkerCommand = Extract<Command, { name: "worker" }>;

export interface Workplace {
	/** A short description of the sessions worked on. */
	readonly of: string;
	/** Yields the runs that the worker processes. */
	runs(): AsyncIterable<AgentRun>;
	/** Suspends runs in flight. Calling it twice is harmless. */
	close(): Promise<void>;
}

/**
 * Creates the agent or the assistants.
 * @throws UsageError if the agent or the database cannot be used.
 */
export async function openWorkplace(
	command: WorkerCommand,
	io: CommandIo,
	options: WorkOptions,
): Promise<Workplace> {
	const { agent, project } = command;
	// The server is loaded only to work on served sessions.
	if (project !== undefined) {
		const { workplaceOfProject } = await import("./workplace-of-project.ts");
		return workplaceOfProject(project, command, io, options);
	}
	if (agent === undefined) return assistants(command, io, options);
	const { workplaceOfFile } = await import("./workplace-of-file.ts");
	return workplaceOfFile(agent, command, io, options);
}

async function assistants(command: WorkerCommand, io: CommandIo, options: WorkOptions): Promise<Workplace> {
	const fallback: SessionSettings = {
		dir: io.folder,
		model: chooseModel(undefined, io.environment).name,
		allowNetwork: false,
		allowWrite: false,
		allowShell: false,
	};
	const host = await openDatabase(command.db);
	const agents = new Map<string, Agent>();
	const onNotice = (notice: string): void => void io.stderr.write(`${notice}\n`);
	const runs = new Merged<AgentRun>();
	/** Sessions whose assistant cannot be created; each is reported once. */
	const without = new Set<string>();

	/** Returns the assistant with these settings; a new one starts working at once. */
	function assistantWith({ model, ...may }: SessionSettings): Agent {
		const { dir, allowNetwork, allowWrite, allowShell } = may;
		const settings = JSON.stringify([dir, model, allowNetwork, allowWrite, allowShell]);
		const known = agents.get(settings);
		if (known !== undefined) return known;
		checkFolder(dir);
		const made = createAssistant({ host, ...may, onNotice, model: chooseModel(model, io.environment) });
		agents.set(settings, made);
		runs.add(made.work({ ...options, sessions: (key) => assistantOf(key) === made }));
		return made;
	}

	/** Returns the assistant that a session started with. */
	function assistantOf(key: string): Agent | undefined {
		try {
			const settings = readSettings(command.db, key) ?? fallback;
			if (settings.agent !== undefined)
				throw new UsageError(
					`It belongs to the agent of ${settings.agent}: holdfast worker --agent ${quoted(settings.agent)}.`,
				);
			return assistantWith(settings);
		} catch (error) {
			if (!without.has(key)) options.onProblem?.({ error, sessionKey: key });
			without.add(key);
			return undefined;
		}
	}
	return {
		of: "the assistant",
		runs() {
			assistantWith(fallback);
			return runs;
		},
		async close() {
			await Promise.all([...agents.values()].map((agent) => agent.close()));
			await host.close();
		},
	};
}
