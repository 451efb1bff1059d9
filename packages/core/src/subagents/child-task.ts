// Work for a sub-agent as a run of its session. It is put into the inbox once, however often it is requested, and
// followed to its end even if either process crashes (keeps I3, I4, I8). The run's id is the key of the call that
// requested it.
import { HoldfastError, UserMessage } from "@holdfast/upp";
import { ChildWaits, Parks, type ShownChild, stopReasonOf } from "../engine/index.ts";
import type { RunEvent } from "../facts/index.ts";
import { type AgentEvent, leaseLost, storedInput } from "../facts/index.ts";
import { readChildStoreKey } from "../host/index.ts";
import {
	type AgentRun,
	kill,
	readState,
	resume,
	SessionEvents,
	type SessionTable,
	waitingInput,
} from "../sessions/index.ts";
import type { ToolContext } from "../tools/index.ts";
import { type Change, journalChange, whileItWaits } from "./journal-change.ts";
import { type ChildTask, type FollowedTask, readTask, type TaskState } from "./read-task.ts";
import { groupOf } from "./task-key.ts";
import { childWaits, shownBy } from "./waiting-children.ts";

/** Watchers of work in this process. */
export interface WatchTask {
	readonly onEvent?: (event: AgentEvent) => void;
	readonly onRunEvent?: (event: RunEvent) => void;
	/** Called with the waiting calls of the work in progress; with undefined when none waits any longer. */
	readonly onShown?: (child: ShownChild | undefined) => void;
}

/** Makes the parent's call show the waits of the work in progress. */
export function shownIn(context: ToolContext): Pick<WatchTask, "onShown"> {
	const showing = context as Partial<{ childShows(child: ShownChild | undefined): void }>;
	return { onShown: (child) => showing.childShows?.(child) };
}

/** How work ended. */
export interface TaskEnd extends TaskState {
	/** The number of events that its run emitted while it was followed. */
	readonly eventCount: number;
}

/**
 * Accepts the work durably, once: repeating the call has no effect. Rejects with `lease_lost` if the requesting run has
 * ended. The process that ends that run, or removes its session, can therefore find all of its work.
 */
export async function submitTask({ journal, askers, agent }: SessionTable, task: ChildTask): Promise<void> {
	const { storeKey, runId, prompt, origin, insteadOf } = task;
	const key = readChildStoreKey(storeKey)?.parentStoreKey;
	let asking =
		key === undefined || origin.parent === undefined ? undefined : { key, runId: origin.parent.runId };
	if (asking !== undefined && askers !== journal) {
		// No transaction spans two stores: the run may end between this read and the acceptance.
		if ((await askers.head(asking.key))?.openRunId !== asking.runId) throw leaseLost(asking.key);
		asking = undefined;
	}
	const message = new UserMessage(prompt, { id: runId });
	const cut = insteadOf === undefined ? {} : { insteadOf };
	const input = waitingInput(agent, runId, { shape: "text", message, origin, ...cut });
	await journal.submit(storeKey, {
		id: runId,
		kind: "message",
		runId,
		dedupeKey: runId,
		workerId: journal.workerId,
		...(asking === undefined ? {} : { askedBy: asking }),
		body: storedInput(input),
	});
}

/**
 * Ensures that accepted work runs, here or in the process that owns it, and returns its end.
 *
 * When the signal fires, the work is stopped like its parent: interrupted, suspended or killed. Then rejects with the
 * signal's reason. Otherwise rejects with `ChildWaits` if foreground work waits, with `Parks` if it is parked, or with the
 * error of the store.
 */
export async function followTask(
	table: SessionTable,
	task: FollowedTask,
	signal: AbortSignal,
	watching: WatchTask = {},
): Promise<TaskEnd> {
	let eventCount = 0;
	let taken: AgentRun | undefined;
	const showing = new Showing(table, task, watching.onShown);
	const stop = (): void => stopTask(table, task, signal, taken);
	signal.addEventListener("abort", stop, { once: true });
	// The work was stopped while it was being accepted, without a notification.
	if (signal.aborted) stop();
	try {
		// Watching has a cost, so it starts only if there is something to wait for, followed by one more check.
		let change: Change | undefined;
		let isTried = false;
		for (;;) {
			await table.agent.engine.fairness.pause();
			if (signal.aborted) throw signal.reason;
			// A store without leases would hand the session over, and all followers would take it from each other.
			const run = isTried && (await isHeld(table, task)) ? "held" : await takeOver(table, task);
			isTried = true;
			if (run !== undefined && run !== "held") {
				taken = run;
				if (signal.aborted) stop();
				// Earlier work in its session must end first.
				const isMine = run.runId === task.runId;
				const left = await (isMine ? followRun(run, watching, showing) : followRun(run, {}));
				if (left !== undefined) throw (await parksWith(table, task)) ?? left;
				if (isMine) eventCount += run.eventCount;
				taken = undefined;
			}
			const state = await readTask(table.journal, task.storeKey, task.runId);
			if (isSettled(state)) {
				change?.cancel();
				return { ...state, eventCount };
			}
			if (signal.aborted) throw signal.reason;
			const waits = run === undefined ? await waitsOf(table, task) : undefined;
			if (waits !== undefined) throw waits;
			if (run !== undefined && run !== "held") continue;
			await showing.look();
			// Another process has the work or will start it.
			if (change !== undefined) await change.happened;
			const again = (await isWaiting(table, task.storeKey)) ? whileItWaits : undefined;
			change = change === undefined ? journalChange(table, task.storeKey, signal, again) : undefined;
		}
	} catch (error) {
		// The store failed: the parent continues without the work, and no other process would handle it.
		const isLeft = signal.aborted || error instanceof ChildWaits || error instanceof Parks;
		if (!isLeft && task.origin !== undefined) endTask(table, task);
		throw error;
	} finally {
		signal.removeEventListener("abort", stop);
	}
}

