// Changes of the history requested from outside: they wait in the inbox until a run applies them (keeps I4, I11).
import { type MessageEdit, readEdit, storedEdit } from "../facts/index.ts";
import type { SessionActor } from "./session-actor.ts";
import { duplicateMessage } from "./session-errors.ts";
import type { SessionQueue } from "./session-queue.ts";
import { stateOf } from "./session-requests.ts";
import { isRunning } from "./turn.ts";

/**
 * Accepts a change of the history. The run in progress applies it at its next boundary; without one, the next run does.
 */
export async function edit(queue: SessionQueue, change: MessageEdit): Promise<void> {
	storedEdit(change);
	return queue.ask("edit", (actor) => editNow(actor, change));
}

async function editNow(actor: SessionActor, change: MessageEdit): Promise<void> {
	actor.ensureUsable();
	const { mailbox, table } = actor;
	if (change.kind === "add") await ensureNew(actor, change.message.id);
	const inputId = table.agent.engine.ports.ids.uuid();
	const body = await mailbox.edit(inputId, change);
	const { turn } = actor;
	if (turn === undefined || !isRunning(turn)) {
		mailbox.mayHoldEdits = true;
	} else if (mailbox.mayHoldEdits) {
		// In inbox order: inputs that arrived while the run was being started precede this one. Inputs that cannot be
		// read now are read when the run ends, or by the next run.
		await turn.run.inputs.fetch().then(
			() => {
				mailbox.mayHoldEdits = false;
			},
			() => {},
		);
	} else {
		turn.run.inputs.offer({ inputId, fact: () => readEdit(body) });
	}
}

/** Rejects with `duplicate_message` if the history, or a change that waits for the next run, has a message of that id. */
async function ensureNew(actor: SessionActor, messageId: string): Promise<void> {
	const { agent } = await stateOf(actor);
	if (agent.messages.some(({ id }) => id === messageId) || (await actor.mailbox.isAdding(messageId)))
		throw duplicateMessage(actor.sessionKey, messageId);
}
