// The requester is recorded with each run, even if another process begins the run.
import { join } from "node:path";
import { scriptedModel } from "@holdfast/testing";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";
import { Agent } from "../agent/agent.ts";
import { AgentSessions } from "../agent/agent-sessions.ts";
import type { Caller } from "../caller/caller.ts";
import { journalHost } from "../host/host-port.ts";
import { memoryJournal } from "../host/memory-journal.ts";
import { definePlugin } from "../policy/plugins/plugin.ts";
import { sqliteHost } from "../sqlite.ts";
import type { ToolContext } from "../tools/types.ts";
import { gate } from "./sessions.fixture.ts";

const alice: Caller = { tenant: "acme", user: "alice", claims: { roles: ["clerk"] } };
const bob: Caller = { tenant: "acme", user: "bob" };
const looks = (see: (context: ToolContext) => unknown) => ({
	name: "look",
	description: "Looks.",
	run: (_: unknown, context: ToolContext) => see(context),
});

test("each run has the caller who sent its input, in send order, and none if none was given", async () => {
	const seen: unknown[] = [];
	const model = scriptedModel(({ messages }) =>
		messages.at(-1)?.type === "user" ? { toolCalls: [{ name: "look" }] } : "Seen.",
	);
	const agent = new Agent({ model, tools: [looks(({ caller }) => void seen.push(caller))] });
	const session = agent.session("s");
	const runs = [
		await session.send("one", { caller: alice }),
		await session.send("two", { caller: bob }),
		await session.send("three"),
		await session.send("four", { caller: alice }),
	];
	for (const run of runs) await run.result();
	expect(seen).toEqual([alice, bob, undefined, alice]);
	await expect(session.send("five", { caller: { user: "" } })).rejects.toMatchObject({
		code: "invalid_caller",
	});
	await agent.close();
});

test("a queued turn keeps its caller for the worker that starts it, and its agent is chosen by that caller", async () => {
	const journal = memoryJournal();
	const held = gate();
	const first = new Agent({
		model: scriptedModel(() => ({ text: "never", gate: held.promise })),
		host: journalHost(journal),
	});
	const session = first.session("s");
	void (await session.send("one", { caller: bob })).result();
	void (await session.send("two", { caller: alice })).result();
	journal.die();
	const chosen: unknown[] = [];
	const second = new AgentSessions(
		"id",
		{ host: journalHost(journal.worker("next")), model: scriptedModel(() => "Done.") },
		{ agentFor: ({ caller }) => void chosen.push(caller) as undefined },
	);
	await (await second.session("s").resume())?.result();
	await second.quiet();
	await expect.poll(() => chosen).toContainEqual(alice);
	expect(chosen.find((caller) => caller !== undefined)).toEqual(bob);
	await second.quiet();
	const callers = journal
		.worker("last")
		.read("s")
		.flatMap(({ fact }) => (fact.kind === "run.started" ? [fact.caller] : []));
	expect(callers).toEqual([bob, alice]);
	await second.suspend();
});

test("an approval records its approver, and the run keeps the caller who started it", async () => {
	const seen: unknown[] = [];
	const pay = {
		...looks(({ caller, approval }) => void seen.push(caller, approval)),
		name: "pay",
		needsApproval: true,
	};
	const model = scriptedModel([{ toolCalls: [{ name: "pay" }] }, "Paid."]);
	const agent = new Agent({ model, tools: [pay] });
	const session = agent.session("s");
	const { pending = [] } = await (await session.send("Pay.", { caller: alice })).result();
	const [call] = pending;
	const answer = { toolCallId: call?.toolCallId ?? "", approved: true, reason: "Fine.", by: bob };
	await (await session.answer([answer])).result();
	expect(seen).toEqual([alice, { reason: "Fine.", by: bob }]);
	await agent.close();
});

test("a plugin's steer has the caller of the run, even if it becomes its own turn", async () => {
	const seen: unknown[] = [];
	const model = scriptedModel(({ messages }) =>
		messages.at(-1)?.type === "user" ? { toolCalls: [{ name: "look" }] } : "Seen.",
	);
	let later: Promise<unknown> | undefined;
	const steering = definePlugin({
		name: "steering",
		setup: (host) =>
			host.on("step.after", ({ steer }) => {
				if (later !== undefined) return;
				later = steer("And that?");
				session.interrupt();
			}),
	});
	const agent = new Agent({
		model,
		tools: [looks(({ caller }) => void seen.push(caller))],
		plugins: [steering],
	});
	const session = agent.session("s");
	expect((await (await session.send("one", { caller: alice })).result()).outcome).toBe("aborted");
	await later;
	await expect.poll(() => seen).toEqual([alice, alice]);
	await agent.close();
});

test.each(["its parent's host", "a host of its own"])(
	"a sub-agent on %s works for its parent's caller, also in the background, and so does the run of the reminder",
	async (where) => {
		const folder = temporaryFolder();
		const host = sqliteHost(join(folder, "sessions.db"));
		const own = where === "a host of its own" ? sqliteHost(join(folder, "helper.db")) : undefined;
		const seen: (readonly [string, unknown])[] = [];
		const look = (who: string) => looks(({ caller }) => void seen.push([who, caller]));
		const helper = new Agent({
			name: "helper",
			description: "Helps.",
			model: scriptedModel(({ messages }) =>
				messages.at(-1)?.type === "user" ? { toolCalls: [{ name: "look" }] } : "Seen.",
			),
			tools: [look("helper")],
			...(own === undefined ? {} : { host: own }),
		});
		const delegate = (background: boolean) => ({
			toolCalls: [
				{ name: "delegate_to_helper", arguments: { prompt: "Look.", run_in_background: background } },
			],
		});
		const model = scriptedModel(({ messages }) => {
			const last = messages.at(-1) as { type?: string; text?: string };
			if (last.type !== "user") return "Said.";
			if (last.text?.includes("system-reminder")) return { toolCalls: [{ name: "look" }] };
			return delegate(last.text === "background");
		});
		const parent = new Agent({ model, host, subagents: [helper], tools: [look("parent")] });
		const working = new AbortController();
		const work = (async () => {
			for await (const run of parent.work({ signal: working.signal, lookEveryMs: 5 })) void run.result();
		})();
		const session = parent.session("s");
		await (await session.send("wait", { caller: bob })).result();
		await (await session.send("background", { caller: alice })).result();
		await expect.poll(() => seen.length, { timeout: 15_000 }).toBe(3);
		expect(seen).toEqual([
			["helper", bob],
			["helper", alice],
			["parent", alice],
		]);
		working.abort();
		await work;
		await parent.close();
		await host.close();
		await own?.close();
	},
);
