// Runs of one session: made of what the session holds, begun or resumed on record, and driven (keeps I3, I4).
import type { Message } from "@holdfast/upp";
import { agentChange, type DriveOutcome, drive, type EngineAgent, Run, withinCall } from "../engine/index.ts";
import type { Fact, RunParked, RunResumed, RunState, Watcher } from "../facts/index.ts";
import { type AcceptedInput, inputFact } from "../facts/index.ts";
import type { Lease } from "../host/index.ts";
import type { DrivenStages } from "../policy/index.ts";
import { AgentRun } from "./agent-run.ts";
import { commitBare, commitFirst } from "./commit-first.ts";
import { recordingOf } from "./recording.ts";
import { runParked, sessionHeld } from "./session-errors.ts";
import type { SessionWorker } from "./session-worker.ts";
import { processPlace } from "./store-here.ts";
import { type TurnBegin, TurnFrame } from "./turn-frame.ts";
import { type QueuedTurn, readInput } from "./turn-queue.ts";

/** A run under way in this process. */
export interface ActiveRun {
	readonly run: Run;
	readonly handle: AgentRun;
	readonly over: Promise<unknown>;
	readonly recovered: boolean;
	readonly frame: TurnFrame;
	/** What was said to it in this process, in order, each with the turn it became when the run did not take it in. */
	readonly steered: { readonly inputId: string; readonly input: AcceptedInput; turn?: AgentRun }[];
}

type Mutable<T> = { -readonly [Name in keyof T]: T[Name] };

/** What came from outside for a run that waits. */
export interface Settlement {
	readonly facts: readonly Fact[];
	readonly afterwards: "goes-on" | "stops";
	/** Ids of inputs in the store that these facts take in. */
	readonly drain?: readonly string[];
	/** Looks on from the very beginning. */
	readonly watcher?: Watcher | undefined;
}

export class SessionRunner {
	readonly #worker: SessionWorker;

	constructor(worker: SessionWorker) {
		this.#worker = worker;
	}

	/** Starts a turn, which leaves the queue. False when another worker was faster. */
	async start(turn: QueuedTurn, overlays: AcceptedInput[]): Promise<boolean> {
		const { hold, queue, table } = this.#worker;
		// What is on its way into the inbox must be there before it can be taken out. When it is refused, it is gone.
		if (turn.place === "storing") await turn.storing?.catch(() => {});
		if (queue.first !== turn || hold.lease === undefined) return false;
		const { origin } = turn.input;
		const { message } = turn.input;
		const resolving = this.#worker.resolve();
		const agent = resolving instanceof Promise ? await resolving : resolving;
		const { run, frame } = this.#runOf(agent, turn.run, turn.inputId, origin, { begin: "begun", message });
		const { id: agentId } = run.agent;
		const fingerprint = run.agent.fingerprint();
		const facts: Fact[] = [
			{ kind: "run.started", runKind: "user-turn", ...origin, agentId, fingerprint },
			inputFact(turn.inputId, turn.input, origin?.runKind === "notification" ? "turn-start" : "turn"),
		];
		const drained = turn.place === "stored" ? [turn.inputId] : undefined;
		const first = await commitFirst(hold, run, facts, drained);
		if (first === "taken") return false;
		// A turn whose facts policy refuses is on record as one that failed, and nobody begins it again.
		if (first !== "committed") {
			const bare = {
				kind: "run.started",
				runKind: "user-turn",
				...plainOrigin(origin),
				agentId,
				fingerprint,
			} as const;
			if ((await commitBare(hold, run, [bare], drained)) === "taken") return false;
		}
		queue.remove(turn);
		for (const overlay of overlays.splice(0)) frame.overlay(overlay);
		this.#drive(run, turn.run, { recovered: false, frame }, outcomeOf(first));
		if (turn.isAdopted) table.takenUp(turn.run);
		return true;
	}

