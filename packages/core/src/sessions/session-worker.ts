// One session in this process: it takes the lease, folds the journal, and drives one run after the other (keeps I4).
// States: closed (no lease) → open (lease and state) → driving (a run under way) → open. A lost lease leads to closed.
import { HoldfastError, messageFromJSON, messageToJSON } from "@holdfast/upp";
import {
	type DriveOutcome,
	drive,
	type EngineAgent,
	evolve,
	foldOptions,
	initialSession,
	Run,
	type RunInput,
	type SessionState,
} from "../engine/index.ts";
import type { Entry, Fact, Journal, Lease, StoredInput } from "../journal/index.ts";
import { AgentState } from "../state/index.ts";
import { AgentRun } from "./agent-run.ts";
import { type AcceptedInput, inputFact } from "./input.ts";

/** Milliseconds between attempts to take a session that another living worker holds. */
const takeInterval = 250;
/** How many entries are read at a time when a session is opened. */
const pageSize = 1_000;

interface QueuedTurn {
	readonly run: AgentRun;
	readonly input: AcceptedInput;
	readonly inputId: string;
	/** Whether the input stands in the store's inbox. */
	stored: boolean;
}

/** Runs of this process by journal and key: two agents on one host do not take a session from each other mid-run. */
const drivenHere = new WeakMap<Journal, Map<string, Promise<unknown>>>();

export class SessionWorker {
	readonly #agent: EngineAgent;
	readonly #journal: Journal;
	readonly #key: string;
	readonly #rested: () => void;
	#lease: Lease | undefined;
	#state: SessionState | undefined;
	#queue: QueuedTurn[] = [];
	#active: { readonly run: Run; readonly handle: AgentRun; readonly over: Promise<unknown> } | undefined;
	/** Set while the session is being opened or the next run started. */
	#advancing: Promise<void> | undefined;
	/** Settles when the lease given up last is out of the way. */
	#releasing: Promise<void> | undefined;
	#closing = false;

	constructor(agent: EngineAgent, journal: Journal, key: string, rested: () => void) {
		this.#agent = agent;
		this.#journal = journal;
		this.#key = key;
		this.#rested = rested;
	}

	/** Whether nothing is under way and nothing waits. */
	get idle(): boolean {
		return this.#active === undefined && this.#queue.length === 0 && this.#advancing === undefined;
	}

	/** Accepts a turn: durable when this resolves. It starts when the turns before it have ended. */
	async send(input: AcceptedInput): Promise<AgentRun> {
		this.#ensureUsable();
		const { ids } = this.#agent.ports;
		const turn: QueuedTurn = {
			run: new AgentRun(ids.uuid(), this.#key),
			input,
			inputId: input.message.id,
			stored: false,
		};
		const atOnce = this.idle;
		this.#queue.push(turn);
		if (atOnce) {
			this.#advancing = this.#startFirst(turn);
			await this.#advancing;
			return turn.run;
		}
		await this.#store(turn);
		return turn.run;
	}

	/** Goes on with a run that was left open by a crash or suspension; null when there is none. */
	async resume(): Promise<AgentRun | null> {
		this.#ensureUsable();
		while (this.#advancing !== undefined) await this.#advancing;
		if (this.#active !== undefined) return this.#active.handle;
		const opening = this.#open("if-free");
		this.#advancing = opening.then(
			() => {},
			() => {},
		);
		let opened: boolean;
		try {
			opened = await opening;
		} finally {
			this.#advancing = undefined;
		}
		if (!opened) throw this.#heldElsewhere();
		if (this.#openRunId() !== undefined) return this.#recover();
		if (this.#queue.length > 0) {
			const handle = this.#queue[0]?.run as AgentRun;
			await this.#advance();
			return handle;
		}
		this.#rested();
		return null;
	}

	interrupt(): void {
		this.#active?.handle.interrupt();
	}

	/** The conversation as committed, with what other processes added. */
	async state(): Promise<AgentState> {
		this.#ensureUsable();
		if (this.#active !== undefined) return this.#active.run.state.agent;
		return (await this.#fold(this.#state ?? initialSession(AgentState.initial()))).agent;
	}

	/** Suspends what is under way and gives the session up. */
	async close(): Promise<void> {
		this.#closing = true;
		await this.#advancing?.catch(() => {});
		this.#active?.handle.suspend();
		await this.#active?.over;
		this.#giveUp();
		await this.#releasing;
	}

	// Accepting.

	/** The fast way: nothing is before this turn, so its start is its acceptance. */
	async #startFirst(turn: QueuedTurn): Promise<void> {
		try {
			const opened = await this.#open("if-free");
			if (opened && this.#openRunId() === undefined && this.#queue[0] === turn) {
				await this.#startNext();
				return;
			}
			await this.#store(turn);
			// An unfinished run comes first, and so does whoever holds the session: this turn waits for its place.
			void this.#advanceLater(opened);
		} catch (error) {
			this.#queue = this.#queue.filter((each) => each !== turn);
			throw error;
		} finally {
			this.#advancing = undefined;
		}
	}

	async #advanceLater(opened: boolean): Promise<void> {
		if (opened && this.#openRunId() !== undefined) {
			const recovered = await this.#recover();
			void recovered.result();
			return;
		}
		await this.#advance();
	}

	async #store(turn: QueuedTurn): Promise<void> {
		if (turn.stored) return;
		turn.stored = true;
		try {
			await this.#journal.submit(this.#key, {
				id: turn.inputId,
				kind: "message",
				runId: turn.run.runId,
				workerId: this.#journal.workerId,
				body: { shape: turn.input.shape, message: messageToJSON(turn.input.message) },
			});
		} catch (error) {
			this.#queue = this.#queue.filter((each) => each !== turn);
			throw error;
		}
	}

