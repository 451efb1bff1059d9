// Messages of a thread that wait for its turn: what policy masks is stored nowhere.
import { createRedactor } from "@holdfast/redaction";
import { messageFromJSON, messageToJSON, type UserMessage } from "@holdfast/upp";
import { memoryHost } from "holdfast";
import type { Fact } from "holdfast/host";
import type { Interceptor } from "holdfast/middleware";
import { expect, test } from "vitest";
import { oneAgent, said, scripted, start } from "./threads.fixture.ts";

const secret = "correct-horse-battery";
const { maskSecrets } = createRedactor({ secrets: [secret] });

function masked(fact: Fact): Fact {
	if (!("message" in fact)) return fact;
	const { id, type, timestamp, ...content } = messageToJSON(fact.message as UserMessage);
	return { ...fact, message: messageFromJSON({ ...maskSecrets(content), id, type, timestamp }) } as Fact;
}

const masking: Interceptor = {
	name: "masking",
	admitWaiting: masked,
	begin: () => ({ deltas: "as-is", admit: (fact) => ({ fact: masked(fact) }) }),
};

test("messages that are queued and changed while a thread answers are stored masked", async () => {
	const [asked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
	const provider = scripted((_request, at) => {
		asked.resolve();
		return at === 0 ? { gate: answered.promise, text: "one" } : "two";
	});
	const host = memoryHost();
	const { threads } = start(oneAgent(provider), { host, middleware: [masking] });
	const state = await threads.createThread({ agentId: "helper", message: "Go" });
	await asked.promise;
	const queued = await threads.queueMessage(state.threadId, { content: `Queued ${secret}` });
	await state.injectMessage({ role: "user", content: `Injected ${secret}` });
	const waiting = await host.journal.inbox(threads.storeKeyOf(state.threadId));
	expect(waiting).toHaveLength(2);
	expect(waiting[0]?.id).toBe(queued.id);
	const text = JSON.stringify(waiting);
	for (const how of ["Queued", "Injected"]) expect(text).toContain(`${how} [REDACTED:secret]`);
	expect(text).not.toContain(secret);
	answered.resolve();
	await threads.quiet();
	const lines = await said(threads, state.threadId);
	expect(lines).toContain("user: Queued [REDACTED:secret]");
	expect(lines).toContain("user: Injected [REDACTED:secret]");
	await threads.close();
});
