// Runs of one session: made of what the session holds, begun or resumed on record, and driven (keeps I3, I4).
import { type DriveOutcome, drive, type EngineAgent, Run } from "../engine/index.ts";
import type { Fact, Lease } from "../journal/index.ts";
import { AgentRun } from "./agent-run.ts";
import { commitFirst } from "./commit-first.ts";
import { type AcceptedInput, inputFact } from "./input.ts";
import { recordingOf } from "./recording.ts";
import type { SessionAgent } from "./session-agent.ts";
import type { SessionHold } from "./session-hold.ts";
import type { SessionRecords } from "./session-records.ts";
import { TurnFrame } from "./turn-frame.ts";
import { type QueuedTurn, readInput, type TurnQueue } from "./turn-queue.ts";

/** A run under way in this process. */
export interface ActiveRun {
	readonly run: Run;
	readonly handle: AgentRun;
	readonly over: Promise<unknown>;
	readonly recovered: boolean;
	readonly frame: TurnFrame;
	/** What was said to it in this process, by input id, and the turn it became when the run did not take it in. */
	readonly steered: Map<string, { readonly input: AcceptedInput; turn?: AgentRun }>;
}

/** What came from outside for a run that waits. */
export interface Settlement {
	readonly facts: readonly Fact[];
	readonly afterwards: "goes-on" | "stops";
}

/** What runs are made of. */
export interface RunnerParts {
	readonly agent: SessionAgent;
	readonly place: string;
	readonly key: string;
	readonly hold: SessionHold;
	readonly queue: TurnQueue;
	readonly records: SessionRecords | undefined;
	/** Whether its runs may wait for somebody outside. */
	readonly mayWait: boolean;
	/** Says something to the run under way. */
	steer(input: AcceptedInput): Promise<AgentRun>;
	/** Whether the session was killed, so that losing the lease means just that. */
	killed(): boolean;
	/** A run that others have left is driven here now. */
	takenUp(run: AgentRun): void;
	/** The drive of a run is over. */
	ended(active: ActiveRun, outcome: DriveOutcome): void;
}

export class SessionRunner {
	readonly #parts: RunnerParts;

	constructor(parts: RunnerParts) {
		this.#parts = parts;
	}

	get #agent(): EngineAgent {
		return this.#parts.agent.engine;
	}

	/** Starts a turn, which leaves the queue. Undefined when another worker was faster. */
	async start(turn: QueuedTurn, overlays: AcceptedInput[]): Promise<ActiveRun | undefined> {
		const { hold, queue } = this.#parts;
		// What is on its way into the inbox must be there before it can be taken out. When it is refused, it is gone.
		if (turn.place === "storing") await turn.storing?.catch(() => {});
		if (queue.first !== turn || hold.lease === undefined) return undefined;
		const { origin } = turn.input;
		const { run, frame } = this.#runOf(turn.run, turn.inputId, origin);
		const { id: agentId } = this.#agent;
		const fingerprint = this.#agent.fingerprint();
		const facts: Fact[] = [
			{ kind: "run.started", runKind: "user-turn", ...origin, agentId, fingerprint },
			inputFact(turn.inputId, turn.input, origin?.runKind === "notification" ? "turn-start" : "turn"),
		];
		const drained = turn.place === "stored" ? [turn.inputId] : undefined;
		if (!(await commitFirst(hold, run, facts, drained))) return undefined;
		queue.remove(turn);
		for (const overlay of overlays.splice(0)) frame.overlay(overlay);
		const active = this.#drive(run, turn.run, { recovered: false, frame });
		if (turn.isAdopted) this.#parts.takenUp(turn.run);
		return active;
	}

	/**
	 * Goes on with the open run, with what was settled from outside meanwhile. Undefined when there is none, or another
	 * worker was faster.
	 */
	async recover(settlement?: Settlement): Promise<ActiveRun | undefined> {
		const { agent, hold, key } = this.#parts;
		const open = hold.state.run;
		if (open === undefined) return undefined;
		if (agent.ready !== undefined) await agent.ready;
		if (hold.lease === undefined) return undefined;
		const handle = new AgentRun(open.runId, key);
		const { run, frame } = this.#runOf(handle, open.inputId, open.started);
		const resumed: Fact = {
			kind: "run.resumed",
			attempt: open.attempt + 1,
			fingerprint: this.#agent.fingerprint(),
			reason: settlement !== undefined ? "answered" : open.suspended ? "suspended" : "crash",
		};
		const settled = await admitted(run, settlement?.facts ?? []);
		if (!(await commitFirst(hold, run, [resumed, ...settled], undefined))) return undefined;
		if (settlement?.afterwards === "stops") run.stop("interrupt");
		const active = this.#drive(run, handle, { recovered: true, frame });
		if (settlement === undefined) this.#parts.takenUp(handle);
		return active;
	}

	#runOf(handle: AgentRun, inputId: string, origin: AcceptedInput["origin"]): { run: Run; frame: TurnFrame } {
		const { agent, key, hold, queue, records, mayWait, steer } = this.#parts;
		const frame = new TurnFrame(key, inputId, handle, steer);
		const run = new Run({
			agent: this.#agent,
			runId: handle.runId,
			sessionKey: key,
			state: hold.state,
			...recordingOf(records, hold.lease as Lease, handle, origin),
			interceptors: frame.interceptors(agent),
			mayWait,
			readInput,
		});
		frame.run = run;
		for (const notice of queue.notices) run.offer(readInput(notice));
		const { plugins } = agent;
		handle.attach(run, plugins && ((event) => plugins.tell(event, frame)));
		return { run, frame };
	}

	#drive(run: Run, handle: AgentRun, how: Pick<ActiveRun, "recovered" | "frame">): ActiveRun {
		const { agent, hold, place, killed, ended } = this.#parts;
		const { lease } = hold;
		const leaseIsLost = (): void => run.stop(killed() ? "kill" : "lease-lost");
		// Between the commit and its answer it may be lost already: then nobody would tell.
		if (lease === undefined) leaseIsLost();
		else lease.whenLost(leaseIsLost);
		run.ledger?.whenLost(() => run.stop("lease-lost"));
		const over = drive(run).then((outcome) => {
			run.ledger?.close();
			lease?.whenLost(undefined);
			ended(active, outcome);
		});
		hold.driving(over);
		agent.children?.driven(place, run, over);
		const active: ActiveRun = { run, handle, over, steered: new Map(), ...how };
		return active;
	}
}

/** Results from outside are replaced like any other before they are recorded. */
async function admitted(run: Run, facts: readonly Fact[]): Promise<readonly Fact[]> {
	const { toolResult } = run.interceptors;
	if (toolResult === undefined) return facts;
	return Promise.all(
		facts.map(async (fact) => {
			if (fact.kind !== "tool.settled") return fact;
			const { callId: toolCallId, outcome, result: output } = fact;
			const call = run.state.run?.calls.find((each) => each.call.toolCallId === toolCallId)?.call;
			const status = outcome === "done" || outcome === "cancelled" ? outcome : "error";
			const { toolName = "", arguments: input } = call ?? {};
			const replaced = await toolResult({ toolCallId, toolName, input, status, output });
			const { details: _, ...rest } = fact;
			const kept = replaced.output === output ? fact : { ...rest, result: replaced.output };
			return replaced.status === status ? kept : { ...kept, outcome: replaced.status };
		}),
	);
}

/** Whether a run has not ended on record. */
export function isRunning(run: Run): boolean {
	return run.state.run?.status === "running";
}
