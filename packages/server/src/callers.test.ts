// Who asks: kept with each run, known to whatever the application brings, and what keeps the sessions of users apart.
import { scriptedModel } from "@holdfast/testing";
import { type Caller, memoryHost, type ToolContext } from "holdfast";
import { memoryJournal } from "holdfast/host";
import { definePlugin } from "holdfast/plugins";
import { afterEach, expect, test } from "vitest";
import { createHandler } from "./handler.ts";
import { type Served, type ServedOptions, say, serveScript } from "./served.fixture.ts";
import { sessionService } from "./service/session-service.ts";
import { refusal } from "./setup.fixture.ts";
import { readSse, until } from "./sse.fixture.ts";
import type { RequestLogEntry } from "./telemetry/log.ts";

const open: Served[] = [];
afterEach(async () => {
	for (const served of open.splice(0)) await served.close();
});

/** `x-user: alice@acme` is the user alice of acme; `@acme` is acme itself. */
const authenticate = async ({ headers }: Request) => {
	const [user, tenant] = (headers.get("x-user") ?? "").split("@");
	if (tenant === undefined) return undefined;
	return user === "" || user === undefined ? { tenant } : { tenant, user, claims: { roles: [`of ${user}`] } };
};

function serve(script: Parameters<typeof serveScript>[0], options: ServedOptions = {}): Served {
	const served = serveScript(script, { authenticate, ...options });
	open.push(served);
	return served;
}

const alice = { "x-user": "alice@acme" };
const bob = { "x-user": "bob@acme" };
const acme = { "x-user": "@acme" };
const asAlice: Caller = { tenant: "acme", user: "alice", claims: { roles: ["of alice"] } };

test("the caller reaches tools, approvals, hooks, policy, the function that chooses the agent, and the log", async () => {
	const seen: Record<string, unknown> = {};
	const sees =
		(name: string) =>
		({ caller }: { readonly caller?: Caller }): void => {
			seen[name] = caller;
		};
	const pay = {
		name: "pay",
		description: "Pays.",
		parameters: { type: "object" },
		needsApproval: (_: unknown, { caller }: ToolContext) => {
			seen.needsApproval = caller;
			return true;
		},
		run(_: unknown, { caller, approval }: ToolContext) {
			seen.tool = caller;
			seen.approvedBy = approval?.by;
			return "paid";
		},
	};
	const plugin = definePlugin({
		name: "looks",
		setup(host) {
			host.on("turn.before", sees("turnBefore"));
			host.on("tool.call", sees("toolCall"));
			host.on("assemble", sees("assemble"));
		},
	});
	const middleware = { name: "sees", before: sees("middleware") };
	const interceptor = { name: "begins", begin: sees("interceptor") as () => undefined };
	const model = scriptedModel([{ toolCalls: [{ name: "pay" }] }, "Paid."]);
	const logged: RequestLogEntry[] = [];
	const { run, session, post } = serve([], {
		log: (entry) => logged.push(entry),
		serving: {
			agent: { model, tools: [pay], plugins: [plugin], middleware: [middleware, interceptor] as never },
			agentFor(turn) {
				seen.agentFor = turn;
				return undefined;
			},
			sessionsOf: "tenant",
		},
	});
	await run({ sessionId: "s", input: say("Pay."), context: {} }, alice);
	const [call] = (await session("s", alice)).pendingToolCalls ?? [];
	await (await post("/api/agent/session/s/approve", { toolCallId: call?.id }, bob)).text();
	expect((await session("s", alice)).status).toBe("completed");
	for (const name of [
		"tool",
		"needsApproval",
		"turnBefore",
		"toolCall",
		"assemble",
		"middleware",
		"interceptor",
	])
		expect([name, seen[name]]).toEqual([name, asAlice]);
	expect(seen.agentFor).toEqual({ ...asAlice, sessionId: "s" });
	expect(seen.approvedBy).toEqual({ tenant: "acme", user: "bob", claims: { roles: ["of bob"] } });
	expect(logged.map(({ type, ...entry }) => [type, "user" in entry ? entry.user : undefined])).toContainEqual(
		["run", "alice"],
	);
	expect(logged.find(({ type }) => type === "request")).toMatchObject({ tenant: "acme", user: "alice" });
	expect(JSON.stringify(await session("s", alice))).not.toContain("of alice");
});

test("the worker that takes over a run has its caller", async () => {
	const journal = memoryJournal();
	const { values } = memoryHost();
	const hostOf = (workerId: string) => {
		const worker = journal.worker(workerId);
		return { worker, host: { journal: worker, values, close: async () => worker.close() } };
	};
	const dying = hostOf("dying");
	const never = new Promise<never>(() => {});
	const seen: unknown[] = [];
	const tools = (run: (_: unknown, context: ToolContext) => unknown) => [
		{
			name: "look",
			description: "Looks.",
			parameters: { type: "object" },
			retryPolicy: "pure" as const,
			run,
		},
	];
	const asks = { toolCalls: [{ name: "look" }] };
	const stuck = (_: unknown, { caller }: ToolContext): Promise<never> => {
		seen.push(caller);
		return never;
	};
	const first = sessionService({
		host: dying.host,
		agent: { model: scriptedModel([asks]), tools: tools(stuck) },
	});
	await first.submit(asAlice as never, "s", { input: "Look.", context: {} });
	await until("the tool runs", () => seen.length === 1);
	dying.worker.die();
	const chosen: unknown[] = [];
	const second = sessionService({
		host: hostOf("living").host,
		agent: { model: scriptedModel(["Seen."]), tools: tools((_, { caller }) => void seen.push(caller)) },
		agentFor: (turn) => void chosen.push(turn),
		recoverEveryMs: 1,
	});
	await second.supervise();
	await until("it is done", async () => (await second.get(asAlice as never, "s"))?.status === "completed");
	expect(seen).toEqual([asAlice, asAlice]);
	expect(chosen).toContainEqual({ ...asAlice, sessionId: "s" });
	await second.close();
});

