// Opens a session: acquires its lease and aligns its queue with the inbox. Then a turn can begin or the open run can be
// resumed (keeps I4).
import { after } from "@holdfast/upp";
import type { Caller } from "../caller/index.ts";
import { type AskedSystem, askSystem, type EngineAgent, withinCall } from "../engine/index.ts";
import type { Lease, MaybePromise, StoredInput } from "../host/index.ts";
import { AgentRun } from "./agent-run.ts";
import { type Alignment, type QueuedTurn, storedMessage } from "./mailbox.ts";
import { type Resumption, resumeTurn } from "./resume-turn.ts";
import type { SessionActor } from "./session-actor.ts";
import { startedElsewhere } from "./session-errors.ts";
import { steer } from "./session-requests.ts";
import { beginTurn, type Turn, type TurnSession } from "./turn.ts";

/** `held`: another living worker has the session. `others-first`: another worker must begin an earlier turn. */
export type Opened = "ours" | "held" | "others-first";

/** Brings lease, state and queue up to date. Waits only if the journal does. */
export function openSession(actor: SessionActor): MaybePromise<Opened> {
	const { lease, mailbox } = actor;
	const { arriving } = mailbox;
	// Hooks can store inputs while a session opens; the inbox is read after they have arrived.
	if (arriving !== undefined) return arriving.then(() => openSession(actor));
	return after(lease.current ?? lease.acquire(), (held) => acquired(actor, held));
}

function acquired(actor: SessionActor, held: Lease | undefined): MaybePromise<Opened> {
	const { lease, mailbox, table } = actor;
	if (held === undefined) {
		mailbox.forgetYielding();
		return "held";
	}
	const { openRunId } = lease;
	const { records } = table;
	// A parked or waiting run is not claimed before it continues: reading it must not delay the process that continues
	// it.
	const isLeft = lease.isWaiting || lease.state.run?.parked !== undefined;
	if (openRunId === undefined || isLeft || records === undefined) return readInbox(actor, held);
	return records.take(openRunId).then((isTaken) => {
		if (isTaken) return readInbox(actor, held);
		lease.drop();
		return "held";
	});
}

function readInbox(actor: SessionActor, held: Lease): MaybePromise<Opened> {
	const { stored } = actor.mailbox;
	const seen = actor.lease.takeInbox();
	// A turn that is stored by now may have been on its way when the session was read.
	const reading = seen === undefined || stored.size > 0 ? held.inbox() : seen;
	return after(reading, (inbox) => align(actor, inbox, stored));
}

function align(
	actor: SessionActor,
	inbox: readonly StoredInput[],
	stored: ReadonlySet<QueuedTurn>,
): MaybePromise<Opened> {
	const { ids } = actor.table.agent.engine.ports;
	const aligning = actor.mailbox.align(inbox, stored, actor.lease.openRunId, (input) => {
		const runId = input.kind === "message" ? input.runId : undefined;
		const run = new AgentRun(runId ?? ids.uuid(), actor.sessionKey);
		run.detach();
		const origin = input.kind === "steer" ? "left-over" : "adopted";
		const said = storedMessage(input);
		const { insteadOf } = said;
		const cut = insteadOf === undefined ? {} : { insteadOf };
		return { run, input: said, inputId: input.id, origin, stage: "seen", ...cut };
	});
	return after(aligning, (alignment) => aligned(actor, alignment));
}

function aligned({ lease, mailbox, table, storeKey, sessionKey }: SessionActor, by: Alignment): Opened {
	table.local.left.delete(storeKey);
	for (const { run } of by.gone) run.abandon("lease_lost", startedElsewhere(sessionKey), lease.state.agent);
	if (by.ahead === undefined || lease.openRunId !== undefined) return "ours";
	return mailbox.yieldsTo(by.ahead, table.agent.engine.ports.clock.monotonic()) ? "others-first" : "ours";
}

/** Removes answers for an ended run from the inbox. A turn that begins removes them itself. */
export async function dropLateAnswers({ lease, mailbox, table }: SessionActor): Promise<void> {
	const { current, openRunId } = lease;
	if (current === undefined || openRunId !== undefined || mailbox.length > 0) return;
	const late = mailbox.notices.filter(({ kind }) => kind === "tool-result");
	const runId = late[0]?.runId;
	if (runId === undefined) return;
	const drain = late.map(({ id }) => id);
	await current.append({ at: table.agent.engine.ports.clock.now(), runId, facts: [], drain });
	mailbox.notices = mailbox.notices.filter((each) => !late.includes(each));
}

/**
 * Begins a turn of an opened session and removes it from the queue. Returns undefined if another worker was faster, or if
 * the inbox has to be read first.
 */
export function beginOpened(actor: SessionActor, queued: QueuedTurn): MaybePromise<Turn | undefined> {
	const { setup } = actor.table.agent;
	// Turns that another worker accepted start here with all plugins, too.
	if (setup !== undefined) return setup.over().then(() => beginOpened(actor, queued));
	if (queued.stage === "storing" || queued.stage === "stored") return undefined;
	const caller = queued.input.origin?.caller;
	return after(actor.resolve(caller), (agent) =>
		after(instructed(actor, agent, caller), (asked) => {
			const { mailbox, lease } = actor;
			if (mailbox.first !== queued || lease.current === undefined) return undefined;
			return beginTurn(turnSession(actor), { agent, asked }, queued, () => mailbox.remove(queued));
		}),
	);
}

/** Calls the `system` function of a turn's agent; undefined if it has none. */
function instructed(
	{ sessionKey, processKey }: SessionActor,
	agent: EngineAgent,
	caller: Caller | undefined,
): MaybePromise<AskedSystem | undefined> {
	if (agent.instruct === undefined) return undefined;
	// Called inside the run, so it cannot wait for its own session.
	return withinCall(processKey, () => askSystem(agent, { sessionKey, caller }));
}

/** Resumes the open run. Returns undefined if no run is open or another worker was faster. Rejects with `run_parked`. */
export async function resumeOpened(
	actor: SessionActor,
	how: Omit<Resumption, "resolve" | "instruct">,
): Promise<Turn | undefined> {
	const open = actor.lease.state.run;
	if (open === undefined) return undefined;
	const resolve: Resumption["resolve"] = () => actor.resolve(open.started.caller);
	const instruct: Resumption["instruct"] = (agent) => instructed(actor, agent, open.started.caller);
	return resumeTurn(turnSession(actor), open, { ...how, resolve, instruct });
}

function turnSession(actor: SessionActor): TurnSession {
	const { sessionKey, processKey, lease, mailbox, answers, table } = actor;
	const { agent, records, modelWait, unread, journal, observe } = table;
	return {
		sessionKey,
		processKey,
		steer: (input) => steer(actor.queue, input),
		agent,
		policy: agent.policy,
		state: lease.state,
		records,
		answers,
		modelWait,
		unread,
		keepsDeltas: journal.readChunks !== undefined,
		lease,
		notices: mailbox.notices,
		observe,
	};
}
