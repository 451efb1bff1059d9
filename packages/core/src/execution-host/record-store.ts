// The store of an execution host over records: every call is a small transaction, and `transaction` is a larger one.
import type { SessionStore } from "../host/index.ts";
import { onDraft, type RecordDraft, type RecordSpace } from "../host/index.ts";
import type { KeepingPorts } from "./claims.ts";
import type { ExecutionStore, ExecutionTransaction } from "./execution-host.ts";
import { appendCheckpoint, latestCheckpoint, listCheckpoints } from "./keep-checkpoints.ts";
import { appendEvent, readEvents } from "./keep-events.ts";
import {
	acknowledgeNotification,
	claimNotification,
	deleteNotifications,
	enqueueNotification,
	getNotification,
	releaseNotification,
} from "./keep-notifications.ts";
import {
	claimRun,
	createRun,
	deleteRun,
	getByDedupeKey,
	getRun,
	listByParentRunId,
	noteEnd,
	unfinishedShelf,
	updateRun,
} from "./keep-runs.ts";
import { commitSession, deleteSession, loadSession } from "./keep-sessions.ts";
import type { HeldNotification, NotificationStore } from "./notification.ts";
import type { Checkpoint, CheckpointStore } from "./run-checkpoint.ts";
import type { RunEventStore } from "./run-events.ts";
import {
	type ClaimRunOptions,
	type ClaimRunResult,
	isFinal,
	type RunRecord,
	type RunStore,
} from "./run-record.ts";

/** Selects the runs to list. */
export interface ListRunsOptions {
	/** Only runs whose id sorts after this one. */
	readonly after?: string;
	/** The maximum number. Default: all. */
	readonly limit?: number;
}

/** The runs of a built-in host. They can be listed without knowing their ids. */
export interface OwnRunStore extends RunStore {
	claim(runId: string, options?: ClaimRunOptions): Promise<ClaimRunResult>;
	delete(runId: string): Promise<void>;
	/** Returns runs that have not ended, in the order of their ids: the input of a recovery at startup. */
	listUnfinished(options?: ListRunsOptions): Promise<readonly RunRecord[]>;
}

/** A checkpoint store that can also list. */
export interface OwnCheckpointStore extends CheckpointStore {
	/** Returns all checkpoints of a run, the first one first. */
	list(runId: string): Promise<readonly Checkpoint[]>;
}

/** The notifications of a built-in host: a claim ends with its worker, and delivery is acknowledged. */
export interface OwnNotificationStore extends NotificationStore {
	/** Returns false if there was nothing to release. */
	releaseByIdempotencyKey(idempotencyKey: string, options?: HeldNotification): Promise<boolean>;
	acknowledge(idempotencyKey: string, options?: HeldNotification): Promise<boolean>;
	deleteByIncarnation(incarnation: string): Promise<void>;
}

/** The store of a built-in host within a transaction. */
export interface OwnTransaction extends ExecutionTransaction {
	readonly runs: OwnRunStore;
	readonly checkpoints: OwnCheckpointStore;
	readonly notifications: OwnNotificationStore;
}

/** The store of a built-in host. */
export interface OwnExecutionStore extends OwnTransaction, ExecutionStore {
	readonly runs: OwnRunStore;
	readonly checkpoints: OwnCheckpointStore;
	readonly notifications: OwnNotificationStore;
	now(): number;
	transaction<T>(work: (transaction: OwnTransaction) => Promise<T>): Promise<T>;
}

/** Runs one operation: in its own transaction, or in the current one. */
type Operate = <T>(operation: (draft: RecordDraft) => Promise<T>) => Promise<T>;

/** Creates the store over a space of records. */
export function recordStore(space: RecordSpace, ports: KeepingPorts): OwnExecutionStore {
	return {
		...storeParts((operation) => onDraft(space, operation), ports),
		now: () => ports.now(),
		transaction: (work) => onDraft(space, (draft) => work(transactionOn(draft, ports))),
	};
}

/** Returns the store's ports on a draft. Nothing is visible outside before the draft is committed. */
function transactionOn(draft: RecordDraft, ports: KeepingPorts): OwnTransaction {
	return storeParts((operation) => operation(draft), ports);
}

function storeParts(operate: Operate, ports: KeepingPorts): OwnTransaction {
	const runs: OwnRunStore = {
		create: (run) => operate((draft) => createRun(draft, run)),
		get: (runId) => operate((draft) => getRun(draft, runId)),
		getByDedupeKey: (dedupeKey) => operate((draft) => getByDedupeKey(draft, dedupeKey)),
		listByParentRunId: (parentRunId) => operate((draft) => listByParentRunId(draft, parentRunId)),
		claim: (runId, options) => operate((draft) => claimRun(draft, ports, runId, options)),
		update: (record) => operate((draft) => updateRun(draft, record)),
		delete: (runId) => operate((draft) => deleteRun(draft, runId)),
		listUnfinished: (options) =>
			operate(async (draft) => {
				const found: RunRecord[] = [];
				for (const [runId] of await draft.list(unfinishedShelf, options)) {
					const run = await getRun(draft, runId);
					if (run === null) continue;
					if (isFinal(run.status)) noteEnd(draft, run);
					else found.push(run);
				}
				return found;
			}),
	};
	const checkpoints: OwnCheckpointStore = {
		append: (checkpoint, { expectedVersion }) =>
			operate((draft) => appendCheckpoint(draft, checkpoint, expectedVersion)),
		latest: (runId) => operate((draft) => latestCheckpoint(draft, runId)),
		list: (runId) => operate((draft) => listCheckpoints(draft, runId)),
	};
	const events: RunEventStore = {
		append: (runId, event) => operate((draft) => appendEvent(draft, runId, event)),
		async *read(runId, cursor) {
			yield* await operate((draft) => readEvents(draft, runId, cursor));
		},
	};
	const notifications: OwnNotificationStore = {
		enqueue: (notification) => operate((draft) => enqueueNotification(draft, notification)),
		getByIdempotencyKey: (key) => operate((draft) => getNotification(draft, key)),
		claimByIdempotencyKey: (key, options) =>
			operate((draft) => claimNotification(draft, ports, key, options)),
		releaseByIdempotencyKey: (key, options) => operate((draft) => releaseNotification(draft, key, options)),
		acknowledge: (key, options) => operate((draft) => acknowledgeNotification(draft, key, options)),
		async deleteByIncarnation(incarnation) {
			while ((await operate((draft) => deleteNotifications(draft, incarnation))) > 0);
		},
	};
	const sessions: SessionStore = {
		load: (key) => operate((draft) => loadSession(draft, key)),
		commit: (key, { state }, { expectedVersion }) =>
			operate((draft) => commitSession(draft, ports, key, state, expectedVersion)),
		delete: (key) => operate((draft) => deleteSession(draft, key)),
	};
	return { runs, checkpoints, events, notifications, sessions };
}
