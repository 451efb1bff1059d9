// Names of objects: one for each owner's directory, and one for each session. No owner has another's.
import type { SessionOwner } from "@holdfast/server";

/** The name of the directory of an owner. */
export function ownerName({ tenant, user }: SessionOwner): string {
	return JSON.stringify(user === undefined ? [tenant] : [tenant, user]);
}

/** The name of the object of a session. */
export function sessionName({ tenant, user }: SessionOwner, sessionId: string): string {
	return JSON.stringify([tenant, user ?? null, sessionId]);
}
