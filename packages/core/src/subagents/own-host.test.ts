// A sub-agent with its own host keeps its sessions there; its parent's sessions stay in the parent's host.
import { join } from "node:path";
import { MemorySessionStore } from "@holdfast/stores";
import { type Script, scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";
import { Agent } from "../agent/agent.ts";
import type { AgentOptions } from "../agent/options.ts";
import { memoryHost } from "../host/memory-host.ts";
import { type SqliteHost, sqliteHost } from "../sqlite.ts";
import { calls, eventsOf, gate, helper, outputsOf, remindersOf } from "./delegate.fixture.ts";

type Host = NonNullable<AgentOptions["host"]>;

const ask = (prompt: string): ReturnType<typeof calls> => calls(["delegate_to_helper", { prompt }]);
const start = calls(["delegate_to_helper", { prompt: "a", run_in_background: true }]);

/** A helper that answers with the number of messages it received. */
const counting: Script = ({ messages }) => `${messages.length}`;

const parentOf = (script: Script, child: Agent, host: Host): Agent =>
	new Agent({ model: scriptedModel(script), subagents: [child], host });

async function keysOf({ journal }: Pick<SqliteHost, "journal">): Promise<readonly string[]> {
	return (await journal.list()).map(({ key }) => key);
}

describe("a sub-agent with its own host", () => {
	test("stores its sessions there, and continues them when both are recreated [SES-087]", async () => {
		const [parents, children] = [memoryHost(), memoryHost()];
		for (const said of ["1", "3"]) {
			const child = helper("helper", counting, { host: children });
			const parent = parentOf((_, call) => (call === 0 ? ask("a") : "Done."), child, parents);
			const events = await eventsOf(await parent.session("s").send("go"));
			expect(outputsOf(events)).toEqual([{ status: "completed", text: said }]);
		}
		expect(await keysOf(parents)).toEqual(["s"]);
		expect(await keysOf(children)).toEqual([expect.stringContaining("helper")]);
	});

	test("stores them in its session store", async () => {
		const store = new MemorySessionStore();
		const child = helper("helper", counting, { host: { sessionStore: store } });
		const parents = memoryHost();
		const parent = parentOf((_, call) => (call === 0 ? ask("a") : "Done."), child, parents);
		await eventsOf(await parent.session("s").send("go"));
		expect(await keysOf(parents)).toEqual(["s"]);
		const again = helper("helper", counting, { host: { sessionStore: store } });
		const next = parentOf((_, call) => (call === 0 ? ask("b") : "Done."), again, memoryHost());
		await next
			.session("s")
			.start("go")
			.catch(() => {});
		const sharing = helper("helper", counting, { host: { sessionStore: store } });
		const both = parentOf((_, call) => (call === 0 ? ask("c") : "Done."), sharing, { sessionStore: store });
		const events = await eventsOf(await both.session("t").send("go"));
		expect(outputsOf(events)).toEqual([{ status: "completed", text: "1" }]);
	});

	test("does background work there: its session gets the reminder, and its output is found", async () => {
		const [parents, children] = [memoryHost(), memoryHost()];
		const held = gate();
		const child = helper("helper", () => ({ text: "done", gate: held.promise }), { host: children });
		let task_id = "";
		const script: Script = (_, call) => {
			if (call === 0) return start;
			return call === 2 ? calls(["background_output", { task_id, block: true }]) : "said";
		};
		const parent = parentOf(script, child, parents);
		const first = await eventsOf(await parent.session("s").send("go"));
		task_id = (outputsOf(first)[0] as { task_id: string }).task_id;
		held.open();
		await expect.poll(async () => (await parents.journal.head("s"))?.waiting).toBe(1);
		const events = await eventsOf(await parent.session("s").send("and?"));
		expect(remindersOf(events)).toEqual([expect.stringContaining(task_id)]);
		expect(outputsOf(events)).toEqual([{ task_id, subagent: "helper", status: "completed", text: "done" }]);
	});

	test.each(["kill", "delete"] as const)("is stopped by its parent's %s()", async (how) => {
		const [parents, children] = [memoryHost(), memoryHost()];
		const working = gate();
		let signal: AbortSignal | undefined;
		const hang: Script = (request) => {
			signal = request.signal;
			working.open();
			return { gate: new Promise(() => {}), text: "never" };
		};
		const child = helper("helper", hang, { host: children });
		const parent = parentOf((_, call) => (call === 0 ? start : "Launched."), child, parents);
		await eventsOf(await parent.session("s").send("go"));
		await working.promise;
		await parent.session("s")[how]();
		expect(signal?.aborted).toBe(true);
		const [left] = await children.journal.list();
		expect(left?.openRunId).toBeUndefined();
		if (how === "delete") expect(left).toBeUndefined();
	});

	test.each(["in the foreground", "in the background"])(
		"and work %s that its process left is resumed there",
		async (where) => {
			const folder = temporaryFolder();
			const open = (script: Script, work: Script) => {
				const hosts = ["parents.db", "children.db"].map((name) => sqliteHost(join(folder, name)));
				const [parents, children] = hosts as [SqliteHost, SqliteHost];
				const agent = parentOf(script, helper("helper", work, { host: children }), parents);
				const close = async (): Promise<void> => {
					await agent.close();
					for (const host of hosts) await host.close();
				};
				return { agent, parents, children, close };
			};
			const working = gate();
			const first = where === "in the foreground" ? ask("a") : start;
			const before = open(
				(_, call) => (call === 0 ? first : "Launched."),
				() => {
					working.open();
					return { gate: new Promise(() => {}), text: "never" };
				},
			);
			const run = await before.agent.session("s").send("go");
			void run.result();
			await working.promise;
			if (where === "in the background") await run.result();
			await before.close();
			const after = open(
				() => "Noted.",
				() => "helped",
			);
			for await (const resumed of after.agent.work({ until: "done" })) await resumed.result();
			const [child] = await after.children.journal.list();
			expect(child?.openRunId).toBeUndefined();
			const entries = await after.children.journal.read(child?.key ?? "");
			expect(entries.at(-1)?.fact).toMatchObject({ kind: "run.ended", outcome: "completed" });
			const results = JSON.stringify(await after.parents.journal.read("s"));
			if (where === "in the foreground") expect(results).toContain("helped");
			else await expect.poll(async () => (await after.parents.journal.head("s"))?.waiting).toBe(1);
			await after.close();
		},
	);
});