test("a sub-agent works for its parent's caller", async () => {
	const { Agent } = await import("holdfast");
	const seen: unknown[] = [];
	const look = {
		name: "look",
		description: "Looks.",
		run: (_: unknown, { caller }: ToolContext) => void seen.push(caller),
	};
	const helper = new Agent({
		name: "helper",
		description: "Helps.",
		model: scriptedModel([{ toolCalls: [{ name: "look" }] }, "Seen."]),
		tools: [look],
	});
	const model = scriptedModel([
		{ toolCalls: [{ name: "delegate_to_helper", arguments: { prompt: "Look." } }] },
		{ toolCalls: [{ name: "look" }] },
		"All done.",
	]);
	const { run } = serve([], { serving: { agent: { model, tools: [look], subagents: [helper] } } });
	await run({ sessionId: "s", input: say("Go."), context: {} }, alice);
	expect(seen).toEqual([asAlice, asAlice]);
});

test("a session of one user is not found for another user of the tenant, or for the tenant, and its id is free", async () => {
	const { run, get, post, session, handler, service } = serve(() => "Fine.");
	const before = await run({ sessionId: "s", input: say("one"), context: {} }, alice);
	for (const headers of [bob, acme]) {
		const asked: readonly Promise<Response>[] = [
			get("/api/agent/session/s", headers),
			get("/api/agent/session/s/events", headers),
			get(`/api/agent/session/s/events?after=${before.at(-1)?.id}&follow=1`, headers),
			post("/api/agent/session/s/stop", undefined, headers),
			post("/api/agent/session/s/approve", { toolCallId: "x" }, headers),
			handler.fetch(new Request("http://localhost/api/agent/session/s", { method: "DELETE", headers })),
		];
		for (const response of await Promise.all(asked)) {
			// Word for word what is said of a session that nobody made.
			expect([response.status, await response.json()]).toEqual([
				404,
				{ error: "Session not found", code: "session_not_found" },
			]);
		}
		const continued = await post("/api/agent/execute", { sessionId: "s", input: say("two") }, headers);
		expect(await refusal(continued)).toEqual([400, "context_required"]);
		expect(await (await get("/api/agent/sessions", headers)).json()).toEqual({ sessions: [] });
		expect((await get("/api/chat/s/stream", headers)).status).toBe(204);
		expect(await (await get("/api/chat/s", headers)).json()).toMatchObject({ messages: [], isOpen: false });
	}
	const other = await run({ sessionId: "s", input: say("mine"), context: {} }, bob);
	expect(other.at(-1)?.event.status).toBe("completed");
	expect((await session("s", bob)).messages[0]).toMatchObject({ content: "mine" });
	expect((await session("s", alice)).messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
	const listed = (await (await get("/api/agent/sessions", alice)).json()) as { sessions: object[] };
	expect(listed.sessions).toMatchObject([{ sessionId: "s" }]);
	expect(await service.get("acme", "s")).toBeUndefined();
});

test("if sessions are the tenant's, its users share them, and others still see nothing", async () => {
	const { run, get, session } = serve(() => "Fine.", { serving: { sessionsOf: "tenant" } });
	await run({ sessionId: "s", input: say("one"), context: {} }, alice);
	await run({ sessionId: "s", input: say("two") }, bob);
	expect((await session("s", acme)).messages).toHaveLength(4);
	expect((await get("/api/agent/session/s", { "x-user": "alice@other" })).status).toBe(404);
});

test("each user has the agent that is chosen for them", async () => {
	const agents = new Map(
		["alice", "bob"].map((user) => [user, { model: scriptedModel(() => `I serve ${user}.`), system: user }]),
	);
	const { run } = serve(["never"], { serving: { agentFor: ({ user = "" }) => agents.get(user) } });
	for (const [user, headers] of [
		["alice", alice],
		["bob", bob],
		["alice", alice],
	] as const) {
		const events = await run({ input: say("Who?") }, headers);
		expect(events.find(({ event }) => event.type === "text_end")?.event.text).toBe(`I serve ${user}.`);
	}
	expect(agents.get("alice")?.model.requests.map(({ system }) => system)).toEqual(["alice", "alice"]);
});

test("an invalid caller from `authenticate` is rejected, and the log has the reason", async () => {
	const logged: RequestLogEntry[] = [];
	const service = sessionService({ host: memoryHost(), agent: { model: scriptedModel([]) } });
	for (const found of [
		{ tenant: "t", user: "" },
		{ tenant: "t", claims: { id: 7n } },
		{ tenant: "t", claims: "x" },
	]) {
		const handler = createHandler({
			service,
			authenticate: () => found as never,
			log: (entry) => logged.push(entry),
		});
		const response = await handler.fetch(new Request("http://localhost/api/agent/sessions"));
		expect(await refusal(response)).toEqual([500, "internal_error"]);
		expect(logged.splice(0)).toContainEqual(
			expect.objectContaining({ type: "error", code: "invalid_caller" }),
		);
	}
	await service.close();
});

test("users with the same idempotency key and no session id get their own sessions", async () => {
	const { post } = serve(() => "Fine.", { serving: { sessionsOf: "tenant" } });
	const send = async (headers: Record<string, string>): Promise<string | null> => {
		const response = await post(
			"/api/agent/execute",
			{ input: "hi" },
			{ ...headers, "idempotency-key": "k" },
		);
		await readSse(response).rest();
		return response.headers.get("x-session-id");
	};
	expect(await send(alice)).toBe(await send(alice));
	expect(await send(alice)).not.toBe(await send(bob));
});
