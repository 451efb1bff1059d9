import { describe, expect, test } from "vitest";
import { anyTool, collect, lines } from "../agent/agent.fixture.ts";
import type { AgentRun } from "./agent-run.ts";
import { drain } from "./drain.ts";
import { echo, eventsOf, gate, never, play, settled, shown, types, upTo } from "./sessions.fixture.ts";

const callLook = { toolCalls: [{ name: "look" }] };

describe("the events of a run", () => {
	test("have one consumer: a second is rejected and the first continues [SES-011]", async () => {
		const { session } = play(["Yes."]);
		const run = await session.send("go");
		const events = run.events();
		await upTo(events, "turn-start");
		expect(() => run.events()).toThrow(expect.objectContaining({ code: "events_already_consumed" }));
		expect(types(await upTo(events, "turn-end"))).toEqual([
			"step-start",
			"assistant-text",
			"step-end",
			"turn-end",
		]);
	});

	test("pause at turn-start until the next is read [SES-012]", async () => {
		const { session, model, happened } = play(["Yes."]);
		const events = (await session.send("go")).events();
		await upTo(events, "turn-start");
		await settled();
		expect(happened).toEqual(["user-text", "turn-start"]);
		expect(model.requests).toHaveLength(0);
		expect((await events.next()).value).toEqual({ type: "step-start" });
	});

	test("pause at step-start: a message sent there is in the first model call [SES-013]", async () => {
		const { session, model } = play(["Yes."]);
		const events = (await session.send("go")).events();
		await upTo(events, "step-start");
		await session.steer("and this");
		await settled();
		expect(model.requests).toHaveLength(0);
		await upTo(events, "turn-end");
		expect(shown(model)).toEqual([["user: go", "user: and this"]]);
	});

	test("pause at step-end: neither the next step nor the end is decided [SES-014]", async () => {
		const { session, model, happened, journal } = play([callLook, "Yes."], {
			tools: [anyTool("look", () => 1)],
		});
		const events = (await session.send("go")).events();
		await upTo(events, "step-end");
		await settled();
		expect(happened.at(-1)).toBe("step-end");
		expect(model.requests).toHaveLength(1);
		await upTo(events, "step-end");
		await settled();
		expect(happened.at(-1)).toBe("step-end");
		expect((await journal.head("s"))?.openRunId).toBeDefined();
		expect((await events.next()).value).toEqual({ type: "turn-end" });
	});

	test("pause the run nowhere else: tools finish while `tool-call` is still being read [SES-015]", async () => {
		const finished = gate();
		const tools = [
			anyTool("look", async () => {
				await settled();
				finished.open();
				return 1;
			}),
		];
		const { session, happened } = play([callLook, "Yes."], { tools });
		const events = (await session.send("go")).events();
		await upTo(events, "tool-call");
		await finished.promise;
		await settled();
		expect(happened.slice(-2)).toEqual(["tool-result", "step-end"]);
	});

	test("may be left: the run continues to its end, and then the queue [SES-016]", async () => {
		const { session, journal } = play(echo);
		const first = await session.send("one");
		const second = await session.send("two");
		for await (const event of first.events()) if (event.type === "turn-start") break;
		expect(await drain(second)).toEqual({ outcome: "completed", text: "re: two" });
		expect(lines((await session.state()).messages)).toEqual([
			"user: one",
			"assistant: re: one",
			"user: two",
			"assistant: re: two",
		]);
		expect((await journal.read("s")).filter(({ fact }) => fact.kind === "run.ended")).toHaveLength(2);
	});

	test("without a consumer delay only the later turns of their own session [SES-017]", async () => {
		const { agent, model } = play(echo);
		const unconsumed = await agent.session("stuck").send("stuck");
		const following = await agent.session("stuck").send("queued");
		const sent = Array.from({ length: 100 }, (_, at) => agent.session(`key ${at}`).send(`go ${at}`));
		const results = await Promise.all(sent.map(async (run) => drain(await run)));
		expect(results.every(({ outcome }) => outcome === "completed")).toBe(true);
		expect(new Set(results.map(({ text }) => text)).size).toBe(100);
		expect(shown(model).flat().join()).not.toMatch(/stuck|following/);
		await drain(unconsumed);
		expect(await drain(following)).toEqual({ outcome: "completed", text: "re: queued" });
	});

	test.each(["completed", "aborted", "error", "killed"])(
		"end with exactly one event that has the outcome, if the run is %s [SES-019]",
		async (outcome) => {
			const asked = gate();
			const { session } = play(() => {
				asked.open();
				if (outcome === "completed") return "Yes.";
				return outcome === "error" ? { error: new Error("no line") } : { gate: never };
			});
			const run = await session.send("go");
			const iterator = run.events();
			const all = (async () => {
				const seen: string[] = [];
				for await (const { type } of iterator) seen.push(type);
				return seen;
			})();
			await asked.promise;
			if (outcome === "aborted") session.interrupt();
			if (outcome === "killed") await session.kill();
			const seen = await all;
			const terminal = seen.filter((type) => /^turn-(end|abort|error)$/.test(type));
			expect(terminal).toEqual([
				{ completed: "turn-end", aborted: "turn-abort", error: "turn-error", killed: "turn-error" }[outcome],
			]);
			expect(seen.at(-1)).toBe(terminal[0]);
			expect(await iterator.next()).toEqual({ value: undefined, done: true });
		},
	);
});

describe("drain", () => {
	test("returns the outcome of a run and its last text, and lets the next turn proceed [SES-018]", async () => {
		const { session } = play(
			[{ ...callLook, text: "I look." }, "Done.", { error: new Error("no line") }, "More."],
			{
				tools: [anyTool("look", () => 1)],
			},
		);
		const runs = [await session.send("one"), await session.send("two"), await session.send("three")];
		expect(await Promise.all(runs.map(drain))).toEqual([
			{ outcome: "completed", text: "Done." },
			{ outcome: "error", text: "" },
			{ outcome: "completed", text: "More." },
		]);
	});

	test("distinguishes an interrupted run from a killed one [SES-018]", async () => {
		const { session } = play((_, call) => ({ gate: never, text: `never ${call}` }));
		const first = await session.send("one");
		const second = await session.send("two");
		const drained = [drain(first), drain(second)];
		await settled();
		session.interrupt();
		expect(await drained[0]).toEqual({ outcome: "aborted", text: "" });
		await session.kill();
		expect(await drained[1]).toEqual({ outcome: "error", text: "" });
	});

	test("is rejected for a run that has a consumer", async () => {
		const { session } = play(["Yes."]);
		const run = await session.send("go");
		await eventsOf(run);
		await expect(drain(run)).rejects.toMatchObject({ code: "events_already_consumed" });
	});

	test("of a resumed run are watched from its start, wherever it was suspended", async () => {
		for (const type of ["step_start", "model_start", "tool_end", "step_end"]) {
			const { session } = play([callLook, "Done.", "Done."], { tools: [anyTool("look", () => "seen")] });
			const suspended = await session.send("go");
			for await (const event of suspended.watch()) if (event.type === type) suspended.suspend();
			await suspended.result();
			const resumed = await session.resume();
			await settled();
			const events = await collect((resumed as AgentRun).watch());
			expect([type, events[0]?.type, events.at(-1)?.type]).toEqual([type, "run_start", "run_end"]);
		}
	});
});
