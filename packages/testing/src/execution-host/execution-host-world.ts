// The world a case about execution hosts works in, and what the cases are written with.

import type { ExecutionHost, NewCheckpoint, NewNotification, NewRun } from "holdfast/execution";
import type { MaybePromise } from "holdfast/host";
import type { ContractCase } from "../contract/index.ts";

/** A host, and the time it goes by. */
export interface ExecutionHostWorld {
	/** The host, or another on the same store: what one wrote, the others read. */
	host(): MaybePromise<ExecutionHost>;
	/** Lets time pass for the host's leases. */
	advance(milliseconds: number): MaybePromise<void>;
	/** Removes the store. */
	end(): MaybePromise<void>;
}

/** What `executionHostContract` must know. */
export interface ExecutionHostContractOptions {
	/** Precedes the name of each case. */
	readonly name: string;
	/** Makes a new, empty store. */
	make(): MaybePromise<ExecutionHostWorld>;
}

/** A case as it is written. */
export interface WrittenCase {
	readonly title: string;
	/** `other` is a second host on the same store. */
	run(host: ExecutionHost, other: ExecutionHost, world: ExecutionHostWorld): Promise<void>;
}

/** The cases as a runner takes them. */
export function toContractCase(options: ExecutionHostContractOptions, written: WrittenCase): ContractCase {
	return {
		name: `${options.name}: ${written.title}`,
		async run() {
			const world = await options.make();
			try {
				await written.run(await world.host(), await world.host(), world);
			} finally {
				await world.end();
			}
		},
	};
}

export function run(runId: string, change: Partial<NewRun> = {}): NewRun {
	return { runId, kind: "user-turn", status: "queued", sessionKey: "s", ...change };
}

export function checkpoint(runId: string, change: Partial<NewCheckpoint> = {}): NewCheckpoint {
	return { runId, sessionKey: "s", phase: "before-model", seq: 2, at: 1, ...change };
}

export function notification(name: string): NewNotification {
	const input = { type: "user-text", text: [`reminder ${name}`, "é\u0000✓"] } as const;
	return {
		notificationId: name,
		idempotencyKey: `key ${name}`,
		runId: `run ${name}`,
		sessionKey: "s",
		input,
	};
}

/** @throws Error when two values are not the same in all their parts. */
export function expectSame(found: unknown, wanted: unknown, what: string): void {
	if (text(found) !== text(wanted))
		throw new Error(`${what}: expected ${text(wanted)}, found ${text(found)}`);
}

function text(value: unknown): string {
	return (
		JSON.stringify(value, (_, part: unknown) =>
			typeof part === "object" && part !== null && !Array.isArray(part)
				? Object.fromEntries(Object.entries(part).sort(([one], [other]) => (one < other ? -1 : 1)))
				: part,
		) ?? "undefined"
	);
}
