// Threads that are deleted while others speak to them: nobody speaks to what is gone, and nothing is left of it.
import { memoryHost } from "holdfast";
import type { RecordSpace } from "holdfast/host";
import { expect, test } from "vitest";
import { defineHook, defineTool } from "../define/index.ts";
import { type ThreadRecord, ThreadRecords } from "./records.ts";
import { oneAgent, said, scripted, start } from "./threads.fixture.ts";

const id = "t";

/** A promise that is fulfilled from outside. */
function gate(): { readonly promise: Promise<void>; readonly open: () => void } {
	const { promise, resolve } = Promise.withResolvers<void>();
	return { promise, open: () => resolve() };
}

/** Numbers below one, the same for the same seed. */
function randomNumbers(seed: number): () => number {
	let state = seed;
	return () => {
		state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
		return state / 2_147_483_648;
	};
}

test("a message that arrives while its thread is deleted is in it, or rejected, and starts no session", async () => {
	for (let hops = 0; hops < 80; hops++) {
		const { threads, host } = start(oneAgent(scripted(() => "Here.")));
		await threads.createThread({ agentId: "helper", id, message: "first" });
		await threads.quiet();
		const queued = threads.queueMessage(id, { content: "late" }).then(
			() => "queued",
			({ code }) => code,
		);
		for (let hop = 0; hop < hops; hop++) await null;
		await threads.delete(id);
		expect(["queued", "thread_not_found"], `${hops} hops`).toContain(await queued);
		await threads.quiet();
		expect(await host.journal.head(threads.storeKeyOf(id)), `${hops} hops`).toBeUndefined();
		await threads.createThread({ agentId: "helper", id, message: "new" });
		await threads.quiet();
		expect(await said(threads, id), `${hops} hops`).toEqual(["user: new", "assistant: Here."]);
		await threads.close();
	}
});

test.each([
	["after", "thread_not_found"],
	["before", "queued"],
])(
	"a message that its hook delayed until shortly %s the end of its thread is stored nowhere (%s)",
	async (when, outcome) => {
		const [held, released, removed] = [gate(), gate(), gate()];
		const hold = defineHook({
			hook: "before_create_message",
			id: "hold",
			execute: async (_state, message) => {
				if (message.content !== "late") return message;
				held.open();
				await released.promise;
				return message;
			},
		});
		const inner = memoryHost();
		let queued: Promise<unknown> = Promise.resolve();
		const commit: RecordSpace["commit"] = async (checks, writes) => {
			if (writes.some(({ name, value }) => name === id && value === undefined)) {
				removed.open();
				if (when === "before") await queued;
			}
			return inner.records.commit(checks, writes);
		};
		const records = { ...inner.records, commit };
		const host = Object.create(inner, { records: { value: records } }) as typeof inner;
		const project = oneAgent(
			scripted(() => "Here."),
			{ hooks: [hold], prompt: { hooks: ["hold"] } },
		);
		const { threads } = start(project, { host });
		await threads.createThread({ agentId: "helper", id, message: "first" });
		await threads.quiet();
		queued = threads.queueMessage(id, { content: "late" }).then(
			() => "queued",
			({ code }) => code,
		);
		await held.promise;
		const deleted = threads.delete(id);
		await (when === "before" ? removed.promise : deleted);
		released.open();
		await deleted;
		expect(await queued).toBe(outcome);
		await threads.quiet();
		expect(await host.journal.head(threads.storeKeyOf(id))).toBeUndefined();
		await threads.close();
	},
);

test.each(["delete", "terminate"] as const)(
	"a thread gets no sub-agent after a request to %s",
	async (what) => {
		const host = memoryHost();
		const { threads } = start(oneAgent(scripted(() => "Here.")), { host });
		await threads.createThread({ agentId: "helper", id });
		const records = new ThreadRecords(host, undefined);
		const parent = await records.get(id);
		const link = { threadId: id, name: "x", description: "", resumable: false, blocking: true } as const;
		const child = (childId: string) =>
			records.create({
				...(parent as ThreadRecord),
				id: childId,
				parent: { ...link, communication: "implicit", to: "a", reports: false },
			});
		expect(await child("before")).toBe(true);
		await threads[what](id);
		const code = what === "delete" ? "thread_not_found" : "thread_terminated";
		await expect(child("after")).rejects.toMatchObject({ code });
		expect(await records.get("after")).toBeUndefined();
		if (what === "delete") expect(await records.get("before")).toBeUndefined();
		await threads.close();
	},
);

