// One session in this process: it accepts turns, and drives one run after the other (keeps I4).
// One thing at a time: `#turning` is set while the session is taken and a run started, `#active` while one is driven.
// Whoever ends either of them calls `#pump`, which goes on with what waits.
import { type DriveOutcome, drive, type EngineAgent, Run, sessionKilled } from "../engine/index.ts";
import type { Fact, Journal, Lease, MaybePromise } from "../journal/index.ts";
import type { AgentState } from "../state/index.ts";
import { AgentRun } from "./agent-run.ts";
import { commitFirst } from "./commit-first.ts";
import { type AcceptedInput, inputFact, storedInput } from "./input.ts";
import { killSession } from "./kill-session.ts";
import { ownMoment } from "./own-moment.ts";
import { recordingOf } from "./recording.ts";
import type { SessionAgent } from "./session-agent.ts";
import { agentClosed, runBeforeSuspended, sessionHeld, startedElsewhere } from "./session-errors.ts";
import { SessionHold } from "./session-hold.ts";
import type { SessionRecords } from "./session-records.ts";
import { TurnFrame } from "./turn-frame.ts";
import { type QueuedTurn, readInput, storedMessage, TurnQueue } from "./turn-queue.ts";

/** Milliseconds that another living worker has for starting a turn of its own that stands before ours. */
const yieldsFor = 2_000;

interface ActiveRun {
	readonly run: Run;
	readonly handle: AgentRun;
	readonly over: Promise<unknown>;
	readonly recovered: boolean;
	readonly frame: TurnFrame;
	/** What was said to it in this process, by input id, and the turn it became when the run did not take it in. */
	readonly steered: Map<string, { readonly input: AcceptedInput; turn?: AgentRun }>;
}

/** What a worker works with. */
export interface SessionParts {
	readonly agent: SessionAgent;
	readonly journal: Journal;
	/** Where the session stands in the store. */
	readonly place: string;
	/** The caller's key. */
	readonly key: string;
	/** Undefined where no records are kept. */
	readonly records?: SessionRecords | undefined;
	/** Whether other sessions are at work. Default: none are. */
	readonly othersWork?: () => boolean;
}

export class SessionWorker {
	/** Where the session stands in the store. */
	readonly place: string;
	readonly #sessionAgent: SessionAgent;
	readonly #journal: Journal;
	readonly #key: string;
	readonly #records: SessionRecords | undefined;
	readonly #othersWork: () => boolean;
	readonly #rested: () => void;
	readonly #hold: SessionHold;
	readonly #queue: TurnQueue;
	#active: ActiveRun | undefined;
	#turning: Promise<unknown> | undefined;
	/** Whether the next run waits for another worker that is alive. */
	#heldElsewhere = false;
	readonly #sleepers: (() => void)[] = [];
	/** Inputs on their way into the inbox. */
	readonly #submitting: Set<Promise<unknown>> = new Set();
	/** The input of another worker that went before ours last, and since when it may. */
	#yielded: { readonly inputId: string; readonly since: number } | undefined;
	#closing = false;
	#killed = false;
	/** Whether the kill is recorded, or failed. */
	#over = false;
	#retired = false;
	/** Overlays that wait for the next turn. */
	#overlays: AcceptedInput[] = [];

	constructor(parts: SessionParts, rested: () => void) {
		const { agent, journal, place, key, records, othersWork = () => false } = parts;
		this.#sessionAgent = agent;
		this.#journal = journal;
		this.place = place;
		this.#key = key;
		this.#records = records;
		this.#othersWork = othersWork;
		this.#rested = rested;
		this.#hold = new SessionHold(agent, journal, place);
		this.#queue = new TurnQueue(journal, place);
	}

