// A run that was interrupted here or in another process, as its journal and its recorded events describe it. It
// contains everything that is needed to continue the run as if it had not been interrupted.
import { inMemoryClient, type MemoryClient } from "@holdfast/memory";
import type { Entry } from "holdfast/host";
import type { CallAnswer, EventStore, StoredEvent } from "../contract/index.ts";
import { type FactEvents, keptWrites, type PastEvent, pastEvents } from "../result/index.ts";

/** The recorded state of a run. */
export interface LeftRun {
	/** The memory of a run for which the caller provided none. */
	readonly memory: MemoryClient;
	readonly facts: FactEvents;
	/** The events of its facts. */
	readonly events: readonly PastEvent[];
	/** The run's events in the event store; undefined without one. */
	readonly stored: readonly StoredEvent[] | undefined;
	/** The error, if the store could not be read. */
	readonly storeError?: unknown;
}

/** Reads the state of an interrupted run from its facts. */
export async function readLeftRun(
	entries: readonly Entry[],
	run: { readonly runId: string; readonly agentId: string },
	store: EventStore | undefined,
): Promise<LeftRun> {
	const left = { memory: await rebuiltMemory(entries), ...pastEvents(run.agentId, entries) };
	try {
		return { ...left, stored: await store?.read(run.runId) };
	} catch (storeError) {
		return { ...left, stored: [], storeError };
	}
}

/** Rebuilds memory that was lost with its process, from the changes that the run's calls recorded. */
async function rebuiltMemory(entries: readonly Entry[]): Promise<MemoryClient> {
	const memory = inMemoryClient();
	for (const { fact } of entries) {
		if (fact.kind === "decision")
			for (const { key, id, entry } of keptWrites(fact)) await memory.append(key, entry, { id });
		if (fact.kind !== "tool.settled") continue;
		for (const { store, operation, key, value } of (fact.result as Partial<CallAnswer>)?.changes ?? []) {
			if (store !== "memory") continue;
			if (operation === "clear") await memory.clear?.(key);
			else await memory.append(key, value);
		}
	}
	return memory;
}
