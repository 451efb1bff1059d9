// One agent serves the sessions of all tenants: what it is made of is there once, and what is kept of a session is apart.
import { scriptedModel } from "@holdfast/testing";
import { messageToJSON, UserMessage } from "@holdfast/upp";
import fc from "fast-check";
import { Agent, HoldfastError, memoryHost, type ToolContext } from "holdfast";
import { memoryJournal, type WorkTaker } from "holdfast/host";
import { definePlugin } from "holdfast/plugins";
import { expect, test } from "vitest";
import { forCaller } from "./client-errors.ts";
import { readServedKey, readSessionKey, servedKey, servedKeys, sessionKeyOf } from "./served-key.ts";
import type { SessionService } from "./service-types.ts";
import { sessionService } from "./session-service.ts";

async function execute(service: SessionService, tenant: string, sessionId: string): Promise<void> {
	const { after } = await service.submit(tenant, sessionId, { input: "go", context: {} });
	for await (const _ of service.follow(tenant, sessionId, { after, until: "complete" }));
}

test("plugins are set up once for all sessions, and distinguish those of one id by their tenants", async () => {
	let setups = 0;
	const counts: string[] = [];
	const counting = definePlugin({
		name: "counting",
		setup(host) {
			setups++;
			host.on("turn.before", async ({ sessionKey }) => {
				const values = host.values(sessionKey);
				const turns = (((await values.get("turns")) as number | undefined) ?? 0) + 1;
				await values.set("turns", turns);
				counts.push(`${sessionKey} ${turns}`);
			});
		},
	});
	const service = sessionService({
		host: memoryHost(),
		agent: { model: scriptedModel(() => "done"), plugins: [counting] },
	});
	for (const tenant of ["one", "other", "one"]) await execute(service, tenant, "s");
	await service.delete("one", "s");
	for (const tenant of ["one", "other"]) await execute(service, tenant, "s");
	expect(counts).toEqual(["one/s 1", "other/s 1", "one/s 2", "one/s 1", "other/s 2"]);
	expect(setups).toBe(1);
	await service.close();
});

test("a tool gets its caller", async () => {
	const seen: unknown[] = [];
	const look = {
		name: "look",
		description: "Looks.",
		parameters: { type: "object" },
		run: (_: unknown, { sessionKey = "" }: ToolContext) => void seen.push(readSessionKey(sessionKey)),
	};
	const model = scriptedModel([{ toolCalls: [{ name: "look" }] }, "done"]);
	const service = sessionService({ host: memoryHost(), agent: { model, tools: [look] } });
	await execute(service, "a/b", "s/1");
	expect(seen).toEqual([{ tenant: "a/b", sessionId: "s/1" }]);
	await service.close();
});

test("a `system` function finds out whom it works for, over each session", async () => {
	const model = scriptedModel(() => "done");
	const service = sessionService({
		host: memoryHost(),
		agent: {
			model,
			system: ({ sessionKey = "", caller }) => `${readSessionKey(sessionKey).sessionId} of ${caller?.tenant}`,
		},
	});
	for (const tenant of ["one", "other"]) await execute(service, tenant, "s");
	expect(model.requests.map(({ system }) => system)).toEqual(["s of one", "s of other"]);
	expect((await service.inspection?.agent("one", "s"))?.system).toBeUndefined();
	await service.close();
});

test("a session key names one tenant, user and session, and is in the journal under one key", () => {
	const text = fc.oneof(
		fc.string(),
		fc.constantFrom(
			"a/b",
			"%2F",
			"%",
			"/",
			"\u0000",
			"a%00",
			"",
			"%40",
			"\u0000user\u00001\u0000ab",
			"\u0000tenant\u0000a",
		),
	);
	fc.assert(
		fc.property(text, fc.option(text, { nil: undefined }), text, (tenant, user, sessionId) => {
			const owner = { tenant, ...(user === undefined ? {} : { user }) };
			const key = sessionKeyOf(owner, sessionId);
			expect(readSessionKey(key)).toEqual({ ...owner, sessionId });
			expect(key.startsWith("\u0000")).toBe(false);
			const storeKey = servedKeys.storeKeyOf(key);
			expect(readServedKey(storeKey)).toEqual({ ...owner, sessionId });
			expect(storeKey).toBe(servedKey(owner, sessionId));
			if (user === undefined) expect(storeKey).toBe(servedKey(tenant, sessionId));
			expect(servedKeys.keyOf(storeKey)).toBe(key);
		}),
	);
});

test("errors name a session by the caller's id", async () => {
	const model = scriptedModel(() => ({ text: "never", gate: new Promise(() => {}) }));
	const service = sessionService({ host: memoryHost(), agent: { model }, whileRunning: "refuse" });
	await service.submit("t", "s", { input: "go", context: {} });
	await expect(service.submit("t", "s", { input: "go" })).rejects.toMatchObject({
		code: "session_busy",
		message: expect.stringContaining('session "s"'),
	});
	await service.close();
	const parked = new HoldfastError("run_parked", 'Session "t/s" is parked.', {
		data: { key: "t/s", crashes: 6 },
	});
	expect(forCaller(parked, "t/s", "s")).toMatchObject({
		message: 'Session "s" is parked.',
		data: { key: "s", crashes: 6 },
	});
});

test("sessions of agents with a namespace do not belong to a service, even if their process has died", async () => {
	const journal = memoryJournal();
	const { values } = memoryHost();
	const hostOf = (workerId: string) => {
		const worker = journal.worker(workerId);
		return { worker, host: { journal: worker, values, close: async () => worker.close() } };
	};
	const dying = hostOf("dying");
	const gate = new Promise<never>(() => {});
	const clerk = new Agent({
		model: scriptedModel([{ text: "never", gate }]),
		host: dying.host,
		namespace: "t",
	});
	void (await clerk.session("s").send("go")).result();
	dying.worker.die();
	const model = scriptedModel(() => "not mine");
	const service = sessionService({ host: hostOf("serving").host, agent: { model }, recoverEveryMs: 1 });
	await service.supervise();
	expect(await service.get("t", "s")).toBeUndefined();
	await execute(service, "t", "other");
	expect(model.requests).toHaveLength(1);
	await service.close();
	const again = new Agent({ model: scriptedModel(["done"]), host: hostOf("later").host, namespace: "t" });
	expect((await (await again.session("s").resume())?.result())?.text).toBe("done");
	await again.close();
});

test("a session of an agent with a namespace that a queue hands to a service is returned", async () => {
	const host = memoryHost();
	const takers: WorkTaker[] = [];
	const queue = {
		async take(taker: WorkTaker) {
			takers.push(taker);
			return { stop: async () => {} };
		},
	};
	const model = scriptedModel(() => "not mine");
	const problems: unknown[] = [];
	const service = sessionService({ host: { ...host, queue }, agent: { model } });
	const stop = new AbortController();
	const working = (async () => {
		const onProblem = (problem: unknown): void => void problems.push(problem);
		for await (const run of service.work({ signal: stop.signal, onProblem })) void run;
	})();
	await expect.poll(() => takers.length).toBe(1);
	const message = messageToJSON(new UserMessage("go", { id: "m" }));
	const key = servedKey("t", "s");
	await host.journal.submit(key, { id: "m", kind: "message", runId: "m", body: { shape: "text", message } });
	const [taker] = takers as [WorkTaker];
	expect([taker.isOurs(key), await taker.work(key)]).toEqual([true, "not-ours"]);
	expect([model.requests, problems]).toEqual([[], []]);
	expect((await host.journal.head(key))?.waiting).toBe(1);
	stop.abort();
	await working;
	await service.close();
});
