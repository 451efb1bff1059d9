/** The command `fork`: starts a session from the settled history of another. */

import { Agent } from "holdfast";
import { offline } from "../offline/index.ts";
import { type CommandIo, quoted } from "../terminal/index.ts";
import {
	exitCodes,
	findSession,
	openExisting,
	readSettings,
	UsageError,
	writeSettings,
} from "../work/index.ts";
import type { Command } from "./arguments.ts";

/** Forks a session; returns the exit code. */
export async function forkSession(
	{ db, dbGiven, json, session, to, at }: Extract<Command, { name: "fork" }>,
	io: CommandIo,
): Promise<number> {
	const host = await openExisting({ db, dbGiven });
	try {
		const key = host === undefined ? session : await findSession(host, session);
		if (host === undefined || (await host.journal.head(key)) === undefined)
			throw new UsageError(`There is no session "${session}" in ${db}. See: holdfast sessions.`);
		if (key !== session)
			throw new UsageError(
				`The session "${session}" belongs to a server, which stores more of it than a fork copies. Start another session with its messages.`,
			);
		const agent = new Agent({ model: offline, host });
		await agent.session(session).fork(to, at === undefined ? {} : { at });
		const settings = readSettings(db, session);
		if (settings !== undefined) writeSettings(db, to, settings);
		const where = dbGiven === undefined ? "" : ` --db ${quoted(dbGiven)}`;
		const text = `Session ${quoted(to)} starts with the history of ${quoted(session)}. Continue it: holdfast run "…" --session ${quoted(to)}${where}`;
		io.stdout.write(`${json ? JSON.stringify({ type: "fork", session, to }) : text}\n`);
		return exitCodes.completed;
	} finally {
		await host?.close();
	}
}
