// Inputs as the strategy of the agent sees them: the check of those that begin a run, and events, which never do. Events
// wait in the inbox for the open run, or for the next one if that run ends without them (keeps I2, I3).
import type { Decider } from "../engine/index.ts";
import { type AcceptedInput, inputFact } from "../facts/index.ts";
import type { MaybePromise } from "../host/index.ts";
import type { AgentRun } from "./agent-run.ts";
import { answeredElsewhere } from "./early-answers.ts";
import { take, takeLate } from "./outside-requests.ts";
import type { SessionActor } from "./session-actor.ts";
import { sessionBusy } from "./session-errors.ts";
import { isRunning } from "./turn.ts";

/**
 * Checks an input that is to begin a run, before anything about it is committed. Throws or rejects with the error of the
 * strategy. Costs nothing for strategies that accept any input.
 */
export function checkInput(
	{ table, queue, processKey }: SessionActor,
	{ message: { text } }: AcceptedInput,
): MaybePromise<void> {
	const decider = deciderOf(table);
	if (decider.checkInput === undefined) return;
	return queue.waitsFor(processKey, async () => decider.checkInput?.(text));
}

/** Whether the input is an event. Cheap for agents that have none. */
export function isEvent({ table }: SessionActor, { message }: AcceptedInput): boolean {
	return deciderOf(table).events?.isEvent(message.text) === true;
}

function deciderOf({ agent }: SessionActor["table"]): Decider {
	return agent.engine.decider;
}

/**
 * Accepts an event for the open run. Resolves once it is durable, with that run. Rejects with the decider's error if no
 * run is open or it accepts no more events.
 */
export function deliverEvent(actor: SessionActor, given: AcceptedInput): Promise<AgentRun> {
	return unlessRepeated(actor, () => deliver(actor, given));
}

/** The process that accepted an event may have died before the run received it: a repeated one delivers it. */
async function unlessRepeated(actor: SessionActor, accept: () => Promise<AgentRun>): Promise<AgentRun> {
	try {
		return await accept();
	} catch (error) {
		if ((error as { code?: unknown }).code === "duplicate_input") await takeLate(actor).catch(() => {});
		throw error;
	}
}

async function deliver(actor: SessionActor, given: AcceptedInput): Promise<AgentRun> {
	if (actor.isEnding) await actor.ended();
	const input = await admitted(actor, given);
	if (actor.turn === undefined) {
		const taken = await take(actor, input);
		if (taken !== null) return taken;
	}
	const { turn, mailbox } = actor;
	const inputId = input.message.id;
	const kept = await mailbox.keep(input);
	if (turn === undefined || !isRunning(turn)) {
		if (actor.isEnding) await actor.ended();
		// The run may have started to wait at that moment.
		const runId = actor.lease.state.run?.runId ?? "";
		return (await take(actor, kept, "stored")) ?? actor.turn?.handle ?? answeredElsewhere(actor, runId);
	}
	turn.run.inputs.offer({ inputId, fact: (placement) => inputFact(inputId, kept, placement) });
	if (isRunning(turn)) return turn.handle;
	await actor.ended(turn);
	if (turn.run.inputs.took(inputId)) return turn.handle;
	return (await take(actor, kept, "stored")) ?? actor.turn?.handle ?? turn.handle;
}

/** Continues the waiting run with an event at once. Rejects with `session_busy` if it does not wait. */
export async function startWithEvent(
	actor: SessionActor,
	given: AcceptedInput,
	watcher: Parameters<typeof take>[3],
): Promise<AgentRun> {
	return unlessRepeated(actor, async () => {
		const input = await admitted(actor, given);
		const taken = actor.turn === undefined ? await take(actor, input, "new", watcher) : null;
		if (taken === null) throw sessionBusy(actor.sessionKey);
		return taken;
	});
}

/** Anyone may send an event, so it does not state a requester: the run keeps its own. */
async function admitted(actor: SessionActor, given: AcceptedInput): Promise<AcceptedInput> {
	actor.ensureUsable();
	const { run } = actor.turn?.run.state ?? (await actor.lease.read());
	const isOpen = run?.status === "running" || run?.status === "waiting";
	if (isOpen || actor.mailbox.length === 0)
		deciderOf(actor.table).events?.check(given.message.text, isOpen ? run?.own : undefined);
	const { origin: _, ...input } = given;
	return input;
}
