// The order of requests to one session: bursts of un-awaited calls over a slow store.
import { scriptedModel } from "@holdfast/testing";
import fc from "fast-check";
import { expect, test } from "vitest";
import { Agent } from "../agent/agent.ts";
import { journalHost } from "../host/host-port.ts";
import type { Journal } from "../host/journal.ts";
import { type MemoryJournal, memoryJournal } from "../host/memory-journal.ts";
import type { AgentRun } from "./agent-run.ts";
import { echo, gate, play, settled } from "./sessions.fixture.ts";

/** A store whose responses take a number of promises that `draw` chooses. */
function slow(inner: MemoryJournal, draw: () => number): Journal {
	const wait = async (): Promise<void> => {
		for (let left = draw(); left > 0; left--) await null;
	};
	return {
		...inner,
		acquire: async (...given) => {
			await wait();
			const acquired = await inner.acquire(...given);
			if (!acquired.ok) return acquired;
			const { lease } = acquired;
			const append = lease.append.bind(lease);
			lease.append = async (batch) => {
				await wait();
				return append(batch);
			};
			return acquired;
		},
		submit: async (...given) => {
			await wait();
			return inner.submit(...given);
		},
		head: async (...given) => {
			await wait();
			return inner.head(...given);
		},
	};
}

/** The inputs of the session "s" in the order in which runs accepted them. */
function said(journal: MemoryJournal): readonly string[] {
	return journal
		.read("s")
		.flatMap(({ fact }) => (fact.kind === "input" ? [(fact.message as { text: string }).text] : []));
}

const failed = (error: { readonly code?: string }): string => error.code ?? String(error);

test("in an un-awaited burst, no send overtakes an earlier send or steer, and no steer an earlier steer", async () => {
	const requests = fc.array(fc.constantFrom("send", "steer"), { minLength: 2, maxLength: 8 });
	const delays = fc.array(fc.nat({ max: 12 }), { minLength: 1, maxLength: 20 });
	const property = fc.asyncProperty(requests, delays, async (burst, ticks) => {
		const journal = memoryJournal();
		let at = 0;
		const host = journalHost(slow(journal, () => ticks[at++ % ticks.length] ?? 0));
		const agent = new Agent({ model: scriptedModel(echo), host });
		const session = agent.session("s");
		const runs: Promise<AgentRun>[] = [];
		for (const [number, request] of burst.entries()) {
			const one = number % 2 === 0 ? session : agent.session("s");
			runs.push(one[request as "send" | "steer"](`${request} ${number}`));
			for (let left = ticks[number % ticks.length] ?? 0; left > 3; left--) await null;
		}
		for (const run of await Promise.all(runs)) await run.result();
		const order = said(journal);
		expect(order.toSorted()).toEqual(burst.map((request, number) => `${request} ${number}`).toSorted());
		const numbers = order.map((text) => [text.startsWith("send"), Number(text.split(" ")[1])] as const);
		for (const [place, [isSend, number]] of numbers.entries()) {
			const passed = numbers.slice(place).filter(([otherIsSend, other]) => {
				return other < number && (isSend || !otherIsSend);
			});
			expect(passed, `${order.join(", ")}`).toEqual([]);
		}
		await agent.close();
	});
	await fc.assert(property, { numRuns: 150 });
});

test("a start waits for the requests before it, and is judged by their result", async () => {
	const journal = memoryJournal();
	const agent = new Agent({ model: scriptedModel(echo), host: journalHost(slow(journal, () => 5)) });
	const session = agent.session("s");
	const nothing = session.resume();
	const started = session.start("one");
	const busy = session.start("two").catch(failed);
	const sent = session.send("three");
	expect(await nothing).toBeNull();
	expect(await busy).toBe("session_busy");
	void (await started).result();
	await (await sent).result();
	expect(said(journal)).toEqual(["one", "three"]);
	await agent.close();
});

test("a stop ends the run that was sent before it, and not the one sent after it", async () => {
	const journal = memoryJournal();
	const model = scriptedModel(({ messages }) => ({
		text: `re: ${(messages.at(-1) as { text?: string }).text}`,
		delayMs: 1,
	}));
	const agent = new Agent({ model, host: journalHost(slow(journal, () => 5)) });
	const session = agent.session("s");
	const first = session.send("one");
	const stopped = session.stop();
	const second = session.send("two");
	expect(await stopped).toBe(true);
	expect((await (await first).result()).outcome).toBe("aborted");
	expect((await (await second).result()).outcome).toBe("completed");
	await agent.close();
});

