// One session in this process. The actor owns the session's state and is the only part that changes it. The parts that it
// calls (the opening, the lease, the mailbox, the turns) receive what they need and never change the state (keeps I4).
//
//   idle      no run is in progress, no turn is queued; the lease and the folded state may be kept
//   opening   the session is acquired, the turns are compared with the inbox, a run is started or resumed
//   blocked   turns are queued, and another worker has the session
//   running   a run is driven (`turn`)
//   closed    the agent was closed; the open run is left open
//   killed    the session was killed or deleted; the next handle gets another actor
//
//   idle → opening     a request (session-requests.ts, outside-requests.ts), an expiring call, a queued turn
//   opening → running  the commit that starts or resumes a run succeeded
//   opening → idle     nothing to do, not this worker's, or the run waits for an outside answer, is parked, or could not be read
//   opening → blocked  turns are queued, and another worker has the session; blocked → opening when that changes
//   running → opening  the run has ended and turns are queued
//   running → idle     the run has ended, or was left open: queued turns then stay in the inbox
//
// Opening happens only within the session's queue (session-queue.ts): one request, or the actor's own work, at a time.
import { after } from "@holdfast/upp";
import type { Caller } from "../caller/index.ts";
import { type DriveOutcome, type EngineAgent, sessionKilled, waitFor } from "../engine/index.ts";
import { type AcceptedInput, nextDeadline, type SessionState } from "../facts/index.ts";
import type { MaybePromise } from "../host/index.ts";
import type { TurnOverlays } from "../policy/index.ts";
import { AgentRun } from "./agent-run.ts";
import { watchDeadline } from "./deadlines.ts";
import { EarlyAnswers } from "./early-answers.ts";
import { processKey } from "./local-store.ts";
import { Mailbox, type QueuedTurn } from "./mailbox.ts";
import { beginOpened, dropLateAnswers, type Opened, openSession, resumeOpened } from "./open-session.ts";
import { continueAnswered, expire, interrupt } from "./outside-requests.ts";
import type { Resumption } from "./resume-turn.ts";
import { agentClosed, awaitsItself, isParked, runBeforeSuspended, runBeforeWaits } from "./session-errors.ts";
import { SessionLease } from "./session-lease.ts";
import type { SessionQueue } from "./session-queue.ts";
import type { SessionTable } from "./session-table.ts";
import { type Settlement, waitsForTime } from "./settlement.ts";
import { driveTurn, isRunning, mayLeave, mayMiss, type Steered, type Turn, withChildren } from "./turn.ts";

export class SessionActor {
	readonly table: SessionTable;
	readonly queue: SessionQueue;
	readonly lease: SessionLease;
	readonly mailbox: Mailbox;
	readonly answers: EarlyAnswers;
	#turn: Turn | undefined;
	#end: "closed" | "killed" | undefined;
	/** Records the end of a killed session, and again if a running request started a run after it. */
	#recordEnd: (() => Promise<unknown>) | undefined;
	#late: Promise<unknown> | undefined;
	/** Whether the kill has been recorded or has failed. */
	#isKillOver = false;
	/** Whether the session waits for another worker that owns it. */
	#isBlocked = false;
	/** Overlays for the run that waits, or otherwise for the next turn. */
	#overlays: AcceptedInput[] | undefined;
	/** The overlays that a waiting run shows to its model when it continues here. */
	#shown: { readonly runId: string; readonly overlays: TurnOverlays } | undefined;

