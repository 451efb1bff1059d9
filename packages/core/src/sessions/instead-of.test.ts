// A turn that replaces a user message and all that follow: the history, the journal, and the readers of both.
import { join } from "node:path";
import { MemorySessionStore, storeJournal } from "@holdfast/stores";
import { scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";
import { collect } from "../agent/agent.fixture.ts";
import { Agent } from "../agent/agent.ts";
import { followSession } from "../following/follow-session.ts";
import { type Host, journalHost } from "../host/host-port.ts";
import { memoryHost } from "../host/memory-host.ts";
import { sqliteHost } from "../sqlite.ts";
import { drain } from "./drain.ts";
import { foldHistory } from "./fold-history.ts";
import type { Session } from "./session.ts";
import { gate } from "./sessions.fixture.ts";

const hosts: readonly (readonly [string, () => Host])[] = [
	["memory", () => memoryHost()],
	["SQLite", () => sqliteHost(join(temporaryFolder(), "sessions.db"))],
	["a bare session store", () => journalHost(storeJournal(new MemorySessionStore()))],
];

const said = async (session: Session): Promise<readonly string[]> =>
	(await session.state()).messages.map((message) => (message as { text: string }).text);

const idOf = async (session: Session, text: string): Promise<string> => {
	const found = (await session.state()).messages.find(
		(message) => (message as { text?: string }).text === text,
	);
	if (found === undefined) throw new Error(`Nobody said ${text}.`);
	return found.id;
};

const echo = () =>
	scriptedModel(({ messages }) => `re: ${(messages.at(-1) as unknown as { text: string }).text}`);

describe.each(hosts)("with sessions in %s", (name, makeHost) => {
	test("the history continues from before the message, for the model and for readers", async () => {
		const host = makeHost();
		const model = echo();
		const agent = new Agent({ model, host });
		const session = agent.session("s");
		for (const text of ["one", "two", "three"]) await drain(await session.send(text));
		const insteadOf = await idOf(session, "two");
		const run = await session.start("zwei", { insteadOf });
		const { outcome, turn } = await run.result();
		expect(outcome).toBe("completed");
		expect(turn?.messages.map((message) => (message as { text: string }).text)).toEqual(["zwei", "re: zwei"]);
		const all = ["one", "re: one", "zwei", "re: zwei"];
		expect(await said(session)).toEqual(all);
		expect(await idOf(session, "zwei")).toBe(insteadOf);
		expect(JSON.stringify(model.requests.at(-1)?.messages)).not.toMatch(/two|three/);
		// Another process folds the same state, and a fork begins with it.
		const other = new Agent({ model: echo(), host });
		expect(await said(other.session("s"))).toEqual(all);
		const fork = await session.fork("f");
		await drain(await fork.send("more"));
		expect(await said(fork)).toEqual([...all, "more", "re: more"]);
		await drain(await session.start("eins", { insteadOf: await idOf(session, "one") }));
		expect(await said(session)).toEqual(["eins", "re: eins"]);
		if (name !== "a bare session store") {
			await foldHistory(host.journal, "s", { before: Number.POSITIVE_INFINITY });
			expect(await said(new Agent({ model: echo(), host }).session("s"))).toEqual(["eins", "re: eins"]);
		}
		await drain(await session.send("then"));
		expect(await said(session)).toEqual(["eins", "re: eins", "then", "re: then"]);
		await agent.close();
		await host.close();
	});

	test("the cut is recorded together with the start of the run and its input, or not at all", async () => {
		const host = makeHost();
		const agent = new Agent({ model: echo(), host });
		const session = agent.session("s");
		await drain(await session.send("one"));
		const insteadOf = await idOf(session, "one");
		const before = await collect(followSession(host, "s"));
		await drain(await session.start("eins", { insteadOf }));
		const entries = await host.journal.read("s");
		const at = entries.findIndex(({ fact }) => fact.kind === "history.cut");
		expect(entries.slice(at - 1, at + 2).map(({ fact }) => fact.kind)).toEqual([
			"run.started",
			"history.cut",
			"input",
		]);
		const events = await collect(followSession(host, "s"));
		expect(events.slice(0, before.length)).toEqual(before);
		expect(events[before.length + 1]?.event).toMatchObject({ type: "history_cut", messageId: insteadOf });
		await expect(session.start("none", { insteadOf: "none" })).rejects.toMatchObject({
			code: "unknown_message",
		});
		expect(await host.journal.read("s")).toEqual(entries);
		await agent.close();
		await host.close();
	});
});

test("only a user message can be replaced, and none during a run", async () => {
	const open = gate();
	const agent = new Agent({
		model: scriptedModel(["re: one", { text: "late", gate: open.promise }, "re: eins"]),
	});
	const session = agent.session("s");
	await drain(await session.send("one"));
	const insteadOf = await idOf(session, "one");
	const answer = session.start("eins", { insteadOf: await idOf(session, "re: one") });
	await expect(answer).rejects.toMatchObject({ code: "unknown_message" });
	const run = await session.send("two");
	await expect(session.start("eins", { insteadOf })).rejects.toMatchObject({ code: "session_busy" });
	open.open();
	await drain(run);
	await drain(await session.start("eins", { insteadOf }));
	expect(await said(session)).toEqual(["eins", "re: eins"]);
	await agent.close();
});

test("policy of the run sees the history without the removed messages", async () => {
	const seen: (readonly string[])[] = [];
	const agent = new Agent({
		model: echo(),
		middleware: [
			{
				name: "looks",
				async before(context) {
					seen.push(context.state.messages.map((message) => (message as { text: string }).text));
					return context;
				},
			},
		],
	});
	const session = agent.session("s");
	for (const text of ["one", "two"]) await drain(await session.send(text));
	await drain(await session.start("zwei", { insteadOf: await idOf(session, "two") }));
	expect(seen).toEqual([[], ["one", "re: one"], ["one", "re: one"]]);
	await agent.close();
});
