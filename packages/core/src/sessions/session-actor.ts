// One session in this process. It owns the session's states and alone moves between them; the pieces it calls (the opening
// with lease and mailbox, the turns) are handed what they need and never call back (keeps I4).
//
//   idle      nothing is under way, nothing is queued; the lease and the folded state may be kept
//   opening   the session is acquired, the queue brought in line, a run begun or resumed; one at a time (`exclusive`),
//             and `isBlocked` while another worker has the session
//   running   a run is driven (`turn`)
//   closed    the agent was closed; what was under way is left open
//   killed    the session was killed or deleted; the next handle gets another actor
//
//   idle → opening     a request (session-requests.ts, outside-requests.ts), a call whose time is over, a turn that is queued
//   opening → running  the commit that begins or resumes a run went through
//   opening → idle     nothing to do, not ours, or the run waits for someone outside, is parked, or could not be read
//   running → opening  the run is over and turns are queued
//   running → idle     the run is over, or was left open: then what is queued stays in the inbox
//   any → closed, any → killed
import { type DriveOutcome, type ProcessKey, sessionKilled, waitFor } from "../engine/index.ts";
import type { AcceptedInput, SessionState } from "../facts/index.ts";
import type { MaybePromise } from "../host/index.ts";
import type { TurnOverlays } from "../policy/index.ts";
import { AgentRun } from "./agent-run.ts";
import { watchDeadline } from "./deadlines.ts";
import { Exclusive, type ExclusiveOwner } from "./exclusive.ts";
import type { Mailbox, QueuedTurn } from "./mailbox.ts";
import type { Resumption } from "./resume-turn.ts";
import {
	agentClosed,
	awaitsItself,
	isParked,
	runBeforeSuspended,
	runBeforeWaits,
	sessionBusy,
} from "./session-errors.ts";
import type { SessionLease } from "./session-lease.ts";
import { type Opened, SessionOpening } from "./session-opening.ts";
import type { SessionScope } from "./session-scope.ts";
import type { Settlement } from "./settlement.ts";
import { driveTurn, isRunning, type Steered, type Turn } from "./turn.ts";

/** By this a handle knows its actor. It is empty once the actor has retired; a killed one stays, to say so. */
export interface Seat {
	actor: SessionActor | undefined;
}

export class SessionActor implements ExclusiveOwner {
	readonly seat: Seat = { actor: this };
	readonly scope: SessionScope;
	readonly exclusive: Exclusive;
	readonly #opening: SessionOpening;
	#turn: Turn | undefined;
	#end: "closed" | "killed" | undefined;
	/** Whether the kill is recorded, or failed. */
	#isKillOver = false;
	/** Overlays that wait for the run that waits, else for the next turn. */
	#overlays: AcceptedInput[] | undefined;
	/** What the run that was left waiting shows its model when it continues here. */
	#shown: { readonly runId: string; readonly overlays: TurnOverlays } | undefined;

	constructor(scope: SessionScope, storeKey: string, sessionKey: string) {
		this.scope = scope;
		this.#opening = new SessionOpening(scope, storeKey, sessionKey);
		this.exclusive = new Exclusive(this);
	}

	/** Under what key the session is in the store. */
	get storeKey(): string {
		return this.#opening.storeKey;
	}

	/** The caller's key. */
	get sessionKey(): string {
		return this.#opening.sessionKey;
	}

	/** The run under way in this process. */
	get turn(): Turn | undefined {
		return this.#turn;
	}

	get lease(): SessionLease {
		return this.#opening.lease;
	}

	get mailbox(): Mailbox {
		return this.#opening.mailbox;
	}

	get isIdle(): boolean {
		return this.#turn === undefined && this.mailbox.length === 0 && !this.exclusive.isBusy;
	}

	/** Whether it is being opened, and does not wait for another worker. */
	get isOpening(): boolean {
		return this.exclusive.isBusy && !this.exclusive.isBlocked;
	}