/** Whether the work itself, and not other work in its session, waits. */
export async function waitsStill(table: SessionTable, { storeKey, runId }: FollowedTask): Promise<boolean> {
	const isOpen = (await table.journal.head(storeKey))?.openRunId === runId;
	return isOpen && (await isWaiting(table, storeKey));
}

async function isWaiting({ journal }: SessionTable, storeKey: string): Promise<boolean> {
	const { seq, openRunId } = (await journal.head(storeKey)) ?? {};
	if (openRunId === undefined || seq === undefined) return false;
	const [last] = await journal.read(storeKey, { after: seq - 1 });
	return last?.fact.kind === "waiting";
}

/** Returns how foreground work waits; undefined if it does not. */
async function waitsOf(table: SessionTable, task: FollowedTask): Promise<ChildWaits | undefined> {
	const { parent } = task.origin ?? {};
	const agent = readChildStoreKey(task.storeKey)?.subagent;
	if (parent === undefined || agent === undefined) return undefined;
	const { toolCallId } = parent;
	return childWaits(table, task, { agent, toolCallId }, () => endWaiting(table, task));
}

/** Ends waiting work before the run that requested it ends. */
export async function endWaiting(table: SessionTable, task: FollowedTask): Promise<void> {
	await end(table, task).catch(() => endLater(table, task));
}

/** Whether the work has ended and can produce nothing more. */
export function isSettled({ status }: Pick<TaskState, "status">): boolean {
	return status !== "queued" && status !== "running";
}

/** Whether another living worker works on the session. */
async function isHeld({ journal }: SessionTable, { storeKey }: FollowedTask): Promise<boolean> {
	const { holder } = (await journal.head(storeKey)) ?? {};
	return holder?.alive === true && holder.workerId !== journal.workerId;
}

/** Starts the next work of a session. Returns undefined without any. */
async function takeOver(table: SessionTable, task: FollowedTask): Promise<AgentRun | "held" | undefined> {
	try {
		const queue = table.queue(task.storeKey);
		// Foreground work is resumed, even if parked, if the run that waits for it is.
		const parked = task.origin === undefined ? "stays" : "released";
		return (await resume(queue, parked, (runId) => isLeftOver(table, task, runId))) ?? undefined;
	} catch (error) {
		const { code } = error as { code?: unknown };
		if (code === "session_held") return "held";
		if (code === "session_killed") return undefined; // the journal contains how it ended
		throw error;
	}
}

/**
 * Whether the session's open run works for a different run of the parent than this task does. The parent has one run at a
 * time, so that other run has ended, and its process died before it could end the work.
 */
async function isLeftOver(table: SessionTable, task: FollowedTask, runId: string): Promise<boolean> {
	if (task.origin === undefined || groupOf(runId) === groupOf(task.runId)) return false;
	return !(await isParentOver(table, task));
}

/** Events of a run after which calls may start to wait, or stop waiting. */
const changesWaits: ReadonlySet<RunEvent["type"]> = new Set(["tools_pending", "tool_start", "tool_end"]);

/** Forwards the waits of the work in progress each time they change. */
class Showing {
	readonly #table: SessionTable;
	readonly #task: FollowedTask;
	readonly #onShown: WatchTask["onShown"];
	/** The last forwarded calls, as JSON; empty if none wait. */
	#last = "";

	constructor(table: SessionTable, task: FollowedTask, onShown: WatchTask["onShown"]) {
		this.#table = table;
		this.#task = task;
		this.#onShown = onShown;
	}

	get isWatched(): boolean {
		return this.#onShown !== undefined;
	}

