import { join } from "node:path";
import { type ScriptedReply, scriptedModel } from "@holdfast/testing";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";
import { anyTool, lines } from "../agent/agent.fixture.ts";
import { Agent } from "../agent/agent.ts";
import { sqliteHost } from "../sqlite.ts";
import type { AnyTool } from "../tools/types.ts";
import { eventsOf, never, play, shown, types } from "./sessions.fixture.ts";

const parameters = {
	type: "object",
	properties: { city: { type: "string" } },
	required: ["city"],
} as const;
/** A remote tool. */
const locate: AnyTool = { name: "locate", description: "Where the user is.", parameters };
const asks = (id: string, city = "Rome") => ({ name: "locate", id, arguments: { city } });
const two = [{ toolCalls: [asks("a"), asks("b")] }, "done"];

test("a run waits for its remote calls, and continues when all are answered [API-026, API-027, API-029]", async () => {
	const local = anyTool("look", () => "seen");
	const { session, model, agent } = play(
		[{ toolCalls: [asks("a"), { name: "look", id: "l" }, asks("b")] }, "done"],
		{ tools: [locate, local] },
	);
	const run = await session.send("go");
	const events = await eventsOf(run);
	expect(types(events).slice(3)).toEqual(["tool-call", "tools-pending", "tool-result", "turn-waiting"]);
	const { outcome, pending, error } = await run.result();
	expect({ outcome, error }).toEqual({ outcome: "waiting", error: undefined });
	expect(pending).toEqual([
		{ runId: run.runId, toolCallId: "a", toolName: "locate", arguments: { city: "Rome" }, awaits: "result" },
		{ runId: run.runId, toolCallId: "b", toolName: "locate", arguments: { city: "Rome" }, awaits: "result" },
	]);
	expect(await agent.session("s").pending()).toEqual(pending);
	const goneOn = await session.answer([
		{ toolCallId: "b", output: "no signal", isError: true },
		{ toolCallId: "a", output: { lat: 1 } },
	]);
	expect(await goneOn.result()).toMatchObject({ runId: run.runId, outcome: "completed", text: "done" });
	expect(model.requests).toHaveLength(2);
	expect(model.requests[1]?.messages.at(-1)).toMatchObject({
		results: [
			{ toolCallId: "a", result: { lat: 1 } },
			{ toolCallId: "l", result: "seen" },
			{ toolCallId: "b", result: "no signal", isError: true },
		],
	});
	expect(await session.pending()).toEqual([]);
});

test("a caller who is notified that a run waits can answer, stop and read at once", async () => {
	for (const act of ["answer", "stop", "pending", "start"] as const) {
		const { session } = play([{ toolCalls: [asks("a")] }, "done"], { tools: [locate] });
		const events = (await session.send("go")).events();
		for await (const { type } of events) {
			if (type !== "turn-waiting") continue;
			if (act === "answer") {
				const goneOn = await session.answer([{ toolCallId: "a", output: "Rome" }]);
				expect(await goneOn.result()).toMatchObject({ outcome: "completed", text: "done" });
			} else if (act === "stop") {
				expect(await session.stop()).toBe(true);
				expect(await (await session.send("more")).result()).toMatchObject({ outcome: "completed" });
			} else if (act === "pending") {
				expect(await session.pending()).toMatchObject([{ toolCallId: "a" }]);
			} else await expect(session.start("more")).rejects.toMatchObject({ code: "pending_tool_calls" });
		}
	}
});

test("some answers are kept, and the run waits for the others [API-030, API-033]", async () => {
	const { session, model, journal } = play(two, { tools: [locate] });
	await (await session.send("go")).result();
	const first = await session.answer([{ toolCallId: "b", output: "Oslo" }]);
	expect(await first.result()).toMatchObject({ outcome: "waiting", pending: [{ toolCallId: "a" }] });
	const again = await session.answer([{ toolCallId: "b", output: "Oslo" }]);
	expect(await again.result()).toMatchObject({ outcome: "waiting", pending: [{ toolCallId: "a" }] });
	await expect(session.answer([{ toolCallId: "b", output: "Rome" }])).rejects.toMatchObject({
		code: "tool_result_conflict",
	});
	expect(model.requests).toHaveLength(1);
	await (await session.answer([{ toolCallId: "a", output: "Rome" }])).result();
	expect(shown(model)[1]?.at(-1)).toBe("results: Rome, Oslo");
	const settled = (await journal.read("s")).filter(({ fact }) => fact.kind === "tool.settled");
	expect(settled).toHaveLength(2);
});

