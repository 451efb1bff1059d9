import { manualTime, scriptedModel } from "@holdfast/testing";
import { HoldfastError } from "@holdfast/upp";
import { describe, expect, test, vi } from "vitest";
import { Agent } from "../agent/agent.ts";
import type { Fact } from "../facts/fact.ts";
import { journalHost } from "../host/host-port.ts";
import type { AcquireResult, Journal, Lease } from "../host/journal.ts";
import { memoryJournal } from "../host/memory-journal.ts";
import type { Clock } from "../host/ports.ts";
import { play, settled } from "./sessions.fixture.ts";

/** An agent whose model answers each message with `re: <message>`, once `gates` allows it. */
function echo(
	journal: Journal,
	gates: Readonly<Record<string, Promise<unknown>>> = {},
	clock: Clock = { now: () => Date.now(), monotonic: () => performance.now() },
): Agent {
	const model = scriptedModel((request) => {
		const asked = request.messages.at(-1) as unknown as { text: string };
		const gate = gates[asked.text];
		return { text: `re: ${asked.text}`, ...(gate === undefined ? {} : { gate }) };
	});
	return new Agent({ model, host: journalHost(journal), ports: { clock } });
}

function gate(): { readonly promise: Promise<void>; open(): void } {
	let open!: () => void;
	const promise = new Promise<void>((resolve) => {
		open = resolve;
	});
	return { promise, open };
}

async function facts<K extends Fact["kind"]>(
	journal: Journal,
	kind: K,
): Promise<readonly Extract<Fact, { kind: K }>[]> {
	const entries = await journal.read("s");
	return entries
		.map(({ fact }) => fact)
		.filter((fact): fact is Extract<Fact, { kind: K }> => fact.kind === kind);
}

async function answers(journal: Journal): Promise<readonly string[]> {
	return (await facts(journal, "assistant")).map(({ message }) => message.text);
}

/** A journal in which a worker died during a run with the input "one"; returns the other worker's journal. */
async function withOpenRun(): Promise<Journal> {
	const dead = memoryJournal();
	const model = scriptedModel([{ gate: new Promise(() => {}), text: "never" }]);
	const run = await new Agent({ model, host: journalHost(dead) }).session("s").send("one");
	void run.result();
	dead.die();
	return dead.worker("living");
}

describe("resume", () => {
	test("called several times at once continues the run once", async () => {
		const journal = await withOpenRun();
		const session = echo(journal).session("s");
		const runs = await Promise.all([session.resume(), session.resume(), session.resume()]);
		expect(new Set(runs).size).toBe(1);
		expect(await runs[0]?.result()).toMatchObject({ outcome: "completed", text: "re: one" });
		expect(await facts(journal, "run.resumed")).toHaveLength(1);
		expect(await facts(journal, "run.ended")).toHaveLength(1);
	});

	test("and a send at the same time continue the run once, then run the turn", async () => {
		const journal = await withOpenRun();
		const session = echo(journal).session("s");
		const [resumed, sent] = await Promise.all([session.resume(), session.send("two")]);
		void resumed?.result();
		expect(await sent.result()).toMatchObject({ outcome: "completed", text: "re: two" });
		expect(await facts(journal, "run.resumed")).toHaveLength(1);
		expect(await answers(journal)).toEqual(["re: one", "re: two"]);
	});

	test("finds work that another worker started and did not finish, after this one was idle", async () => {
		const mine = memoryJournal();
		const session = echo(mine).session("s");
		await (await session.send("one")).result();
		const other = mine.worker("other");
		const theirs = echo(other, { two: new Promise(() => {}) });
		void (await theirs.session("s").send("two")).result();
		await expect(session.resume()).rejects.toMatchObject({ code: "session_held" });
		other.die();
		expect(await (await session.resume())?.result()).toMatchObject({ outcome: "completed", text: "re: two" });
		expect(await session.resume()).toBeNull();
	});

	test("is rejected while a turn waits for another living worker, and the turn still runs", async () => {
		const mine = memoryJournal();
		const other = mine.worker("other");
		const held = gate();
		const theirs = await echo(other, { one: held.promise }).session("s").send("one");
		void theirs.result();
		const session = echo(mine).session("s");
		const waiting = await session.send("two");
		await expect(session.resume()).rejects.toMatchObject({ code: "session_held" });
		held.open();
		expect(await waiting.result()).toMatchObject({ outcome: "completed", text: "re: two" });
		expect(await answers(mine)).toEqual(["re: one", "re: two"]);
	});
});

describe("two agents on one host", () => {
	test("run their turns in send order, each by the agent it was sent to", async () => {
		const journal = memoryJournal();
		const held = gate();
		const first = echo(journal, { one: held.promise }).session("s");
		const second = echo(journal).session("s");
		const runs = [await first.send("one"), await second.send("two"), await first.send("three")];
		held.open();
		const results = await Promise.all(runs.map((run) => run.result()));
		expect(results.map(({ text }) => text)).toEqual(["re: one", "re: two", "re: three"]);
		expect(await answers(journal)).toEqual(["re: one", "re: two", "re: three"]);
		expect((await journal.head("s"))?.waiting).toBe(0);
	});
});