	notify({ type }: RunEvent): void {
		if (type === "tools_pending" || (this.#last !== "" && changesWaits.has(type))) void this.look();
	}

	/** Never rejects: what cannot be read now is read with the next change. */
	async look(): Promise<void> {
		const { parent } = this.#task.origin ?? {};
		const agent = readChildStoreKey(this.#task.storeKey)?.subagent;
		if (this.#onShown === undefined || parent === undefined || agent === undefined) return;
		const { toolCallId } = parent;
		const shown = await shownBy(this.#table, this.#task, { agent, toolCallId }).catch(() => undefined);
		const now = shown === undefined ? "" : JSON.stringify(shown.calls);
		if (now === this.#last) return;
		this.#last = now;
		this.#onShown(shown);
	}
}

/**
 * Returns the error that parks the parent of parked foreground work; undefined if the work is not parked. When the parent
 * is released, it resumes the work.
 */
async function parksWith(table: SessionTable, task: FollowedTask): Promise<Parks | undefined> {
	if (task.origin === undefined) return undefined;
	const { parked } = (await readState(table.queue(task.storeKey))).run ?? {};
	if (parked?.error === undefined) return undefined;
	const { reason, error } = parked;
	const name = JSON.stringify(readChildStoreKey(task.storeKey)?.subagent);
	const message = `The child workflow ${name} is parked, and its parent with it: ${error.message}`;
	return new Parks(reason, new HoldfastError(error.code, message));
}

/** Follows a run until it has ended or is left to another process. Returns the error with which it was left open. */
async function followRun(
	run: AgentRun,
	{ onEvent, onRunEvent }: WatchTask,
	showing?: Showing,
): Promise<unknown> {
	if (onRunEvent !== undefined) run.lookOn({ notify: onRunEvent });
	if (showing?.isWatched === true) {
		run.lookOn(showing);
		await showing.look();
	}
	if (onEvent !== undefined) {
		const events = new SessionEvents();
		void events.return(); // events are neither consumed nor kept here
		events.onEvent = onEvent;
		run.lookOn(events);
	}
	const { outcome, error } = await run.result();
	return outcome === "suspended" && error?.code !== "lease_lost" ? error : undefined;
}

/** Stops the work in the way that its parent was stopped. `taken` is the run of its session that this process follows. */
function stopTask(table: SessionTable, task: FollowedTask, signal: AbortSignal, taken?: AgentRun): void {
	const reason = stopReasonOf(signal);
	const isMine = taken?.runId === task.runId;
	if (reason === "suspend" || reason === "lease-lost") {
		taken?.suspend();
		// The owner of the parent's run resumes the work. However, a process that did not see the work may have ended
		// that run. In that case, no other search finds work that starts to wait at that moment.
		if (task.origin !== undefined) endLater(table, task, () => isParentOver(table, task));
	} else if (reason !== "kill" && isMine) taken.interrupt();
	else endTask(table, task, taken);
}

/** Withdraws work that may have been accepted but that its parent does not wait for. `error` is the reason. */
export function takeBack(table: SessionTable, task: FollowedTask, signal: AbortSignal, error: unknown): void {
	if (signal.aborted) stopTask(table, task, signal);
	// The parent's run has ended or has another owner, and so has its work.
	else if ((error as { code?: unknown } | null)?.code === "lease_lost")
		endLater(table, task, () => isParentOver(table, task));
	else endTask(table, task);
}

/** Ends the work now. If that cannot be recorded, leaves `taken` and tries again later. */
function endTask(table: SessionTable, task: FollowedTask, taken?: AgentRun): void {
	end(table, task).catch((error: unknown) => {
		if (!(error instanceof OthersWork)) taken?.suspend();
		endLater(table, task);
	});
}

/** Ends the work later, if it is still left over by then. */
function endLater(
	table: SessionTable,
	task: FollowedTask,
	mayEnd = async (): Promise<boolean> => true,
): void {
	table.later.set(`end ${task.runId}`, async () => {
		if (await mayEnd()) await end(table, task);
	});
}

/** The session has other work for an open run, so it is not ended now. */
class OthersWork extends Error {}

/** Ends running or waiting work in the session, unless it has already ended or other work in the session is awaited. */
async function end(table: SessionTable, { storeKey, runId }: FollowedTask): Promise<void> {
	const { journal, askers } = table;
	const waiting = (await journal.inbox(storeKey)).flatMap(({ id, kind }) => (kind === "message" ? [id] : []));
	// Read last: by then, work that has left the inbox is open or has ended.
	const openRunId = (await journal.head(storeKey))?.openRunId;
	const all = openRunId === undefined ? waiting : [openRunId, ...waiting];
	if (!all.includes(runId)) return;
	const asking = (await askers.head(readChildStoreKey(storeKey)?.parentStoreKey ?? ""))?.openRunId;
	if (all.some((id) => id !== runId && groupOf(id) === asking)) throw new OthersWork();
	await kill(table, table.queue(storeKey));
}

/** Whether the run that requested the work has ended. */
async function isParentOver({ askers }: SessionTable, { storeKey, origin }: FollowedTask): Promise<boolean> {
	const parentKey = readChildStoreKey(storeKey)?.parentStoreKey;
	const parentRunId = origin?.parent?.runId;
	if (parentKey === undefined || parentRunId === undefined) return false;
	return (await askers.head(parentKey))?.openRunId !== parentRunId;
}
