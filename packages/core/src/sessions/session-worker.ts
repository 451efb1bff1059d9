// One session in this process: it accepts turns, and drives one run after the other (keeps I4).
// One thing at a time: the turnstile is busy while the session is taken and a run started, `active` is set while one is
// driven. Whoever ends either of them calls `pump`, which goes on with what waits.
import {
	type DriveOutcome,
	type EngineAgent,
	type Place,
	type Run,
	sessionKilled,
	waitFor,
} from "../engine/index.ts";
import { type AcceptedInput, inputFact, storedInput } from "../facts/index.ts";
import type { Journal, MaybePromise } from "../host/index.ts";
import type { AgentState } from "../state/index.ts";
import { sendTurn } from "./accept-turn.ts";
import { AgentRun } from "./agent-run.ts";
import { killSession } from "./kill-session.ts";
import { PendingInputs } from "./pending-inputs.ts";
import type { Seat } from "./session.ts";
import {
	agentClosed,
	awaitsItself,
	isParked,
	runBeforeSuspended,
	runBeforeWaits,
	sessionBusy,
	sessionHeld,
} from "./session-errors.ts";
import { SessionHold } from "./session-hold.ts";
import { SessionOpening } from "./session-opening.ts";
import { type ActiveRun, isRunning, SessionRunner } from "./session-runner.ts";
import type { SessionTable } from "./session-table.ts";
import { SessionWaiting } from "./session-waiting.ts";
import { processPlace } from "./store-here.ts";
import { type QueuedTurn, TurnQueue } from "./turn-queue.ts";
import { Turnstile } from "./turnstile.ts";

export class SessionWorker {
	readonly seat: Seat = { worker: this };
	readonly table: SessionTable;
	/** Where the session stands in the store. */
	readonly place: string;
	/** The caller's key. */
	readonly key: string;
	readonly hold: SessionHold;
	readonly queue: TurnQueue;
	readonly opening: SessionOpening;
	readonly runner: SessionRunner;
	active: ActiveRun | undefined;
	readonly turnstile: Turnstile;
	readonly pendingInputs: PendingInputs = new PendingInputs();
	#closing = false;
	killed = false;
	/** Whether the kill is recorded, or failed. */
	#over = false;
	#waiting: SessionWaiting | undefined;
	/** Overlays that wait for the next turn. */
	#overlays: AcceptedInput[] = [];

	constructor(table: SessionTable, place: string, key: string) {
		const { agent, journal } = table;
		this.table = table;
		this.place = place;
		this.key = key;
		this.hold = new SessionHold(journal, place, agent.engine.ports.timers, () => this.resolve());
		this.queue = new TurnQueue(journal, place);
		this.turnstile = new Turnstile(
			// What was adopted while the session was killed is for the next worker of this session.
			() => this.#over && this.#leaveQueued("killed", sessionKilled()),
			() => this.queue.length > 0 && queueMicrotask(() => this.pump()),
		);
		this.opening = new SessionOpening(this);
		this.runner = new SessionRunner(this);
	}

	get agent(): EngineAgent {
		return this.table.agent.engine;
	}

	/** The agent that the next turn is worked on with. */
	resolve(): MaybePromise<EngineAgent> {
		const { agent } = this.table;
		const resolved = agent.resolve?.({ sessionKey: this.key, namespace: agent.namespace });
		if (resolved instanceof Promise) return resolved.then((engine) => engine ?? agent.engine);
		return resolved ?? agent.engine;
	}

	get journal(): Journal {
		return this.table.journal;
	}

	/** What is said of it from outside. Made when it is first needed, for most sessions never wait. */
	get waiting(): SessionWaiting {
		this.#waiting ??= new SessionWaiting(this);
		return this.#waiting;
	}

