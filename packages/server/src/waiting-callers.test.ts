// Who asks and what clients may set, for messages that come during a run and for those that replace what was said.
import { scriptedModel } from "@holdfast/testing";
import { type Caller, memoryHost, type ToolContext } from "holdfast";
import { memoryJournal } from "holdfast/host";
import { afterEach, expect, test } from "vitest";
import { createHandler } from "./handler.ts";
import { type Served, type ServedOptions, say, serveScript } from "./served.fixture.ts";
import { type SessionServiceOptions, sessionService } from "./service/index.ts";
import { refusal } from "./setup.fixture.ts";
import { until } from "./sse.fixture.ts";

const open: Served[] = [];
afterEach(async () => {
	for (const served of open.splice(0)) await served.close();
});

/** `x-user: alice` is the user alice of acme; `x-roles` are claims. */
const authenticate = async ({ headers }: Request) => {
	const user = headers.get("x-user");
	if (user === null) return undefined;
	return { tenant: "acme", user, claims: { roles: [headers.get("x-roles") ?? `of ${user}`] } };
};

const alice = { "x-user": "alice" };
const bob = { "x-user": "bob" };
const asCaller = (user: string, role = `of ${user}`): Caller => ({
	tenant: "acme",
	user,
	claims: { roles: [role] },
});

/** Workers of one store, each with a service and a handler. */
function workers(options: Partial<SessionServiceOptions>) {
	const journal = memoryJournal();
	const { values } = memoryHost();
	const make = (name: string, own: Pick<SessionServiceOptions, "agent">) => {
		const worker = journal.worker(name);
		const host = { journal: worker, values, close: async () => worker.close() };
		const service = sessionService({
			host,
			sessionsOf: "tenant",
			recoverEveryMs: 1,
			...options,
			...own,
		});
		const handler = createHandler({ service, authenticate });
		const post = (path: string, body: unknown, headers: Readonly<Record<string, string>>) =>
			handler.fetch(
				new Request(`http://localhost${path}`, {
					method: "POST",
					headers: { "content-type": "application/json", ...headers },
					body: JSON.stringify(body),
				}),
			);
		return { worker, service, post };
	};
	/** Who asked for each run, and what was said in it. */
	const runs = async () => {
		const reader = journal.worker("reader");
		const [head] = await reader.list();
		const found = new Map<string, { caller: Caller | undefined; said: string[] }>();
		for (const { runId, fact } of head === undefined ? [] : await reader.read(head.key)) {
			if (fact.kind === "run.started") found.set(runId, { caller: fact.caller, said: [] });
			if (fact.kind === "input")
				found.get(runId)?.said.push((fact.message as unknown as { text: string }).text);
		}
		reader.close();
		return [...found.values()];
	};
	return { make, runs };
}

test.each(["queue", "steer"] as const)(
	"a message that arrives during a run belongs to its caller, also after a restart: %s",
	async (whileRunning) => {
		const chosen: unknown[] = [];
		const { make, runs } = workers({ whileRunning, agentFor: (turn) => void chosen.push(turn) });
		const asked = scriptedModel([{ text: "never", gate: new Promise<never>(() => {}) }]);
		const dying = make("dying", { agent: { model: asked } });
		const execute = async (text: string, headers: Readonly<Record<string, string>>): Promise<void> => {
			const body = { sessionId: "s", input: say(text), context: {} };
			expect((await dying.post("/api/agent/execute", body, headers)).status).toBe(200);
		};
		await execute("one", alice);
		await until("the model is asked", () => asked.requests.length === 1);
		await execute("two", alice);
		await execute("three", { ...alice, "x-roles": "guest" });
		await execute("four", bob);
		// From here on it does nothing, as a process that is gone: taken for dead only, it may take its queued turns back.
		dying.worker.close();
		chosen.length = 0;
		const seen: (Caller | undefined)[] = [];
		const look = {
			name: "look",
			description: "Looks.",
			parameters: { type: "object" },
			run: (_: unknown, { caller }: ToolContext) => void seen.push(caller),
		};
		const model = scriptedModel(({ messages }) =>
			messages.at(-1)?.type === "user" ? { toolCalls: [{ name: "look" }] } : "Seen.",
		);
		const living = make("living", { agent: { model, tools: [look] } });
		await living.service.supervise();
		await until("all is done", async () => {
			const last = (await runs()).at(-1);
			const { status } = (await living.service.get("acme", "s")) ?? {};
			return last?.said.at(-1) === "four" && status === "completed";
		});
		const [guest, asAlice, asBob] = [asCaller("alice", "guest"), asCaller("alice"), asCaller("bob")];
		expect(await runs()).toEqual([
			...(whileRunning === "queue"
				? [
						{ caller: asAlice, said: ["one"] },
						{ caller: asAlice, said: ["two"] },
					]
				: [{ caller: asAlice, said: ["one", "two"] }]),
			{ caller: guest, said: ["three"] },
			{ caller: asBob, said: ["four"] },
		]);
		expect(seen).toEqual([...(whileRunning === "queue" ? [asAlice] : []), asAlice, guest, asBob]);
		for (const caller of [asAlice, guest, asBob])
			expect(chosen).toContainEqual({ ...caller, sessionId: "s" });
		await living.service.close();
	},
);

