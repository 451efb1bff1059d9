/** Serves a project of files over HTTP: for `holdfast serve --project`, and for `holdfast dev`. */
import { inspector } from "@holdfast/inspector";
import { createServer, type RequestLogEntry, type ServerOptions } from "@holdfast/server";
import {
	type EnvGiven,
	inspectThreads,
	type ProjectSource,
	type ThreadLog,
	threadRoutes,
} from "@holdfast/threads";
import { isHoldfastError } from "holdfast";
import type { Plugin } from "holdfast/plugins";
import { type CommandIo, quoted } from "../terminal/index.ts";
import { exitCodes, shownDatabase, UsageError } from "../work/index.ts";
import type { Command } from "./arguments.ts";
import { openProject, openThreads, projectDatabase } from "./open-project.ts";
import type { ProjectServers } from "./project-servers.ts";
import { stopRequest } from "./stop-request.ts";

/** The parts of a project's server. */
export interface ProjectServerOptions {
	readonly project: ProjectSource;
	/** Path of the database. */
	readonly db: string;
	readonly env: EnvGiven;
	/** The project's MCP servers; closed with the server. */
	readonly servers: ProjectServers | undefined;
	/** The project's skills and AGENTS.md files. */
	readonly plugins: readonly Plugin[];
	readonly port: number;
	readonly host: string;
	/** Access rules. */
	readonly access: Pick<
		ServerOptions,
		"apiKeys" | "allowUnauthenticated" | "cors" | "peerHeader" | "maxStreams"
	>;
	/** Whether to serve the inspector at `/`, where prompts can be edited. */
	readonly inspector: boolean;
	readonly onRequest: (entry: RequestLogEntry) => void;
	readonly onLog: (entry: ThreadLog) => void;
}

/** A served project. */
export interface ProjectServer {
	readonly url: string;
	/** Stops the server. Executions get `drainMs` milliseconds to finish; the next server resumes the others. */
	close(drainMs: number): Promise<void>;
}

/** Serves a project and resumes interrupted executions. @throws UsageError if the address requires a key. */
export async function openProjectServer(options: ProjectServerOptions): Promise<ProjectServer> {
	const { project, env, db, onLog, servers, plugins, inspector: editablePrompts } = options;
	const running = await openThreads({ project, env, servers, plugins, db, onLog, editablePrompts });
	const { host } = running;
	const page = options.inspector
		? inspector({ inspection: inspectThreads(running), prompts: running.prompts })
		: { routes: [], publicPaths: [] };
	const server = createServer({
		...options.access,
		// The project's own endpoints come last, and may use any remaining path.
		routes: [...page.routes, ...threadRoutes({ threads: running })],
		publicPaths: ["/healthz", ...page.publicPaths],
		log: options.onRequest,
		...(host.stats === undefined ? {} : { storeStats: host.stats }),
	});
	const close = async (drainMs: number): Promise<void> => {
		// Watchers stay connected until the executions have ended.
		await running.close({ drainMs });
		await server.close({ drainMs: 0 });
		await servers?.close();
		await host.close();
	};
	try {
		const { url } = await server.listen({ port: options.port, hostname: options.host });
		await running.supervise();
		return { url, close };
	} catch (error) {
		await close(0);
		if (isHoldfastError(error) && error.code === "unauthenticated_address")
			throw new UsageError(
				`Others can reach ${options.host}, and it would serve everyone. Give a key in HOLDFAST_API_KEYS or with --api-key, or use --allow-unauthenticated behind a proxy that authenticates.`,
			);
		throw error;
	}
}

type ServeCommand = Extract<Command, { name: "serve" }> & { readonly project: string };

/** Serves a project until Ctrl-C or SIGTERM; returns the exit code. */
export async function serveProject(command: ServeCommand, io: CommandIo): Promise<number> {
	const db = projectDatabase(command, command.project);
	const stop = stopRequest(io, command.drain);
	const log = (entry: object): void => io.stderr.write(`${JSON.stringify(entry)}\n`);
	let server: ProjectServer | undefined;
	let servers: ProjectServers | undefined;
	try {
		const { apiKeys, peerHeader, maxStreams } = command;
		const opened = await openProject(command.project, io);
		const { project } = opened;
		servers = opened.servers;
		server = await openProjectServer({
			...opened,
			db,
			port: command.port,
			host: command.host,
			inspector: command.inspector,
			access: {
				cors: command.cors,
				allowUnauthenticated: command.allowUnauthenticated,
				...(apiKeys === undefined ? {} : { apiKeys }),
				...(peerHeader === undefined ? {} : { peerHeader }),
				...(maxStreams === undefined ? {} : { maxStreams }),
			},
			onRequest: log,
			onLog: (entry) => log({ type: "thread", ...entry }),
		});
		const { url } = server;
		const shown = shownDatabase(db);
		const begin = { type: "begin", url, project: command.project, db: shown };
		io.stdout.write(
			command.json
				? `${JSON.stringify(begin)}\n`
				: `Serving the project ${command.project} at ${url}
${command.inspector && (apiKeys !== undefined || !command.allowUnauthenticated) ? `Threads: ${url}/\n` : ""}Threads are in ${shown}; ${apiKeys === undefined ? "no key is required" : "callers must send a key"}. Ctrl-C stops.
${howToTry(url, project.agents.keys().next().value, apiKeys !== undefined)}`,
		);
		await stop.made;
		if (!command.json)
			io.stdout.write("Stopping; active executions can finish. Press Ctrl-C again to quit at once.\n");
		return exitCodes.completed;
	} finally {
		await server?.close(command.drain);
		await servers?.close();
		stop.ignore();
	}
}

/** Returns a command that creates a thread and sends it a message. */
export function howToTry(url: string, agent: string | undefined, asksForKey: boolean): string {
	if (agent === undefined) return "";
	const key = asksForKey ? ' -H "authorization: Bearer $KEY"' : "";
	const post = (path: string, body: object): string =>
		`curl -s ${url}${path}${key} -H "content-type: application/json" -d ${quoted(JSON.stringify(body))}`;
	return `Try:
  ${post("/api/threads", { agent_id: agent })}
  ${post("/api/threads/ID/messages", { content: "What is 2 + 3?" })}
  curl -s ${url}/api/threads/ID/messages${key}
`;
}
