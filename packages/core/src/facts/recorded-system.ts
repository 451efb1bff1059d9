// The system prompt that an agent's function returned for a run, as recorded with the run (part of evolve, keeps I2). A
// resumed run is sent the recorded one. A session records a text once, however many runs are sent it (keeps I5).
import type { System } from "@holdfast/upp";
import { textHash } from "./text-hash.ts";

/** The system prompt of a run. `same`: the one recorded last in the session. */
export type RecordedSystem = System | { readonly same: true };

/** The system prompt recorded last in a session. */
export interface SessionSystem {
	/** The system prompt. */
	readonly system: System;
	/** Its part of a fingerprint. */
	readonly hash: string;
}

/** Returns the part of a fingerprint that identifies a system prompt. */
export function systemHash(system: System = ""): string {
	return textHash(typeof system === "string" ? system : JSON.stringify(system));
}

/** Returns the form in which a run records its system prompt; `{ same: true }` if it has not changed. */
export function recordedSystem(before: SessionSystem | undefined, system: System): RecordedSystem {
	return before?.hash === systemHash(system) ? { same: true } : system;
}

/** Returns the system prompt recorded last, after a fact with one. */
export function systemAfter(
	before: SessionSystem | undefined,
	recorded: RecordedSystem | undefined,
): SessionSystem | undefined {
	if (recorded === undefined || (typeof recorded === "object" && "same" in recorded)) return before;
	return { system: recorded, hash: systemHash(recorded) };
}

/** Returns the fingerprint of a run whose agent has no system prompt of its own. */
export function fingerprintWithSystem(fingerprint: string, hash: string | undefined): string {
	const [model, , tools] = fingerprint.split(".");
	return hash === undefined || tools === undefined ? fingerprint : [model, hash, tools].join(".");
}
