import { expect, test } from "vitest";
import { memoryJournal } from "../host/memory-journal.ts";
import { remind } from "./reminders.ts";

test("a reminder is offered to the run under way when it is new, and not when it is given once more", async () => {
	const journal = memoryJournal();
	await journal.submit("s", { id: "m", kind: "message", body: {} });
	const table = { journal, records: undefined, callersKeyOf: () => "s" } as never;
	const offered: unknown[] = [];
	const run = { offer: ({ inputId }: { inputId: string }) => void offered.push(inputId) } as never;
	for (let time = 0; time < 3; time++)
		await remind(table, "s", "reminder.task", "It is done.", { run, caller: undefined });
	await remind(table, "s", "reminder.other", "That, too.", { run, caller: undefined });
	const notices = journal.inbox("s").filter(({ kind }) => kind === "notice");
	expect(notices).toHaveLength(2);
	expect(offered).toEqual(notices.map(({ id }) => id));
	await remind(table, "gone", "reminder.task", "It is done.", { run, caller: undefined });
	expect([journal.head("gone"), offered.length]).toEqual([undefined, 2]);
});
