// A workflow in an object of the real runtime, which is restarted during each of its waits: sleeps, an event, approvals and
// a question, of its own and of its child, sent and answered as pages of useChat and front ends of AG-UI do.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { bundleWorker, startWorkerd } from "./workerd.fixture.ts";

interface ServedSession {
	readonly status: string;
	readonly workflowState?: unknown;
	readonly pendingToolCalls?: readonly { readonly arguments: unknown }[];
}

interface Part {
	readonly type: string;
	readonly state?: string;
	readonly text?: string;
	readonly approval?: { readonly id: string };
}

interface Message {
	readonly id: string;
	readonly role: string;
	readonly parts: readonly Part[];
}

test("a workflow continues its sleeps, event, approvals and questions after restarts of its object", async () => {
	const persist = mkdtempSync(join(tmpdir(), "workflow-waits-"));
	const script = await bundleWorker("waits-worker.fixture.ts");
	const start = () => startWorkerd({ script, persist, objects: { SESSIONS: "Session" } });
	let runtime = start();
	onTestFinished(async () => {
		await runtime.dispose();
		rmSync(persist, { recursive: true, force: true });
	});
	const restart = async (): Promise<void> => {
		await runtime.dispose();
		runtime = start();
	};
	const call = (path: string, body?: unknown) =>
		runtime.dispatchFetch(`http://localhost${path}`, {
			method: body === undefined ? "GET" : "POST",
			headers: { authorization: "Bearer key-one", "content-type": "application/json" },
			...(body === undefined ? {} : { body: JSON.stringify(body) }),
		});
	const read = async <Answer>(path: string): Promise<Answer> => (await (await call(path)).json()) as Answer;
	const session = () => read<ServedSession>("/api/agent/session/w");
	const pending = async () => ((await session()).pendingToolCalls ?? []).map(({ arguments: given }) => given);
	const history = async () => (await read<{ messages: Message[] }>("/api/chat/w")).messages;
	/** Sends the page's answer to what waits. */
	const answer = async (change: object) => {
		const messages = await history();
		const last = messages.at(-1) as Message;
		const parts = last.parts.map((part) =>
			part.state === "approval-requested" || part.state === "input-available" ? { ...part, ...change } : part,
		);
		return call("/api/chat", { id: "w", messages: [...messages.slice(0, -1), { ...last, parts }] });
	};
	const waitsFor = (what: unknown) => expect.poll(pending, { timeout: 40_000 }).toEqual([what]);

	const text = { type: "text", text: "null" };
	const first = await call("/api/chat", { id: "w", messages: [{ id: "m", role: "user", parts: [text] }] });
	expect(first.status).toBe(200);
	void first.text().catch(() => {});
	await restart(); // while it sleeps
	await expect.poll(async () => (await session()).workflowState, { timeout: 40_000 }).toBe("slept");
	await restart(); // while it waits for the event
	const event = JSON.stringify({ event: "go", payload: 7 });
	const sent = await call("/api/agent/execute", { sessionId: "w", input: event });
	expect(sent.status).toBe(200);
	void sent.text().catch(() => {});
	await waitsFor({ name: "main", details: null });
	await restart(); // while it waits for the approval
	const { approval } = (await history()).at(-1)?.parts.at(-1) ?? {};
	const approved = { ...approval, approved: true };
	expect(await (await answer({ state: "approval-responded", approval: approved })).text()).toContain(
		"[DONE]",
	);
	await waitsFor({ question: "why", details: null });
	await restart(); // while it waits for the answer
	const answered = await answer({ state: "output-available", output: "because" });
	void answered.text().catch(() => {});
	await expect.poll(async () => (await pending()).length, { timeout: 40_000 }).toBe(0);
	await restart(); // while its child sleeps
	await waitsFor({ name: "child", details: null });
	await restart(); // while its child waits for the approval
	const { id } = (await history()).at(-1)?.parts.at(-1)?.approval ?? {};
	const run = {
		threadId: "w",
		runId: "r",
		messages: [],
		tools: [],
		context: [],
		state: {},
		forwardedProps: {},
	};
	const resume = [{ interruptId: id, status: "resolved", payload: true }];
	const events = await (await call("/api/ag-ui", { ...run, resume })).text();
	const result = JSON.stringify({ go: 7, isApproved: true, why: "because", child: true });
	expect(events).toContain("RUN_FINISHED");
	expect((await session()).status).toBe("completed");
	expect((await history()).at(-1)?.parts.at(-1)).toMatchObject({ type: "text", text: result });
}, 120_000);
