// Concurrent messages to a session are accepted in the order of the calls, however long each call of its store takes.
import { scriptedModel } from "@holdfast/testing";
import { UserMessage } from "@holdfast/upp";
import { Agent, type AgentRun } from "holdfast";
import { createInMemoryExecutionHost } from "holdfast/execution-host";
import type { SessionStore } from "holdfast/host";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";
import { FileSessionStore } from "../session-store/file-session-store.ts";
import { MemorySessionStore } from "../session-store/memory-session-store.ts";
import { pausing, randomNumbers, slowTool, ticks } from "./slow-store.fixture.ts";
import { storeJournal } from "./store-journal.ts";

const texts = ["1", "2", "3", "4", "5", "6", "7", "8"];

/** A store whose calls take some ticks or milliseconds before and after they take effect. */
function slowStore(seed: number, inner: SessionStore = new MemorySessionStore()): SessionStore {
	const random = randomNumbers(seed);
	const pause = async (): Promise<void> => {
		if (random() < 0.3) await new Promise((resolve) => setTimeout(resolve, random() * 4));
		for (let ticks = random() * 6; ticks > 1; ticks--) await Promise.resolve();
	};
	return pausing(pause, inner);
}

/** Returns the texts of the messages that the session received. */
async function said(agent: Agent): Promise<string[]> {
	const { messages } = await agent.session("s").state();
	return messages.filter(({ type }) => type === "user").map(({ text }) => text);
}

describe.each<[string, (seed: number) => SessionStore]>([
	["slow calls", slowStore],
	["files", () => new FileSessionStore(temporaryFolder())],
	["slow files", (seed) => slowStore(seed, new FileSessionStore(temporaryFolder()))],
])("over a store of %s", (_, make) => {
	const seeds = Array.from({ length: 5 }, (_, seed) => seed + 1);

	test.each(seeds)("turns that are sent at once run in call order (%i)", async (seed) => {
		const agent = new Agent({
			model: scriptedModel((_, call) => `a${call}`),
			host: { sessionStore: make(seed) },
		});
		const session = agent.session("s");
		const runs = await Promise.all(texts.map((text) => session.send(text)));
		await Promise.all(runs.map((run) => run.result()));
		expect(await said(agent)).toEqual(texts);
		await agent.close();
	});

	test.each(seeds)("messages that are steered at once keep call order (%i)", async (seed) => {
		const agent = new Agent({
			model: scriptedModel((_, call) => `a${call}`),
			host: { sessionStore: make(seed) },
		});
		const session = agent.session("s");
		const runs = await Promise.all(texts.map((text) => session.steer(text)));
		await Promise.all([...new Set(runs)].map((run) => run.result()));
		await expect.poll(() => said(agent), { timeout: 2_000 }).toEqual(texts);
		await agent.close();
	});

	test.each(seeds)("two steers of an active run are delivered in order (%i)", async (seed) => {
		const { promise: asked, resolve: ask } = Promise.withResolvers<void>();
		const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
		const model = scriptedModel((_, call) => {
			if (call > 0) return "done";
			ask();
			return { text: "first", gate: answered };
		});
		const agent = new Agent({ model, host: { sessionStore: make(seed) } });
		const session = agent.session("s");
		const run = await session.send("go");
		const result = run.result();
		await asked;
		const steers = await Promise.all([session.steer("one"), session.steer("two")]);
		answer();
		await result;
		expect(steers.map((each) => each === run)).toEqual([true, true]);
		expect(await said(agent)).toEqual(["go", "one", "two"]);
		await agent.close();
	});
});

test("the inputs of several journals of one process keep call order", async () => {
	const store = slowStore(5);
	const journals = [storeJournal(store), storeJournal(store)];
	await Promise.all(
		texts.map((id, at) => journals[at % 2]?.submit("s", { id, kind: "message", body: { text: id } })),
	);
	const inbox = await journals[0]?.inbox("s");
	expect(inbox?.map(({ id }) => id)).toEqual(texts);
});