test("an interrupted deletion leaves a thread that accepts no messages, and the next one removes the rest", async () => {
	const inner = memoryHost();
	let fails = true;
	const commit: RecordSpace["commit"] = (checks, writes) => {
		if (fails && writes.some(({ name, value }) => name === id && value === undefined))
			throw new Error("cut off");
		return inner.records.commit(checks, writes);
	};
	const host = Object.create(inner, {
		records: { value: { ...inner.records, commit } },
	}) as typeof inner;
	const { threads } = start(oneAgent(scripted(() => "Here.")), { host });
	await threads.createThread({ agentId: "helper", id, message: "first" });
	await threads.quiet();
	await expect(threads.delete(id)).rejects.toThrow("cut off");
	const late = threads.queueMessage(id, { content: "late" });
	await expect(late).rejects.toMatchObject({ code: "thread_terminated" });
	fails = false;
	expect(await threads.delete(id)).toBe(true);
	expect(await threads.record(id)).toBeUndefined();
	expect(await host.journal.head(threads.storeKeyOf(id))).toBeUndefined();
	expect(await threads.delete(id)).toBe(false);
	await threads.close();
});

test("all concurrent requests to a thread settle, and queued messages are sent once and in order", async () => {
	for (let seed = 1; seed <= 150; seed++) {
		const random = randomNumbers(seed * 7_919);
		const pause = async (): Promise<void> => {
			for (let ticks = Math.floor(random() * 10); ticks > 0; ticks--) await null;
			if (random() < 0.1) await new Promise((resolve) => setImmediate(resolve));
		};
		const look = defineTool({
			description: "x",
			execute: async () => {
				await pause();
				return { status: "success", result: "seen" };
			},
		});
		const provider = scripted((_request, at) =>
			random() < 0.3 ? { calls: [{ name: "look", args: {} }] } : `a${at}`,
		);
		const host = memoryHost();
		const { threads } = start(oneAgent(provider, { tools: { look } }), { host });
		const mayEnd = seed % 2 === 0;
		const refusals = ["thread_exists", ...(mayEnd ? ["thread_not_found", "thread_terminated"] : [])];
		const queued: string[] = [];
		const requests: readonly (readonly [number, string, (content: string) => Promise<unknown>])[] = [
			[
				6,
				"queue",
				async (content) => {
					await threads.queueMessage(id, { content });
					queued.push(content);
				},
			],
			[3, "create", () => threads.createThread({ agentId: "helper", id })],
			[2, "stop", () => threads.stop(id)],
			[2, "continue", () => threads.continue(id)],
			[2, "inject", async (content) => (await threads.get(id))?.injectMessage({ role: "user", content })],
			[1, "read", async () => (await threads.get(id))?.getMessages()],
			[1, "update", (name) => threads.update(id, { name })],
			[mayEnd ? 2 : 0, "delete", () => threads.delete(id)],
			[mayEnd ? 1 : 0, "terminate", () => threads.terminate(id)],
		];
		const urn = requests.flatMap(([weight, ...request]) => Array<typeof request>(weight).fill(request));
		await threads.createThread({ agentId: "helper", id });
		const asked: string[] = [];
		const settled: Promise<unknown>[] = [];
		for (let count = 1; count <= 12; count++) {
			const [name, ask] = urn[Math.floor(random() * urn.length)] as (typeof urn)[number];
			asked.push(`${name} ${count}`);
			const refused = (error: { readonly code?: string }): void => {
				if (!refusals.includes(error.code ?? ""))
					throw new Error(`seed ${seed}: ${asked.join(", ")}: ${name} ${count}`, { cause: error });
			};
			settled.push(ask(`${name} ${count}`).catch(refused));
			await pause();
		}
		await Promise.all(settled);
		await threads.quiet();
		const because = `seed ${seed}: ${asked.join(", ")}`;
		if ((await threads.record(id)) === undefined)
			expect(await host.journal.head(threads.storeKeyOf(id)), because).toBeUndefined();
		const texts = (await said(threads, id)).flatMap((line) => line.match(/^user: (queue \d+)$/)?.[1] ?? []);
		expect(new Set(texts).size, because).toBe(texts.length);
		if (!mayEnd) expect(texts, because).toEqual(asked.filter((call) => queued.includes(call)));
		await threads.close();
	}
});

test("a thread created while another deletion of its id ends remains, and is listed", async () => {
	const { threads, host } = start(oneAgent(scripted(() => "Here.")));
	const records = new ThreadRecords(host, undefined);
	await threads.createThread({ agentId: "helper", id });
	await threads.delete(id);
	await threads.createThread({ agentId: "helper", id });
	await records.delete(id); // the end of a deletion that began before
	expect((await threads.list()).map((record) => record.id)).toEqual([id]);
	await threads.delete(id);
	expect(await threads.list()).toEqual([]);
	await threads.close();
});
