// A worker in a process of its own, for tests. Started by remote-worker.
import { flushCompileCache } from "node:module";
import { serveJournal } from "@holdfast/testing/remote-journal";
import { type SqliteJournalOptions, sqliteJournal } from "./sqlite-journal.ts";

// A process that is killed would leave nothing of what it has compiled to those after it.
flushCompileCache();
serveJournal(sqliteJournal(JSON.parse(process.argv[2] ?? "{}") as SqliteJournalOptions));
