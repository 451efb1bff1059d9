// An input that the schema of a workflow rejects is refused wherever it arrives, and leaves nothing behind.
import { HoldfastChatTransport } from "@holdfast/client/ai-sdk";
import { type AgentOptions, type Host, memoryHost } from "holdfast";
import { createInMemoryExecutionHost } from "holdfast/execution-host";
import { type Workflow, workflow } from "holdfast/workflow";
import { describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { onSqlite, type Served, serve } from "./matrix/serve.fixture.ts";

function refund(host?: Host): Workflow<{ amount: number }> {
	const options = { name: "refund", input: z.object({ amount: z.number() }), ...(host && { host }) };
	return workflow(options, async (flow, { amount }) => {
		const note = await flow.event<string>("message");
		return { amount, note };
	}) as Workflow<{ amount: number }>;
}

const valid = '{"amount":5}';
const invalid = '{"amount":"five"}';

/** Everything that is stored: the sessions, their entries and what waits for them. */
async function storedIn({ journal }: Host): Promise<unknown> {
	const heads = await journal.list({});
	return Promise.all(
		heads.map(async ({ key }) => [key, await journal.read(key), await journal.inbox(key)] as const),
	);
}

/** Ways to send an input to the session `s`. Each rejects with the refusal. */
const ofSessions = {
	send: (one) => one.session("s").send(JSON.parse(invalid)),
	"send of its agent": (one) => one.agent.session("s").send(invalid),
	start: (one) => one.agent.session("s").start(invalid),
	"steer without an open run": (one) => one.agent.session("s").steer(invalid),
} as const satisfies Record<string, (one: Workflow<{ amount: number }>) => Promise<unknown>>;

describe.each([
	["memory", () => memoryHost()],
	["sqlite", onSqlite],
] as const)("in a session on %s", (_, open) => {
	test.each(Object.entries(ofSessions))("%s refuses it", async (_name, send) => {
		const host = open();
		const one = refund(host);
		onTestFinished(() => one.close());
		await expect(send(one)).rejects.toMatchObject({
			code: "invalid_input",
			message: expect.stringContaining("amount"),
		});
		expect(await storedIn(host)).toEqual([]);
		const run = await one.session("s").send({ amount: 5 });
		await one.session("s").signal("message", "ok");
		expect(await run.result()).toMatchObject({ outcome: "completed", output: { amount: 5, note: "ok" } });
	});

	test("an input behind an open run, and one that replaces an earlier input, are refused", async () => {
		const host = open();
		const one = refund(host);
		onTestFinished(() => one.close());
		const session = one.agent.session("s");
		const first = await session.send(valid);
		await first.result();
		const before = await storedIn(host);
		await expect(session.send(invalid)).rejects.toMatchObject({ code: "invalid_input" });
		expect(await storedIn(host)).toEqual(before);
		await one.session("s").signal("message", "ok");
		await expect.poll(async () => (await host.journal.head("s"))?.openRunId).toBeUndefined();
		const ended = await storedIn(host);
		const messageId = (await session.state()).messages[0]?.id as string;
		await expect(session.start(invalid, { insteadOf: messageId })).rejects.toMatchObject({
			code: "invalid_input",
		});
		expect(await storedIn(host)).toEqual(ended);
	});

	test("a message for which the open run waits is an event, and is not checked", async () => {
		const one = refund(open());
		onTestFinished(() => one.close());
		await (await one.agent.session("s").send(valid)).result();
		const run = await one.agent.session("s").start(invalid);
		expect(await run.result()).toMatchObject({ outcome: "completed", output: { amount: 5, note: invalid } });
	});
});

test("an execution host records no run of it", async () => {
	const host = createInMemoryExecutionHost();
	const one = refund(host as unknown as Host);
	onTestFinished(() => one.close());
	await expect(one.agent.session("s").send(invalid)).rejects.toMatchObject({ code: "invalid_input" });
	expect(await host.store.runs.listUnfinished()).toEqual([]);
	await one.agent.session("s").send(valid);
	expect(await host.store.runs.listUnfinished()).toHaveLength(1);
});

function started(host: Host): Served {
	const served = serve(() => ({ ...refund().agent }) as AgentOptions, host);
	onTestFinished(() => served.close());
	return served;
}

interface Refusal {
	readonly status: number;
	readonly text: string;
}

async function post(served: Served, path: string, body: unknown, headers = {}): Promise<Refusal> {
	const response = await served.fetch(`http://localhost${path}`, {
		method: "POST",
		headers: { "content-type": "application/json", ...headers },
		body: JSON.stringify(body),
	});
	return { status: response.status, text: await response.text() };
}

/** Ways to send an input to a served workflow. `again`: to the session `s`, which exists. */
const overHttp = {
	"POST /api/agent/execute": (served, input) =>
		post(served, "/api/agent/execute", { sessionId: "s", context: {}, input }),
	"POST /api/agent/execute under an idempotency key": (served, input) =>
		post(
			served,
			"/api/agent/execute",
			{ sessionId: "s", context: {}, input },
			{ "idempotency-key": `"${input}"` },
		),
	useChat: (served, input) =>
		post(served, "/api/chat", {
			id: "s",
			trigger: "submit-message",
			messages: [{ id: "m", role: "user", parts: [{ type: "text", text: input }] }],
		}),
	"AG-UI": (served, input) =>
		post(served, "/api/ag-ui", {
			threadId: "s",
			runId: crypto.randomUUID(),
			state: {},
			messages: [{ id: "m", role: "user", content: input }],
			tools: [],
			context: [],
			forwardedProps: {},
		}),
} as const satisfies Record<string, (served: Served, input: string) => Promise<Refusal>>;

describe.each([
	["memory", () => memoryHost()],
	["sqlite", onSqlite],
] as const)("over HTTP on %s", (_, open) => {
	test.each(Object.entries(overHttp))(
		"%s answers 400, and then accepts a valid input",
		async (_name, send) => {
			const host = open();
			const served = started(host);
			const refused = await send(served, invalid);
			expect(refused).toMatchObject({ status: 400, text: expect.stringContaining("invalid_input") });
			expect(await storedIn(host)).toEqual([]);
			expect(await send(served, valid)).toMatchObject({ status: 200 });
			expect(await storedIn(host)).not.toEqual([]);
		},
	);

	test("a page of useChat that edits a message gets the refusal, and the session stays as it is", async () => {
		const host = open();
		const served = started(host);
		const { fetch } = served;
		const transport = new HoldfastChatTransport({ url: "http://localhost", fetch, reconnectDelayMs: 1 });
		const say = async (text: string, messageId?: string): Promise<void> => {
			const message = {
				id: messageId ?? "m",
				role: "user" as const,
				parts: [{ type: "text" as const, text }],
			};
			const stream = await transport.sendMessages({
				chatId: "s",
				messages: [message],
				trigger: "submit-message",
				messageId,
				abortSignal: undefined,
			});
			for await (const chunk of stream as unknown as AsyncIterable<{ type: string; errorText?: string }>)
				if (chunk.type === "error") throw new Error(chunk.errorText);
		};
		await say(valid);
		await say("ok");
		const before = await storedIn(host);
		await expect(say(invalid, "m")).rejects.toThrow(/amount|input/);
		expect(await storedIn(host)).toEqual(before);
	});
});