	get #agent(): EngineAgent {
		return this.#sessionAgent.engine;
	}

	/** The key as the caller gave it. */
	get key(): string {
		return this.#key;
	}

	/** Whether handles must ask for another worker; a killed one is kept, to say so. */
	get retired(): boolean {
		return this.#retired;
	}

	/** Makes way for another worker of the same session, unless there is something to do or to remember. */
	retire(): boolean {
		if (this.idle && this.#overlays.length === 0) this.#retired = true;
		return this.#retired;
	}

	/** Whether nothing is under way and nothing waits. */
	get idle(): boolean {
		return this.#active === undefined && this.#queue.length === 0 && this.#turning === undefined;
	}

	/** Accepts a turn: durable when this resolves. It starts when the turns before it have ended. */
	async send(input: AcceptedInput): Promise<AgentRun> {
		this.#ensureUsable();
		const run = new AgentRun(this.#agent.ports.ids.uuid(), this.#key);
		const turn: QueuedTurn = { run, input, inputId: input.message.id, place: "new" };
		const atOnce = this.idle;
		this.#queue.push(turn);
		try {
			if (atOnce) await this.#exclusively(() => this.#startOrStore(turn));
			else await this.#store(turn);
		} catch (error) {
			// What stands in the store is another's, or cannot be read: that is how this run ends, and there it stays.
			if (!endsRun(error)) throw error;
			run.neverStarted("journal_failed", error, this.#hold.state.agent);
		}
		this.#pump();
		return run;
	}

	/**
	 * Accepts a turn under an id and a dedupe key that were chosen before. Null when it was accepted before, and is over
	 * or in other hands.
	 */
	async deliver(runId: string, input: AcceptedInput, dedupeKey: string): Promise<AgentRun | null> {
		this.#ensureUsable();
		const run = new AgentRun(runId, this.#key);
		const turn: QueuedTurn = { run, input, inputId: input.message.id, place: "new", dedupeKey };
		this.#queue.push(turn);
		if ((await this.#queue.store(turn)) === "duplicate") return this.takeUp(runId);
		this.#pump();
		return run;
	}

	/** Tells a notice that waits in a run of its own; null when another run has taken it. */
	async tellNotice(runId: string, noticeId: string): Promise<AgentRun | null> {
		this.#queue.promote(noticeId, new AgentRun(runId, this.#key));
		try {
			return await this.takeUp(runId);
		} finally {
			this.#queue.demote(noticeId);
		}
	}

	/** Goes on with a run that nobody works on, or starts it; null when it is over or in other hands. */
	async takeUp(runId: string): Promise<AgentRun | null> {
		for (;;) {
			const active = this.#active;
			if (active?.run.runId === runId || this.#queue.find(runId) !== undefined) return null;
			if (active === undefined) break;
			await active.over;
		}
		try {
			const resumed = await this.resume();
			if (resumed?.runId === runId) return resumed;
			// Nobody else has the handle of a run that was found open, and it must not wait for a consumer.
			if (this.#active?.recovered === true) void resumed?.result();
		} catch (error) {
			if ((error as { code?: unknown }).code !== "session_held") throw error;
		}
		return this.#queue.find(runId)?.run ?? null;
	}

	/** Goes on with a run that was left open by a crash or suspension; null when there is none. */
	async resume(): Promise<AgentRun | null> {
		this.#ensureUsable();
		while (this.#turning !== undefined && !this.#heldElsewhere) await this.#turned();
		if (this.#active !== undefined) return this.#active.handle;
		if (this.#turning !== undefined) throw sessionHeld(this.#key);
		// What others did since this process worked on the session must be seen.
		this.#hold.drop();
		const handle = await this.#exclusively(async () => {
			for (;;) {
				const session = await this.#open();
				// Another living worker has the session, or the turn before ours.
				if (session !== "ours") throw sessionHeld(this.#key);
				if (this.#hold.openRunId === undefined && this.#queue.first === undefined) return null;
				if (await this.#startNext()) return this.#active?.handle ?? null;
			}
		});
		if (this.idle) this.#rested();
		return handle;
	}

	/** Puts an input before the active run; a turn of its own where there is none, or no more. */
	async steer(input: AcceptedInput): Promise<AgentRun> {
		this.#ensureUsable();
		while (this.#active === undefined && this.#turning !== undefined && !this.#heldElsewhere)
			await this.#turned();
		this.#ensureUsable(); // it may have been killed meanwhile
		const active = this.#active;
		if (active === undefined || !isRunning(active.run)) return this.send(input);
		const inputId = input.message.id;
		const { runId } = active.run;
		const { workerId } = this.#journal;
		await this.#submitted(
			this.#journal.submit(this.place, {
				id: inputId,
				kind: "steer",
				runId,
				workerId,
				body: storedInput(input),
			}),
		);
		active.run.offer({ inputId, fact: (placement) => inputFact(inputId, input, placement) });
		const said: { readonly input: AcceptedInput; turn?: AgentRun } = { input };
		active.steered.set(inputId, said);
		if (isRunning(active.run)) return active.handle;
		await active.over;
		if (active.run.took(inputId)) return active.handle;
		// The run had ended before the input was in the inbox: there it stands, as the next turn.
		if (said.turn !== undefined) return said.turn;
		const turn = this.#queueSteered(inputId, input);
		this.#pump();
		return turn;
	}

	/** What was said to a run that did not take it in stands in the inbox, as a turn of its own. */
	#queueSteered(inputId: string, input: AcceptedInput): AgentRun {
		const run = new AgentRun(this.#agent.ports.ids.uuid(), this.#key);
		this.#queue.push({ run, input, inputId, place: "stored" });
		return run;
	}

	/** Context for the rest of the active turn, else for the next. */
	overlay(input: AcceptedInput): void {
		this.#ensureUsable();
		const active = this.#active;
		if (active === undefined || !isRunning(active.run)) this.#overlays.push(input);
		else active.frame.overlay(input);
	}

	interrupt(): void {
		this.#active?.handle.interrupt();
	}

	/**
	 * Ends all runs: recorded first, then told to this process. `removed` is the removal of the whole session, which
	 * records the end in its own way.
	 */
	async kill(removed?: () => Promise<void>): Promise<void> {
		this.#killed = true;
		this.#hold.wake();
		try {
			// What is on its way into the inbox must be there, to be taken out.
			if (this.#submitting.size > 0) await Promise.allSettled(this.#submitting);
			await (removed?.() ?? killSession(this.#journal, this.place, this.#agent.ports));
		} finally {
			this.#over = true;
			this.#active?.run.stop("kill");
			this.#leaveQueued("killed", sessionKilled());
			// Where the end could not be recorded, others may go on with the run.
			this.#hold.giveUp();
		}
	}

	/** The conversation as committed, with what other processes added. */
	async state(): Promise<AgentState> {
		this.#ensureUsable();
		return this.#active?.run.state.agent ?? (await this.#hold.read());
	}

	/** Suspends what is under way, lets go of what waits, and gives the session up. */
	async close(): Promise<void> {
		this.#closing = true;
		this.#hold.wake();
		await this.#turning?.catch(() => {});
		this.#active?.handle.suspend();
		await this.#active?.over;
		this.#leaveQueued("suspended", agentClosed());
		this.#hold.giveUp();
		await this.#hold.released();
	}

	/** The fast way: where nothing is before this turn, its start is its acceptance. */
	async #startOrStore(turn: QueuedTurn): Promise<void> {
		try {
			const { ready } = this.#sessionAgent;
			if (ready !== undefined) await ready;
			if (this.#othersWork()) await ownMoment();
			const ours = (await this.#open()) === "ours";
			if (this.#killed) throw sessionKilled();
			const first = ours && this.#hold.openRunId === undefined && this.#queue.first === turn;
			if (first && (await this.#start(turn))) return;
			if (this.#killed) throw sessionKilled();
		} catch (error) {
			this.#queue.remove(turn);
			throw error;
		}
		// An unfinished run comes first, and so does whoever holds the session: this turn waits for its place.
		await this.#store(turn);
	}

	/** An input on its way into the inbox: a kill lets it arrive, to take it out with the others. */
	async #submitted(storing: MaybePromise<unknown>): Promise<void> {
		if (!(storing instanceof Promise)) return;
		this.#submitting.add(storing);
		try {
			await storing;
		} finally {
			this.#submitting.delete(storing);
		}
	}

	/** Accepts a turn that does not start at once. */
	async #store(turn: QueuedTurn): Promise<void> {
		await this.#submitted(this.#queue.store(turn));
		const { runId } = turn.run;
		const kind = turn.input.origin?.runKind ?? "user-turn";
		// The turn is accepted; a record that cannot be made now is made when the run starts.
		await this.#records?.queued({ runId, sessionKey: this.#key, kind }).catch(() => {});
	}

	/** Sees to it that what waits is started, some time after this. */
	#pump(): void {
		if (this.#queue.length === 0 || this.#turning !== undefined || this.#active !== undefined) return;
		if (this.#closing || this.#killed) return;
		const started = this.#exclusively(async () => {
			while (this.#queue.length > 0 && !this.#closing && !this.#killed) {
				const session = await this.#open();
				this.#heldElsewhere = session === "held";
				if (this.#heldElsewhere) this.#wakeAll();
				if (session !== "ours") {
					this.#hold.drop();
					await this.#hold.changed();
				} else if (await this.#startNext()) {
					// Nobody asked for the run of a process that died: it waits for no consumer.
					if (this.#active?.recovered === true) void this.#active.handle.result();
					return;
				}
			}
		});
		started.catch((error) => this.#leaveQueued("journal_failed", error));
	}

	/** Resolves when what is under way is done, or waits for another worker. */
	#turned(): Promise<void> {
		return new Promise((resolve) => this.#sleepers.push(resolve));
	}

	#wakeAll(): void {
		if (this.#sleepers.length > 0) for (const wake of this.#sleepers.splice(0)) wake();
	}

	/** Nothing else is taken, started or resumed while `work` is under way. */
	async #exclusively<T>(work: () => Promise<T>): Promise<T> {
		const turning = work();
		this.#turning = turning;
		try {
			return await turning;
		} finally {
			this.#turning = undefined;
			this.#heldElsewhere = false;
			// What was adopted while the session was killed is for the next worker of this session.
			if (this.#over) this.#leaveQueued("killed", sessionKilled());
			this.#wakeAll();
			if (this.#queue.length > 0) queueMicrotask(() => this.#pump());
		}
	}

	/** Makes sure that the session is ours, its state known and the queue in order. */
	async #open(): Promise<"ours" | "held" | "others-first"> {
		const lease = this.#hold.lease ?? (await this.#hold.take());
		if (lease === undefined) {
			this.#yielded = undefined; // nobody can start a turn now, so nobody takes too long
			return "held";
		}
		const { openRunId } = this.#hold;
		if (openRunId !== undefined && (await this.#records?.take(openRunId)) === false) {
			this.#hold.drop();
			return "held";
		}
		const { stored } = this.#queue;
		const { gone, ahead } = await this.#queue.align(await lease.inbox(), stored, openRunId, (input) => {
			const runId = input.kind === "message" ? input.runId : undefined;
			const run = new AgentRun(runId ?? this.#agent.ports.ids.uuid(), this.#key);
			void run.result();
			return { run, input: storedMessage(input), inputId: input.id, place: "stored" };
		});
		for (const { run } of gone)
			run.neverStarted("lease_lost", startedElsewhere(this.#key), this.#hold.state.agent);
		return ahead !== undefined && this.#hold.openRunId === undefined && this.#yields(ahead)
			? "others-first"
			: "ours";
	}

	/** Whether to let another worker start the turn that was accepted before ours. It may take its time, within limits. */
	#yields(inputId: string): boolean {
		const now = this.#agent.ports.clock.monotonic();
		if (this.#yielded?.inputId !== inputId) this.#yielded = { inputId, since: now };
		return now - this.#yielded.since < yieldsFor;
	}

	/** Goes on with the open run, else starts the first turn. False when another worker was faster. */
	async #startNext(): Promise<boolean> {
		if (this.#hold.openRunId !== undefined) return this.#recover();
		const turn = this.#queue.first;
		return turn === undefined ? false : this.#start(turn);
	}

	async #start(turn: QueuedTurn): Promise<boolean> {
		// What is on its way into the inbox must be there before it can be taken out. When it is refused, it is gone.
		if (turn.place === "storing") await turn.storing?.catch(() => {});
		if (this.#queue.first !== turn || this.#hold.lease === undefined) return false;
		const { origin } = turn.input;
		const { run, frame } = this.#runOf(turn.run, turn.inputId, origin);
		const { id: agentId } = this.#agent;
		const fingerprint = this.#agent.fingerprint();
		const facts: Fact[] = [
			{ kind: "run.started", runKind: "user-turn", ...origin, agentId, fingerprint },
			inputFact(turn.inputId, turn.input, origin?.runKind === "notification" ? "turn-start" : "turn"),
		];
		if (!(await commitFirst(this.#hold, run, facts, turn.place === "stored" ? [turn.inputId] : undefined)))
			return false;
		this.#queue.remove(turn);
		for (const overlay of this.#overlays.splice(0)) frame.overlay(overlay);
		this.#active = this.#drive(run, turn.run, { recovered: false, frame });
		return true;
	}

	async #recover(): Promise<boolean> {
		const open = this.#hold.state.run;
		if (open === undefined) return false;
		const { ready } = this.#sessionAgent;
		if (ready !== undefined) await ready;
		if (this.#hold.lease === undefined) return false;
		const handle = new AgentRun(open.runId, this.#key);
		const { run, frame } = this.#runOf(handle, open.inputId, open.started);
		const attempt = open.attempt + 1;
		const fingerprint = this.#agent.fingerprint();
		const reason = open.suspended ? "suspended" : "crash";
		if (
			!(await commitFirst(
				this.#hold,
				run,
				[{ kind: "run.resumed", attempt, fingerprint, reason }],
				undefined,
			))
		)
			return false;
		this.#active = this.#drive(run, handle, { recovered: true, frame });
		return true;
	}

	#runOf(handle: AgentRun, inputId: string, origin: AcceptedInput["origin"]): { run: Run; frame: TurnFrame } {
		const frame = new TurnFrame(this.#key, inputId, handle, (input) => this.steer(input));
		const run = new Run({
			agent: this.#agent,
			runId: handle.runId,
			sessionKey: this.#key,
			state: this.#hold.state,
			...recordingOf(this.#records, this.#hold.lease as Lease, handle, origin),
			interceptors: frame.interceptors(this.#sessionAgent),
			readInput,
		});
		frame.run = run;
		for (const notice of this.#queue.notices) run.offer(readInput(notice));
		const { plugins } = this.#sessionAgent;
		handle.attach(run, plugins && ((event) => plugins.tell(event, frame)));
		return { run, frame };
	}

	#drive(run: Run, handle: AgentRun, how: Pick<ActiveRun, "recovered" | "frame">): ActiveRun {
		const lease = this.#hold.lease;
		lease?.whenLost(() => run.stop(this.#killed ? "kill" : "lease-lost"));
		run.ledger?.whenLost(() => run.stop("lease-lost"));
		const over = drive(run).then((outcome) => {
			run.ledger?.close();
			lease?.whenLost(undefined);
			this.#ended(active, outcome);
		});
		this.#hold.driving(over);
		this.#sessionAgent.children?.driven(this.place, run, over);
		const active: ActiveRun = { run, handle, over, steered: new Map(), ...how };
		return active;
	}

	#ended({ run, handle, frame, steered, recovered }: ActiveRun, outcome: DriveOutcome): void {
		this.#active = undefined;
		if (outcome.kind === "ended" && outcome.outcome !== "killed") this.#hold.ended(run.state);
		else this.#hold.left();
		frame.close(this.#sessionAgent.plugins, outcome);
		handle.concluded(run, outcome);
		// Behind a run that was left open the queue must wait, too, until somebody resumes it.
		if (outcome.kind === "left" && outcome.reason !== "lease_lost")
			this.#leaveQueued(outcome.reason, outcome.error ?? runBeforeSuspended(this.#key));
		else if (!this.#killed) this.#keepSteered(run, steered);
		if (this.#queue.length > 0) this.#pump();
		else if (recovered && outcome.kind === "ended" && outcome.outcome !== "completed") this.#lookForSteered();
		else this.#rested();
	}

	/** Nothing that was accepted is lost: what the run did not take in is a turn of its own. */
	#keepSteered(run: Run, steered: ActiveRun["steered"]): void {
		for (const [inputId, said] of steered) {
			if (run.took(inputId)) continue;
			said.turn = this.#queueSteered(inputId, said.input);
			void said.turn.result(); // whoever said it has the run's own handle
		}
	}

	/** What was said to the run in the process that left it may still stand in the inbox. */
	#lookForSteered(): void {
		this.#exclusively(() => this.#open())
			.catch(() => {}) // there it stays, for who opens the session next
			.finally(() => {
				if (this.idle) this.#rested();
			});
	}

	/** Turns that waited stay in the inbox, for whoever resumes the session. */
	#leaveQueued(reason: "suspended" | "journal_failed" | "killed", error: unknown): void {
		const { agent } = this.#hold.state;
		for (const { run } of this.#queue.removeAll()) run.neverStarted(reason, error, agent);
	}

	#ensureUsable(): void {
		if (this.#killed) throw sessionKilled();
		if (this.#closing) throw agentClosed();
	}
}

function isRunning(run: Run): boolean {
	return run.state.run?.status === "running";
}

const endings: ReadonlySet<unknown> = new Set(["session_conflict", "journal_newer", "journal_corrupt"]);

function endsRun(error: unknown): boolean {
	return endings.has((error as { code?: unknown } | null)?.code);
}