	constructor(table: SessionTable, queue: SessionQueue) {
		this.table = table;
		this.queue = queue;
		this.lease = new SessionLease(table, queue.storeKey, this);
		this.mailbox = new Mailbox(table.journal, queue.storeKey, table.local, table.agent);
		this.answers = new EarlyAnswers(table.agent, queue.storeKey, (due) => this.#watchDue(due));
	}

	get storeKey(): string {
		return this.queue.storeKey;
	}

	get sessionKey(): string {
		return this.queue.key;
	}

	/** The current run in this process. */
	get turn(): Turn | undefined {
		return this.#turn;
	}

	/** Identifies the session within this process. */
	get processKey(): string {
		return processKey(this.table.local, this.storeKey);
	}

	/** Whether no run is in progress and no turn is queued. */
	get isIdle(): boolean {
		return this.#turn === undefined && this.mailbox.length === 0;
	}

	/** Whether the actor watches the time limits of calls. */
	get watchesDeadline(): boolean {
		return this.table.later.has(this.#deadline);
	}

	ensureUsable(): void {
		if (this.#end === "killed") throw sessionKilled();
		if (this.#end === "closed") throw agentClosed();
	}

	ensureNotKilled(): void {
		if (this.#end === "killed") throw sessionKilled();
	}

	/** Brings lease, state and queue up to date. */
	open(): MaybePromise<Opened> {
		return openSession(this);
	}

	/** Returns the agent of the next turn, as currently known. */
	resolve(caller?: Caller): MaybePromise<EngineAgent> {
		const { agent } = this.table;
		const resolving = agent.resolve?.({ sessionKey: this.sessionKey, namespace: agent.namespace, caller });
		return after(resolving, (resolved) => resolved ?? agent.engine);
	}

	/** Begins the first turn. Returns false if another worker was faster. */
	begin(queued: QueuedTurn): MaybePromise<boolean> {
		return after(beginOpened(this, queued), (turn) => this.#begun(turn, queued));
	}

	#begun(turn: Turn | undefined, queued: QueuedTurn): boolean {
		if (turn === undefined) return false;
		this.#drive(turn);
		if (queued.origin === "adopted" || queued.origin === "left-over") this.table.resumed(turn.handle);
		return true;
	}

	/** Adds context for the rest of the active turn, or otherwise for the next. */
	overlay(input: AcceptedInput): void {
		this.ensureUsable();
		if (this.#turn !== undefined && isRunning(this.#turn)) void this.#turn.frame.overlay(input);
		else {
			this.#overlays ??= [];
			this.#overlays.push(input);
		}
	}

	/** Creates a turn from an inbox input to a run that did not accept it. */
	queueLeftOver({ inputId, input }: Steered): AgentRun {
		const run = this.handle();
		this.mailbox.push({ run, input, inputId, origin: "left-over", stage: "stored" });
		// The process that ended the session may have finished with the queue already, so it is emptied here.
		if (this.#isKillOver) this.#leaveQueued("killed", sessionKilled());
		else if (this.#end === "closed") this.#leaveQueued("suspended", agentClosed());
		return run;
	}

	/** Watches the time limits of a waiting run's calls. */
	watchDeadline({ run }: SessionState): void {
		// When a sub-agent's wait is due, so is that of its parent, which continues both.
		if (run?.started.runKind === "subagent" && run.status === "waiting") return;
		this.#watchDue(run && nextDeadline(run));
	}

	#watchDue(due: number | undefined): void {
		watchDeadline(due, {
			later: this.table.later,
			clock: this.table.agent.engine.ports.clock,
			purpose: this.#deadline,
			expire: () => expire(this.queue),
			isUsable: () => this.#end === undefined,
		});
	}

	/** Starts queued turns before the queue's next request; undefined if there are none. Never rejects. */
	ownWork(): Promise<void> | undefined {
		if (this.mailbox.length === 0) return undefined;
		// Turns adopted during the kill are left to the next actor of this session.
		if (this.#isKillOver) this.#leaveQueued("killed", sessionKilled());
		if (this.#end !== undefined || this.#isBlocked || this.#turn !== undefined) return undefined;
		return this.#beginQueued().catch((error) => {
			// Done before another process can open the session: it would find the same queue and fail again.
			this.#leaveQueued(isParked(error) ? "parked" : "journal_failed", error);
		});
	}

	/** Makes room for other sessions, unless there is work to do or state to keep. */
	retire(): boolean {
		this.lease.forget();
		const hasOverlays = this.#shown !== undefined || (this.#overlays?.length ?? 0) > 0;
		if (!this.isIdle || this.watchesDeadline || hasOverlays || this.table.later.has(this.#look)) return false;
		this.lease.release(); // stores track the leases that are held
		return true;
	}

	/** Ends all runs: first in the journal, which `recordEnd` does after the previous kill, then in this process. */
	async kill(before: Promise<unknown> | undefined, recordEnd: () => Promise<unknown>): Promise<void> {
		this.#end = "killed";
		this.#recordEnd = recordEnd;
		this.queue.refuse(sessionKilled);
		this.table.later.callOff(this.#look);
		this.table.later.callOff(this.#deadline);
		this.lease.wake();
		try {
			// Inputs on their way into the inbox must arrive before they can be removed.
			await this.mailbox.arriving;
			await before;
			await recordEnd();
		} finally {
			this.#isKillOver = true;
			this.#turn?.run.stop("kill");
			this.#leaveQueued("killed", sessionKilled());
			// If the end could not be recorded, others may resume the run.
			this.lease.release();
		}
	}

	/** Suspends the run in progress, leaves the queued turns, and releases the session. */
	async close(): Promise<void> {
		this.#end ??= "closed";
		this.queue.refuse(agentClosed);
		this.lease.wake();
		await this.queue.quiet();
		this.#turn?.handle.suspend();
		await this.#turn?.over;
		if (this.mailbox.length > 0) this.#leaveQueued("suspended", agentClosed());
		this.lease.release();
		await this.lease.released();
	}

	handle(runId: string = this.table.agent.engine.ports.ids.uuid()): AgentRun {
		return new AgentRun(runId, this.sessionKey, this.processKey);
	}

	/** Whether the run has started to wait but has not been left: code notified of the wait may send it input. */
	get isEnding(): boolean {
		return this.#turn?.run.state.run?.status === "waiting";
	}

	/** Resolves when the turn's run has ended or started to wait. The queue waits for this. */
	ended(turn: Turn | undefined = this.#turn): Promise<unknown> {
		return this.queue.waitsFor(this.processKey, async () => turn?.over);
	}

	/** Resolves when the turn has ended. Rejects with `session_busy` if it never would. */
	over(turn: Turn): Promise<unknown> {
		const isOver = async (): Promise<unknown> => turn.over;
		return waitFor(this.processKey, isOver, () => awaitsItself(this.sessionKey));
	}

	/** Begins the first queued turn if this worker owns the session. */
	async #beginQueued(): Promise<void> {
		while (this.mailbox.length > 0 && this.#end === undefined) {
			const pause = this.table.agent.engine.fairness.pause();
			if (pause !== undefined) await pause;
			const session = await this.open();
			if (session !== "ours") {
				this.#waitForChange();
				return;
			}
			const { run } = this.lease.state;
			if (this.lease.isWaiting && waitsForTime(run)) {
				const moved = this.lease.moved();
				this.lease.release();
				this.#blockUntil(moved);
				return;
			}
			if (this.lease.isWaiting) {
				// The answers to the previous run's calls begin these turns.
				this.lease.release();
				this.#leaveQueued("suspended", runBeforeWaits(this.sessionKey));
			} else if ((await this.beginNext("stays")) !== undefined) {
				// The run of a dead process has no requester here, so it must not wait for a consumer.
				if (this.#turn?.isResumed === true) this.#turn.handle.detach();
				return;
			}
		}
	}

	/** Waits for another worker or an earlier turn, and checks again on changes. Other requests continue. */
	#waitForChange(): void {
		this.lease.drop();
		this.#blockUntil(this.lease.changed());
	}

	/** Leaves turns queued until `changed` settles. Other requests continue. */
	#blockUntil(changed: Promise<void>): void {
		this.#isBlocked = true;
		void changed.then(() => {
			this.#isBlocked = false;
			this.queue.wake();
		});
	}

	/** Resumes the open run, or else begins the first turn. Returns undefined if another worker was faster. */
	async beginNext(parked: Resumption["parked"]): Promise<AgentRun | undefined> {
		if (this.lease.openRunId !== undefined) return this.resumeOpen(parked);
		const { first } = this.mailbox;
		return first !== undefined && (await this.begin(first)) ? first.run : undefined;
	}

	/**
	 * Resumes the open run with outside settlements. Returns its handle, because the run may end at once; undefined if
	 * another worker was faster.
	 */
	async resumeOpen(parked: Resumption["parked"], settlement?: Settlement): Promise<AgentRun | undefined> {
		const whileOpening = <T>(hooks: () => Promise<T>): Promise<T> =>
			this.queue.waitsFor(this.processKey, hooks);
		const turn = await resumeOpened(this, { parked, settlement, whileOpening });
		if (turn === undefined) return undefined;
		this.#drive(turn);
		if (settlement === undefined) this.table.resumed(turn.handle);
		return turn.handle;
	}

	#drive(turn: Turn): void {
		const { run, frame } = turn;
		if (this.#shown?.runId === run.runId) frame.policy.showAgain(this.#shown.overlays);
		this.#shown = undefined;
		for (const overlay of this.#overlays?.splice(0) ?? []) void frame.overlay(overlay);
		this.#turn = turn; // the run's first hooks are called before this returns
		const ended = withChildren(turn, this.table.agent.children, (outcome) => this.#ended(turn, outcome));
		const over = driveTurn(turn, this.lease.current, () => this.#end === "killed", ended);
		turn.over = over;
		this.lease.driving(over);
		this.table.agent.children?.driven(this.storeKey, turn.run, over);
		if (this.#isBlocked) this.lease.wake();
		if (this.#end !== "killed") return;
		// Its commit was in progress when the session was killed, and arrived after the kill.
		turn.run.stop("kill");
		this.#late = over.then(() => this.#recordEnd?.()).catch(() => {});
	}

	/** Settles when a run that a request began after the kill has ended. */
	get late(): Promise<unknown> | undefined {
		return this.#late;
	}

	#ended(turn: Turn, outcome: DriveOutcome): void {
		const { run, handle, frame, steered } = turn;
		const waits = outcome.kind === "left" && outcome.reason === "waiting";
		this.#turn = undefined;
		if (run.state.run?.status === "waiting" || run.round !== undefined) this.watchDeadline(run.state);
		if (outcome.kind === "ended" && outcome.outcome !== "killed") this.lease.ended(run.state);
		else this.lease.left(waits ? run.state : undefined);
		if (waits) {
			const { overlays } = frame.policy;
			if (overlays !== undefined) this.#shown = { runId: run.runId, overlays };
			handle.waits(() => interrupt(this.queue, run.runId));
			if (run.stopReason === "interrupt") handle.interrupt(); // requested while the run started to wait
		}
		frame.close(outcome);
		handle.concluded(run, outcome, frame);
		const continues = waits && waitsForTime(run.state.run);
		if (outcome.kind === "left" && outcome.reason !== "lease_lost" && !continues) {
			// After a run that was left open, the queue must also wait until the run is resumed.
			const why = outcome.error ?? (waits ? runBeforeWaits : runBeforeSuspended)(this.sessionKey);
			this.#leaveQueued(outcome.reason === "waiting" ? "suspended" : outcome.reason, why);
		} else if (this.#end !== "killed") {
			// Accepted inputs are never lost: each input that the run did not take becomes a turn of its own.
			for (const said of steered) {
				// The sender handles inputs that are still being stored in the inbox.
				if (said.storing !== undefined || run.inputs.took(said.inputId)) continue;
				said.turn = this.queueLeftOver(said);
				said.turn.detach(); // the caller has the run's own handle
			}
		}
		if (waits && mayMiss(turn)) void continueAnswered(this.queue);
		if (this.mailbox.length > 0) this.queue.wake();
		else if (mayLeave(turn, outcome)) this.#lookForLeft().catch(() => this.#lookLater());
		else if (!this.queue.isBusy) this.table.rested(this.storeKey);
	}

	/** The inbox may still contain inputs for a run that ended without accepting them, or answers to its calls. */
	async #lookForLeft(): Promise<void> {
		await this.queue.ask("look", async () => {
			if (this.#turn === undefined && (await this.open()) === "ours") await dropLateAnswers(this);
		});
	}

	#lookLater(): void {
		const isUsable = (): boolean => this.#end === undefined;
		this.table.later.set(this.#look, () => this.#lookForLeft(), isUsable);
	}

	get #look(): string {
		return `look ${this.storeKey}`;
	}

	get #deadline(): string {
		return `deadline ${this.storeKey}`;
	}

	/** Queued turns stay in the inbox until the session is resumed. */
	#leaveQueued(reason: "suspended" | "journal_failed" | "killed" | "parked", error: unknown): void {
		const { agent } = this.lease.state;
		const left = this.mailbox.removeAll();
		for (const { run } of left) run.abandon(reason, error, agent);
		if (reason !== "killed" && left.some(({ stage }) => stage !== "new"))
			this.table.local.left.add(this.storeKey);
		// These turns have no handles.
		if (reason === "journal_failed" && left.some(({ origin }) => origin === "left-over")) this.#lookLater();
	}

	/** Marks the session as idle if it has nothing to do. */
	restIfIdle(): void {
		if (this.queue.isIdle) this.table.rested(this.storeKey);
	}
}
