/**
 * The names of sessions on the command line: their key; for sessions of a server, `TENANT/ID`, or `TENANT%40USER/ID`
 * for those of a user.
 */

import type { Host } from "holdfast";
import { UsageError } from "./usage-error.ts";

/** Returns the name of the session with a journal key. */
export async function nameOfSession(key: string): Promise<string> {
	if (isOwnKey(key)) return key;
	const { readServedKey } = await serverPackage();
	const served = readServedKey(key);
	if (served === undefined) return key;
	const { tenant, user, sessionId } = served;
	return `${tenant}${user === undefined ? "" : `%40${user}`}/${sessionId}`;
}

/** Returns the key of a session by its name: an exact key takes precedence over a server's session of that name. */
export async function findSession({ journal }: Host, name: string): Promise<string> {
	// Ids contain no slash, so the last one ends the tenant.
	const slash = name.lastIndexOf("/");
	if (slash < 0 || (await journal.head(name)) !== undefined) return name;
	const { servedKey } = await serverPackage();
	const [tenant = "", user] = name.slice(0, slash).split("%40");
	return servedKey(user === undefined ? tenant : { tenant, user }, name.slice(slash + 1));
}

/** Rejects the name of a server's session: an assistant's session with that key would look the same in a list. */
export async function refuseServed(host: Host, name: string): Promise<void> {
	const key = await findSession(host, name);
	if (key !== name && (await host.journal.head(key)) !== undefined)
		throw new UsageError(
			`The session "${name}" belongs to a server. Continue it with a server that has the same agent: holdfast serve.`,
		);
}

/** Whether a journal key belongs to a session of the assistant, not of a server or a sub-agent. */
export function isOwnKey(key: string): boolean {
	return !key.startsWith("\u0000");
}

/** Loaded only for the names of its sessions, so that other commands start faster. */
async function serverPackage(): Promise<typeof import("@holdfast/server")> {
	return await import("@holdfast/server");
}
