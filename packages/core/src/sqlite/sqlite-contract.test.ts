import { join } from "node:path";
import { type JournalWorld, journalContract } from "@holdfast/testing";
import { eventually } from "@holdfast/testing/cases";
import { test } from "vitest";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";
import type { Journal } from "../host/journal.ts";
import { type RemoteWorker, startRemoteWorker } from "./remote-worker.fixture.ts";
import { sqliteJournal } from "./sqlite-journal.ts";

const leaseTtlMs = 300;

for (const { name, run } of journalContract({
	name: "sqlite, one process",
	make: oneProcess,
	can: ["fold", "chunks"],
}))
	test(name, run);
for (const { name, run } of journalContract({ name: "sqlite, two processes", make: twoProcesses })) {
	test(name, run);
}

function oneProcess(): JournalWorld {
	const folder = temporaryFolder();
	const workers: Journal[] = [];
	return {
		worker() {
			const journal = sqliteJournal({ path: join(folder, "journal.db") });
			workers.push(journal);
			return journal;
		},
		async end() {
			for (const journal of workers) await journal.close();
		},
	};
}

/** Every second worker, including the first, is a separate process. */
function twoProcesses(): JournalWorld {
	const folder = temporaryFolder();
	const path = join(folder, "journal.db");
	const near: Journal[] = [];
	const far: RemoteWorker[] = [];
	const process = (journal: Journal): RemoteWorker => journal as RemoteWorker;
	return {
		async worker() {
			if (far.length > near.length) {
				const journal = sqliteJournal({ path, leaseTtlMs });
				near.push(journal);
				return journal;
			}
			const started = startRemoteWorker({ path, leaseTtlMs });
			far.push(await started);
			return started;
		},
		kill: (journal) => process(journal).end("SIGKILL"),
		async stop(journal) {
			process(journal).child.kill("SIGSTOP");
			const [witness] = near as [Journal];
			await eventually(
				"a stopped worker is taken for dead",
				async () => !(await witness.isAlive(journal.workerId)),
			);
		},
		wake(journal) {
			process(journal).child.kill("SIGCONT");
		},
		async end() {
			for (const worker of far) await worker.end("SIGKILL");
			for (const journal of near) await journal.close();
		},
	};
}
