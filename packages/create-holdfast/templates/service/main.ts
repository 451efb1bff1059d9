// Serves until it is stopped. Kill it at any time: the next process continues.
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { startService } from "./service.ts";

const { API_KEY, DATABASE = ".holdfast/sessions.db", PORT = "4280" } = process.env;
mkdirSync(dirname(DATABASE), { recursive: true });
const { url, close } = await startService({
	database: DATABASE,
	port: Number(PORT),
	...(API_KEY === undefined ? {} : { apiKeys: { [API_KEY]: "default" } }),
});
console.log(`Serving at ${url}: open it for the inspector, or

  curl -N ${url}/api/agent/execute -H "content-type: application/json" -d '{"input":"What is 2 + 3?"}'
`);
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void close());