	/**
	 * Goes on with the open run, with what was settled from outside meanwhile. False when there is none, or another
	 * worker was faster. Rejects with `run_parked` when it is parked and stays so, or is parked now.
	 */
	async recover(parked: "stays" | "goes-on", settlement?: Settlement): Promise<boolean> {
		const { hold, key, table } = this.#worker;
		const { agent, records } = table;
		const open = hold.state.run;
		if (open === undefined) return false;
		const { maxRestarts, onAgentChange } = agent.restarts;
		if (parked === "stays" && open.parked !== undefined) {
			hold.giveUp();
			throw runParked(key, open.runId, open.parked);
		}
		if (open.parked !== undefined && (await records?.take(open.runId)) === false) throw sessionHeld(key);
		if (hold.lease === undefined) return false;
		const reason = reasonOf(open);
		// Before anything of the caller's is run, which may be what crashes.
		if (parked === "stays" && reason === "crash" && open.crashes >= maxRestarts)
			return this.#park(open, { reason: "crash", crashes: open.crashes + 1 });
		if (agent.setup !== undefined) await agent.setup.over();
		if (hold.lease === undefined) return false;
		const engine = await this.#worker.resolve();
		if (hold.lease === undefined) return false;
		const fingerprint = engine.fingerprint();
		const agentChanged = agentChange(open.fingerprint, fingerprint);
		const change = agentChanged === undefined ? {} : { agentChanged };
		if (parked === "stays" && agentChanged !== undefined && onAgentChange === "park")
			return this.#park(open, { reason: "agent-changed", crashes: open.crashes, agentChanged });
		const { run, frame, handle } = this.#runAgain(engine, open, "resumed", settlement?.watcher);
		const attempt = open.attempt + 1;
		const resumed: Mutable<RunResumed> = { kind: "run.resumed", attempt, fingerprint, reason, ...change };
		const partial = settlement === undefined ? await hold.cutOff() : undefined;
		if (partial !== undefined) resumed.partial = partial;
		const settled = await this.#admitted(run, settlement?.facts ?? []);
		const first = await commitFirst(hold, run, [resumed, ...settled], settlement?.drain);
		if (first === "taken") return false;
		if (first !== "committed") {
			// Who answered hears of it, and the run waits on.
			if (settlement?.afterwards === "goes-on") {
				hold.drop();
				throw first.refusal;
			}
			if ((await commitBare(hold, run, [], undefined)) === "taken") return false;
		}
		if (settlement?.afterwards === "stops") run.stop("interrupt");
		this.#drive(run, handle, { recovered: true, frame }, outcomeOf(first));
		if (settlement === undefined) table.takenUp(handle);
		return true;
	}

