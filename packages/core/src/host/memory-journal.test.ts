import { journalContract } from "@holdfast/testing";
import { append, begin, input, note, notes, started } from "@holdfast/testing/cases";
import { expect, test } from "vitest";
import type { AcquireResult, Journal } from "./journal.ts";
import { type MemoryJournal, memoryJournal } from "./memory-journal.ts";

for (const { name, run } of journalContract({ name: "memory", make })) test(name, run);

test("a journal in memory never makes its caller wait", () => {
	const journal = memoryJournal();
	const asked = journal.acquire("s") as AcquireResult & { ok: true };
	const { lease } = asked;
	const answers = [
		asked,
		lease.append({ at: 1, runId: "r", facts: [started, note(1)] }),
		journal.submit("s", input("i")),
		lease.inbox(),
		journal.read("s"),
		journal.head("s"),
		journal.list(),
		journal.isAlive(journal.workerId),
		lease.release(),
		journal.delete("s"),
		journal.close(),
	];
	expect(answers.filter((answer) => answer instanceof Promise)).toEqual([]);
});

test("entries are stored as given, not as copies", async () => {
	const journal = memoryJournal();
	const value = new Map([["any", "value"]]);
	await append(await begin(journal, "s"), "run-1", note(value));
	expect(notes(await journal.read("s"))[0]).toBe(value);
});

function make() {
	const first = memoryJournal({ workerId: "worker-0" });
	let count = 0;
	const die = (journal: Journal): void => (journal as MemoryJournal).die();
	return {
		worker: () => (count++ === 0 ? first : first.worker(`worker-${count}`)),
		kill: die,
		stop: die,
		wake() {},
		end() {},
	};
}
