import { scriptedModel } from "@holdfast/testing";
import { memoryHost } from "holdfast";
import { expect, test } from "vitest";
import { sessionService } from "./session-service.ts";

const history = [
	{ role: "user", content: "Hi" },
	{ role: "error", error: "It broke.", code: "x", timestamp: 1 },
	{ role: "user", content: "Again" },
] as const;

test("an incomplete session is recreated; one that was created differently is unchanged", async () => {
	const host = memoryHost();
	const service = sessionService({
		host,
		agent: { model: scriptedModel(["one", "two"]) },
		clientsMaySet: ["history"],
	});
	const create = (id: string) => service.submit("t", id, { input: "Hi", context: { messages: history } });
	const { journal } = host;
	// The first entry of a process that died before it had kept the rest.
	await create("first");
	const [head] = await journal.list();
	const [seed] = await journal.read(head?.key ?? "");
	const place = (head?.key ?? "").replace(/first$/, "half");
	const taken = await journal.acquire(place);
	if (!taken.ok || seed === undefined) throw new Error("a new session is free");
	await taken.lease.append({ at: 1, runId: "r", facts: [seed.fact] });
	await taken.lease.release();
	await create("half");
	expect((await service.get("t", "half"))?.messages.slice(0, 3)).toEqual(history);
	const other = (head?.key ?? "").replace(/first$/, "other");
	await journal.submit(other, { id: "i", kind: "message", body: {} });
	const lease = await journal.acquire(other);
	if (!lease.ok) throw new Error("a new session is free");
	const facts = [{ kind: "run.started", runKind: "user-turn", agentId: "", fingerprint: "" } as const];
	await lease.lease.append({ at: 1, runId: "r", facts });
	await expect(create("other")).rejects.toMatchObject({ code: "session_exists" });
	await service.close();
});
