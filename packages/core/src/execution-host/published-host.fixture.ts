// A third-party host written against the published port only: it has none of our additions, inserts a run once, allows
// claims only where the port does, and acknowledges a notification by claiming it.
import type { ExecutionHost } from "./execution-host.ts";

interface Run {
	runId: string;
	rootRunId: string;
	kind: "user-turn" | "subagent" | "background-subagent" | "notification" | "tool-recovery";
	status:
		| "queued"
		| "leased"
		| "running"
		| "suspended"
		| "needs-recovery"
		| "completed"
		| "cancelled"
		| "error";
	sessionKey: string;
	checkpointVersion: number;
	parentRunId?: string;
	dedupeKey?: string;
	lease?: { attempt: number; leaseId: string; leaseUntilMs: number };
	output?: unknown;
	ownerNamespace?: string;
	publicTaskId?: string;
}

interface Checkpoint {
	checkpointId: string;
	runId: string;
	version: number;
	phase: string;
	runtimeState: unknown;
	sessionSnapshot: unknown;
	pendingToolCall?: unknown;
	childRunId?: string;
}

interface Notification {
	notificationId: string;
	idempotencyKey: string;
	input: unknown;
	runId: string;
	sessionKey: string;
	status: "pending" | "acked" | "cancelled";
	ownerNamespace?: string;
	observerEvents?: unknown[];
}

interface Tables {
	runs: Map<string, Run>;
	checkpoints: Map<string, Checkpoint[]>;
	events: Map<string, unknown[]>;
	notifications: Map<string, Notification>;
	sessions: Map<string, { state: unknown; version: string }>;
}

/** What tests may inspect, and callbacks. */
export interface PublishedHost {
	readonly host: ExecutionHost;
	readonly tables: Tables;
	/** Runs that the scheduler was asked to resume, in order. */
	readonly scheduled: string[];
}