test("invalid answers are rejected as a whole [API-031, API-032, API-034]", async () => {
	const { session, journal } = play([{ toolCalls: [asks("early")] }, ...two], { tools: [locate] });
	await expect(session.answer([{ toolCallId: "a", output: 1 }])).rejects.toMatchObject({
		code: "no_pending_tool_calls",
	});
	await (await session.send("go")).result();
	await (await session.answer([{ toolCallId: "early", output: 1 }])).result();
	const refusals = [
		["unknown_tool_call_id", [{ toolCallId: "x", output: 1 }]],
		["unknown_tool_call_id", [{ toolCallId: "b", output: 1, runId: "another" }]],
		["tool_call_settled", [{ toolCallId: "early", output: 1 }]],
		[
			"duplicate_tool_result",
			[
				{ toolCallId: "b", output: 1 },
				{ toolCallId: "b", output: 1 },
			],
		],
		["invalid_input", [{ toolCallId: "b", approved: true }]],
		["invalid_input", []],
	] as const;
	const before = await journal.read("s");
	for (const [code, wrong] of refusals) {
		const good = wrong.length === 0 ? [] : [{ toolCallId: "a", output: 1 }];
		await expect(session.answer([...good, ...wrong])).rejects.toMatchObject({ code });
	}
	const b = { toolCallId: "b", output: 1 };
	for (const wrong of [undefined, "b", b, Promise.resolve([b]), [null], ["b"], [b, {}]])
		await expect(session.answer(wrong as never)).rejects.toMatchObject({ code: "invalid_input" });
	expect(await journal.read("s")).toEqual(before);
	expect(await session.pending()).toHaveLength(2);
});

test("a call with wrong arguments or of an unknown tool is not passed on to an external answerer [API-023, API-024]", async () => {
	const wrong = { toolCalls: [{ name: "locate", arguments: { town: 1 } }, { name: "fly" }] };
	const { session, model } = play([wrong, "done"], { tools: [locate] });
	expect(await (await session.send("go")).result()).toMatchObject({ outcome: "completed" });
	const [results] = (model.requests[1]?.messages.slice(-1) ?? []) as unknown as [{ results: object[] }];
	expect(results.results).toMatchObject([
		{ isError: true, result: expect.stringContaining("city") },
		{ isError: true, result: expect.stringContaining("locate") },
	]);
});

test("a call that needs approval waits for it, and runs only if approved", async () => {
	const ran: unknown[] = [];
	const write = anyTool("write", (params: unknown) => ran.push(params), {
		needsApproval: ({ path }: { path: string }) => path !== "safe",
	} as Partial<AnyTool>);
	const calls = ["safe", "one", "two"].map((path) => ({ name: "write", id: path, arguments: { path } }));
	const { session, model } = play([{ toolCalls: calls }, "done"], { tools: [write] });
	const run = await session.send("go");
	expect((await run.result()).pending?.map(({ toolCallId, awaits }) => [toolCallId, awaits])).toEqual([
		["one", "approval"],
		["two", "approval"],
	]);
	expect(ran).toEqual([{ path: "safe" }]);
	await expect(session.answer([{ toolCallId: "one", output: 1 }])).rejects.toMatchObject({
		code: "invalid_input",
	});
	for (const [wrong, code] of [
		[{ reason: 5 }, "invalid_input"],
		[{ by: "me" }, "invalid_caller"],
		[{ by: { user: 7 } }, "invalid_caller"],
	] as const) {
		const answer = { toolCallId: "one", approved: true, ...wrong };
		await expect(session.answer([answer] as never)).rejects.toMatchObject({ code });
	}
	const goneOn = await session.answer([
		{ toolCallId: "two", approved: false, reason: "not there" },
		{ toolCallId: "one", approved: true },
	]);
	expect(await goneOn.result()).toMatchObject({ outcome: "completed" });
	expect(ran).toEqual([{ path: "safe" }, { path: "one" }]);
	expect(lines(model.requests[1]?.messages ?? []).at(-1)).toContain(
		'The call of "write" was not approved: not there',
	);
});

