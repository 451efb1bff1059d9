import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";
import { anyTool, lines } from "../agent/agent.fixture.ts";
import { allOf } from "../execution-host/execution-host.fixture.ts";
import { sqliteHost } from "../sqlite.ts";
import { drain } from "./drain.ts";
import { echo, eventsOf, eventsWhile, gate, never, play, settled, shown, types } from "./sessions.fixture.ts";

const callLook = { toolCalls: [{ name: "look" }] };

describe("an overlay", () => {
	test.each(["turn-start", "step-start"] as const)(
		"accepted at %s, before the first model call, is right above the user's message [SES-118]",
		async (at) => {
			const { session, model } = play(echo);
			await drain(await session.send("before"));
			await eventsWhile(await session.send("go"), at, () => session.overlay("beside"));
			expect(shown(model)[1]).toEqual(["user: before", "assistant: re: before", "user: beside", "user: go"]);
		},
	);

	test("accepted after a model call is at the end of the next request, and stays there [SES-119]", async () => {
		const script = ["Before.", callLook, callLook, "Done."];
		const { session, model } = play(script, { tools: [anyTool("look", () => 1)] });
		await drain(await session.send("before"));
		const overlays = ["beside", "and beside"];
		for await (const { type } of (await session.send("go")).events())
			if (type === "tool-call") await session.overlay(overlays.shift() ?? "");
		const [, , next = [], last = []] = shown(model);
		expect(next).toEqual([
			"user: before",
			"assistant: Before.",
			"user: go",
			"assistant:  [look]",
			"results: 1",
			"user: beside",
		]);
		expect(last).toEqual([...next, "assistant:  [look]", "results: 1", "user: and beside"]);
	});

	test("on an idle session starts nothing, and applies only to the next turn of that session [SES-120]", async () => {
		const { session, agent, model, journal } = play(echo);
		await session.overlay("beside");
		await settled();
		expect([model.requests, journal.list()]).toEqual([[], []]);
		await drain(await agent.session("other").send("apart"));
		await drain(await session.send("one"));
		await drain(await session.send("two"));
		expect(shown(model)).toEqual([
			["user: apart"],
			["user: beside", "user: one"],
			["user: one", "assistant: re: one", "user: two"],
		]);
	});

	test("at step-end causes one more model call; it is not an input and not in the history [SES-121]", async () => {
		const { session, model } = play(["First.", "Second."]);
		const events = await eventsWhile(await session.send("go"), "step-end", () => session.overlay("beside"));
		expect(types(events)).not.toContain("runtime-input");
		expect(shown(model)).toEqual([["user: go"], ["user: go", "assistant: First.", "user: beside"]]);
		expect(lines((await session.state()).messages)).toEqual([
			"user: go",
			"assistant: First.",
			"assistant: Second.",
		]);
	});

	test.each(["turn-end", "turn-abort", "turn-error", "kill"])(
		"is emitted when accepted, each separately, and when it ends: right before %s [SES-122]",
		async (end) => {
			const asked = gate();
			const { session } = play(() => {
				asked.open();
				if (end === "turn-end") return "Yes.";
				return end === "turn-error" ? { error: new Error("no line") } : { gate: never };
			});
			await session.overlay("zero");
			const all = eventsWhile(await session.send("go"), "turn-start", async () => {
				await session.overlay("first");
				await session.overlay("second");
			});
			await asked.promise;
			if (end === "turn-abort") session.interrupt();
			if (end === "kill") await session.kill();
			const events = types(await all);
			expect(events.filter((type) => type === "overlay-accepted")).toHaveLength(3);
			expect(events.filter((type) => type === "overlay-expired")).toHaveLength(1);
			expect(events.slice(-2)).toEqual(["overlay-expired", end === "kill" ? "turn-error" : end]);
		},
	);

	test("leaves no trace: it is in no file, record or later turn, and not present after a reload [SES-123]", async () => {
		const folder = temporaryFolder();
		const host = sqliteHost(join(folder, "host.db"));
		const look = anyTool("look", () => 1);
		const { session, model } = play([callLook, "Done.", "Later."], { host, tools: [look] });
		await session.overlay("SECRET before");
		const run = await session.send("go");
		await eventsWhile(run, "tool-call", () => session.overlay("SECRET amid"));
		expect(shown(model)[1]?.filter((line) => line.includes("SECRET"))).toHaveLength(2);
		await drain(await session.send("later"));
		expect(shown(model)[2]?.join()).not.toContain("SECRET");
		const { store } = host;
		const kept = [
			await session.state(),
			await allOf(store.events.read(run.runId)),
			await store.checkpoints.latest(run.runId),
			await store.runs.get(run.runId),
		];
		expect(JSON.stringify(kept)).toContain("Done.");
		expect(JSON.stringify(kept)).not.toContain("SECRET");
		await session.overlay("SECRET waiting");
		const files = readdirSync(folder).map((name) => readFileSync(join(folder, name)).toString("latin1"));
		expect(files.join()).toContain("Done.");
		expect(files.join()).not.toContain("SECRET");
		await host.close();
		const reopened = sqliteHost(join(folder, "host.db"));
		const reloaded = play(echo, { host: reopened, tools: [look] });
		await eventsOf(await reloaded.session.send("again"));
		expect(shown(reloaded.model)[0]).toContain("assistant: Later.");
		expect(shown(reloaded.model).flat().join()).not.toContain("SECRET");
		await reopened.close();
	});
});
