import { hostContract, type JournalWorld, journalContract } from "@holdfast/testing";
import { eventually } from "@holdfast/testing/cases";
import { type RemoteJournal, startRemoteJournal } from "@holdfast/testing/remote-journal";
import type { Journal } from "holdfast/host";
import { test } from "vitest";
import { type PostgresHost, postgresHost } from "./index.ts";
import { oneProcess } from "./one-process.fixture.ts";
import { testServer } from "./test-server.fixture.ts";

/** No worker is considered dead, even on a slow machine. */
const leaseTtlMs = 120_000;

const onServer = oneProcess(testServer);

for (const { name, run } of journalContract({
	name: "postgres, one process",
	make: onServer,
	can: ["fold", "chunks"],
}))
	test(name, run);
for (const { name, run } of hostContract({ name: "postgres", make: onServer, limitsFiles: true }))
	test(name, run);

/**
 * Every second worker, starting with the first, is in a separate process. Its end is detected at once, a stop by the
 * timeout.
 */
async function twoProcesses(leaseTtlMs: number): Promise<JournalWorld> {
	const { url: connectionString, schema } = await testServer();
	const options = { connectionString, schema: schema(), leaseTtlMs };
	const near: PostgresHost[] = [];
	const far: RemoteJournal[] = [];
	const process = (journal: Journal): RemoteJournal => journal as RemoteJournal;
	return {
		async worker() {
			if (far.length > near.length) {
				const host = postgresHost(options);
				near.push(host);
				return host.journal;
			}
			const started = await startRemoteJournal(
				new URL("./worker-process.fixture.ts", import.meta.url),
				options,
			);
			far.push(started);
			return started;
		},
		kill: (journal) => process(journal).end("SIGKILL"),
		async stop(journal) {
			process(journal).child.kill("SIGSTOP");
			await eventually(
				"a stopped worker is taken for dead",
				async () => !(await near[0]?.journal.isAlive(journal.workerId)),
			);
		},
		wake(journal) {
			process(journal).child.kill("SIGCONT");
		},
		async end() {
			for (const worker of far) await worker.end("SIGKILL");
			for (const host of near) await host.close();
		},
	};
}

const options = { name: "postgres, two processes" };
const ofOne = journalContract({ ...options, make: onServer, can: ["fold", "chunks"] });
const known = new Set(ofOne.map(({ name }) => name));
for (const [needs, ttl] of [
	["kill", leaseTtlMs],
	["stop", 1_500],
] as const)
	for (const { name, run } of journalContract({ ...options, make: () => twoProcesses(ttl), can: [needs] }))
		if (!known.has(name)) test(name, run);