	/** Results from outside are replaced like any other before they are recorded; meanwhile nobody else gets through here. */
	async #admitted(run: Run, facts: readonly Fact[]): Promise<readonly Fact[]> {
		const { toolResult } = run.interceptors;
		if (toolResult === undefined || run.place === undefined) return facts;
		const worker = this.#worker;
		const hooks = (): Promise<readonly Fact[]> => replaced(run, facts, toolResult);
		return withinCall(worker.turnstile, () => worker.wait(run.place as string, hooks));
	}

	/** Records that nobody goes on with the run by itself, and says so; false when another worker was faster. */
	async #park(open: RunState, why: Omit<RunParked, "kind">): Promise<false> {
		const { hold, key } = this.#worker;
		// Where the process died again and again, what is called of the caller's may be why.
		const begin = why.reason === "crash" ? "parked" : "resumed";
		const { run } = this.#runAgain(this.#worker.agent, open, begin);
		const parked: RunParked = { kind: "run.parked", ...why };
		const first = await commitFirst(hold, run, [parked], undefined);
		run.ledger?.close();
		if (first === "taken") return false;
		if (first !== "committed") {
			hold.drop();
			throw first.refusal;
		}
		hold.left();
		throw runParked(key, open.runId, parked);
	}

	#runAgain(
		agent: EngineAgent,
		open: RunState,
		begin: TurnBegin,
		watcher?: Watcher,
	): { run: Run; frame: TurnFrame; handle: AgentRun } {
		const handle = new AgentRun(open.runId, this.#worker.key);
		if (watcher !== undefined) handle.observe(watcher);
		return { handle, ...this.#runOf(agent, handle, open.inputId, open.started, { begin }) };
	}

	#runOf(
		agent: EngineAgent,
		handle: AgentRun,
		inputId: string,
		origin: AcceptedInput["origin"],
		{ begin, message }: { readonly begin: TurnBegin; readonly message?: Message },
	): { run: Run; frame: TurnFrame } {
		const worker = this.#worker;
		const { place, key, hold, queue, table } = worker;
		// Nobody could read them where the journal keeps none.
		const keepDeltasMs = worker.journal.readChunks === undefined ? undefined : agent.keepDeltasMs;
		const frame = new TurnFrame(worker, inputId, handle, begin, message);
		const run = new Run({
			agent,
			runId: handle.runId,
			sessionKey: key,
			place: processPlace(table.here, place),
			state: hold.state,
			...recordingOf(table.records, hold.lease as Lease, handle, origin),
			interceptors: frame.policy.stages,
			admitting: frame.policy.admitting,
			mayWait: table.mayWait,
			readInput,
			...(keepDeltasMs === undefined ? {} : { keepDeltasMs }),
		});
		frame.run = run;
		for (const notice of queue.notices) run.offer(readInput(notice));
		const { policy } = table.agent;
		handle.attach(run, policy?.looksOn === true ? (event) => policy.tell(event, frame) : undefined);
		return { run, frame };
	}

	/** `ended` is the outcome of a run that was over before it was driven. */
	#drive(
		run: Run,
		handle: AgentRun,
		how: Pick<ActiveRun, "recovered" | "frame">,
		ended: DriveOutcome | undefined,
	): void {
		const worker = this.#worker;
		const { hold, place, table } = worker;
		const { lease } = hold;
		// Where the session was killed, losing the lease means just that.
		const leaseIsLost = (): void => run.stop(worker.killed ? "kill" : "lease-lost");
		// Between the commit and its answer it may be lost already: then nobody would tell.
		if (lease === undefined) leaseIsLost();
		else lease.whenLost(leaseIsLost);
		run.ledger?.whenLost(() => run.stop("lease-lost"));
		const over = (ended === undefined ? drive(run) : Promise.resolve(ended)).then((outcome) => {
			run.ledger?.close();
			lease?.whenLost(undefined);
			worker.ended(active, outcome);
		});
		hold.driving(over);
		table.agent.children?.driven(place, run, over);
		const active: ActiveRun = { run, handle, over, steered: [], ...how };
		worker.active = active;
	}
}

/** Whose work a run is, without a word of what it is about. */
function plainOrigin(origin: AcceptedInput["origin"]): AcceptedInput["origin"] {
	if (origin?.parent === undefined) return origin;
	const { description: _, ...parent } = origin.parent;
	return { ...origin, parent };
}

/** How a run ended that policy did not let begin. */
function outcomeOf(first: Awaited<ReturnType<typeof commitFirst>>): DriveOutcome | undefined {
	return typeof first === "string" ? undefined : { kind: "ended", outcome: "error", error: first.refusal };
}

/** Results from outside as hooks replace them. */
function replaced(
	run: Run,
	facts: readonly Fact[],
	toolResult: NonNullable<DrivenStages["toolResult"]>,
): Promise<readonly Fact[]> {
	return Promise.all(
		facts.map(async (fact) => {
			if (fact.kind !== "tool.settled") return fact;
			const { callId: toolCallId, outcome, result: output } = fact;
			const call = run.state.run?.calls.find((each) => each.call.toolCallId === toolCallId)?.call;
			const status = outcome === "done" || outcome === "cancelled" ? outcome : "error";
			const { toolName = "", arguments: input } = call ?? {};
			const given = await toolResult({ toolCallId, toolName, input, status, output });
			const { details: _, ...rest } = fact;
			const kept = given.output === output ? fact : { ...rest, result: given.output };
			return given.status === status ? kept : { ...kept, outcome: given.status };
		}),
	);
}

/** Why an open run is taken up again. */
function reasonOf({ parked, status, suspended }: RunState): RunResumed["reason"] {
	if (parked !== undefined) return "released";
	if (status === "waiting") return "answered";
	return suspended ? "suspended" : "crash";
}

/** Whether a run has not ended on record. */
export function isRunning(run: Run): boolean {
	return run.state.run?.status === "running";
}
