import { scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { Agent } from "../agent/agent.ts";
import { agentOn, drain, handClock, otherProcess, reminder } from "./execution-host.fixture.ts";
import { createInMemoryExecutionHost, type OwnExecutionHost } from "./in-memory.ts";
import type { RunRecord } from "./run-record.ts";

/** Texts of all user messages of the session "s", as shown to the model of a new agent. */
async function history(host: OwnExecutionHost): Promise<readonly string[]> {
	const state = await agentOn(host, []).session("s").state();
	return state.messages
		.filter(({ type }) => type === "user")
		.map((message) => (message as unknown as { text: string }).text);
}

describe("resume of a notification", () => {
	test("starts one run that shows the reminder as runtime input before the model is called [SES-095]", async () => {
		const host = createInMemoryExecutionHost();
		await host.store.notifications.enqueue(reminder("a"));
		let shown: readonly string[] = [];
		const events: string[] = [];
		const one = agentOn(host, ({ messages }) => {
			shown = [...events, String((messages.at(-1) as unknown as { text: string }).text)];
			return "Noted.";
		});
		const run = await one.resume("run-a");
		expect(run?.runId).toBe("run-a");
		expect(run?.sessionKey).toBe("s");
		for await (const event of run?.events() ?? []) {
			events.push(event.type === "runtime-input" ? JSON.stringify(event) : event.type);
		}
		const input = { type: "user-text", text: "reminder a" };
		expect(shown).toEqual([
			JSON.stringify({ type: "runtime-input", input, placement: "turn-start" }),
			"turn-start",
			"step-start",
			"reminder a",
		]);
		expect(await host.store.runs.get("run-a")).toMatchObject({ kind: "notification", status: "completed" });
		expect(await host.store.notifications.getByIdempotencyKey("key-a")).toMatchObject({
			status: "acked",
		});
	});

	test("writes a checkpoint before and one after it [SES-104]", async () => {
		const host = createInMemoryExecutionHost();
		await host.store.notifications.enqueue(reminder("a"));
		await drain(await agentOn(host, ["Noted."]).resume("run-a"));
		const checkpoints = await host.store.checkpoints.list("run-a");
		expect(checkpoints.map(({ phase }) => phase)).toEqual([
			"before-notification",
			"before-model",
			"after-model",
			"after-notification",
		]);
		expect(checkpoints[0]?.notificationId).toBe("a");
	});

	test("called ten times at once, in several processes, returns one run and nine nulls [SES-096]", async () => {
		const host = createInMemoryExecutionHost();
		await host.store.notifications.enqueue(reminder("a"));
		const agents = [host, otherProcess(host), otherProcess(host)].map((each) =>
			agentOn(each, () => "Noted."),
		);
		const runs = await Promise.all(
			Array.from({ length: 10 }, (_, index) => agents[index % agents.length]?.resume("run-a")),
		);
		const given = runs.filter((run) => run !== null);
		expect(given).toHaveLength(1);
		await drain(given[0] ?? null);
		expect(await history(host)).toEqual(["reminder a"]);
	});

	test("of an ended run returns null, and of an unknown one fails with run_not_found [SES-097]", async () => {
		const host = createInMemoryExecutionHost();
		const one = agentOn(host, () => "Noted.");
		const run = await one.send("hi");
		await run.result();
		await host.store.notifications.enqueue(reminder("a"));
		const record = await host.store.runs.get("run-a");
		await host.store.runs.update({ ...(record as RunRecord), status: "cancelled" });
		expect(await one.resume(run.runId)).toBeNull();
		expect(await one.resume("run-a")).toBeNull();
		await expect(one.resume("never")).rejects.toMatchObject({ code: "run_not_found" });
		expect(await history(host)).toEqual([]);
	});

	test("whose process died between claim and start is claimed again as attempt 2 when the lease has expired [SES-098]", async () => {
		const clock = handClock();
		const host = createInMemoryExecutionHost({ clock });
		await host.store.notifications.enqueue(reminder("a"));
		// The process dies as it starts to write to the session: its store requests are never answered.
		const dying = otherProcess(host);
		let reached!: () => void;
		const atCommit = new Promise<void>((resolve) => {
			reached = resolve;
		});
		dying.store.sessions.commit = () => {
			reached();
			return new Promise(() => {});
		};
		void agentOn(dying, []).resume("run-a");
		await atCommit;
		const living = agentOn(otherProcess(host), () => "Noted.");
		expect(await living.resume("run-a")).toBeNull();
		clock.advance(30_001);
		const run = await living.resume("run-a");
		expect((await host.store.runs.get("run-a"))?.lease?.attempt).toBe(2);
		expect((await drain(run)).at(-1)?.type).toBe("turn-end");
		expect(await history(host)).toEqual(["reminder a"]);
	});

	test.each(["accepted", "begun"])(
		"whose process died when the reminder was %s does not add it a second time [SES-099]",
		async (moment) => {
			const clock = handClock();
			const host = createInMemoryExecutionHost({ clock });
			await host.store.notifications.enqueue(reminder("a"));
			// The process dies before the host can record that the reminder is in the session it created.
			const dying = otherProcess(host);
			let died!: () => void;
			const dead = new Promise<void>((resolve) => {
				died = resolve;
			});
			const { transaction } = dying.store;
			const { commit } = dying.store.sessions;
			let claims = 0;
			const never = (): Promise<never> => {
				died();
				return new Promise(() => {});
			};
			if (moment === "begun") {
				dying.store.transaction = (work) => (claims++ < 2 ? transaction(work) : never());
			} else {
				dying.store.sessions.commit = (...given) => (claims++ < 2 ? commit(...given) : never());
			}
			void agentOn(dying, () => "never").resume("run-a");
			await dead;
			clock.advance(30_001);
			const run = await agentOn(otherProcess(host), () => "Noted.").resume("run-a");
			expect((await run?.result())?.outcome).toBe("completed");
			expect(await history(host)).toEqual(["reminder a"]);
			expect(await host.store.notifications.getByIdempotencyKey("key-a")).toMatchObject({
				status: "acked",
			});
			expect(await host.store.runs.get("run-a")).toMatchObject({ status: "completed" });
		},
	);

	test("waits for the active run, and its turn follows", async () => {
		const host = createInMemoryExecutionHost();
		await host.store.notifications.enqueue(reminder("a"));
		const one = agentOn(
			host,
			({ messages }) => `re: ${(messages.at(-1) as unknown as { text: string }).text}`,
		);
		const active = await one.session("s").send("first");
		const emitted = await one.resume("run-a");
		expect((await host.store.runs.get("run-a"))?.status).toBe("leased");
		void active.result();
		expect((await emitted?.result())?.text).toBe("re: reminder a");
		expect(await history(host)).toEqual(["first", "reminder a"]);
	});

	test("that the store rejects is free for the next attempt", async () => {
		const host = createInMemoryExecutionHost();
		await host.store.notifications.enqueue(reminder("a"));
		const failing = otherProcess(host);
		failing.store.sessions.commit = () => Promise.reject(new Error("the store is away"));
		await expect(agentOn(failing, []).resume("run-a")).rejects.toThrow("the store is away");
		const run = await agentOn(host, ["Noted."]).resume("run-a");
		expect((await run?.result())?.outcome).toBe("completed");
	});
});

test("resume of a turn continues it where its process died, once its lease has expired", async () => {
	const clock = handClock();
	const host = createInMemoryExecutionHost({ clock });
	const dead = agentOn(otherProcess(host), () => ({ gate: new Promise(() => {}), text: "never" }));
	const begun = await dead.session("s").send("one");
	void begun.result();
	await expect.poll(async () => (await host.store.checkpoints.list(begun.runId)).length).toBe(1);
	const living = agentOn(otherProcess(host), ["Here."]);
	expect(await living.resume(begun.runId)).toBeNull();
	await expect(living.session("s").resume()).rejects.toMatchObject({ code: "session_held" });
	clock.advance(30_001);
	const run = await living.resume(begun.runId);
	expect(run?.runId).toBe(begun.runId);
	expect((await run?.result())?.text).toBe("Here.");
	expect(await host.store.runs.get(begun.runId)).toMatchObject({ status: "completed" });
	const phases = (await host.store.checkpoints.list(begun.runId)).map(({ phase }) => phase);
	expect(phases).toEqual(["before-model", "resumed", "before-model", "after-model"]);
});

test("resume without an execution host explains what to provide", async () => {
	const one = new Agent({ model: scriptedModel([]) });
	await expect(one.resume("run")).rejects.toMatchObject({ code: "no_execution_host" });
});
