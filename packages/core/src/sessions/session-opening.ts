// Opening a session: its lease is acquired, its queue brought in line with the inbox, and then a turn begun or the open run
// resumed. Who opens it drives what comes of it (keeps I4).
import type { Caller } from "../caller/index.ts";
import type { EngineAgent } from "../engine/index.ts";
import { after, type Lease, type MaybePromise, type StoredInput } from "../host/index.ts";
import { AgentRun } from "./agent-run.ts";
import { processKey } from "./local-store.ts";
import { type Alignment, Mailbox, type QueuedTurn, storedMessage } from "./mailbox.ts";
import { type Resumption, resumeTurn } from "./resume-turn.ts";
import { startedElsewhere } from "./session-errors.ts";
import { SessionLease } from "./session-lease.ts";
import type { SessionScope } from "./session-scope.ts";
import { beginTurn, type Turn, type TurnSession } from "./turn.ts";
import type { FrameSession } from "./turn-frame.ts";

/** `held`: another living worker works on it; `others-first`: the turn before ours is another worker's to begin. */
export type Opened = "ours" | "held" | "others-first";

export class SessionOpening {
	readonly lease: SessionLease;
	readonly mailbox: Mailbox;
	readonly #scope: SessionScope;
	readonly storeKey: string;
	/** The caller's key. */
	readonly sessionKey: string;

	constructor(scope: SessionScope, storeKey: string, sessionKey: string) {
		this.#scope = scope;
		this.storeKey = storeKey;
		this.sessionKey = sessionKey;
		this.lease = new SessionLease(scope, storeKey, this);
		this.mailbox = new Mailbox(scope.journal, storeKey, scope.local, scope.agent);
	}

	/** Brings lease, state and queue up to date; waits only where the journal does. */
	open(): MaybePromise<Opened> {
		const { arriving } = this.mailbox;
		// Hooks store inputs while a session opens, and what is read of the inbox must tell where they are.
		if (arriving !== undefined) return arriving.then(() => this.open());
		return after(this.lease.current ?? this.lease.acquire(), (held) => this.#acquired(held));
	}

	#acquired(held: Lease | undefined): MaybePromise<Opened> {
		const { lease, mailbox } = this;
		if (held === undefined) {
			mailbox.forgetYielding();
			return "held";
		}
		const { openRunId } = lease;
		const { records } = this.#scope;
		// A run that is parked or waits is not claimed before it continues: whoever looks at it must not hold up who continues it.
		const isLeft = lease.isWaiting || lease.state.run?.parked !== undefined;
		if (openRunId === undefined || isLeft || records === undefined) return this.#readInbox(held);
		return records.take(openRunId).then((isTaken) => {
			if (isTaken) return this.#readInbox(held);
			lease.drop();
			return "held";
		});
	}

	#readInbox(held: Lease): MaybePromise<Opened> {
		const { stored } = this.mailbox;
		const seen = this.lease.takeInbox();
		// A turn that is stored by now may have been on its way when the session was looked at.
		const reading = seen === undefined || stored.size > 0 ? held.inbox() : seen;
		return after(reading, (inbox) => this.#align(inbox, stored));
	}

	#align(inbox: readonly StoredInput[], stored: ReadonlySet<QueuedTurn>): MaybePromise<Opened> {
		const { agent } = this.#scope;
		const aligning = this.mailbox.align(inbox, stored, this.lease.openRunId, (input) => {
			const runId = input.kind === "message" ? input.runId : undefined;
			const run = new AgentRun(runId ?? agent.engine.ports.ids.uuid(), this.sessionKey);
			run.detach();
			const origin = input.kind === "steer" ? "left-over" : "adopted";
			const said = storedMessage(input);
			const { insteadOf } = said;
			const cut = insteadOf === undefined ? {} : { insteadOf };
			return { run, input: said, inputId: input.id, origin, stage: "seen", ...cut };
		});
		return after(aligning, (alignment) => this.#aligned(alignment));
	}

	#aligned({ gone, ahead }: Alignment): Opened {
		const { lease, mailbox, sessionKey } = this;
		this.#scope.local.left.delete(this.storeKey);
		for (const { run } of gone) run.abandon("lease_lost", startedElsewhere(sessionKey), lease.state.agent);
		if (ahead === undefined || lease.openRunId !== undefined) return "ours";
		const now = this.#scope.agent.engine.ports.clock.monotonic();
		return mailbox.yieldsTo(ahead, now) ? "others-first" : "ours";
	}

	/**
	 * Begins a turn, which leaves the queue. Undefined when another worker was faster, or the inbox has to be read first.
	 * `steer` is for its hooks.
	 */
	begin(queued: QueuedTurn, steer: FrameSession["steer"]): MaybePromise<Turn | undefined> {
		const { setup } = this.#scope.agent;
		// What another worker has accepted begins here with all plugins, too.
		if (setup !== undefined) return setup.over().then(() => this.begin(queued, steer));
		if (queued.stage === "storing" || queued.stage === "stored") return undefined;
		const agent = this.resolve(queued.input.origin?.caller);
		return after(agent, (resolved) => this.#beginWith(resolved, queued, steer));
	}

	#beginWith(
		agent: EngineAgent,
		queued: QueuedTurn,
		steer: FrameSession["steer"],
	): MaybePromise<Turn | undefined> {
		if (this.mailbox.first !== queued || this.lease.current === undefined) return undefined;
		return beginTurn(this.#turnSession(steer), agent, queued, () => this.mailbox.remove(queued));
	}

	/** Resumes the open run. Undefined without one, or when another worker was faster. Rejects with `run_parked`. */
	async resume(
		how: Pick<Resumption, "parked" | "settlement">,
		steer: FrameSession["steer"],
		whileOpening: Resumption["whileOpening"],
	): Promise<Turn | undefined> {
		const open = this.lease.state.run;
		if (open === undefined) return undefined;
		return resumeTurn(this.#turnSession(steer), open, {
			...how,
			resolve: () => this.resolve(open.started.caller),
			whileOpening,
		});
	}

	/** Names the session among all of this process. */
	get processKey(): string {
		return processKey(this.#scope.local, this.storeKey);
	}

	/** The agent of the next turn, as far as it is known. */
	resolve(caller?: Caller): MaybePromise<EngineAgent> {
		const { agent } = this.#scope;
		const { sessionKey } = this;
		const resolving = agent.resolve?.({ sessionKey, namespace: agent.namespace, caller });
		return after(resolving, (resolved) => resolved ?? agent.engine);
	}

	#turnSession(steer: FrameSession["steer"]): TurnSession {
		const { agent, records, mayWait, modelWait, unread, journal, observe } = this.#scope;
		const { sessionKey, processKey, lease, mailbox } = this;
		return {
			sessionKey,
			processKey,
			steer,
			agent,
			policy: agent.policy,
			state: lease.state,
			records,
			mayWait,
			modelWait,
			unread,
			keepsDeltas: journal.readChunks !== undefined,
			lease,
			notices: mailbox.notices,
			observe,
		};
	}
}