	// Opening.

	/** Takes the lease and brings the state up to date. False when another living worker holds the session. */
	async #open(patience: "if-free" | "wait"): Promise<boolean> {
		for (;;) {
			const driven = drivenHere.get(this.#journal)?.get(this.#key);
			if (driven !== undefined) await driven;
			if (this.#releasing !== undefined) await this.#releasing;
			if (this.#lease !== undefined && !this.#lease.isLost && this.#state !== undefined) return true;
			const acquired = await this.#journal.acquire(this.#key);
			if (acquired.ok) {
				const { lease } = acquired;
				this.#state = await this.#fold(this.#state ?? initialSession(AgentState.initial()), lease.seq);
				this.#lease = lease;
				await this.#adoptInbox(lease);
				return true;
			}
			if (patience === "if-free") return false;
			await this.#untilChanged();
		}
	}

	/** Folds what the journal holds behind a state. */
	async #fold(from: SessionState, until?: number): Promise<SessionState> {
		// A journal that is shorter than what was folded is another one: the session was deleted and begun anew.
		let state = until !== undefined && until < from.seq ? initialSession(AgentState.initial()) : from;
		const options = foldOptions(this.#agent);
		for (;;) {
			if (until !== undefined && state.seq >= until) return state;
			const entries: readonly Entry[] = await this.#journal.read(this.#key, {
				after: state.seq,
				limit: pageSize,
			});
			for (const entry of entries) state = evolve(state, entry, options);
			if (entries.length < pageSize) return state;
		}
	}

	/** Turns that another process accepted and did not live to start are ours to start. */
	async #adoptInbox(lease: Lease): Promise<void> {
		for (const input of await lease.inbox()) {
			if (input.kind !== "message" || this.#queue.some((turn) => turn.inputId === input.id)) continue;
			if (
				input.workerId !== undefined &&
				input.workerId !== this.#journal.workerId &&
				(await this.#journal.isAlive(input.workerId))
			)
				continue;
			const run = new AgentRun(input.runId ?? this.#agent.ports.ids.uuid(), this.#key);
			void run.result();
			const turn: QueuedTurn = { run, input: storedMessage(input), inputId: input.id, stored: true };
			const place = this.#queue.findIndex((each) => !each.stored);
			this.#queue.splice(place < 0 ? this.#queue.length : place, 0, turn);
		}
	}

	#untilChanged(): Promise<void> {
		return new Promise((resolve) => {
			const stop = this.#journal.watch(this.#key, () => done());
			const timer = setTimeout(() => done(), takeInterval);
			const done = (): void => {
				clearTimeout(timer);
				stop();
				resolve();
			};
		});
	}

	#openRunId(): string | undefined {
		const run = this.#state?.run;
		return run !== undefined && (run.status === "running" || run.status === "waiting")
			? run.runId
			: undefined;
	}

	// Driving.

