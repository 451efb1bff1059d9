/** The command for working on a project: it watches the files, updates the types of names and serves the project. */
import { relative } from "node:path";
import type { RequestLogEntry } from "@holdfast/server";
import {
	type EnvGiven,
	type Project,
	type ProjectChange,
	type ThreadLog,
	watchProject,
	writeTypes,
} from "@holdfast/threads";
import type { CommandIo } from "../terminal/index.ts";
import { ending, exitCodes } from "../work/index.ts";
import { asUsage, describeProblems, problemsOf, summary } from "./check-project.ts";
import { lendPackages } from "./lend-packages.ts";
import { projectContext } from "./project-context.ts";
import { namedEnvironment, readVariables } from "./project-environment.ts";
import { connectServers, type ProjectServers } from "./project-servers.ts";
import { howToTry, openProjectServer, type ProjectServer } from "./serve-project.ts";

/** Options of the command. */
export interface DevelopOptions {
	readonly directory: string;
	readonly db: string;
	readonly port: number;
	readonly host: string;
	readonly json: boolean;
}

/** Milliseconds that executions get to finish. */
const drain = 1_000;

/** Watches and serves a project until Ctrl-C or SIGTERM; returns the exit code. */
export async function developProject(options: DevelopOptions, io: CommandIo): Promise<number> {
	lendPackages();
	const { directory } = options;
	const stopped = new AbortController();
	let signals = 0;
	const stopListening = io.onInterrupt(() => {
		signals++;
		if (signals > 1) io.quit(exitCodes.interrupted);
		stopped.abort();
	}, ending(drain));
	const print = printer(options, io);
	// When the project changes, the values it requires are added to those its threads already have.
	const env: Record<string, EnvGiven[string]> = {};
	const keepUp = async (project: Project): Promise<void> => {
		await writeTypes(project);
		Object.assign(env, namedEnvironment(project, await readVariables(directory, io.environment)));
	};
	let isLoaded = false;
	const onError = (error: unknown): void => {
		// If the project never loaded, the command fails.
		if (isLoaded || asUsage(error) === error) print.error(error);
	};
	const onChange = (change: ProjectChange): void => {
		isLoaded = true;
		print.change(change);
		keepUp(change.project).catch(print.error);
	};
	let server: ProjectServer | undefined;
	let servers: ProjectServers | undefined;
	try {
		const live = await watchProject(directory, { onChange, onError, signal: stopped.signal });
		try {
			await keepUp(live.current);
			servers = await connectServers(directory, await readVariables(directory, io.environment));
			server = await openProjectServer({
				project: live,
				db: options.db,
				env,
				servers,
				plugins: await projectContext(directory, { reload: "each-run", onNotice: print.notice }),
				port: options.port,
				host: options.host,
				access: {},
				inspector: true,
				onRequest: print.request,
				onLog: print.thread,
			});
			print.serving(server.url, live.current);
			if (!stopped.signal.aborted)
				await new Promise((resolve) => stopped.signal.addEventListener("abort", resolve, { once: true }));
		} finally {
			live.close();
		}
		return exitCodes.completed;
	} catch (error) {
		if (stopped.signal.aborted) return exitCodes.completed;
		throw asUsage(error);
	} finally {
		await server?.close(drain);
		await servers?.close();
		stopListening();
	}
}

interface Printer {
	change(change: ProjectChange): void;
	error(error: unknown): void;
	notice(text: string): void;
	request(entry: RequestLogEntry): void;
	serving(url: string, project: Project): void;
	thread(entry: ThreadLog): void;
}

/** Reports each event in one line, or as JSON. */
function printer({ directory, json }: DevelopOptions, io: CommandIo): Printer {
	const say = (line: object, text: string): void => {
		const time = new Date().toTimeString().slice(0, 8);
		io.stdout.write(json ? `${JSON.stringify(line)}\n` : `${time} ${text}\n`);
	};
	return {
		change({ project, files, milliseconds }) {
			const changed = files.map((file) => relative(directory, file));
			const ms = Math.round(milliseconds);
			const what = changed.length === 0 ? directory : `changed ${changed.join(", ")}`;
			say({ type: "project", files: changed, ms }, `${what}: ${summary(project)} (${ms} ms)`);
			for (const warning of project.warnings) say({ type: "warning", warning }, `warning: ${warning}`);
		},
		error(error) {
			const problems = problemsOf(error);
			if (problems === undefined) say({ type: "error", message: String(error) }, String(error));
			else say({ type: "problems", problems }, describeProblems(directory, problems).trimEnd());
		},
		notice(text) {
			say({ type: "warning", warning: text }, `warning: ${text}`);
		},
		request(entry) {
			if (entry.type === "request") {
				const { method, route, status, durationMs, sessionId } = entry;
				const of = sessionId === undefined ? "" : ` ${sessionId}`;
				say(entry, `${method} ${route}${of} ${status} (${Math.round(durationMs)} ms)`);
			} else if (entry.type === "error") say(entry, `error: ${entry.name} at ${entry.at[0] ?? "?"}`);
		},
		serving(url, project) {
			const agent = project.agents.keys().next().value;
			say(
				{ type: "begin", url },
				`Serving at ${url}. Ctrl-C stops.\n${howToTry(url, agent, false).trimEnd()}`,
			);
		},
		thread(entry) {
			say({ type: "thread", ...entry }, `${entry.level}: thread ${entry.threadId}: ${entry.message}`);
		},
	};
}