describe("waiting turns", () => {
	test("settle as suspended if the run before them is suspended, and run when the session is resumed", async () => {
		const journal = memoryJournal();
		const held = gate();
		const session = echo(journal, { one: held.promise }).session("s");
		const first = await session.send("one");
		const second = await session.send("two");
		const results = Promise.all([first.result(), second.result()]);
		first.suspend();
		expect((await results).map(({ outcome, error }) => [outcome, error?.code])).toEqual([
			["suspended", "run_suspended"],
			["suspended", "run_suspended"],
		]);
		held.open();
		expect(await (await session.resume())?.result()).toMatchObject({ outcome: "completed" });
		expect(await (await session.resume())?.result()).toMatchObject({ outcome: "completed" });
		expect(await answers(journal)).toEqual(["re: one", "re: two"]);
	});

	test("settle when the agent is closed, even while another worker holds the session", async () => {
		const mine = memoryJournal();
		const other = mine.worker("other");
		void (
			await echo(other, { one: new Promise(() => {}) })
				.session("s")
				.send("one")
		).result();
		const agent = echo(mine);
		const waiting = await agent.session("s").send("two");
		const events = waiting.watch();
		await agent.close();
		expect(await waiting.result()).toMatchObject({ outcome: "suspended", error: { code: "agent_closed" } });
		expect((await events.next()).value).toMatchObject({ type: "run_suspended", reason: "suspended" });
		expect((await mine.head("s"))?.waiting).toBe(1);
		await expect(agent.session("s").send("three")).rejects.toMatchObject({ code: "agent_closed" });
	});

	test("of a worker that died are run by the next one that uses the session, in order", async () => {
		const dead = memoryJournal();
		const theirs = echo(dead, { one: new Promise(() => {}) }).session("s");
		for (const text of ["one", "two", "three"]) void (await theirs.send(text)).result();
		dead.die();
		const journal = dead.worker("living");
		const run = await echo(journal).session("s").send("four");
		expect(await run.result()).toMatchObject({ outcome: "completed", text: "re: four" });
		expect(await answers(journal)).toEqual(["re: one", "re: two", "re: three", "re: four"]);
	});

	test("of a living worker that does not start them do not delay others for long", async () => {
		const journal = memoryJournal();
		const other = journal.worker("other");
		const body = { shape: "text", message: { type: "user", content: [{ type: "text", text: "stuck" }] } };
		await other.submit("s", { id: "stuck", kind: "message", workerId: other.workerId, body });
		let time = 0;
		const clock = { now: () => 0, monotonic: () => (time += 700) };
		const run = await echo(journal, {}, clock).session("s").send("one");
		expect(await run.result()).toMatchObject({ outcome: "completed", text: "re: one" });
		expect((await journal.head("s"))?.waiting).toBe(1);
	});

	test("of a living worker that has left turns waiting still run first if they came first", async () => {
		const journal = memoryJournal();
		const other = journal.worker("other");
		const submit = (id: string) => {
			const body = { shape: "text", message: { type: "user", content: [{ type: "text", text: id }] } };
			return other.submit("s", { id, kind: "message", workerId: other.workerId, body });
		};
		const time = manualTime();
		const held = gate();
		const { session } = play([{ gate: held.promise, text: "one" }, "two"], { ports: time.ports }, journal);
		await submit("left over");
		const first = await session.send("one");
		const looksAgain = async (): Promise<void> => {
			await expect.poll(() => time.timers.size).toBe(1);
			time.pass(2_500);
		};
		await looksAgain();
		void first.result();
		await expect.poll(() => journal.head("s")?.openRunId).toBe(first.runId);
		await submit("came first");
		const second = await session.send("two");
		void second.result();
		held.open();
		await first.result();
		await settled();
		expect(journal.head("s")?.openRunId, "it yields").toBeUndefined();
		await looksAgain();
		expect(await second.result()).toMatchObject({ outcome: "completed", text: "two" });
	});
});

describe("a store that rejects a turn", () => {
	test("makes `send` reject, and the next turn runs", async () => {
		const journal = memoryJournal();
		const held = gate();
		let refuse = true;
		const flaky = Object.assign(Object.create(journal) as typeof journal, {
			submit: (...given: Parameters<Journal["submit"]>) => {
				if (!refuse) return journal.submit(...given);
				throw Object.assign(new Error("no room"), { code: "disk_full" });
			},
		});
		const session = echo(flaky, { one: held.promise }).session("s");
		const first = await session.send("one");
		await expect(session.send("two")).rejects.toMatchObject({ code: "disk_full" });
		refuse = false;
		const third = await session.send("three");
		held.open();
		await first.result();
		expect(await third.result()).toMatchObject({ outcome: "completed", text: "re: three" });
		expect(await answers(journal)).toEqual(["re: one", "re: three"]);
	});
});

