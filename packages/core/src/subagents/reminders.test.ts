import { emptyUsage } from "@holdfast/upp";
import { expect, test } from "vitest";
import { memoryJournal } from "../host/memory-journal.ts";
import { remind } from "./reminders.ts";

test("a reminder is offered to the active run when it is new, and not when it is sent again", async () => {
	const journal = memoryJournal();
	await journal.submit("s", { id: "m", kind: "message", body: {} });
	const table = { journal, records: undefined, agent: {}, callersKeyOf: () => "s" } as never;
	const offered: unknown[] = [];
	const inputs = { offer: ({ inputId }: { inputId: string }) => void offered.push(inputId) };
	const run = { inputs } as never;
	const incarnation = journal.head("s")?.incarnation ?? "";
	const spent = { usage: emptyUsage(), cost: 0, unpriced: 0 };
	const session = { storeKey: "s", incarnation, run, caller: undefined };
	for (let time = 0; time < 3; time++) await remind(table, session, "reminder.task", "It is done.", spent);
	await remind(table, session, "reminder.other", "That, too.", spent);
	const notices = journal.inbox("s").filter(({ kind }) => kind === "notice");
	expect(notices).toHaveLength(2);
	expect(offered).toEqual(notices.map(({ id }) => id));
	await journal.delete("s");
	await remind(table, session, "reminder.late", "It is done.", spent);
	expect([journal.head("s"), offered.length]).toEqual([undefined, 2]);
	// A later session with the same key is not reminded either.
	await journal.submit("s", { id: "m", kind: "message", body: {} });
	await remind(table, session, "reminder.late", "It is done.", spent);
	expect([journal.head("s")?.waiting, offered.length]).toEqual([1, 2]);
});
