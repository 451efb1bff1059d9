// Outside events that reach a waiting run: an interrupt ends it, and overlays stay with it.
import { join } from "node:path";
import { manualTime, type Script, scriptedModel } from "@holdfast/testing";
import { UPPError } from "@holdfast/upp";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";
import { anyTool, lines } from "../agent/agent.fixture.ts";
import { Agent } from "../agent/agent.ts";
import type { Host } from "../host/host-port.ts";
import { memoryHost } from "../host/memory-host.ts";
import { sqliteHost } from "../sqlite.ts";
import { settled } from "./sessions.fixture.ts";

const busy = { error: new UPPError("Busy.", "RATE_LIMITED", "scripted", "llm", 429) };
const asksApproval = { toolCalls: [{ name: "erase", id: "e" }] };
const erase = anyTool("erase", () => "erased", { needsApproval: true });

function make(script: Script, host: Host = memoryHost(), time = manualTime()) {
	const model = scriptedModel(script);
	const agent = new Agent({ model, tools: [erase], ports: time.ports, modelWait: {}, host });
	const session = agent.session("s");
	const ended = async (): Promise<unknown> => (await host.journal.read("s")).at(-1)?.fact;
	return { agent, session, model, host, time, ended };
}

const waits = [
	["its model", busy],
	["an approval", asksApproval],
] as const;

describe.each(waits)("an interrupt ends a run that waits for %s", (_, first) => {
	test.each(["session", "run"] as const)("through its %s, and its model is not called again", async (by) => {
		const { agent, session, model, time, ended } = make([first, "never"]);
		const run = await session.send("go");
		expect(await run.result()).toMatchObject({ outcome: "waiting" });
		(by === "session" ? session : run).interrupt();
		await expect.poll(ended).toMatchObject({ kind: "run.ended", outcome: "aborted" });
		time.pass(86_400_000);
		await settled();
		expect(model.requests).toHaveLength(1);
		expect(await (await session.send("more")).result()).toMatchObject({ outcome: "completed" });
		await agent.close();
	});

	test("at the moment it starts to wait, and then the run has never waited for its caller", async () => {
		const { agent, session, model, time } = make([first, "never"]);
		const run = await session.send("go");
		const watched = run.watch();
		const result = run.result();
		for await (const event of watched) if (event.type === "model_start") run.interrupt();
		expect(await result).toMatchObject({ outcome: "aborted" });
		time.pass(86_400_000);
		await settled();
		expect(model.requests.length).toBeLessThanOrEqual(1);
		expect(await session.pending()).toEqual([]);
		await agent.close();
	});

	test("that another process has left, which is found in the store", async () => {
		const path = join(temporaryFolder(), "waits.db");
		const time = manualTime();
		const before = make([first], sqliteHost(path), time);
		expect(await (await before.session.send("go")).result()).toMatchObject({ outcome: "waiting" });
		await before.agent.close();
		await before.host.close();
		const after = make(["never"], sqliteHost(path), time);
		after.session.interrupt();
		await expect.poll(after.ended).toMatchObject({ kind: "run.ended", outcome: "aborted" });
		expect(after.model.requests).toHaveLength(0);
		await after.agent.close();
		await after.host.close();
	});
});

test("an interrupt of an idle session, or of a run that was answered since, ends nothing", async () => {
	const { agent, session, ended } = make([asksApproval, "Done.", "And again."]);
	session.interrupt();
	const run = await session.send("go");
	await run.result();
	const answered = await session.answer([{ toolCallId: "e", approved: true }]);
	expect(await answered.result()).toMatchObject({ outcome: "completed" });
	run.interrupt();
	session.interrupt();
	const next = await session.send("again");
	expect(await next.result()).toMatchObject({ outcome: "completed" });
	expect(await ended()).toMatchObject({ outcome: "completed" });
	await agent.close();
});

describe.each(waits)("overlays of a run that waits for %s", (name, first) => {
	test("are shown to its model when it continues, in their positions, and not in later turns", async () => {
		const { agent, session, model, time } = make([first, "Done.", "Later."]);
		await session.overlay("before the turn");
		const run = await session.send("go");
		await run.result();
		await session.overlay("while it waits");
		if (name === "an approval") await (await session.answer([{ toolCallId: "e", approved: true }])).result();
		else time.pass(86_400_000);
		await expect.poll(() => model.requests.length).toBe(2);
		await settled();
		const shown = lines(model.requests[1]?.messages ?? []);
		expect(shown.slice(0, 2)).toEqual(["user: before the turn", "user: go"]);
		expect(shown).toContain("user: while it waits");
		await (await session.send("next")).result();
		expect(lines(model.requests[2]?.messages ?? []).join()).not.toMatch(/before the turn|while it waits/);
		await agent.close();
	});

	test("end with it if it is interrupted", async () => {
		const { agent, session, model, ended } = make([first, "Later."]);
		await (await session.send("go")).result();
		await session.overlay("while it waits");
		session.interrupt();
		await expect.poll(ended).toMatchObject({ outcome: "aborted" });
		await (await session.send("next")).result();
		expect(lines(model.requests[1]?.messages ?? []).join()).not.toContain("while it waits");
		await agent.close();
	});
});

describe("turns that are sent while a run waits for its model", () => {
	const hosts = [
		["memory", () => memoryHost()],
		["SQLite", () => sqliteHost(join(temporaryFolder(), "waits.db"))],
	] as const;

	test.each(hosts)("stay queued in %s, and their handles have their results", async (_, makeHost) => {
		const { agent, session, model, host, time } = make([busy, "One.", "Two.", "Three."], makeHost());
		await (await session.send("one")).result();
		const [two, three] = [await session.send("two"), await session.send("three")];
		const results = Promise.all([two.result(), three.result()]);
		time.pass(86_400_000);
		expect(await results).toMatchObject([{ text: "Two." }, { text: "Three." }]);
		expect(model.requests).toHaveLength(4);
		expect(lines((await session.state()).messages)).toEqual([
			...["user: one", "assistant: One.", "user: two", "assistant: Two.", "user: three", "assistant: Three."],
		]);
		await agent.close();
		await host.close();
	});

	test("start when the run is stopped, or is continued by a steer", async () => {
		for (const act of ["stop", "steer"] as const) {
			const { agent, session } = make([busy, "One.", "Two."]);
			await (await session.send("one")).result();
			const next = (await session.send("two")).result();
			if (act === "stop") await session.stop();
			else await (await session.steer("hurry")).result();
			expect(await next).toMatchObject({ outcome: "completed" });
			await agent.close();
		}
	});

	test("stay in the inbox when the agent is closed, and are killed with the session", async () => {
		const closed = make([busy]);
		await (await closed.session.send("one")).result();
		const left = (await closed.session.send("two")).result();
		await closed.agent.close();
		expect(await left).toMatchObject({ outcome: "suspended" });
		expect(await closed.host.journal.inbox("s")).toHaveLength(1);
		const killed = make([busy]);
		await (await killed.session.send("one")).result();
		const ended = (await killed.session.send("two")).result();
		await killed.session.kill();
		expect(await ended).toMatchObject({ outcome: "killed" });
		await killed.agent.close();
	});
});
