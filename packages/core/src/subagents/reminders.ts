// The notice to a session that background work has ended. It is an input in the session's inbox with its own dedupe
// key, so it arrives once, even if several workers detect the end (keeps I4). The active run takes it, or otherwise the
// next one.
import { cutText, type Message, UserMessage } from "@holdfast/upp";
import type { Caller } from "../caller/index.ts";
import type { Run } from "../engine/index.ts";
import { inputFact, type Spent, saidBy, storedInput } from "../facts/index.ts";
import { noticeIdentity, type SessionTable, waitingInput } from "../sessions/index.ts";

/** An ended task. */
export interface FinishedTask {
	readonly taskId: string;
	readonly subagent: string;
	readonly description: string;
}

/** Returns the model's text about tasks that ended the same way. */
export function reminderText(tasks: readonly FinishedTask[], end: "completed" | "failed"): string {
	const lines = tasks.map(({ taskId, subagent, description }) => {
		const about = description === "" ? "" : `, description: ${oneLine(description)}`;
		return `- task_id: ${taskId}, sub-agent: ${subagent}${about}`;
	});
	const what = tasks.length === 1 ? "A background task has" : "Background tasks have";
	return [
		"<system-reminder>",
		`${what} ${end}:`,
		...lines,
		`Call background_output({"task_id": "..."}) with ${tasks.length === 1 ? "its id" : "each id"} to retrieve ${end === "failed" ? "the reason" : "the output"}.`,
		"</system-reminder>",
	].join("\n");
}

/** A task that a reminder reports as ended. */
export type RemindedTask = Omit<FinishedTask, "description"> & { readonly status: "completed" | "error" };

/** Returns the tasks that a reminder reports; none if the message is not a reminder. */
export function readReminder(message: Message): readonly RemindedTask[] {
	if (message.type !== "user" || !message.id.startsWith(noticeIdentity("reminder.").id)) return [];
	const { text } = message as UserMessage;
	const status = /^(?:A background task has|Background tasks have) failed:$/m.test(text)
		? "error"
		: "completed";
	const lines = text.matchAll(/^- task_id: (\S+), sub-agent: ([a-z0-9_-]+)/gm);
	return [...lines].map(([, taskId = "", subagent = ""]) => ({ taskId, subagent, status }));
}

/** The session that is reminded. */
export interface Reminded {
	readonly storeKey: string;
	/** The incarnation of the session that began the work: no other session is reminded of it. */
	readonly incarnation: string;
	/** The session's current run in this process. */
	readonly run: Run | undefined;
	/** The requester of the work. */
	readonly caller: Caller | undefined;
}

/** Puts a reminder, with its tasks' usage, into the inbox of a session. Repeating a key has no effect. */
export async function remind(
	table: SessionTable,
	{ storeKey, incarnation, run, caller }: Reminded,
	key: string,
	given: string,
	spent: Spent,
): Promise<void> {
	const { journal, records, agent } = table;
	const { id, dedupeKey } = noticeIdentity(key);
	const message = new UserMessage(given, { id });
	const input = waitingInput(agent, id, { shape: "text", message, spent });
	const { text } = input.message;
	const sessionKey = table.callersKeyOf(storeKey);
	// Only sessions with a caller's key can be resumed from outside. Done first: without the notification, the session
	// might never be read.
	if (sessionKey !== undefined) await records?.children.notify({ key, sessionKey, incarnation, text });
	// A run that the reminder starts belongs to the requester of the work.
	const body = storedInput(saidBy(input, caller));
	const askedBy = { key: storeKey, incarnation };
	try {
		const { duplicate } = await journal.submit(storeKey, { id, kind: "notice", dedupeKey, askedBy, body });
		if (!duplicate) run?.inputs.offer({ inputId: id, fact: (placement) => inputFact(id, input, placement) });
	} catch (error) {
		if ((error as { code?: unknown }).code !== "lease_lost") throw error;
		// The session was deleted, perhaps before the notification was recorded.
		await records?.deleted(incarnation);
	}
}

/** Descriptions come from models, so they must not end a line or a tag. */
function oneLine(text: string): string {
	return cutText(text.replaceAll(/\s+/g, " ").replaceAll("<", "&lt;").trim(), 500);
}
