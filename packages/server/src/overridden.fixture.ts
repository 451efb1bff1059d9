// A program in which something else has replaced the global Response before the server was loaded, as Hono's adapter for Node
// does by default. It prints what a client reads of a stream.
import { getRequestListener } from "@hono/node-server";

getRequestListener(() => new Response("another application"));
const { listen } = await import("./server.ts");
const { scriptedModel } = await import("@holdfast/testing");
const { memoryHost } = await import("holdfast");

const server = await listen({ agent: { model: scriptedModel(["hello"]) }, host: memoryHost(), port: 0 });
const response = await fetch(`${server.url}/api/agent/execute`, {
	method: "POST",
	headers: { "content-type": "application/json" },
	body: JSON.stringify({ sessionId: "s", input: { role: "user", content: "hi" }, context: {} }),
});
console.log(response.headers.get("content-type"), await response.text());
await server.close();