/** A slow journal; `holds` may delay a response after the append is committed. */
function unhurried(
	journal: Journal,
	holds: (facts: readonly Fact[]) => Promise<unknown> | undefined = () => undefined,
): Journal {
	const soon = (): Promise<unknown> => new Promise((resolve) => setImmediate(resolve));
	const slow = <T extends object>(inner: T, change: Partial<T> = {}): T =>
		new Proxy(inner, {
			get(target, name) {
				const own = Reflect.get(name in change ? change : target, name);
				if (typeof own !== "function") return own;
				if (name === "watch" || name === "whenLost") return own.bind(target);
				return async (...given: unknown[]) => {
					await soon();
					return own.apply(target, given);
				};
			},
		});
	const leaseOf = (lease: Lease): Lease => {
		const append: Lease["append"] = async (batch) => {
			const result = await lease.append(batch);
			await holds(batch.facts);
			return result;
		};
		return slow(lease, { append });
	};
	const acquire: Journal["acquire"] = async (key, options) => {
		const acquired = await journal.acquire(key, options);
		return acquired.ok ? { ok: true, lease: leaseOf(acquired.lease) } : acquired;
	};
	return slow(journal, { acquire });
}

describe("a slow store", () => {
	test("is killed even if a turn waits for another worker", async () => {
		const holder = memoryJournal();
		const other = echo(holder, { one: new Promise(() => {}) }).session("s");
		void (await other.send("one")).result();
		const session = echo(unhurried(holder.worker("mine"))).session("s");
		const waiting = await session.send("two");
		await session.kill();
		expect(await waiting.result()).toMatchObject({ outcome: "killed", error: { code: "session_killed" } });
	});

	test("loses no input sent between the end of a run and its confirmation [SES-041]", async () => {
		const answered = gate();
		const committed = gate();
		const journal = memoryJournal();
		const slow = unhurried(journal, (facts) => {
			if (facts.at(-1)?.kind !== "run.ended") return undefined;
			committed.open();
			return answered.promise;
		});
		const session = echo(slow).session("s");
		const run = await session.send("one");
		const result = run.result();
		await committed.promise;
		const steering = session.steer("two");
		await vi.waitUntil(async () => (await journal.head("s"))?.waiting === 1);
		await steering;
		answered.open();
		await result;
		await vi.waitUntil(async () => (await answers(journal)).length === 2);
		expect(await answers(journal)).toEqual(["re: one", "re: two"]);
	});

	test("leaves a run whose session was deleted before its start was confirmed", async () => {
		const journal = memoryJournal();
		const slow = unhurried(journal, (facts) =>
			facts[0]?.kind === "run.started" ? (journal.worker("other").delete("s") as undefined) : undefined,
		);
		const run = await echo(slow, { one: new Promise(() => {}) })
			.session("s")
			.send("one");
		expect(await run.result()).toMatchObject({ outcome: "suspended", error: { code: "lease_lost" } });
	});

	test("recovers a run that it could neither end nor release while the store failed", async () => {
		const journal = memoryJournal();
		const acquire = journal.acquire.bind(journal);
		let fails = true;
		journal.acquire = (key, options) => {
			const acquired = acquire(key, options) as AcquireResult;
			if (!acquired.ok) return acquired;
			const { lease } = acquired;
			const [append, release] = [lease.append.bind(lease), lease.release.bind(lease)];
			const full = (): never => {
				throw new HoldfastError("disk_full", "No room.");
			};
			lease.append = (batch) => (fails && batch.facts.at(-1)?.kind === "run.ended" ? full() : append(batch));
			lease.release = () => (fails ? full() : release());
			return acquired;
		};
		const agent = echo(journal);
		const run = await agent.session("s").send("one");
		expect(await run.result()).toMatchObject({ error: { code: "disk_full" } });
		expect(journal.head("s")).toMatchObject({ openRunId: run.runId, holder: { alive: true } });
		fails = false;
		const outcomes: string[] = [];
		for (let look = 0; look < 2; look++)
			for await (const found of agent.recover()) outcomes.push((await found.result()).outcome);
		expect(outcomes).toEqual(["completed"]);
	});

	test("shows nothing of a session that another worker deleted, and all of the recreated one", async () => {
		const mine = memoryJournal();
		const session = echo(unhurried(mine)).session("s");
		await (await session.send("old")).result();
		const other = echo(mine.worker("other"));
		await other.session("s").delete();
		expect((await session.state()).messages).toEqual([]);
		for (const text of ["new", "newer"]) await (await other.session("s").send(text)).result();
		const texts = (await session.state()).messages.map(
			(message) => (message as unknown as { text: string }).text,
		);
		expect(texts).toEqual(["new", "re: new", "newer", "re: newer"]);
	});
});