test("a kill rejects waiting requests, and a fork requested after it waits for its end", async () => {
	const journal = memoryJournal();
	const agent = new Agent({ model: scriptedModel(echo), host: journalHost(slow(journal, () => 8)) });
	const session = agent.session("s");
	await (await session.send("zero")).result();
	const requests = [
		session.send("one"),
		session.steer("two"),
		session.edit({ kind: "delete", messageId: "x" }),
	];
	const outcomes = Promise.all(
		requests.map((asked) =>
			(asked as Promise<AgentRun | undefined>).then(
				(run) => run?.result().then(({ outcome }) => outcome),
				failed,
			),
		),
	);
	const deleted = session.delete();
	const fork = agent
		.session("s")
		.fork("f")
		.then(() => "forked", failed);
	for (const outcome of await outcomes) expect(["killed", "session_killed"]).toContain(outcome);
	expect((await outcomes).slice(1)).toEqual(["session_killed", "session_killed"]);
	await deleted;
	expect(await fork).toBe("fork_unsettled");
	expect(await session.send("three").catch(failed)).toBe("session_killed");
	await agent.close();
});

test("a fork ends where the requests before it have left the session, however late it copies", async () => {
	const { agent, session } = play(echo);
	await (await session.send("one")).result();
	const fork = session.fork("f");
	const second = await session.send("two");
	await second.result();
	expect((await (await fork).state()).messages).toHaveLength(2);
	await agent.close();
});

test("a hook that the queue waits for can send, and is rejected if it would wait for the queue", async () => {
	const journal = memoryJournal();
	const found: unknown[] = [];
	const asks = async (): Promise<void> => {
		found.push("asked");
		const session = agent.session("s");
		found.push(await session.steer("steered").then(() => "steered", failed));
		found.push(await session.resume().then(() => "resumed", failed));
		void (await session.send("sent")).result();
		found.push("sent");
	};
	const admit = async ({ kind }: { readonly kind: string }): Promise<void> => {
		if (kind === "run.started" && found.length === 0) await asks();
	};
	const agent: Agent = new Agent({
		model: scriptedModel(echo),
		host: journalHost(journal),
		middleware: [{ name: "asking", admitWaiting: "as-is", begin: () => ({ admit }) }],
	});
	await (await agent.session("s").send("one")).result();
	expect(found).toEqual(["asked", "session_busy", "session_busy", "sent"]);
	await expect.poll(() => said(journal)).toEqual(["one", "sent"]);
	await agent.close();
});

test("a request continues in the context that created it, not in that of the request before it", async () => {
	const { AsyncLocalStorage } = await import("node:async_hooks");
	const storage = new AsyncLocalStorage<string>();
	const journal = memoryJournal();
	const seen: unknown[] = [];
	const model = scriptedModel(({ messages }) => {
		seen.push([(messages.at(-1) as { text?: string }).text, storage.getStore()]);
		return "done";
	});
	const opened = gate();
	const submit = journal.submit.bind(journal);
	journal.submit = async (...given) => {
		await opened.promise;
		return submit(...given);
	};
	const agent = new Agent({ model, host: journalHost(journal) });
	const session = agent.session("s");
	const edited = storage.run("a", () => session.edit({ kind: "delete", messageId: "x" }));
	const sent = storage.run("b", () => session.send("one"));
	await settled();
	opened.open();
	await edited;
	await (await sent).result();
	expect(seen).toEqual([["one", "b"]]);
	await agent.close();
});

test("an agent can be closed while its session is killed, and is closed when both have ended", async () => {
	const journal = memoryJournal();
	const agent = new Agent({ model: scriptedModel(echo), host: journalHost(slow(journal, () => 8)) });
	const session = agent.session("s");
	await (await session.send("zero")).result();
	const sent = session.send("one").catch(failed);
	const closed = agent.close();
	const killed = session.kill();
	await Promise.all([closed, killed, sent]);
	expect(journal.head("s")?.openRunId).toBeUndefined();
});
