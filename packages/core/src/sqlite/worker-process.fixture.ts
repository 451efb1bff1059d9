// A worker in a separate process, for tests. Started by remote-worker.
import { flushCompileCache } from "node:module";
import { serveJournal } from "@holdfast/testing/remote-journal";
import { type SqliteJournalOptions, sqliteJournal } from "./sqlite-journal.ts";

// A killed process would leave nothing that it has compiled to later ones.
flushCompileCache();
serveJournal(sqliteJournal(JSON.parse(process.argv[2] ?? "{}") as SqliteJournalOptions));
