import { test } from "vitest";
import { journalContract } from "./contract/index.ts";
import type { Journal } from "./journal.ts";
import { type MemoryJournal, memoryJournal } from "./memory.ts";

for (const { name, run } of journalContract({ name: "memory", make })) test(name, run);

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