	/** Starts the next queued turn once the session is ours. */
	async #advance(): Promise<void> {
		if (this.#advancing !== undefined || this.#active !== undefined || this.#closing) return;
		this.#advancing = (async () => {
			try {
				if (this.#queue.length === 0) return;
				await this.#open("wait");
				if (this.#openRunId() !== undefined) void (await this.#recover()).result();
				else await this.#startNext();
			} catch (error) {
				for (const turn of this.#queue.splice(0))
					turn.run.failed(error, this.#state?.agent ?? AgentState.initial());
			} finally {
				this.#advancing = undefined;
			}
		})();
		await this.#advancing;
		if (this.idle) this.#rested();
	}

	async #startNext(): Promise<void> {
		const turn = this.#queue[0];
		if (turn === undefined) return;
		const facts: Fact[] = [
			{
				kind: "run.started",
				runKind: "user-turn",
				agentId: this.#agent.id,
				fingerprint: this.#agent.fingerprint(),
			},
			inputFact(turn.inputId, turn.input, "turn"),
		];
		for (;;) {
			const run = this.#runOf(turn.run.runId);
			turn.run.attach(run);
			try {
				const committed = run.commit(facts, turn.stored ? { drain: [turn.inputId] } : undefined);
				if (committed instanceof Promise) await committed;
			} catch (error) {
				const cause = (error as { cause?: unknown }).cause ?? error;
				if ((cause as { code?: unknown }).code !== "lease_lost") throw cause;
				// The session was idle and somebody else used it meanwhile: take it again and read on.
				this.#lease = undefined;
				await this.#open("wait");
				if (this.#openRunId() !== undefined) {
					await this.#store(turn);
					void (await this.#recover()).result();
					return;
				}
				continue;
			}
			this.#queue.shift();
			this.#drive(run, turn.run);
			return;
		}
	}

	async #recover(): Promise<AgentRun> {
		const state = this.#state as SessionState;
		const open = state.run;
		if (open === undefined) throw new Error("there is no run to recover");
		const run = this.#runOf(open.runId);
		const handle = new AgentRun(open.runId, this.#key);
		handle.attach(run);
		const committed = run.commit([
			{
				kind: "run.resumed",
				attempt: open.attempt + 1,
				fingerprint: this.#agent.fingerprint(),
				reason: open.suspended ? "suspended" : "crash",
			},
		]);
		if (committed instanceof Promise) await committed;
		this.#drive(run, handle);
		return handle;
	}

	#runOf(runId: string): Run {
		const lease = this.#lease as Lease;
		return new Run({
			agent: this.#agent,
			runId,
			sessionKey: this.#key,
			state: this.#state as SessionState,
			recorder: lease,
			readInput: (input) => steered(input),
		});
	}

	#drive(run: Run, handle: AgentRun): void {
		const lease = this.#lease as Lease;
		lease.whenLost(() => run.stop("lease-lost"));
		const over = drive(run).then((outcome) => {
			lease.whenLost(undefined);
			this.#ended(run, handle, outcome);
		});
		this.#active = { run, handle, over };
		const driven = drivenHere.get(this.#journal) ?? new Map<string, Promise<unknown>>();
		drivenHere.set(this.#journal, driven.set(this.#key, over));
	}

	#ended(run: Run, handle: AgentRun, outcome: DriveOutcome): void {
		drivenHere.get(this.#journal)?.delete(this.#key);
		this.#active = undefined;
		// What an ended run knew of its calls is not needed again.
		this.#state = { ...run.state, run: undefined };
		if (outcome.kind === "left") {
			// What was committed elsewhere or not at all is not known here: the next run reads the journal again.
			this.#state = undefined;
			this.#giveUp();
		}
		handle.concluded(run, outcome);
		if (this.#queue.length > 0) void this.#advance();
		else this.#rested();
	}

	/** Lets another worker, or this one again, take the session. */
	#giveUp(): void {
		const lease = this.#lease;
		this.#lease = undefined;
		if (lease === undefined || lease.isLost) return;
		this.#releasing = Promise.resolve()
			.then(() => lease.release())
			.catch(() => {}); // a store that cannot be written to lets go when this process ends
	}

	#ensureUsable(): void {
		if (this.#closing)
			throw new HoldfastError("agent_closed", "The agent was closed. Make a new one to go on.");
	}

	#heldElsewhere(): HoldfastError {
		return new HoldfastError(
			"session_held",
			`Another worker that is alive works on session "${this.#key}". Wait until it is done.`,
			{
				retryable: true,
			},
		);
	}
}

function storedMessage(input: StoredInput): AcceptedInput {
	const body = input.body as {
		shape: AcceptedInput["shape"];
		message: Parameters<typeof messageFromJSON>[0];
	};
	return { shape: body.shape, message: messageFromJSON(body.message) as AcceptedInput["message"] };
}

function steered(input: StoredInput): RunInput {
	const accepted = storedMessage(input);
	return { inputId: input.id, fact: (placement) => inputFact(input.id, accepted, placement) };
}
