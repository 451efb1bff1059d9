/** How sessions are called on the command line: by their key, and those of a server as `TENANT/ID`, of one of its users as
 * `TENANT%40USER/ID`. */

import type { Host } from "holdfast";
import { UsageError } from "./usage-error.ts";

/** The name of the session under a key of the journal. */
export async function nameOfSession(key: string): Promise<string> {
	if (isOwnKey(key)) return key;
	const { readServedKey } = await serverPackage();
	const served = readServedKey(key);
	if (served === undefined) return key;
	const { tenant, user, sessionId } = served;
	return `${tenant}${user === undefined ? "" : `%40${user}`}/${sessionId}`;
}

/** The key of a session by its name: an exact key takes precedence over a server's session of that name. */
export async function findSession({ journal }: Host, name: string): Promise<string> {
	// An id has no slash, so the last one ends the tenant.
	const slash = name.lastIndexOf("/");
	if (slash < 0 || (await journal.head(name)) !== undefined) return name;
	const { servedKey } = await serverPackage();
	const [tenant = "", user] = name.slice(0, slash).split("%40");
	return servedKey(user === undefined ? tenant : { tenant, user }, name.slice(slash + 1));
}

/** Refuses the name of a server's session: a session of the assistant under that key would look the same in a list. */
export async function refuseServed(host: Host, name: string): Promise<void> {
	const key = await findSession(host, name);
	if (key !== name && (await host.journal.head(key)) !== undefined)
		throw new UsageError(
			`The session "${name}" is a server's. A server continues it, with the agent it was begun with: holdfast serve.`,
		);
}

/** Whether a key of the journal is one that the assistant's sessions have: not a server's, nor a sub-agent's. */
export function isOwnKey(key: string): boolean {
	return !key.startsWith("\u0000");
}

/** Loaded for the names of its sessions only: commands without one start quicker. */
async function serverPackage(): Promise<typeof import("@holdfast/server")> {
	return await import("@holdfast/server");
}