	/** Whether it sees to it that a call fails in time. */
	get watchesDeadline(): boolean {
		return this.scope.later.has(this.#deadline);
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
		return this.#opening.open();
	}

	/** Begins the turn that is first. False when another worker was faster. */
	begin(queued: QueuedTurn): MaybePromise<boolean> {
		const beginning = this.#opening.begin(queued, (input) => this.scope.steer(this, input));
		return beginning instanceof Promise
			? beginning.then((turn) => this.#begun(turn, queued))
			: this.#begun(beginning, queued);
	}

	#begun(turn: Turn | undefined, queued: QueuedTurn): boolean {
		if (turn === undefined) return false;
		this.#drive(turn);
		if (queued.isAdopted) this.scope.resumed(turn.handle);
		return true;
	}

	/** Context for the rest of the active turn, else for the next. */
	overlay(input: AcceptedInput): void {
		this.ensureUsable();
		if (this.#turn !== undefined && isRunning(this.#turn)) void this.#turn.frame.overlay(input);
		else {
			this.#overlays ??= [];
			this.#overlays.push(input);
		}
	}

	/** Makes a turn of what is in the inbox, said to a run that did not take it in. */
	queueLeftOver({ inputId, input, storing }: Steered): AgentRun {
		const run = this.handle();
		const left = { isSteered: true, isLeftOver: true } as const;
		this.mailbox.pushLeftOver({ run, input, inputId, stage: "stored", ...left }, storing);
		// Who has ended the session may have left the queue already, and nobody looks at it again.
		if (this.#isKillOver) this.#leaveQueued("killed", sessionKilled());
		else if (this.#end === "closed") this.#leaveQueued("suspended", agentClosed());
		return run;
	}

	/** Sees to it that the calls of a run that waits fail in time. */
	watchDeadline(state: SessionState): void {
		// What a sub-agent waits for is due for its parent, too, which continues both.
		if (state.run?.started.runKind === "subagent") return;
		const { later, agent } = this.scope;
		watchDeadline(state, {
			later,
			clock: agent.engine.ports.clock,
			purpose: this.#deadline,
			expire: () => this.scope.expire(this),
			isUsable: () => this.#end === undefined,
		});
	}

	/** Sees to it that what is queued begins, some time after this. */
	pump(): void {
		if (this.mailbox.length === 0 || this.exclusive.isBusy || this.#turn !== undefined) return;
		if (this.#end !== undefined) return;
		void this.exclusive.run(async () => {
			try {
				await this.#beginQueued();
			} catch (error) {
				// Before anybody else opens the session: who did would find the same queue, and fail at it again.
				this.#leaveQueued(isParked(error) ? "parked" : "journal_failed", error);
			}
		});
	}

	workIsDone(): void {
		// What was adopted while the session was killed is for the next actor of this session.
		if (this.#isKillOver) this.#leaveQueued("killed", sessionKilled());
	}

	workIsFree(): void {
		if (this.mailbox.length > 0) queueMicrotask(() => this.pump());
	}

	/** Makes room for others, unless there is something to do or to remember. */
	retire(): boolean {
		const hasOverlays = this.#shown !== undefined || (this.#overlays?.length ?? 0) > 0;
		if (!this.isIdle || this.watchesDeadline || hasOverlays || this.scope.later.has(this.#look)) return false;
		this.seat.actor = undefined;
		this.lease.release(); // stores remember the leases that are held
		return true;
	}

	/** Ends all runs: on record first, which is what `recordEnd` does, then in this process. */
	async kill(recordEnd: () => Promise<unknown>): Promise<void> {
		this.#end = "killed";
		this.scope.later.callOff(this.#look);
		this.scope.later.callOff(this.#deadline);
		this.lease.wake();
		try {
			// What is on its way into the inbox must be there, to be taken out.
			await this.mailbox.settled();
			await recordEnd();
		} finally {
			this.#isKillOver = true;
			this.#turn?.run.stop("kill");
			this.#leaveQueued("killed", sessionKilled());
			// Where the end could not be recorded, others may resume the run.
			this.lease.release();
		}
	}

	/** Suspends what is under way, leaves what is queued, and releases the session. */
	async close(): Promise<void> {
		this.#end ??= "closed";
		this.lease.wake();
		await this.wait(this.exclusive, () => this.exclusive.quiet());
		this.#turn?.handle.suspend();
		await this.#turn?.over;
		if (this.mailbox.length > 0) this.#leaveQueued("suspended", agentClosed());
		this.lease.release();
		await this.lease.released();
	}

	handle(runId: string = this.scope.agent.engine.ports.ids.uuid()): AgentRun {
		return new AgentRun(runId, this.sessionKey, this.#opening.processKey);
	}

	/** Resolves when the session may not be opening any more. */
	passed(): Promise<void> {
		return this.wait(this.exclusive, () => this.exclusive.passed());
	}

	/** Resolves when the turn is over. */
	over(turn: Turn): Promise<unknown> {
		return this.wait(this.#opening.processKey, async () => turn.over);
	}

	/** Waits for what happens in this session; where that would be for ever it rejects with `session_busy`. */
	wait<T>(processKey: ProcessKey, what: () => Promise<T>): Promise<T> {
		return waitFor(processKey, what, () => awaitsItself(this.sessionKey));
	}

	/** Begins the first of what is queued, as soon as the session is ours. */
	async #beginQueued(): Promise<void> {
		while (this.mailbox.length > 0 && this.#end === undefined) {
			const session = await this.open();
			this.exclusive.blocked(session === "held");
			if (session !== "ours") {
				this.lease.drop();
				await this.lease.changed();
			} else if (this.lease.isWaiting) {
				// The answers to the calls of the run before begin these turns.
				this.lease.release();
				this.#leaveQueued("suspended", runBeforeWaits(this.sessionKey));
			} else if ((await this.beginNext("stays")) !== undefined) {
				// Nobody asked for the run of a process that died: it waits for no consumer.
				if (this.#turn?.isResumed === true) this.#turn.handle.detach();
				return;
			}
		}
	}

	/** Resumes the open run, else begins the first turn. Undefined when another worker was faster. */
	async beginNext(parked: Resumption["parked"]): Promise<AgentRun | undefined> {
		if (this.lease.openRunId !== undefined) return this.resumeOpen(parked);
		const { first } = this.mailbox;
		return first !== undefined && (await this.begin(first)) ? first.run : undefined;
	}

	/**
	 * Resumes the open run, with what was settled from outside. Its handle, for the run may be over at once; undefined when
	 * another worker was faster.
	 */
	async resumeOpen(parked: Resumption["parked"], settlement?: Settlement): Promise<AgentRun | undefined> {
		const steer = (input: AcceptedInput): Promise<AgentRun> => this.scope.steer(this, input);
		const turn = await this.#opening.resume({ parked, settlement }, steer, this.exclusive);
		if (turn === undefined) return undefined;
		this.#drive(turn);
		if (settlement === undefined) this.scope.resumed(turn.handle);
		return turn.handle;
	}

	#drive(turn: Turn): void {
		const { run, frame } = turn;
		if (this.#shown?.runId === run.runId) frame.policy.showAgain(this.#shown.overlays);
		this.#shown = undefined;
		for (const overlay of this.#overlays?.splice(0) ?? []) void frame.overlay(overlay);
		const isKilled = (): boolean => this.#end === "killed";
		const over = driveTurn(turn, this.lease.current, isKilled, (outcome) => this.#ended(turn, outcome));
		turn.over = over;
		this.lease.driving(over);
		this.scope.agent.children?.driven(this.storeKey, turn.run, over);
		this.#turn = turn;
	}

	#ended(turn: Turn, outcome: DriveOutcome): void {
		const { run, handle, frame, steered, isResumed } = turn;
		this.#turn = undefined;
		if (run.state.run?.status === "waiting") this.watchDeadline(run.state);
		if (outcome.kind === "ended" && outcome.outcome !== "killed") this.lease.ended(run.state);
		else this.lease.left();
		const { runId } = run;
		if (outcome.kind === "left" && outcome.reason === "waiting") {
			const { overlays } = frame.policy;
			if (overlays !== undefined) this.#shown = { runId, overlays };
			handle.waits(() => this.scope.interrupt(this, runId));
			// It was asked to end while it began to wait.
			if (run.stopReason === "interrupt") handle.interrupt();
		}
		frame.close(outcome);
		handle.concluded(run, outcome, frame);
		if (outcome.kind === "left" && outcome.reason !== "lease_lost") {
			// After a run that was left open the queue must wait, too, until somebody resumes it.
			const waits = outcome.reason === "waiting";
			const why = outcome.error ?? (waits ? runBeforeWaits : runBeforeSuspended)(this.sessionKey);
			this.#leaveQueued(outcome.reason === "waiting" ? "suspended" : outcome.reason, why);
		} else if (this.#end !== "killed") {
			// Nothing that was accepted is lost: what the run did not take in is a turn of its own.
			for (const said of steered) {
				if (run.inputs.took(said.inputId)) continue;
				said.turn = this.queueLeftOver(said);
				said.turn.detach(); // the caller has the run's own handle
			}
		}
		if (this.mailbox.length > 0) this.pump();
		else if (isResumed && outcome.kind === "ended" && outcome.outcome !== "completed")
			this.#lookForSteered().catch(() => this.#lookLater());
		else this.scope.rested(this.storeKey);
	}

	/** What was said to a run that ended without it may still be in the inbox. */
	async #lookForSteered(): Promise<void> {
		if (this.#turn !== undefined || this.exclusive.isBusy) throw sessionBusy(this.sessionKey);
		try {
			await this.exclusive.run(() => this.open());
		} finally {
			this.restIfIdle();
		}
	}

	#lookLater(): void {
		const isUsable = (): boolean => this.#end === undefined;
		this.scope.later.set(this.#look, () => this.#lookForSteered(), isUsable);
	}

	/** Names this among what is done later. */
	get #look(): string {
		return `look ${this.storeKey}`;
	}

	/** Names the end of a call's time among what is done later. */
	get #deadline(): string {
		return `deadline ${this.storeKey}`;
	}

	/** Turns that are queued stay in the inbox until the session is resumed. */
	#leaveQueued(reason: "suspended" | "journal_failed" | "killed" | "parked", error: unknown): void {
		const { agent } = this.lease.state;
		const left = this.mailbox.removeAll();
		for (const { run } of left) run.abandon(reason, error, agent);
		if (reason !== "killed" && left.some(({ stage }) => stage !== "new"))
			this.scope.local.left.add(this.storeKey);
		// Nobody has the handles of these.
		if (reason === "journal_failed" && left.some((turn) => turn.isLeftOver)) this.#lookLater();
	}

	/** Notes that there is nothing to do, if that is so. */
	restIfIdle(): void {
		if (this.isIdle) this.scope.rested(this.storeKey);
	}
}
