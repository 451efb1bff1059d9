// Threads as the inspector looks into them.
import { expect, test } from "vitest";
import { defineAgent, definePrompt } from "../define/index.ts";
import { oneAgent, scripted } from "../thread/threads.fixture.ts";
import { served } from "./endpoints.fixture.ts";
import { inspectThreads } from "./index.ts";

const keys = {
	"key-of-ann-0": { tenant: "acme", user: "ann" },
	"key-of-bob-0": { tenant: "acme", user: "bob" },
};
const authenticate = (request: Request) =>
	keys[(request.headers.get("authorization") ?? "").replace("Bearer ", "") as keyof typeof keys];

async function story() {
	const provider = scripted(["The key is top-secret-value.", "Hello."]);
	const made = served(oneAgent(provider, {}), { env: { KEY: "top-secret-value" } });
	const inspection = inspectThreads(made.threads);
	const id = await made.thread();
	await made.ask("POST", `/api/threads/${id}/messages`, { content: "Hi" });
	await made.threads.quiet();
	return { ...made, inspection, id };
}

test("a thread is a session with its agent, its entries, and the prompt of its next turn", async () => {
	const { inspection, id, threads } = await story();
	const [head] = await inspection.heads("default");
	expect(head).toMatchObject({ sessionId: id, agent: "helper" });
	expect(head?.seq).toBeGreaterThan(0);
	expect(await inspection.head("default", id)).toMatchObject({ sessionId: id, seq: head?.seq });
	const entries = await inspection.entries("default", id);
	expect(entries.map(({ fact }) => fact.kind)).toEqual(
		expect.arrayContaining(["run.started", "input", "assistant", "run.ended"]),
	);
	// The project's name of the model, and not the engine's one for all threads.
	expect(entries.find(({ fact }) => fact.kind === "assistant")?.fact).toMatchObject({ modelId: "main" });
	const { model, system } = await inspection.agent("default", id);
	expect([model, typeof system]).toEqual(["main", "string"]);
	const empty = await threads.createThread({ agentId: "helper" });
	expect(await inspection.head("default", empty.threadId)).toMatchObject({ seq: 0 });
	expect(await inspection.entries("default", empty.threadId)).toEqual([]);
});

test("secrets of a thread's environment are masked by it", async () => {
	const { inspection, id } = await story();
	const mask = await inspection.maskOf?.("default", id);
	const entries = await inspection.entries("default", id);
	const text = (value: unknown): string => JSON.stringify(value);
	expect(text(entries)).toContain("top-secret-value");
	expect(text(mask?.(JSON.parse(text(entries))))).not.toContain("top-secret-value");
});

test("other users' threads have no head, no entries and no changes", async () => {
	const made = served(oneAgent(scripted(["Hello.", "Hello."]), {}), { server: { authenticate } });
	const inspection = inspectThreads(made.threads);
	const of = (key: string) => ({ authorization: `Bearer ${key}` });
	const make = async (key: string): Promise<string> =>
		(await made.ask("POST", "/api/threads", { agent_id: "helper" }, of(key))).body.id;
	const before = (await made.host.changes?.position()) ?? 0;
	const anns = await make("key-of-ann-0");
	const bobs = await make("key-of-bob-0");
	for (const [id, key] of [
		[anns, "key-of-ann-0"],
		[bobs, "key-of-bob-0"],
	] as const)
		await made.ask("POST", `/api/threads/${id}/messages`, { content: "Hi" }, of(key));
	await made.threads.quiet();
	const ann = { tenant: "acme", user: "ann" };
	expect((await inspection.heads(ann)).map(({ sessionId }) => sessionId)).toEqual([anns]);
	expect(await inspection.heads("default")).toEqual([]);
	expect(await inspection.head(ann, bobs)).toBeUndefined();
	for (const asked of [
		inspection.entries(ann, bobs),
		inspection.entries(ann, anns, { child: bobs }),
		inspection.children(ann, bobs),
		inspection.agent(ann, bobs),
		inspection.release(ann, bobs),
		inspection.maskOf?.(ann, bobs),
	])
		await expect(asked).rejects.toMatchObject({ code: "session_not_found" });
	const signal = AbortSignal.timeout(100_000);
	const changed = await inspection.changes?.(ann, { after: before, signal });
	expect(changed).toMatchObject({ changed: [anns] });
	await made.threads.delete(bobs);
	await made.threads.delete(anns);
	const deleted = await inspection.changes?.(ann, { after: changed?.position, signal });
	expect(deleted).toMatchObject({ changed: [], deleted: [anns] });
});

test("a thread whose session is deleted is deleted, even if its record is removed a moment later", async () => {
	const { inspection, id, threads, host } = await story();
	const after = await host.changes?.position();
	await threads.session(id).delete();
	const { signal } = new AbortController();
	expect(await inspection.changes?.("default", { after, signal })).toMatchObject({
		changed: [],
		deleted: [id],
	});
});

test("sub-agents are shown with the thread that they work for, and separately", async () => {
	const provider = scripted([
		{ calls: [{ name: "reader", args: { task: "Read it." } }] },
		"It says so.",
		"Done.",
	]);
	const project = oneAgent(provider, {
		prompt: { tools: [{ name: "reader", initUserMessageProperty: "task" }] },
		prompts: [definePrompt({ name: "read", toolDescription: "x", prompt: "You read.", model: "main" })],
		agents: [
			defineAgent({
				name: "reader",
				description: "Reads.",
				toolDescription: "Reads.",
				exposeAsTool: true,
				sideA: { prompt: "read" },
			}),
		],
	});
	const made = served(project);
	const inspection = inspectThreads(made.threads);
	const id = await made.thread();
	await made.ask("POST", `/api/threads/${id}/messages`, { content: "Hi" });
	await made.threads.quiet();
	expect((await inspection.heads("default")).map(({ sessionId }) => sessionId)).toEqual([id]);
	const [child] = await inspection.children("default", id);
	expect(child).toMatchObject({ subagent: "reader", child: child?.sessionId });
	expect((await inspection.entries("default", child?.sessionId ?? "")).length).toBeGreaterThan(0);
	expect(await inspection.head("default", child?.sessionId ?? "")).toMatchObject({ agent: "reader" });
});

test.each([
	["idle", "Hello.", false],
	["running", { text: "never", gate: new Promise<void>(() => {}) }, true],
] as const)(
	"each action on a thread that is %s works, or is refused with a sentence",
	async (_, reply, stopped) => {
		const made = served(oneAgent(scripted([reply, "Again."]), {}));
		const inspection = inspectThreads(made.threads);
		const id = await made.thread();
		await made.ask("POST", `/api/threads/${id}/messages`, { content: "Hi" });
		if (!stopped) await made.threads.quiet();
		else await expect.poll(async () => (await inspection.head("default", id))?.isHeld).toBe(true);
		const refused = { code: "route_not_found", message: expect.stringMatching(/^[A-Z].*\.$/) };
		await expect(inspection.fork("default", id, { to: "other", options: {} })).rejects.toMatchObject(refused);
		await expect(inspection.steer("default", id, "Be brief.")).rejects.toMatchObject(refused);
		expect(await inspection.release("default", id)).toEqual({ released: false });
		expect((await made.ask("POST", `/api/threads/${id}/stop`)).body).toMatchObject({ stopped });
		expect((await made.ask("POST", `/api/threads/${id}/messages`, { content: "More" })).status).toBeLessThan(
			300,
		);
		expect((await made.ask("DELETE", `/api/threads/${id}`)).status).toBeLessThan(300);
		expect(await inspection.head("default", id)).toBeUndefined();
	},
);
