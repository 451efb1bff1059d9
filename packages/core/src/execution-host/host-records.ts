// What an agent's sessions record on an execution host: one record a run, from its acceptance to its end.
import type { Ports, SessionKeys } from "../host/index.ts";
import type { RecordedRun, SessionRecords } from "../sessions/index.ts";
import type { ExecutionHost } from "./execution-host.ts";
import { RunRecorder } from "./record-run.ts";
import { childRecords } from "./recorded-children.ts";
import { nameOfRun, recordedName } from "./recorded-names.ts";
import type { NewRun } from "./run-record.ts";

export interface HostRecords extends SessionRecords {
	/** A run was claimed for this process: its record continues under that lease. */
	claimed(runId: string, leaseId: string): void;
}

export interface RecordOptions {
	readonly ports: Ports;
	/** Those of the agent. */
	readonly keys: SessionKeys;
	/** Milliseconds for which a run is claimed at a time. Default 30,000. */
	readonly leaseMs: number;
	/** Who knows whether a run is worked on: its record, or the journal, which may notice a dead process earlier. */
	readonly leases: "runs" | "journal";
}

/** Records of the sessions of one agent. */
export function hostRecords(host: ExecutionHost, options: RecordOptions): HostRecords {
	const { store } = host;
	const leases = new Map<string, string>();
	return {
		children: childRecords(host, options.keys, options.leases === "journal" ? "starter" : "scheduled"),
		async queued(run) {
			if (options.leases === "runs") await store.runs.create(newRun(run, "queued", options.keys));
		},
		async take(runId) {
			if (options.leases === "journal" || leases.has(runId)) return true;
			const claim = await store.runs.claim(runId, { leaseMs: options.leaseMs });
			if (!claim.ok) return claim.reason !== "leased";
			leases.set(runId, claim.run.lease.leaseId);
			return true;
		},
		ledger(run) {
			// A journal that keeps the leases itself is read for the rest; only notifications are acknowledged.
			if (options.leases === "journal" && run.kind !== "notification") return undefined;
			const leaseId = leases.get(run.runId);
			leases.delete(run.runId);
			return new RunRecorder(store, newRun(run, "running", options.keys), {
				...options,
				keeps: options.leases === "runs" ? "all" : "status",
				...(leaseId === undefined ? {} : { leaseId }),
			});
		},
		async cancelled(runIds, storeKey) {
			await store.transaction(async ({ runs }) => {
				for (const runId of runIds) {
					const updated = await runs.update(runId, { status: "cancelled" });
					// A turn that only waited in the inbox has left no other trace.
					if (updated.ok || updated.reason !== "not-found") continue;
					await runs.create({ runId, kind: "user-turn", status: "cancelled", ...recordedName(storeKey) });
				}
			});
		},
		claimed(runId, leaseId) {
			leases.set(runId, leaseId);
		},
	};
}

function newRun(run: RecordedRun, status: NewRun["status"], keys: SessionKeys): NewRun {
	return { ...run, status, ...nameOfRun(keys, run) };
}