	/** Makes way for another worker of the same session, unless there is something to do or to remember. */
	retire(): boolean {
		if (!this.idle || this.watchesDeadline || this.#overlays.length > 0) return false;
		if (this.table.later.has(this.#look)) return false;
		this.seat.worker = undefined;
		this.hold.giveUp(); // stores remember the leases that stand
		return true;
	}

	/** Whether nothing is under way and nothing waits. */
	get idle(): boolean {
		return this.active === undefined && this.queue.length === 0 && !this.turnstile.busy;
	}

	/** Whether it sees to it that a call fails in time. */
	get watchesDeadline(): boolean {
		return this.#waiting?.watchesDeadline === true;
	}

	/** Accepts a turn: durable when this resolves. It starts when the turns before it have ended. */
	send(input: AcceptedInput): Promise<AgentRun> {
		return sendTurn(this, input);
	}

	/** Tells a notice that waits in a run of its own; null when another run has taken it. */
	async tellNotice(runId: string, noticeId: string): Promise<AgentRun | null> {
		this.queue.promote(noticeId, this.handleOf(runId));
		try {
			return await this.takeUp(runId);
		} finally {
			this.queue.demote(noticeId);
		}
	}

	/** Goes on with a run that nobody works on, or starts it; null when it is over or in other hands. */
	async takeUp(runId: string): Promise<AgentRun | null> {
		for (;;) {
			const active = this.active;
			if (active?.run.runId === runId || this.queue.find(runId) !== undefined) return null;
			if (active === undefined) break;
			await this.wait(processPlace(this.table.here, this.place), () => active.over);
		}
		try {
			const resumed = await this.resume();
			if (resumed?.runId === runId) return resumed;
			// Nobody else has the handle of a run that was found open, and it must not wait for a consumer.
			if (this.active?.recovered === true) resumed?.letGo();
		} catch (error) {
			if ((error as { code?: unknown }).code !== "session_held") throw error;
		}
		return this.queue.find(runId)?.run ?? null;
	}

	/** Goes on with a run that was left open by a crash or suspension; null when there is none. */
	resume(): Promise<AgentRun | null> {
		return this.#goOn("stays");
	}

	/** Like `resume`, and goes on with a run that was parked. */
	release(): Promise<AgentRun | null> {
		return this.#goOn("goes-on");
	}

	async #goOn(parked: "stays" | "goes-on"): Promise<AgentRun | null> {
		this.ensureUsable();
		while (this.turnstile.busy && !this.turnstile.heldElsewhere) await this.passed();
		if (this.active !== undefined) return this.active.handle;
		if (this.turnstile.busy) throw sessionHeld(this.key);
		// What others did since this process worked on the session must be seen.
		this.hold.drop();
		const handle = await this.turnstile.through(async () => {
			for (;;) {
				const session = await this.opening.open();
				// Another living worker has the session, or the turn before ours.
				if (session !== "ours") throw sessionHeld(this.key);
				if (this.hold.openRunId === undefined && this.queue.first === undefined) return null;
				if (this.hold.waits) {
					this.waiting.watchDeadlines(this.hold.state);
					return null; // for somebody outside
				}
				if (await this.#startNext(parked)) return this.active?.handle ?? null;
			}
		});
		if (this.idle) this.table.rested(this);
		return handle;
	}

	/** Puts an input before the active run; a turn of its own where there is none, or no more. */
	async steer(input: AcceptedInput): Promise<AgentRun> {
		this.ensureUsable();
		while (this.active === undefined && this.turnstile.busy && !this.turnstile.heldElsewhere)
			await this.passed();
		this.ensureUsable(); // it may have been killed meanwhile
		const active = this.active;
		if (active === undefined) return (await this.waiting.take(input)) ?? this.send(input);
		if (!isRunning(active.run)) return this.send(input);
		const inputId = input.message.id;
		const { runId } = active.run;
		const { workerId } = this.journal;
		await this.pendingInputs.arrived(
			this.journal.submit(this.place, {
				id: inputId,
				kind: "steer",
				runId,
				workerId,
				body: storedInput(input),
			}),
		);
		active.run.offer({ inputId, fact: (placement) => inputFact(inputId, input, placement) });
		const said: ActiveRun["steered"][number] = { inputId, input };
		active.steered.push(said);
		if (isRunning(active.run)) return active.handle;
		await active.over;
		if (active.run.took(inputId)) return active.handle;
		// The run had ended before the input was in the inbox: there it stands, as the next turn.
		if (said.turn !== undefined) return said.turn;
		const turn = (await this.waiting.take(input, "stored")) ?? this.#queueSteered(inputId, input);
		this.pump();
		return turn;
	}

	/** A turn of what stands in the inbox, said to a run that did not take it in. */
	#queueSteered(inputId: string, input: AcceptedInput): AgentRun {
		const run = this.handleOf(this.agent.ports.ids.uuid());
		this.queue.push({ run, input, inputId, place: "stored", isLeftOver: true });
		return run;
	}

	/** Context for the rest of the active turn, else for the next. */
	overlay(input: AcceptedInput): void {
		this.ensureUsable();
		const active = this.active;
		if (active === undefined || !isRunning(active.run)) this.#overlays.push(input);
		else active.frame.overlay(input);
	}

	interrupt(): void {
		this.active?.handle.interrupt();
	}

	/**
	 * Ends all runs: recorded first, then told to this process. `removed` is the removal of the whole session, which
	 * records the end in its own way.
	 */
	async kill(removed?: () => Promise<void>): Promise<void> {
		this.killed = true;
		this.table.later.callOff(this.#look);
		this.#waiting?.close();
		this.hold.wake();
		try {
			// What is on its way into the inbox must be there, to be taken out.
			await this.pendingInputs.settled();
			await (removed?.() ?? killSession(this.journal, this.place, this.agent.ports));
		} finally {
			this.#over = true;
			this.active?.run.stop("kill");
			this.#leaveQueued("killed", sessionKilled());
			// Where the end could not be recorded, others may go on with the run.
			this.hold.giveUp();
		}
	}

	/** The conversation as committed, with what other processes added. */
	async state(): Promise<AgentState> {
		this.ensureUsable();
		return this.active?.run.state.agent ?? (await this.hold.read());
	}

	handleOf(runId: string): AgentRun {
		return new AgentRun(runId, this.key, processPlace(this.table.here, this.place));
	}

	/** Resolves when the turnstile may be free. */
	passed(): Promise<void> {
		return this.wait(this.turnstile, () => this.turnstile.passed());
	}

	/** Waits for what happens in this session; where that would be for ever it rejects with `session_busy`. */
	wait<T>(place: Place, what: () => Promise<T>): Promise<T> {
		return waitFor(place, what, () => awaitsItself(this.key));
	}

	/** Suspends what is under way, lets go of what waits, and gives the session up. */
	async close(): Promise<void> {
		this.#closing = true;
		this.hold.wake();
		await this.wait(this.turnstile, () => this.turnstile.quiet());
		this.active?.handle.suspend();
		await this.active?.over;
		if (this.queue.length > 0) this.#leaveQueued("suspended", agentClosed());
		this.hold.giveUp();
		await this.hold.released();
	}

	/** Sees to it that what waits is started, some time after this. */
	pump(): void {
		if (this.queue.length === 0 || this.turnstile.busy || this.active !== undefined) return;
		if (!this.isUsable) return;
		void this.turnstile.through(async () => {
			try {
				await this.#startWaiting();
			} catch (error) {
				// Before the turnstile is free: whoever came through it would find the same queue, and fail at it again.
				this.#leaveQueued(isParked(error) ? "parked" : "journal_failed", error);
			}
		});
	}

	/** Starts the first of what waits, as soon as the session is ours. */
	async #startWaiting(): Promise<void> {
		while (this.queue.length > 0 && this.isUsable) {
			const session = await this.opening.open();
			this.turnstile.held(session === "held");
			if (session !== "ours") {
				this.hold.drop();
				await this.hold.changed();
			} else if (this.hold.waits) {
				// Whoever answers the calls of the run before goes on with these turns.
				this.hold.giveUp();
				this.#leaveQueued("suspended", runBeforeWaits(this.key));
			} else if (await this.#startNext("stays")) {
				// Nobody asked for the run of a process that died: it waits for no consumer.
				if (this.active?.recovered === true) this.active.handle.letGo();
				return;
			}
		}
	}

	/** Goes on with the open run, else starts the first turn. False when another worker was faster. */
	#startNext(parked: "stays" | "goes-on"): Promise<boolean> {
		if (this.hold.openRunId !== undefined) return this.runner.recover(parked);
		const turn = this.queue.first;
		return turn === undefined ? Promise.resolve(false) : this.begin(turn);
	}

	/** Starts the turn that is first. False when another worker was faster. */
	begin(turn: QueuedTurn): Promise<boolean> {
		return this.runner.start(turn, this.#overlays);
	}

	/** The drive of a run is over. */
	ended({ run, handle, frame, steered, recovered }: ActiveRun, outcome: DriveOutcome): void {
		this.active = undefined;
		if (run.state.run?.status === "waiting") this.waiting.watchDeadlines(run.state);
		if (outcome.kind === "ended" && outcome.outcome !== "killed") this.hold.ended(run.state);
		else this.hold.left();
		frame.close(outcome);
		handle.concluded(run, outcome, frame);
		// Behind a run that was left open the queue must wait, too, until somebody resumes it.
		if (outcome.kind === "left" && outcome.reason !== "lease_lost")
			this.#leaveQueued(
				outcome.reason === "waiting" ? "suspended" : outcome.reason,
				outcome.error ?? (outcome.reason === "waiting" ? runBeforeWaits : runBeforeSuspended)(this.key),
			);
		else if (!this.killed) this.#keepSteered(run, steered);
		if (this.queue.length > 0) this.pump();
		else if (recovered && outcome.kind === "ended" && outcome.outcome !== "completed")
			this.#lookForSteered().catch(() => this.#lookLater());
		else this.table.rested(this);
	}

	/** Nothing that was accepted is lost: what the run did not take in is a turn of its own. */
	#keepSteered(run: Run, steered: ActiveRun["steered"]): void {
		for (const said of steered) {
			if (run.took(said.inputId)) continue;
			said.turn = this.#queueSteered(said.inputId, said.input);
			said.turn.letGo(); // whoever said it has the run's own handle
		}
	}

