import { inspector } from "@holdfast/inspector";
import { createServer, sessionService } from "@holdfast/server";
import { scriptedModel } from "@holdfast/testing";
import { memoryHost, tool } from "holdfast";
import { expect, onTestFinished, test } from "vitest";
import { UsageError } from "../work/index.ts";
import { servedContext } from "./served-context.ts";
import { readServer } from "./server-address.ts";

const usage =
	(message: RegExp) =>
	(error: unknown): boolean =>
		error instanceof UsageError && message.test(error.message);

async function serve({ hasInspector = true, keys = {} as Record<string, string> } = {}): Promise<string> {
	const host = memoryHost();
	const agent = {
		model: scriptedModel([{ toolCalls: [{ name: "read" }] }, "Done."], { promptCache: "breakpoints" }),
		instructions: "You read files. ".repeat(50),
		tools: [tool({ name: "read", description: "Reads.", run: () => "long ".repeat(2_000) })],
	};
	const page = hasInspector ? inspector({}) : { routes: [], publicPaths: [] };
	const server = createServer({
		service: sessionService({ agent, host }),
		routes: page.routes,
		publicPaths: page.publicPaths,
		...(Object.keys(keys).length === 0 ? {} : { apiKeys: keys }),
	});
	const { url } = await server.listen({ port: 0, hostname: "127.0.0.1" });
	onTestFinished(async () => {
		await server.close({ drainMs: 0 });
		await host.close();
	});
	return url;
}

async function execute(url: string, key = "", sessionKey = "s"): Promise<void> {
	const response = await fetch(`${url}/api/agent/execute`, {
		method: "POST",
		headers: {
			"content-type": "application/json",
			...(key === "" ? {} : { authorization: `Bearer ${key}` }),
		},
		body: JSON.stringify({
			sessionId: sessionKey,
			input: { role: "user", content: "Read it." },
			context: {},
		}),
	});
	await response.text();
}

test("shows what fills the context of a session on a server, with its instructions", async () => {
	const url = await serve();
	await execute(url);
	const { sections, cache, advice } = await servedContext({ url: `${url}/`, apiKey: undefined }, "s");
	expect(sections.map(({ name }) => name)).toEqual([
		"instructions",
		"tools",
		"your messages",
		"calls of tools",
		"results of tools",
		"answers",
	]);
	// The entries of the inspector cut long texts; the context counts them whole.
	expect(sections.find(({ name }) => name === "results of tools")?.tokens).toBeGreaterThan(2_500);
	expect(cache.calls).toHaveLength(2);
	expect(advice.join()).toContain("Tool results fill more than half");
});

test("explains what is missing: the session, an answer, the key, the inspector, the server", async () => {
	const url = await serve({ keys: { secret: "ann" } });
	await execute(url, "secret");
	const read = (apiKey: string | undefined, session = "s", at = url) =>
		servedContext({ url: at, apiKey }, session);
	expect((await read("secret")).sections.length).toBeGreaterThan(0);
	await expect(read(undefined)).rejects.toSatisfy(usage(/refuses the request: .*--api-key/));
	await expect(read("wrong")).rejects.toSatisfy(usage(/refuses the request/));
	await expect(read("secret", "none")).rejects.toSatisfy(usage(/session_not_found/));
	await expect(read(undefined, "s", await serve({ hasInspector: false }))).rejects.toSatisfy(
		usage(/no inspector/),
	);
	await expect(read(undefined, "s", "http://127.0.0.1:1")).rejects.toSatisfy(usage(/No server answers/));
});

test("reads the address and the key of a server from options and the environment", () => {
	expect(readServer({}, { HOLDFAST_API_KEY: "k" })).toBeUndefined();
	expect(readServer({ server: "http://localhost:3000/x?y" }, { HOLDFAST_API_KEY: "k" })).toEqual({
		url: "http://localhost:3000/x",
		apiKey: "k",
	});
	expect(readServer({ server: "https://a.example", "api-key": ["one"] }, {})?.apiKey).toBe("one");
	for (const given of [
		{ "api-key": ["k"] },
		{ server: "localhost:3000" },
		{ server: "nowhere" },
		{ server: "http://localhost", db: "x.db" },
		{ server: "http://localhost", "api-key": ["one", "two"] },
	])
		expect(() => readServer(given, {})).toThrow(UsageError);
});
