// The connectors together, as an agent uses them.
import dns from "node:dns";
import { syncBuiltinESMExports } from "node:module";
import { Socket } from "node:net";
import { afterEach, expect, test, vi } from "vitest";
import { RunnerAgent } from "../agent/index.ts";
import { expectActions, stubClient } from "../harness/index.ts";
import { serving } from "./connectors.fixture.ts";
import { httpConnector, kvConnector } from "./index.ts";

afterEach(() => {
	vi.restoreAllMocks();
	syncBuiltinESMExports();
});

test("an agent fetches from a local server, stores the response, and finishes, without external traffic [RUN-150]", async () => {
	const connect = vi.spyOn(Socket.prototype, "connect");
	const lookup = vi.spyOn(dns.promises, "lookup");
	syncBuiltinESMExports();
	const requests: string[] = [];
	await serving(
		({ method, url }, response) => {
			requests.push(`${method} ${url}`);
			response.end("1.2.0: faster");
		},
		async (base) => {
			const kv = kvConnector();
			const get = { type: "tool", toolId: "http", input: { url: `${base}/notes` } } as const;
			const set = {
				type: "tool",
				toolId: "kv",
				input: { operation: "set", key: "notes", value: "1.2.0: faster" },
			} as const;
			const done = { type: "finish", message: "It is faster." } as const;
			const agent = new RunnerAgent({
				id: "reader",
				taskPrompt: "Read the notes.",
				tools: [httpConnector({ allowPrivate: ["127.0.0.1"] }), kv],
				modelProviders: [stubClient([get, set, done])],
				allowNetwork: true,
			});
			const result = await agent.runOnce();
			expect(result).toMatchObject({ success: true, result: "It is faster." });
			expectActions(result, [
				{ ...get, ok: true },
				{ ...set, ok: true },
				{ type: "finish", ok: true },
			]);
			expect(result.actions?.[0]?.output).toMatchObject({ status: 200, body: "1.2.0: faster" });
			const read = { type: "tool", toolId: "kv", input: { operation: "get", key: "notes" } } as const;
			const again = new RunnerAgent({
				id: "again",
				taskPrompt: "Look.",
				tools: [kv],
				modelProviders: [stubClient([read, done])],
			});
			expect((await again.runOnce()).actions?.[0]?.output).toBe("1.2.0: faster");
		},
	);
	expect(requests).toEqual(["GET /notes"]);
	expect(connect).toHaveBeenCalledTimes(1);
	expect(connect.mock.calls[0]?.flat()[0]).toMatchObject({ host: "127.0.0.1" });
	expect(lookup).not.toHaveBeenCalled();
});
