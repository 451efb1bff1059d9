/** The workplace of a user's agent: its own sessions, and those that servers serve with it. */
import { type NamedModels, readSessionKey, type SessionService, sessionService } from "@holdfast/server";
import type { Agent, AgentOptions, AgentRun, Host } from "holdfast";
import type { WorkOptions } from "holdfast/types";
import type { CommandIo } from "../terminal/index.ts";
import { exportsOfAgentFile, loadAgent, loadModels, openDatabase, UsageError } from "../work/index.ts";
import { Merged } from "./merged.ts";
import type { WorkerCommand, Workplace } from "./workplace.ts";

/** @throws UsageError if the agent, its models or the database cannot be used. */
export async function workplaceOfFile(
	file: string,
	command: WorkerCommand,
	io: CommandIo,
	options: WorkOptions,
): Promise<Workplace> {
	const models =
		command.models === undefined
			? (await exportsOfAgentFile(file, io.environment)).models
			: await loadModels(command.models, io.environment);
	let host: Host | undefined;
	const { agent } = await loadAgent(file, async () => {
		host = await openDatabase(command.db);
		return host;
	});
	const of = `the agent of ${file}`;
	if (host === undefined) {
		if (command.dbGiven !== undefined)
			throw new UsageError(`The agent of ${file} sets its own host. Omit --db, or remove the agent's host.`);
		// No command serves such an agent.
		return { of, runs: () => agent.work(options), close: () => agent.close() };
	}
	const served = host;
	const service = await serviceOf(agent, served, models);
	const { namespace }: AgentOptions = { ...agent };
	return {
		of,
		runs() {
			const runs = new Merged<AgentRun>();
			runs.add(agent.work(options));
			// Sessions in the agent's own namespace look like those of a tenant of that name.
			const isServed = (key: string): boolean => readSessionKey(key).tenant !== namespace;
			runs.add(service.work({ ...options, sessions: isServed }));
			return runs;
		},
		async close() {
			await Promise.all([agent.close(), service.close()]);
			await served.close();
		},
	};
}

/** Opens the sessions that servers serve with an agent; closes the host if that fails. */
async function serviceOf(agent: Agent, host: Host, models: NamedModels | undefined): Promise<SessionService> {
	try {
		return sessionService({ agent: { ...agent }, host, ...(models === undefined ? {} : { models }) });
	} catch (error) {
		await host.close();
		throw error;
	}
}
