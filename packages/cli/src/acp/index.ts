/** The command `acp`: serves an agent to an editor over standard input and output, by the Agent Client Protocol. */
import { Console } from "node:console";
import { Readable, Writable } from "node:stream";
import { agent, ndJsonStream } from "@agentclientprotocol/sdk/unstable";
import type { CommandIo } from "../terminal/index.ts";
import { ending, exitCodes, openDatabase, type WorkOptions } from "../work/index.ts";
import { EditorSessions } from "./editor-sessions.ts";

/** Options of the command `acp`. */
export interface AcpCommand extends WorkOptions {
	/** Absolute path of the database. */
	readonly db: string;
}

/** Serves until the editor closes its end, or a signal; returns the exit code. */
export async function serveEditor(command: AcpCommand, io: CommandIo, version: string): Promise<number> {
	// The protocol owns the output, so anything that a user's agent prints goes to the editor's log.
	globalThis.console = new Console(process.stderr);
	const host = await openDatabase(command.db);
	const sessions = new EditorSessions({ command, host, io, version });
	const app = agent({ name: "holdfast" })
		.onRequest("initialize", () => sessions.capabilities())
		.onRequest("session/new", ({ params, client }) => sessions.create(params, client))
		.onRequest("session/load", ({ params, client }) => sessions.load(params, client))
		.onRequest("session/resume", ({ params, client }) => sessions.resume(params, client))
		.onRequest("session/fork", ({ params, client }) => sessions.fork(params, client))
		.onRequest("session/set_mode", ({ params }) => sessions.setMode(params))
		.onRequest("session/set_config_option", ({ params }) => sessions.setOption(params))
		.onRequest("session/list", ({ params }) => sessions.list(params))
		.onRequest("session/prompt", ({ params }) => sessions.prompt(params))
		.onRequest("session/close", ({ params }) => sessions.close(params))
		.onRequest("session/delete", ({ params, client }) => sessions.delete(params, client))
		.onNotification("session/cancel", ({ params }) => sessions.cancel(params));
	const input = Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>;
	const connection = app.connect(ndJsonStream(Writable.toWeb(process.stdout), input));
	let signals = 0;
	const ignore = io.onInterrupt(() => {
		if (++signals > 1) io.quit(exitCodes.interrupted);
		connection.close();
	}, ending());
	try {
		await connection.closed;
		return signals > 0 ? exitCodes.interrupted : exitCodes.completed;
	} finally {
		await sessions.leave();
		await host.close();
		ignore();
	}
}
