// An agent's use of an execution host: the records of its sessions' runs, and resuming them.
import type { Host, Ports, SessionKeys } from "../host/index.ts";
import type { AgentRun, SessionTable } from "../sessions/index.ts";
import { defaultLease } from "./claims.ts";
import { type ExecutionHost, type ExecutionStore, executionOf } from "./execution-host.ts";
import { type HostRecords, hostRecords } from "./host-records.ts";
import { type OwnScheduler, ownScheduler } from "./record-scheduler.ts";
import { storeKeyOfRun } from "./recorded-names.ts";
import { resumeRun } from "./resume-run.ts";
import { isFinal, type RunRecord } from "./run-record.ts";

export interface AgentExecution {
	readonly host: ExecutionHost;
	readonly records: HostRecords;
	/** Rejects with `run_not_found` for an unknown id. */
	resume(table: SessionTable, runId: string): Promise<AgentRun | null>;
	/** The scheduler, if it can list due runs; undefined if it delivers them itself. */
	readonly scheduler: OwnScheduler | undefined;
	/** Returns due runs of this agent that do not wait for a live worker's run, with their sessions. */
	due(table: SessionTable): Promise<readonly DueRun[]>;
	/** Marks an ended run as needing no further delivery. */
	settle(runId: string): Promise<void>;
}

/** A run that is due. */
export interface DueRun {
	readonly runId: string;
	/** The store key of its session. */
	readonly storeKey: string;
	/** Set if there is nothing to resume. Deletes what a dead process left of the run. */
	readonly collect?: () => Promise<void>;
}

/** Returns undefined for a host that keeps no records of runs. */
export function agentExecution(host: Host, ports: Ports, keys: SessionKeys): AgentExecution | undefined {
	const { journal } = host;
	const execution = executionOf(host);
	if (execution === undefined) return undefined;
	const leaseMs = defaultLease;
	// A journal over a bare store has no leases, so the records hold them.
	const leases = journal.name === "store" ? "runs" : "journal";
	const records = hostRecords(execution, { ports, keys, leaseMs, leases });
	const { store } = execution;
	const scheduler = ownScheduler(execution);
	return {
		host: execution,
		records,
		scheduler,
		async due(table) {
			const found: DueRun[] = [];
			for (const { runId } of (await scheduler?.due()) ?? []) {
				const run = (await store.runs.get(runId)) ?? undefined;
				// Unrecorded work is left for a later scan.
				if (run === undefined) continue;
				const storeKey = storeKeyOfRun(run);
				if (table.rootKeyOf(storeKey) === undefined) continue; // another agent's
				// Read before the session: the session of a notification exists before the notification, and once deleted
				// never returns.
				const isFor = await incarnationFor(store, run);
				const { openRunId, holder, incarnation } = (await journal.head(storeKey)) ?? {};
				if (isFor !== undefined && isFor !== incarnation) {
					found.push({ runId, storeKey, collect: () => records.deleted(isFor) });
					continue;
				}
				if (run.kind === "notification" && isFinal(run.status)) {
					found.push({ runId, storeKey, collect: async () => scheduler?.settle(runId) });
					continue;
				}
				// A running run accepts the notice of its session; otherwise the notice waits for the run to end.
				const isElsewhere = holder?.alive === true && holder.workerId !== journal.workerId;
				if (!isElsewhere || openRunId === undefined) found.push({ runId, storeKey });
			}
			return found;
		},
		async settle(runId) {
			const run = (await store.runs.get(runId)) ?? undefined;
			if (run !== undefined && isFinal(run.status)) await scheduler?.settle(runId);
		},
		resume: (table, runId) => resumeRun({ execution, journal, table, records, ports, leaseMs }, runId),
	};
}

/**
 * Returns the session that a run's notification was created for; undefined for other runs, and for a notification of any
 * session.
 */
async function incarnationFor(
	{ notifications }: ExecutionStore,
	{ kind, runId, dedupeKey = runId }: RunRecord,
): Promise<string | undefined> {
	if (kind !== "notification") return undefined;
	return (await notifications.getByIdempotencyKey(dedupeKey))?.incarnation;
}
