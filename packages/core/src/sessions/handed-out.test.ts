// Work that a queue hands out while the same session is already in progress.
import { manualTime, scriptedModel } from "@holdfast/testing";
import { HoldfastError, messageToJSON, UserMessage } from "@holdfast/upp";
import { afterEach, expect, test } from "vitest";
import { Agent } from "../agent/agent.ts";
import { memoryHost } from "../host/memory-host.ts";
import type { WorkTaker } from "../host/work-queue.ts";
import { gate } from "./sessions.fixture.ts";

let ends: (() => unknown)[] = [];
afterEach(async () => {
	for (const end of ends.reverse()) await end();
	ends = [];
});

test("a session that is being worked on returns to the queue, because new inputs may be too late for the current work", async () => {
	const host = memoryHost();
	const begun = gate();
	const open = gate();
	const model = scriptedModel(async () => {
		begun.open();
		await open.promise;
		return "done";
	});
	const takers: WorkTaker[] = [];
	const queue = {
		async take(taker: WorkTaker) {
			takers.push(taker);
			return { stop: async () => {} };
		},
	};
	const agent = new Agent({ model, host: { ...host, queue } });
	ends.push(() => agent.close());
	void (async () => {
		for await (const run of agent.work({ onProblem: () => {} })) void run;
	})();
	await expect.poll(() => takers.length).toBe(1);
	const [taker] = takers as [WorkTaker];
	const message = messageToJSON(new UserMessage("go", { id: "m1" }));
	await host.journal.submit("s", {
		id: "m1",
		kind: "message",
		runId: "m1",
		body: { shape: "text", message },
	});
	const first = taker.work("s");
	await begun.promise;
	await expect(taker.work("s")).rejects.toThrow("worked on");
	open.open();
	await first;
	// Now there is nothing to do, which is not an error.
	await taker.work("s");
});

test("work that arrives between the first search and the first claim starts as soon as the queue can be claimed", async () => {
	const host = memoryHost();
	const time = manualTime();
	const taken = gate();
	let isAsked = false;
	let looks = 0;
	// Like the queue of a store whose first taker creates it: it contains no earlier work.
	const queue = {
		async take() {
			isAsked = true;
			await taken.promise;
			return { stop: async () => {} };
		},
	};
	const journal = {
		...host.journal,
		async list(...options: Parameters<typeof host.journal.list>) {
			const found = await host.journal.list(...options);
			looks++;
			return found;
		},
	};
	const agent = new Agent({
		model: scriptedModel(() => "done"),
		host: { ...host, journal, queue },
		ports: { ...time.ports },
	});
	ends.push(() => agent.close());
	void (async () => {
		for await (const run of agent.work({ onProblem: () => {} })) void run;
	})();
	await expect.poll(() => isAsked && looks).toBeGreaterThanOrEqual(2);
	const before = looks;
	const message = messageToJSON(new UserMessage("go", { id: "m1" }));
	await host.journal.submit("s", {
		id: "m1",
		kind: "message",
		runId: "m1",
		body: { shape: "text", message },
	});
	taken.open();
	// No time passes.
	await expect.poll(async () => (await host.journal.read("s")).at(-1)?.fact.kind).toBe("run.ended");
	expect(looks).toBeGreaterThan(before);
});

test("a queue that cannot be claimed from yet is retried, and work is searched for in the meantime", async () => {
	const host = memoryHost();
	const time = manualTime();
	let asked = 0;
	const queue = {
		async take() {
			if (++asked <= 2) throw new HoldfastError("db_unavailable", "Not now.", { retryable: true });
			return { stop: async () => {} };
		},
	};
	const agent = new Agent({
		model: scriptedModel(() => "done"),
		host: { ...host, queue },
		ports: { ...time.ports },
	});
	ends.push(() => agent.close());
	const problems: unknown[] = [];
	void (async () => {
		for await (const run of agent.work({ onProblem: (problem) => problems.push(problem) })) void run;
	})();
	await expect.poll(() => problems.length).toBe(1);
	time.pass(1_000);
	await expect.poll(() => problems.length).toBe(2);
	expect(asked).toBe(2);
	time.pass(2_000);
	await expect.poll(() => asked).toBe(3);
	time.pass(60_000);
	expect(asked).toBe(3);
});

test("a worker starts no more waiting work at once than a queue hands out, and leaves the others theirs", async () => {
	const host = memoryHost();
	for (let number = 0; number < 130; number++) {
		const id = `m${number}`;
		const body = { shape: "text", message: messageToJSON(new UserMessage("go", { id })) };
		await host.journal.submit(`s${number}`, { id, kind: "message", runId: id, body });
	}
	const open = gate();
	let asked = 0;
	const model = scriptedModel(async () => {
		asked++;
		await open.promise;
		return "done";
	});
	const queue = { take: async () => ({ stop: async () => {} }) };
	const agent = new Agent({ model, host: { ...host, queue } });
	ends.push(() => agent.close());
	ends.push(() => open.open());
	void (async () => {
		for await (const run of agent.work({ onProblem: () => {} })) void run;
	})();
	await expect.poll(() => asked).toBe(100);
	const begun = (await host.journal.list({ state: "open" })).length;
	open.open();
	await expect.poll(() => asked).toBe(130);
	expect(begun).toBe(100);
});
