// A journal in another process, for tests.
import { type RemoteJournal, startRemoteJournal } from "@holdfast/testing/remote-journal";
import type { SqliteJournalOptions } from "./sqlite-journal.ts";

export type RemoteWorker = RemoteJournal;

export function startRemoteWorker(options: SqliteJournalOptions): Promise<RemoteWorker> {
	return startRemoteJournal(new URL("./worker-process.fixture.ts", import.meta.url), options);
}
