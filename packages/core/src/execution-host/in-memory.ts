// The in-memory execution host: complete, but it ends with the process.
import { checkOptions, optionNames, uuid } from "@holdfast/upp";
import type { ExecutionCapabilities } from "../host/index.ts";
import { memoryRecords } from "../host/index.ts";
import type { ExecutionHost } from "./execution-host.ts";
import { type OwnScheduler, recordScheduler } from "./record-scheduler.ts";
import { type OwnExecutionStore, recordStore } from "./record-store.ts";

const inMemoryExecutionHostNames = optionNames<InMemoryExecutionHostOptions>({
	clock: "object",
	ids: "object",
	capabilities: "object",
});

/** Options of `createInMemoryExecutionHost`. */
export interface InMemoryExecutionHostOptions {
	/** The clock for leases and schedules, in milliseconds since the epoch. Default: the system's. */
	readonly clock?: { now(): number };
	/** Generates ids of leases and versions. Default: random UUIDs. */
	readonly ids?: { uuid(): string };
	/** Default: `{ backgroundSubagents: "in-process" }`. */
	readonly capabilities?: ExecutionCapabilities;
}

/** A built-in execution host, which can list scheduled and unfinished runs. */
export interface OwnExecutionHost extends ExecutionHost {
	readonly scheduler: OwnScheduler;
	readonly store: OwnExecutionStore;
}

/**
 * Creates a complete execution host that lives as long as this object.
 *
 * @example
 * import { openai } from "@ai-sdk/openai";
 * import { Agent } from "holdfast";
 * import { createInMemoryExecutionHost } from "holdfast/execution-host";
 *
 * const host = createInMemoryExecutionHost();
 * const clerk = new Agent({ model: openai("gpt-5.2"), host, namespace: "support" });
 * console.log(clerk.id, host.capabilities.backgroundSubagents);
 */
export function createInMemoryExecutionHost(options: InMemoryExecutionHostOptions = {}): OwnExecutionHost {
	checkOptions(options, inMemoryExecutionHostNames, { of: "createInMemoryExecutionHost()" });
	const { clock = { now: () => Date.now() }, ids = { uuid }, capabilities } = options;
	const records = memoryRecords();
	const ports = { now: () => clock.now(), newId: () => ids.uuid() };
	return {
		capabilities: capabilities ?? { backgroundSubagents: "in-process" },
		scheduler: recordScheduler(records, ports),
		store: recordStore(records, ports),
	};
}
