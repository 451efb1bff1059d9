// The records that an agent's sessions store on an execution host: one per run, from its acceptance to its end.
import type { Ports, SessionKeys } from "../host/index.ts";
import type { RecordedRun, SessionRecords } from "../sessions/index.ts";
import type { ExecutionHost } from "./execution-host.ts";
import { RunRecorder } from "./record-run.ts";
import { childRecords } from "./recorded-children.ts";
import { nameOfRun, recordedName } from "./recorded-names.ts";
import { type ClaimPorts, changeRun, claim, createOnce, dropRun } from "./run-access.ts";
import type { NewRun } from "./run-record.ts";

export interface HostRecords extends SessionRecords {
	/** Reports that a run was claimed for this process: its record continues under that lease. */
	claimed(runId: string, leaseId: string): void;
}

export interface RecordOptions {
	readonly ports: Ports;
	/** The agent's keys. */
	readonly keys: SessionKeys;
	/** How long a run is claimed at a time, in milliseconds. Default 30,000. */
	readonly leaseMs: number;
	/**
	 * What determines whether a run is in progress: its record, or the journal, which may detect a dead process earlier.
	 */
	readonly leases: "runs" | "journal";
}

/** Creates the records of one agent's sessions. */
export function hostRecords(host: ExecutionHost, options: RecordOptions): HostRecords {
	const { store } = host;
	const leases = new Map<string, string>();
	const claims = claimPorts(host, options);
	return {
		children: childRecords(host, options.keys, options.leases === "journal" ? "starter" : "scheduled"),
		async queued(run) {
			if (options.leases !== "runs") return;
			await store.transaction((inside) => createOnce(inside, newRun(run, "queued", options.keys)));
		},
		async take(runId) {
			if (options.leases === "journal" || leases.has(runId)) return true;
			const claimed = await store.transaction((inside) => claim(inside, runId, claims));
			if (typeof claimed === "string") return claimed !== "leased";
			leases.set(runId, claimed.leaseId);
			return true;
		},
		ledger(run) {
			// If the journal itself holds the leases, the rest is read from it; only notifications are acknowledged.
			if (options.leases === "journal" && run.kind !== "notification") return undefined;
			const leaseId = leases.get(run.runId);
			leases.delete(run.runId);
			return new RunRecorder(store, newRun(run, "running", options.keys), {
				ports: options.ports,
				claims,
				said: run.said,
				keeps: options.leases === "runs" ? "all" : "status",
				...(leaseId === undefined ? {} : { leaseId }),
			});
		},
		async cancelled(runIds, storeKey, why) {
			await store.transaction(async (inside) => {
				for (const runId of runIds) {
					// A worker about to continue the run will find that the journal has no open run.
					if (why === "deleted" && (await dropRun(inside, runId))) continue;
					if ((await changeRun(inside, runId, { status: "cancelled" })) !== "not-found") {
						// If a notification's end were only in its journal, it would be delivered again after the journal
						// is deleted.
						const run = options.leases === "journal" ? await inside.runs.get(runId) : undefined;
						if (run?.kind === "notification") await inside.runs.update(run);
						continue;
					}
					// A turn that only waited in the inbox left no other trace.
					const about = { runId, kind: "user-turn", status: "cancelled" } as const;
					await createOnce(inside, { ...about, ...recordedName(storeKey) });
				}
			});
		},
		async deleted(incarnation) {
			await store.notifications.deleteByIncarnation?.(incarnation);
		},
		claimed(runId, leaseId) {
			leases.set(runId, leaseId);
		},
	};
}

/** Claims use the host's clock, if it has one. */
export function claimPorts(
	{ store }: ExecutionHost,
	{ ports, leaseMs }: Pick<RecordOptions, "ports" | "leaseMs">,
): ClaimPorts {
	return { nowMs: () => store.now?.() ?? ports.clock.now(), newId: () => ports.ids.uuid(), leaseMs };
}

function newRun({ said: _, ...run }: RecordedRun, status: NewRun["status"], keys: SessionKeys): NewRun {
	return { ...run, status, ...nameOfRun(keys, run) };
}
