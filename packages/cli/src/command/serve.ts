/** The command that serves an agent over HTTP until it is stopped. */
import { type InspectedPrompts, inspector } from "@holdfast/inspector";
import { createServer, type NamedModels, type Server, sessionService } from "@holdfast/server";
import { type AgentOptions, type Host, isHoldfastError } from "holdfast";
import { type CommandIo, quoted } from "../terminal/index.ts";
import {
	assistantOptions,
	checkFolder,
	chooseModel,
	exitCodes,
	exportsOfAgentFile,
	loadAgent,
	loadModels,
	openDatabase,
	shownDatabase,
	UsageError,
} from "../work/index.ts";
import type { Command } from "./arguments.ts";
import { stopRequest } from "./stop-request.ts";

type ServeCommand = Extract<Command, { name: "serve" }>;

/** Serves until Ctrl-C or SIGTERM; returns the exit code. */
export async function serveAgent(command: ServeCommand, io: CommandIo): Promise<number> {
	const stop = stopRequest(io, command.drain);
	const { agent, host, of, models, prompts } = await served(command, io);
	const page = command.inspector ? inspector({ prompts }) : { routes: [], publicPaths: [] };
	let server: Server | undefined;
	try {
		server = createServer({
			service: sessionService({
				agent,
				host,
				...(command.clients === undefined
					? { clientsMaySet: command.clientsMaySet }
					: { clients: command.clients }),
				...(models === undefined ? {} : { models }),
			}),
			cors: command.cors,
			...(command.apiKeys === undefined ? {} : { apiKeys: command.apiKeys }),
			allowUnauthenticated: command.allowUnauthenticated,
			...(command.peerHeader === undefined ? {} : { peerHeader: command.peerHeader }),
			...(command.maxStreams === undefined ? {} : { maxStreams: command.maxStreams }),
			routes: page.routes,
			publicPaths: ["/healthz", ...page.publicPaths],
			log: (entry) => io.stderr.write(`${JSON.stringify(entry)}\n`),
		});
		const { url } = await server.listen({ port: command.port, hostname: command.host });
		const begin = { type: "begin", url, agent: of, db: shownDatabase(command.db) };
		io.stdout.write(command.json ? `${JSON.stringify(begin)}\n` : banner(url, of, command));
		await stop.made;
		if (!command.json)
			io.stdout.write("Stopping; active runs can finish. Press Ctrl-C again to quit at once.\n");
		return exitCodes.completed;
	} catch (error) {
		if (isHoldfastError(error) && error.code === "unauthenticated_address")
			throw new UsageError(
				`Others can reach ${command.host}, and it would serve everyone. Give a key in HOLDFAST_API_KEYS or with --api-key, or use --allow-unauthenticated behind a proxy that authenticates.`,
			);
		throw error;
	} finally {
		await server?.close({ drainMs: command.drain });
		await host.close();
		stop.ignore();
	}
}

interface Served {
	readonly agent: AgentOptions;
	readonly host: Host;
	/** A short description of the served agents. */
	readonly of: string;
	/** Models that clients and forks may name. */
	readonly models: NamedModels | undefined;
	/** Prompt versions that the inspector can edit. */
	readonly prompts: InspectedPrompts | undefined;
}

async function served(command: ServeCommand, io: CommandIo): Promise<Served> {
	const { agent: file, db } = command;
	const given = command.models === undefined ? undefined : await loadModels(command.models, io.environment);
	if (file !== undefined) {
		const beside = await exportsOfAgentFile(file, io.environment);
		let host: Host | undefined;
		const loaded = await loadAgent(file, async () => {
			host = await openDatabase(db);
			return host;
		});
		if (host === undefined)
			throw new UsageError(`The agent of ${file} sets its own host. Remove it, and pass --db.`);
		const { models = beside.models, prompts } = { ...beside, models: given };
		return { agent: { ...loaded.agent }, host, of: `the agent of ${file}`, models, prompts };
	}
	const dir = command.dir ?? io.folder;
	checkFolder(dir);
	const model = chooseModel(command.model, io.environment);
	const host = await openDatabase(db);
	const agent = assistantOptions({
		host,
		dir,
		model,
		allowNetwork: command.allowNetwork ?? false,
		allowWrite: false,
		allowShell: false,
		onNotice: (notice) => io.stderr.write(`${notice}\n`),
	});
	return { agent, host, of: `the assistant of ${dir} with ${model.name}`, models: given, prompts: undefined };
}

function banner(
	url: string,
	of: string,
	{ db, apiKeys, inspector, allowUnauthenticated }: ServeCommand,
): string {
	const key = apiKeys === undefined ? "" : ' -H "authorization: Bearer $KEY"';
	const body = { input: "What is this project?" };
	const page = inspector && (apiKeys !== undefined || !allowUnauthenticated);
	const look = page ? `Sessions: ${url}/\n` : "";
	return `Serving ${of} at ${url}
${look}Sessions are in ${shownDatabase(db)}; ${apiKeys === undefined ? "no key is required" : "callers must send a key"}. Ctrl-C stops.
Try:
  curl -N ${url}/api/agent/execute${key} -H "content-type: application/json" -d ${quoted(JSON.stringify(body))}
`;
}