test("the basis of an approval reaches the tool, in another process and also after a crash inside it", async () => {
	const folder = temporaryFolder();
	const path = join(folder, "j.db");
	const asked = { toolCalls: [{ name: "write", id: "w", arguments: { path: "one" } }] };
	const emitted: unknown[] = [];
	const make = (script: (string | ScriptedReply)[], write: AnyTool["run"]) => {
		const tool = anyTool("write", write as never, { needsApproval: true, retryPolicy: "idempotent" });
		return new Agent({ model: scriptedModel(script), tools: [tool], host: sqliteHost(path) });
	};
	const one = make([asked], () => "");
	await (await one.session("s").send("go")).result();
	await one.close();
	const other = make([], (_, { approval, attempt }) => {
		emitted.push({ approval, attempt });
		return new Promise(() => {});
	});
	const basis = { before: "1", read: [1, 2] };
	const run = await other.session("s").answer([{ toolCallId: "w", approved: true, reason: "fine", basis }]);
	const over = run.result();
	await expect.poll(() => emitted.length).toBe(1);
	run.suspend();
	await over;
	await other.close();
	const third = make(["done"], (_, { approval, attempt }) => {
		emitted.push({ approval, attempt });
		return "written";
	});
	const resumed = await third.session("s").resume();
	expect(await resumed?.result()).toMatchObject({ outcome: "completed" });
	await third.close();
	const approval = { reason: "fine", basis };
	expect(emitted).toEqual([
		{ approval, attempt: 1 },
		{ approval, attempt: 2 },
	]);
});

test("a plain call cannot wait: remote calls and those that need approval get a result that explains it", async () => {
	const write = anyTool("write", () => "written", { needsApproval: true } as Partial<AnyTool>);
	const model = scriptedModel([{ toolCalls: [asks("a"), { name: "write" }] }, "done"]);
	await new Agent({ model, tools: [locate, write] }).generate("go");
	expect(lines(model.requests[1]?.messages ?? []).at(-1)).toMatch(
		/\(remote_tool_unavailable\).*\(approval_unavailable\)/s,
	);
});

test("stopping a waiting run gives its calls a result, and the session continues [API-080]", async () => {
	const { session, model } = play([{ toolCalls: [asks("a")] }, "done"], { tools: [locate] });
	expect(await session.stop()).toBe(false);
	await (await session.send("go")).result();
	expect(await session.stop()).toBe(true);
	expect(await session.pending()).toEqual([]);
	expect(await (await session.send("more")).result()).toMatchObject({ outcome: "completed" });
	expect(shown(model)[1]?.at(-2)).toContain("cancelled");
});

test("turns that are sent while a run waits follow after its answer", async () => {
	const { session } = play([{ toolCalls: [asks("a")] }, "done", "re: queued"], { tools: [locate] });
	await (await session.send("go")).result();
	const following = await session.send("queued");
	expect(await following.result()).toMatchObject({ outcome: "suspended", error: { code: "run_suspended" } });
	const goneOn = await session.answer([{ toolCallId: "a", output: "Rome" }]);
	await goneOn.result();
	await expect
		.poll(async () => (await session.state()).messages.at(-1))
		.toMatchObject({ text: "re: queued" });
});

test("a waiting run is skipped by recovery, and answered in another process [API-056]", async () => {
	const folder = temporaryFolder();
	const path = join(folder, "j.db");
	const make = (script: (string | ScriptedReply)[]) =>
		new Agent({ model: scriptedModel(script), tools: [locate], host: sqliteHost(path) });
	const one = make([{ toolCalls: [asks("a")] }]);
	await (await one.session("s").send("go")).result();
	await one.close();
	const other = make(["done"]);
	const recovered = [];
	for await (const run of other.recover()) recovered.push(run);
	expect(recovered).toEqual([]);
	expect(await other.session("s").resume()).toBeNull();
	const session = other.session("s");
	expect(await session.pending()).toMatchObject([{ toolCallId: "a" }]);
	expect(await (await session.answer([{ toolCallId: "a", output: 1 }])).result()).toMatchObject({
		text: "done",
	});
	await other.close();
});

test("of two concurrent answers one is accepted [API-081]", async () => {
	const { session, model } = play(two, { tools: [locate] });
	await (await session.send("go")).result();
	const answers = ["a", "b"].map((toolCallId) => ({ toolCallId, output: 1 }));
	const outcomes = await Promise.allSettled([session.answer(answers), session.answer(answers)]);
	expect(outcomes.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
	const taken = outcomes.find(({ status }) => status === "fulfilled") as PromiseFulfilledResult<
		Awaited<ReturnType<typeof session.answer>>
	>;
	await taken.value.result();
	expect(model.requests).toHaveLength(2);
});

test("a run that is active in another worker is stopped from here [API-079]", async () => {
	const { session, journal } = play(["one two three"].map((text) => ({ text, gate: never })));
	const run = await session.send("go");
	const ended = run.result();
	const other = play(["again"], {}, journal.worker("other") as typeof journal);
	expect(await other.session.stop()).toBe(true);
	expect(await ended).toMatchObject({ outcome: "suspended", error: { code: "lease_lost" } });
	expect((await journal.read("s")).at(-1)?.fact).toMatchObject({ kind: "run.ended", outcome: "aborted" });
	expect(await other.session.stop()).toBe(false);
	expect(await (await other.session.send("more")).result()).toMatchObject({ outcome: "completed" });
});
