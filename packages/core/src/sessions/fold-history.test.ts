import { join } from "node:path";
import { MemorySessionStore, storeJournal } from "@holdfast/stores";
import { scriptedModel } from "@holdfast/testing";
import { take } from "@holdfast/testing/cases";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";
import { anyTool } from "../agent/agent.fixture.ts";
import { Agent } from "../agent/agent.ts";
import { allOf } from "../execution-host/execution-host.fixture.ts";
import { readKept } from "../facts/entry-pages.ts";
import { journalHost } from "../host/host-port.ts";
import type { Journal } from "../host/journal.ts";
import { memoryJournal } from "../host/memory-journal.ts";
import { childStoreKey } from "../host/session-key.ts";
import { sqliteHost } from "../sqlite.ts";
import { drain } from "./drain.ts";
import { foldHistory } from "./fold-history.ts";
import { echo, gate, play, shown } from "./sessions.fixture.ts";

const ever = { before: Number.POSITIVE_INFINITY };

function file(): string {
	const folder = temporaryFolder();
	return join(folder, "sessions.db");
}

function on(journal: Journal): { agent: Agent; model: ReturnType<typeof scriptedModel> } {
	const model = scriptedModel(echo);
	return { agent: new Agent({ model, host: journalHost(journal) }), model };
}

const kinds = async (journal: Journal, key = "s"): Promise<string[]> =>
	(await journal.read(key)).map(({ fact }) => fact.kind);

test("a compacted session continues as if nothing had happened: in a warm, a lagging and a new process", async () => {
	const path = file();
	const hosts = [sqliteHost(path), sqliteHost(path), sqliteHost(path)] as const;
	const [warm, lagging, fresh] = [on(hosts[0].journal), on(hosts[1].journal), on(hosts[2].journal)];
	await drain(await warm.agent.session("s").send("one"));
	await drain(await lagging.agent.session("s").send("two"));
	await drain(await warm.agent.session("s").send("three"));
	expect(await foldHistory(hosts[2].journal, "s", ever)).toEqual({ seq: 12, entries: 12 });
	expect(await kinds(hosts[0].journal)).toEqual(["folded"]);
	const said = ["one", "re: one", "two", "re: two", "three", "re: three"];
	for (const { agent } of [warm, lagging, fresh]) {
		const state = await agent.session("s").state();
		expect(state.messages.map((message) => message.text)).toEqual(said);
	}
	for (const [index, { agent, model }] of [warm, lagging, fresh].entries()) {
		const asks = `turn ${index}`;
		expect(await drain(await agent.session("s").send(asks))).toMatchObject({ text: `re: ${asks}` });
		said.push(asks, `re: ${asks}`);
		expect(model.requests.at(-1)?.messages.map((message) => message.text)).toEqual(said.slice(0, -1));
	}
	for (const { agent } of [warm, lagging, fresh]) await agent.close();
	for (const host of hosts) await host.close();
});

test("the model sees large results cut as before, according to the tools of the reading agent", async () => {
	const journal = memoryJournal();
	const look = { ...anyTool("look", () => "x".repeat(50)), maxModelCharacters: 10 };
	const script = (_: unknown, call: number) => (call % 2 === 0 ? { toolCalls: [{ name: "look" }] } : "Seen.");
	const { session, model } = play(script, { tools: [look] }, journal);
	await drain(await session.send("one"));
	await foldHistory(journal, "s", ever);
	const other = play(() => "Again.", { tools: [look] }, journal);
	await drain(await other.session.send("two"));
	const before = shown(model).at(-1) as string[];
	expect(before.some((line) => line.includes("xx"))).toBe(true);
	expect(shown(other.model).at(-1)?.slice(0, before.length)).toEqual(before);
});

