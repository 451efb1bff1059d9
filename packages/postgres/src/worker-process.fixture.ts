// A worker in a process of its own, for tests.
import { flushCompileCache } from "node:module";
import { serveJournal } from "@holdfast/testing/remote-journal";
import { type PostgresHostOptions, postgresHost } from "./index.ts";

// A process that is killed would leave nothing of what it has compiled to those after it.
flushCompileCache();
serveJournal(postgresHost(JSON.parse(process.argv[2] ?? "{}") as PostgresHostOptions).journal);