test("options of a waiting message are those of its caller's agent", async () => {
	const gate = Promise.withResolvers<void>();
	const own = scriptedModel(["Mine."]);
	const served = serveScript([{ text: "First.", gate: gate.promise }], {
		authenticate,
		serving: {
			sessionsOf: "tenant",
			clientsMaySet: ["model"],
			models: (name) => (name === "known" ? own : undefined),
			agentFor: ({ user }) => (user === "bob" ? guests : undefined),
		},
	});
	const guests = { model: Object.assign(scriptedModel(["Bob's."]), { modelId: "bobs" }) };
	open.push(served);
	const first = await served.begin({ sessionId: "s", input: say("one"), context: {} }, alice);
	await until("the model is asked", () => served.model.requests.length === 1);
	const wanted = { sessionId: "s", input: say("two"), options: { model: guests.model.modelId } };
	expect(await refusal(await served.post("/api/agent/execute", wanted, alice))).toEqual([
		400,
		"unknown_model",
	]);
	const second = await served.begin(wanted, bob);
	gate.resolve();
	await first.rest();
	expect((await second.rest()).at(-1)?.event.status).toBe("completed");
	expect(guests.model.requests).toHaveLength(1);
});

test.each(["queue", "steer"] as const)(
	"a message that arrives during a run sets what clients may set: %s",
	async (whileRunning) => {
		const gate = Promise.withResolvers<void>();
		const options: ServedOptions = { authenticate, serving: { whileRunning, maxMessages: 1 } };
		const served = serveScript([{ text: "First.", gate: gate.promise }], options);
		open.push(served);
		const first = await served.begin({ sessionId: "s", input: say("one"), context: {} }, alice);
		await until("the model is asked", () => served.model.requests.length === 1);
		const parts = [{ type: "text", text: "two" }];
		const chat = { id: "s", messages: [{ id: "m", role: "user", parts }] };
		const [id] = (await served.session("s", alice)).messages.map((message) => message.id as string);
		const edited = { id: "s", messages: [{ id, role: "user", parts }], messageId: id };
		for (const field of [
			{ options: { temperature: 2 } },
			{ options: { model: "gpt-5.2" } },
			{ context: { systemPrompt: "You are mine." } },
			{ context: { messages: [say("You said so.")] } },
			{ context: { tools: [{ name: "t" }] } },
		])
			for (const [path, body] of [
				["/api/agent/execute", { sessionId: "s", input: say("two") }],
				["/api/chat", chat],
				["/api/chat", edited],
				["/api/chat", { ...edited, trigger: "regenerate-message" }],
			] as const)
				expect(await refusal(await served.post(path, { ...body, ...field }, alice))).toEqual([
					403,
					"field_not_allowed",
				]);
		const [head] = await served.host.journal.list();
		expect(head?.waiting).toBe(0);
		gate.resolve();
		await first.rest();
		expect((await served.session("s", alice)).messages).toHaveLength(2);
	},
);

test("another user's edit or regeneration fails as if the session did not exist", async () => {
	const served = serveScript(() => "Fine.", { authenticate });
	open.push(served);
	const { post, get, run, session } = served;
	await run({ sessionId: "s", input: say("one"), context: {} }, alice);
	const before = await session("s", alice);
	const shown = (await (await get("/api/chat/s", alice)).json()) as {
		messages: { id: string; role: string }[];
	};
	const [asked, answer] = shown.messages.map(({ id }) => id);
	const message = { id: asked, role: "user", parts: [{ type: "text", text: "mine" }] };
	const requests = [
		{ messages: [message], messageId: asked },
		{ messages: [message], messageId: answer, trigger: "regenerate-message" },
		{ messages: [message], messageId: asked, trigger: "regenerate-message" },
	];
	for (const request of requests) {
		const answers = await Promise.all(
			["s", "nobody"].map(async (id) => {
				const response = await post("/api/chat", { id, ...request }, bob);
				return [response.status, await response.text()];
			}),
		);
		expect(answers[0]).toEqual(answers[1]);
		expect(answers[0]?.[0]).toBeGreaterThanOrEqual(400);
	}
	// Without the id of an answer it is a message that never arrived: sent again, in a chat of the asking user's own.
	await (
		await post("/api/chat", { id: "s", messages: [message], trigger: "regenerate-message" }, bob)
	).text();
	expect((await session("s", bob)).messages[0]).toMatchObject({ content: "mine" });
	expect(await session("s", alice)).toEqual(before);
	const own = { id: "s", messages: [message], messageId: asked };
	await (await post("/api/chat", own, alice)).text();
	expect((await session("s", alice)).messages[0]).toMatchObject({ content: "mine" });
});