	/** What was said to a run that ended without it may still stand in the inbox. */
	async #lookForSteered(): Promise<void> {
		if (this.active !== undefined || this.turnstile.busy) throw sessionBusy(this.key);
		try {
			await this.turnstile.through(() => this.opening.open());
		} finally {
			if (this.idle) this.table.rested(this);
		}
	}

	/** Names this among what is done later. */
	get #look(): string {
		return `look ${this.place}`;
	}

	#lookLater(): void {
		const isUsable = (): boolean => this.isUsable;
		this.table.later.set(this.#look, () => this.#lookForSteered(), isUsable);
	}

	/** Turns that waited stay in the inbox, for whoever resumes the session. */
	#leaveQueued(reason: "suspended" | "journal_failed" | "killed" | "parked", error: unknown): void {
		const { agent } = this.hold.state;
		const left = this.queue.removeAll();
		for (const { run } of left) run.neverStarted(reason, error, agent);
		// Nobody was told of these.
		if (reason === "journal_failed" && left.some((turn) => turn.isLeftOver)) this.#lookLater();
	}

	/** Whether it was neither killed nor closed. */
	get isUsable(): boolean {
		return !this.killed && !this.#closing;
	}

	ensureUsable(): void {
		if (this.killed) throw sessionKilled();
		if (this.#closing) throw agentClosed();
	}
}