/** Creates the host; `ofProcess` returns it as another process would have it. */
export function publishedHost(tables: Tables = newTables(), scheduled: string[] = []): PublishedHost {
	let versions = 0;
	let last: Promise<unknown> = Promise.resolve();
	const ports = () => ({
		runs: {
			async create(record: Run): Promise<Run> {
				if (tables.runs.has(record.runId)) throw new Error(`run ${record.runId} exists`);
				for (const name of ["runId", "rootRunId", "kind", "status", "sessionKey", "checkpointVersion"])
					if (!(name in record)) throw new Error(`a run without ${name}`);
				tables.runs.set(record.runId, structuredClone(record));
				return structuredClone(record);
			},
			get: async (runId: string) => structuredClone(tables.runs.get(runId) ?? null),
			getByDedupeKey: async (key: string) =>
				structuredClone([...tables.runs.values()].find(({ dedupeKey }) => dedupeKey === key) ?? null),
			listByParentRunId: async (parent: string) =>
				structuredClone([...tables.runs.values()].filter(({ parentRunId }) => parentRunId === parent)),
			async claim(
				runId: string,
				options: { attempt: number; leaseId: string; leaseMs: number; nowMs: number },
			) {
				const { attempt, leaseId, leaseMs, nowMs } = options;
				if (![attempt, leaseMs, nowMs].every(Number.isFinite) || typeof leaseId !== "string")
					throw new Error("a claim that does not say all");
				const record = tables.runs.get(runId);
				if (record === undefined) return { ok: false, reason: "not-found" } as const;
				if (record.lease !== undefined && record.lease.leaseUntilMs > nowMs)
					return { ok: false, reason: "leased" } as const;
				if (!["queued", "leased", "suspended"].includes(record.status))
					return { ok: false, reason: "not-claimable" } as const;
				const lease = { attempt, leaseId, leaseUntilMs: nowMs + leaseMs };
				Object.assign(record, { status: "leased", lease });
				return { ok: true, lease, record: structuredClone(record) } as const;
			},
			async update(record: Run): Promise<Run> {
				if (!tables.runs.has(record.runId)) throw new Error(`no run ${record.runId}`);
				tables.runs.set(record.runId, structuredClone(record));
				return structuredClone(record);
			},
		},
		checkpoints: {
			async append(checkpoint: Checkpoint, { expectedVersion }: { expectedVersion: number }) {
				const line = tables.checkpoints.get(checkpoint.runId) ?? [];
				const currentVersion = line.at(-1)?.version ?? 0;
				if (currentVersion !== expectedVersion)
					return { ok: false, reason: "stale-version", currentVersion } as const;
				for (const name of ["checkpointId", "version", "phase", "runtimeState", "sessionSnapshot"])
					if ((checkpoint as unknown as Record<string, unknown>)[name] === undefined)
						throw new Error(`a checkpoint without ${name}`);
				// It has its own columns: fields it does not know are not stored.
				const {
					checkpointId,
					runId,
					version,
					phase,
					runtimeState,
					sessionSnapshot,
					pendingToolCall,
					childRunId,
				} = checkpoint;
				const row = { checkpointId, runId, version, phase, runtimeState, sessionSnapshot };
				const optional = {
					...(pendingToolCall ? { pendingToolCall } : {}),
					...(childRunId ? { childRunId } : {}),
				};
				tables.checkpoints.set(runId, [...line, structuredClone({ ...row, ...optional })]);
				return { ok: true, version } as const;
			},
			latest: async (runId: string) => structuredClone(tables.checkpoints.get(runId)?.at(-1) ?? null),
		},
		events: {
			async append(runId: string, event: unknown) {
				const line = [...(tables.events.get(runId) ?? []), structuredClone(event)];
				tables.events.set(runId, line);
				return { offset: line.length };
			},
			async *read(runId: string, cursor?: { offset: number }) {
				const from = cursor?.offset ?? 0;
				for (const [index, event] of (tables.events.get(runId) ?? []).slice(from).entries())
					yield { cursor: { offset: from + index + 1 }, event, runId };
			},
		},
		notifications: {
			async enqueue(record: Notification) {
				const existing = tables.notifications.get(record.idempotencyKey);
				if (existing !== undefined)
					return {
						ok: false,
						reason: "duplicate",
						existingNotificationId: existing.notificationId,
					} as const;
				if (record.status !== "pending") throw new Error("a notification without a status");
				tables.notifications.set(record.idempotencyKey, structuredClone(record));
				return { ok: true } as const;
			},
			getByIdempotencyKey: async (key: string) => structuredClone(tables.notifications.get(key) ?? null),
			async claimByIdempotencyKey(key: string) {
				const record = tables.notifications.get(key);
				if (record === undefined) return { ok: false, reason: "not-found" } as const;
				if (record.status !== "pending")
					return { ok: false, reason: "already-claimed", record: structuredClone(record) } as const;
				record.status = "acked";
				return { ok: true, record: structuredClone(record) } as const;
			},
			async releaseByIdempotencyKey(key: string) {
				const record = tables.notifications.get(key);
				if (record?.status === "acked") record.status = "pending";
			},
		},
		sessions: {
			load: async (key: string) => structuredClone(tables.sessions.get(key) ?? null),
			async commit(
				key: string,
				{ state }: { state: unknown },
				{ expectedVersion }: { expectedVersion: string | null },
			) {
				if ((tables.sessions.get(key)?.version ?? null) !== expectedVersion)
					return { ok: false, reason: "conflict" } as const;
				const version = `v${++versions}-${tables.sessions.size}`;
				tables.sessions.set(key, { state: structuredClone(state), version });
				return { ok: true, version } as const;
			},
			async delete(key: string) {
				tables.sessions.delete(key);
			},
		},
	});
	const store = {
		...ports(),
		transaction<T>(work: (inside: ReturnType<typeof ports>) => Promise<T>): Promise<T> {
			const turn = last.then(async () => {
				const { sessions: _, ...others } = tables;
				const before = structuredClone(others);
				try {
					return await work(ports());
				} catch (error) {
					Object.assign(tables, before);
					throw error;
				}
			});
			last = turn.catch(() => {});
			return turn;
		},
	};
	const scheduler = {
		async enqueueRun(runId: string) {
			scheduled.push(runId);
		},
		async resumeSession(_: string, { runId }: { runId: string }) {
			scheduled.push(runId);
		},
	};
	const capabilities = { backgroundSubagents: "durable" } as const;
	// Its types are its own, and must be accepted nevertheless.
	return { host: { capabilities, scheduler, store } as ExecutionHost, tables, scheduled };
}

function newTables(): Tables {
	return {
		runs: new Map(),
		checkpoints: new Map(),
		events: new Map(),
		notifications: new Map(),
		sessions: new Map(),
	};
}
