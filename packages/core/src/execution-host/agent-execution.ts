// What an agent has of an execution host: the records of its sessions' runs, and their resume.
import type { Ports } from "../engine/index.ts";
import type { Host } from "../journal/index.ts";
import type { AgentRun, SessionTable } from "../sessions/index.ts";
import type { ExecutionHost } from "./execution-host.ts";
import { defaultLease } from "./keep-runs.ts";
import { resumeRun } from "./resume-run.ts";
import { type HostRecords, hostRecords } from "./session-records.ts";

export interface AgentExecution {
	readonly host: ExecutionHost;
	readonly records: HostRecords;
	/** Rejects with `run_not_found` for an id that nobody recorded. */
	resume(table: SessionTable, runId: string): Promise<AgentRun | null>;
}

/** Undefined for a host that keeps no records of runs. */
export function agentExecution(
	host: Host,
	ports: Ports,
	namespace: string | undefined,
): AgentExecution | undefined {
	const { execution, journal } = host;
	if (execution === undefined) return undefined;
	const leaseMs = defaultLease;
	// A journal over a bare store has no leases: there the records have them.
	const leases = journal.name === "store" ? "runs" : "journal";
	const records = hostRecords(execution, { ports, namespace, leaseMs, leases });
	return {
		host: execution,
		records,
		resume: (table, runId) => resumeRun({ execution, journal, table, records, ports, leaseMs }, runId),
	};
}