test("only runs that ended before the time are compacted, and doing it again changes nothing", async () => {
	const clock = { time: 1_000, now: () => clock.time };
	const journal = memoryJournal({ clock });
	const lease = await take(journal, "s");
	for (const [index, runId] of ["a", "b", "c"].entries()) {
		const started = { kind: "run.started", runKind: "user-turn", agentId: "a", fingerprint: "f" } as const;
		const ended = { kind: "run.ended", outcome: "completed" } as const;
		await lease.append({ at: index * 10, runId, facts: [started] });
		await lease.append({ at: index * 10 + 5, runId, facts: [ended] });
	}
	expect(await foldHistory(journal, "s", { before: 5 })).toBeUndefined();
	expect(await foldHistory(journal, "s", { before: new Date(22) })).toEqual({ seq: 4, entries: 4 });
	expect(await kinds(journal)).toEqual(["folded", "run.started", "run.ended"]);
	expect(await foldHistory(journal, "s", { before: 22 })).toBeUndefined();
	expect(await foldHistory(journal, "s", ever)).toEqual({ seq: 6, entries: 3 });
	expect(await foldHistory(journal, "s", ever)).toBeUndefined();
	expect(await foldHistory(journal, "unknown", ever)).toBeUndefined();
});

test("nothing is compacted while a run is open or another worker holds it, and sub-agents' work is unchanged", async () => {
	const journal = memoryJournal();
	const [asked, answer] = [gate(), gate()];
	const { session } = play(
		() => {
			asked.open();
			return { gate: answer.promise, text: "Late." };
		},
		{},
		journal,
	);
	const run = drain(await session.send("one"));
	await asked.promise;
	await expect(foldHistory(journal, "s", ever)).rejects.toMatchObject({ code: "history_unsettled" });
	const other = journal.worker("other");
	await expect(foldHistory(other, "s", ever)).rejects.toMatchObject({ code: "session_held" });
	answer.open();
	await run;
	const child = childStoreKey("s", "helper", "1");
	journal.fork("s", child, journal.head("s")?.seq ?? 0);
	expect(await foldHistory(journal, child, ever)).toBeUndefined();
	expect(await foldHistory(journal, "s", ever)).toMatchObject({ seq: 4 });
});

test("a journal over a plain session store reports that it does not support compaction", async () => {
	const journal = storeJournal(new MemorySessionStore());
	await drain(await on(journal).agent.session("s").send("one"));
	expect(journal.folds).toBeUndefined();
	await expect(foldHistory(journal, "s", ever)).rejects.toMatchObject({ code: "fold_unsupported" });
	expect(await kinds(journal)).toHaveLength(4);
});

test("reading back from the end of a session finds the kept entries, wherever its past was compacted", async () => {
	const journal = memoryJournal();
	const { agent } = on(journal);
	for (const text of ["one", "two", "three"]) await drain(await agent.session("s").send(text));
	await foldHistory(journal, "s", { before: (journal.read("s")[9]?.at as number) + 0.5 });
	const seqs = async (after: number, limit?: number): Promise<number[]> =>
		(await readKept(journal, "s", after, limit)).map(({ seq }) => seq);
	const [first = 0] = await seqs(0);
	expect([4, 8, 12]).toContain(first);
	expect((await seqs(2))[0]).toBe(first);
	expect(await seqs(2, 1)).toEqual([first]);
	expect(await seqs(11)).toEqual([12]);
});

test("compacted runs can no longer be found by their id, and later runs can", async () => {
	const host = sqliteHost(file());
	const agent = new Agent({ model: scriptedModel(echo), host });
	const ids: string[] = [];
	const turn = async (text: string): Promise<void> => {
		const run = await agent.session("s").send(text);
		ids.push(run.runId);
		await drain(run);
	};
	await turn("one");
	await turn("two");
	await foldHistory(host.journal, "s", ever);
	await turn("three");
	const { runs, events } = host.store;
	const found = await Promise.all(ids.map((id) => runs.get(id)));
	expect(found.map((record) => record?.status)).toEqual([undefined, undefined, "completed"]);
	const emitted = await Promise.all(ids.map((id) => allOf(events.read(id))));
	expect(emitted.map(({ length }) => length > 0)).toEqual([false, false, true]);
	await agent.close();
	await host.close();
});

test.each([undefined, {}, { before: Number.NaN }, { before: new Date("never") }])(
	"an invalid time is rejected by its name, and nothing is compacted (%o)",
	async (options) => {
		const { journal } = journalHost(memoryJournal());
		await expect(foldHistory(journal, "s", options as never)).rejects.toMatchObject({
			code: "invalid_option",
			data: { option: "before" },
		});
	},
);
