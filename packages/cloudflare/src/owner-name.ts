// Names of objects: one per owner's directory, and one per session. Names of different owners never collide.
import type { SessionOwner } from "@holdfast/server";

/** Returns the name of an owner's directory. */
export function ownerName({ tenant, user }: SessionOwner): string {
	return JSON.stringify(user === undefined ? [tenant] : [tenant, user]);
}

/** Returns the name of a session's object. */
export function sessionName({ tenant, user }: SessionOwner, sessionId: string): string {
	return JSON.stringify([tenant, user ?? null, sessionId]);
}