test("a rejected input delays none after it", async () => {
	const store = new MemorySessionStore();
	const { load } = store;
	let fails = true;
	store.load = async (key) => {
		if (fails) throw new Error("no line");
		return load.call(store, key);
	};
	const journal = storeJournal(store);
	const first = journal.submit("s", { id: "1", kind: "message", body: {} });
	await expect(first).rejects.toMatchObject({ code: "journal_failed" });
	fails = false;
	expect(await journal.submit("s", { id: "2", kind: "message", body: {} })).toEqual({
		duplicate: false,
		order: 1,
	});
});

test("messages that are steered shortly after each other keep that order, whatever happens to the first", async () => {
	const few = texts.slice(0, 5);
	for (let seed = 1; seed <= 200; seed++) {
		const random = randomNumbers(seed);
		const pause = async (): Promise<void> => {
			for (let ticks = Math.floor(random() * 8); ticks > 0; ticks--) await null;
		};
		const agent = new Agent({
			model: scriptedModel((_, call) => `a${call}`),
			host: { sessionStore: pausing(pause, new MemorySessionStore()) },
		});
		const session = agent.session("s");
		const steered: ReturnType<typeof session.steer>[] = [];
		for (const text of few) {
			steered.push(session.steer(text));
			await pause();
			await pause();
		}
		const runs = await Promise.all(steered);
		await Promise.all([...new Set(runs)].map((run) => run.result()));
		await expect
			.poll(() => said(agent), { interval: 1, timeout: 2_000, message: `seed ${seed}` })
			.toEqual(few);
		await agent.close();
	}
});

test("sends, steers and changes do not overtake their own kind, and turns do not overtake changes", async () => {
	for (let seed = 1; seed <= 400; seed++) {
		const random = randomNumbers(seed * 7_919);
		const pause = ticks(random);
		const agent = new Agent({
			model: scriptedModel((_, call) => (random() < 0.4 ? { toolCalls: [{ name: "look" }] } : `a${call}`)),
			tools: [slowTool("look", pause)],
			host: seed % 2 === 0 ? {} : { sessionStore: pausing(pause, new MemorySessionStore()) },
		});
		const session = agent.session("s");
		const ask = {
			send: (text: string) => session.send(text),
			steer: (text: string) => session.steer(text),
			edit: async (text: string) => {
				await session.edit({ kind: "add", message: new UserMessage(text) });
				return null;
			},
		};
		const kinds = ["send", "steer", "edit"] as const;
		const calls = texts.map((text) => [kinds[Math.floor(random() * 3)] ?? "send", text] as const);
		calls.push(["send", "last"]);
		const asked: Promise<AgentRun | null>[] = [];
		for (const [kind, text] of calls) {
			asked.push(ask[kind](`${kind} ${text}`));
			await pause();
			if (random() < 0.1) void session.stop();
		}
		const runs = await Promise.all(asked);
		await Promise.all(runs.map((run) => run?.result()));
		await expect
			.poll(async () => (await said(agent)).length, { interval: 1, timeout: 2_000, message: `seed ${seed}` })
			.toEqual(calls.length);
		const happened = await said(agent);
		const wanted = calls.map((call) => call.join(" "));
		const because = `seed ${seed}: ${wanted} became ${happened}`;
		const of = (each: readonly string[], kind: string): string[] =>
			each.filter((call) => call.startsWith(kind));
		for (const kind of kinds) expect(of(happened, kind), because).toEqual(of(wanted, kind));
		for (const edit of of(wanted, "edit")) {
			const before = happened.slice(0, happened.indexOf(edit));
			for (const turn of of(wanted.slice(wanted.indexOf(edit)), "send"))
				expect(before, because).not.toContain(turn);
		}
		await agent.close();
	}
});

test("over another implementation's execution host, turns that are sent at once run in call order", async () => {
	const own = createInMemoryExecutionHost();
	const { capabilities, scheduler, store } = own;
	const sessions = slowStore(7);
	const host = {
		capabilities,
		scheduler,
		store: { ...store, sessions, transaction: store.transaction.bind(store) },
	};
	const agent = new Agent({ model: scriptedModel((_, call) => `a${call}`), host });
	const session = agent.session("s");
	const runs = await Promise.all(texts.map((text) => session.send(text)));
	await Promise.all(runs.map((run) => run.result()));
	expect(await said(agent)).toEqual(texts);
	await agent.close();
});
