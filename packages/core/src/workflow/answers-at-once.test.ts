// Answers that another process accepts at the moment at which the run takes answers or other inputs.
import { expect, test } from "vitest";
import { journalHost } from "../host/host-port.ts";
import type { Lease } from "../host/index.ts";
import { memoryJournal } from "../host/memory-journal.ts";
import { workflow } from "./workflow.ts";

test("answers that are given while the run takes others are committed once", async () => {
	for (let turns = 0; turns < 12; turns++) {
		const store = memoryJournal();
		const gate = Promise.withResolvers<string>();
		let performed = 0;
		const made = (name: string) =>
			workflow({ name: "pay", host: journalHost(store.worker(name)) }, (flow) =>
				Promise.all([
					flow.approve("here"),
					flow.approve("there"),
					flow.step("work", () => {
						performed++;
						return gate.promise;
					}),
				]),
			);
		const session = made("one").session("s");
		const run = await session.send(undefined);
		await expect.poll(async () => (await session.session.pending()).length).toBe(2);
		const calls = await session.session.pending();
		const idOf = (name: string): string =>
			calls.find((call) => call.arguments.name === name)?.toolCallId as string;
		const other = made("two").session("s").session;
		(await other.answer([{ toolCallId: idOf("there"), approved: false }])).detach();
		gate.resolve("worked");
		for (let turn = 0; turn < turns; turn++) await Promise.resolve();
		(await session.session.answer([{ toolCallId: idOf("here"), approved: true }])).detach();
		expect(await run.result()).toMatchObject({ outcome: "completed", output: [true, false, "worked"] });
		expect(performed).toBe(1);
		expect(store.read("s").filter(({ fact }) => fact.kind === "tool.settled")).toHaveLength(2);
	}
});

test("an answer that arrives while a run with open calls takes an event is not lost", async () => {
	const store = memoryJournal();
	const gate = Promise.withResolvers<string>();
	const own = store.worker("one");
	let afterRead: (() => Promise<unknown>) | undefined;
	const watched = (lease: Lease): Lease =>
		new Proxy(lease, {
			get(target, name) {
				const value = Reflect.get(target, name, target);
				if (name !== "inbox") return typeof value === "function" ? value.bind(target) : value;
				return async () => {
					const inputs = target.inbox();
					const then = afterRead;
					afterRead = undefined;
					await then?.();
					return inputs;
				};
			},
		});
	const host = journalHost({
		...own,
		acquire(key, options) {
			const acquired = own.acquire(key, options) as { readonly ok: true; readonly lease: Lease };
			return acquired.ok ? { ...acquired, lease: watched(acquired.lease) } : acquired;
		},
	});
	const made = (of: typeof host) =>
		workflow({ name: "pay", host: of }, (flow) =>
			Promise.all([flow.approve("pay"), flow.event("note"), flow.step("work", () => gate.promise)]),
		);
	const session = made(host).session("s");
	const run = await session.send(undefined);
	await expect.poll(async () => (await session.session.pending()).length).toBe(1);
	const [call] = await session.session.pending();
	const other = made(journalHost(store.worker("two"))).session("s");
	await other.signal("note", "hello");
	afterRead = async () =>
		(await other.session.answer([{ toolCallId: call?.toolCallId as string, approved: true }])).detach();
	gate.resolve("worked");
	expect(await run.result()).toMatchObject({ outcome: "completed", output: [true, "hello", "worked"] });
});
