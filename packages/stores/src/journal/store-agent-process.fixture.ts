// One turn of a conversation in a separate process, for tests: `{dir} {namespace} {key} {text}`. Prints the model's
// request as JSON.

import { scriptedModel } from "@holdfast/testing";
import { Agent } from "holdfast";
import { FileSessionStore } from "../session-store/file-session-store.ts";

const [dir = "", namespace = "", key = "", text = ""] = process.argv.slice(2);
const model = scriptedModel([{ text: `re: ${text}` }]);
const agent = new Agent({ model, namespace, host: { sessionStore: new FileSessionStore(dir) } });
const run = await agent.session(key).send(text);
const { outcome } = await run.result();
const shown = model.requests[0]?.messages.map((message) => (message as unknown as { text: string }).text);
process.stdout.write(JSON.stringify({ outcome, shown }));
