// A worker in a separate process, for tests.
import { flushCompileCache } from "node:module";
import { serveJournal } from "@holdfast/testing/remote-journal";
import { type PostgresHostOptions, postgresHost } from "./index.ts";

// A killed process would not save its compile cache for later ones.
flushCompileCache();
serveJournal(postgresHost(JSON.parse(process.argv[2] ?? "{}") as PostgresHostOptions).journal);
