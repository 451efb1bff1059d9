// The environment and the helpers of cases about execution hosts.

import type {
	ClaimRunResult,
	EventCursor,
	ExecutionHost,
	NewCheckpoint,
	NotificationRecord,
	RunRecord,
	StoredRunEvent,
} from "holdfast/execution-host";
import type { MaybePromise } from "holdfast/host";
import type { ContractCase } from "../contract/index.ts";

/** Hosts over one store, and their clock. */
export interface ExecutionHostWorld {
	/** Creates a host, or another on the same store; hosts see each other's writes. */
	host(): MaybePromise<ExecutionHost>;
	/** Advances the clock of the host's leases. */
	advance(milliseconds: number): MaybePromise<void>;
	/** Removes the store. */
	end(): MaybePromise<void>;
}

/** Options of `executionHostContract`. */
export interface ExecutionHostContractOptions {
	/** Prefix of each case's name. */
	readonly name: string;
	/** Creates an empty store. */
	make(): MaybePromise<ExecutionHostWorld>;
}

/** The definition of a case. */
export interface WrittenCase {
	readonly title: string;
	/** `other` is a second host on the same store. */
	run(host: ExecutionHost, other: ExecutionHost, world: ExecutionHostWorld): Promise<void>;
}

/** Converts the cases for a test runner. */
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

export function run(runId: string, change: Partial<RunRecord> = {}): RunRecord {
	const { parentRunId: rootRunId = runId } = change;
	return {
		runId,
		rootRunId,
		kind: "user-turn",
		status: "queued",
		sessionKey: "s",
		checkpointVersion: 0,
		...change,
	};
}

export function checkpoint(
	runId: string,
	version: number,
	change: Partial<NewCheckpoint> = {},
): NewCheckpoint {
	const state = { runtimeState: { at: version }, sessionSnapshot: ["s", version] };
	return { checkpointId: `${runId}/${version}`, runId, version, phase: "before-model", ...state, ...change };
}

/** Claims the run "a" for a second. */
export async function claim({ store }: ExecutionHost, leaseId: string): Promise<ClaimRunResult> {
	const attempt = ((await store.runs.get("a"))?.lease?.attempt ?? 0) + 1;
	const isOwn = (await store.runs.get("a"))?.lease?.leaseId === leaseId;
	const nowMs = store.now?.() ?? Date.now();
	return store.runs.claim("a", { attempt: isOwn ? attempt - 1 : attempt, leaseId, leaseMs: 1_000, nowMs });
}

/** Reads all events of a run after a cursor. */
export async function readAll(
	{ store }: Pick<ExecutionHost, "store">,
	runId: string,
	cursor?: EventCursor,
): Promise<readonly StoredRunEvent[]> {
	const found: StoredRunEvent[] = [];
	for await (const event of store.events.read(runId, cursor)) found.push(event);
	return found;
}

export function notification(name: string): NotificationRecord {
	const input = { type: "user-text", text: [`reminder ${name}`, "é\u0000✓"] } as const;
	return {
		notificationId: name,
		idempotencyKey: `key ${name}`,
		runId: `run ${name}`,
		sessionKey: "s",
		input,
		status: "pending",
	};
}

/** @throws Error unless the two values are deeply equal. */
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
