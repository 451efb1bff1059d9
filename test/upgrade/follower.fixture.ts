// A page of the earlier version that stays open during the upgrade: it sends an input, follows the answer, and prints each event.
import { createClient } from "@holdfast/client";

const [url = "", sessionId = "", input = ""] = process.argv.slice(2);
const stream = createClient({ url }).execute({ sessionId, input, context: {} });
for await (const event of stream) console.log(JSON.stringify(event));
console.log(JSON.stringify({ type: "result", status: (await stream.result()).status }));
