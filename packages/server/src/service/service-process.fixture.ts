// A server in a process of its own, for tests: `{path}` serves the sessions of a file, executes "go" in one, and prints
// each event as it is emitted. Its model stops in the middle of an answer: whoever started it kills it then, or earlier.
import { sqliteHost } from "holdfast/sqlite";
import { sessionService } from "./session-service.ts";
import { slowAgent } from "./slow-agent.fixture.ts";

const [path = ""] = process.argv.slice(2);
const service = sessionService({ host: sqliteHost(path), agent: slowAgent("stops"), deltaFlushMs: 1 });
const { after } = await service.submit("t", "s", { input: "go", context: {} }, { idempotencyKey: "k" });
for await (const batch of service.follow("t", "s", { after, until: "complete" }))
	for (const event of batch) process.stdout.write(`${JSON.stringify(event)}\n`);
