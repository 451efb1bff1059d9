import { scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { anyTool } from "../agent/agent.fixture.ts";
import { Agent } from "../agent/agent.ts";
import { journalHost } from "../host/host-port.ts";
import { memoryJournal } from "../host/memory-journal.ts";
import type { Interceptor } from "../policy/interceptor.ts";
import { definePlugin } from "../policy/plugins/plugin.ts";
import { tool } from "../tools/tool.ts";
import type { AnyTool } from "../tools/types.ts";
import { gate } from "./sessions.fixture.ts";

const script = [{ toolCalls: [{ name: "pay", id: "c", arguments: { euros: 1 } }] }, "done"];

interface Deployed {
	readonly tools: readonly AnyTool[];
	readonly plugins?: readonly ReturnType<typeof definePlugin>[];
	readonly toolStrategy?: object;
	readonly middleware?: readonly Interceptor[];
}

/** A session whose program can be replaced by another deployment, as after a restart. */
function deployments() {
	const journal = memoryJournal();
	const host = journalHost(journal);
	const model = scriptedModel(script);
	return {
		journal,
		deploy: (options: Deployed) => new Agent({ model, host, ...(options as object) }).session("s"),
	};
}

const ran: unknown[] = [];
const pay = (options: Partial<AnyTool> = {}): AnyTool => ({
	...anyTool("pay", (input) => void ran.push(input)),
	parameters: { type: "object", properties: { euros: { type: "number" } } },
	needsApproval: true,
	...options,
});
let modified = 0;
const raising = definePlugin({
	name: "raising",
	setup: (on) => {
		on.on("tool.call", ({ input }) => {
			modified++;
			return { action: "modify", input: { ...input, euros: input.euros * 200 } };
		});
	},
});

async function shown(session: ReturnType<ReturnType<typeof deployments>["deploy"]>) {
	const { pending } = await (await session.send("go")).result();
	expect(await session.pending()).toEqual(pending);
	return pending?.map(({ arguments: input, awaits }) => [awaits, input]);
}

describe("the shown input is the input that runs", () => {
	test.each<[string, Deployed, unknown]>([
		["a plugin's modify", { tools: [pay()], plugins: [raising] }, { euros: 200 }],
		[
			"params of onBeforeCall",
			{ tools: [pay()], toolStrategy: { onBeforeCall: () => ({ proceed: true, params: { euros: 7 } }) } },
			{ euros: 7 },
		],
		[
			"defaults of a schema",
			{
				tools: [
					tool({
						name: "pay",
						description: "Pays.",
						parameters: z.object({ euros: z.number(), to: z.string().default("bob") }),
						needsApproval: true,
						run: (input) => void ran.push(input),
					}),
				],
			},
			{ euros: 1, to: "bob" },
		],
	])(
		"%s is applied before the approval, and once, in the same process and after a restart",
		async (_, options, input) => {
			for (const restarts of [false, true]) {
				ran.length = 0;
				modified = 0;
				const { deploy } = deployments();
				const session = deploy(options);
				expect(await shown(session)).toEqual([["approval", input]]);
				const asked = restarts ? deploy(options) : session;
				const resumed = await asked.answer([{ toolCallId: "c", approved: true }]);
				expect(await resumed.result()).toMatchObject({ outcome: "completed" });
				expect(ran).toEqual([input]);
				expect(modified).toBeLessThanOrEqual(1);
			}
		},
	);

	test("a default that differs each time runs with the shown value", async () => {
		ran.length = 0;
		let count = 0;
		const counting = tool({
			name: "pay",
			description: "Pays.",
			parameters: z.object({ id: z.number().default(() => ++count) }),
			needsApproval: true,
			run: (input) => void ran.push(input),
		});
		const session = deployments().deploy({ tools: [counting] });
		const asked = await shown(session);
		await (await session.answer([{ toolCallId: "c", approved: true }])).result();
		expect([["approval", ran[0]]]).toEqual(asked);
	});

	test("a value of a richer type than JSON reaches the tool as its schema converts it", async () => {
		ran.length = 0;
		const dated = tool({
			name: "pay",
			description: "Pays.",
			inputSchema: z.object({ at: z.coerce.date().default(() => new Date(0)) }),
			parameters: { type: "object", properties: { at: { type: "string" } } },
			needsApproval: true,
			run: (input) => void ran.push(input),
		});
		const session = deployments().deploy({ tools: [dated] });
		expect(await shown(session)).toEqual([["approval", { at: "1970-01-01T00:00:00.000Z" }]]);
		await (await session.answer([{ toolCallId: "c", approved: true }])).result();
		expect(ran).toEqual([{ at: new Date(0) }]);
	});

	test("a remote tool receives the modified input", async () => {
		const { run: _, needsApproval: __, ...remote } = pay();
		const session = deployments().deploy({ tools: [remote], plugins: [raising] });
		expect(await shown(session)).toEqual([["result", { euros: 200 }]]);
		const run = await session.answer([{ toolCallId: "c", output: "paid" }]);
		expect(await run.result()).toMatchObject({ outcome: "completed" });
	});

	test("a remote tool that needs approval receives the approved input", async () => {
		const { run: _, ...remote } = pay();
		const session = deployments().deploy({ tools: [remote], plugins: [raising] });
		expect(await shown(session)).toEqual([["approval", { euros: 200 }]]);
		const run = await session.answer([{ toolCallId: "c", approved: true }]);
		expect((await run.result()).pending).toMatchObject([{ awaits: "result", arguments: { euros: 200 } }]);
	});

	test("another call's answer does not run the hooks again for a waiting call", async () => {
		modified = 0;
		const journal = memoryJournal();
		const calls = ["a", "b"].map((id) => ({ name: "pay", id, arguments: { euros: 1 } }));
		const model = scriptedModel([{ toolCalls: calls }, "done"]);
		const agent = new Agent({ model, host: journalHost(journal), tools: [pay()], plugins: [raising] });
		const session = agent.session("s");
		const before = (await (await session.send("go")).result()).pending;
		const { pending } = await (await session.answer([{ toolCallId: "a", approved: true }])).result();
		expect([pending, modified]).toEqual([before?.slice(1), 2]);
	});
});

describe("a change since then requires a new approval", () => {
	const stricter = { type: "object", properties: { euros: { type: "number", maximum: 50 } } };
	test.each<[string, Deployed]>([
		[
			"the schema",
			{
				tools: [
					pay({ parameters: { ...stricter, properties: { euros: { type: "number", maximum: 5_000 } } } }),
				],
			},
		],
		["the description", { tools: [pay({ description: "Pays twice." })] }],
		["the policy", { tools: [pay()], plugins: [raising] }],
	])("%s", async (_, changed) => {
		ran.length = 0;
		const { deploy } = deployments();
		await shown(deploy({ tools: [pay()] }));
		const later = deploy(changed);
		const asked = await (await later.answer([{ toolCallId: "c", approved: true }])).result();
		expect([asked.outcome, asked.pending?.length, ran]).toEqual(["waiting", 1, []]);
		// The first approval does not count for the second question, even in another process.
		const again = deploy(changed);
		const done = await (await again.answer([{ toolCallId: "c", approved: true }])).result();
		expect([done.outcome, ran.length]).toEqual(["completed", 1]);
	});

	test("an interceptor for calls that replaces another", async () => {
		ran.length = 0;
		const { deploy } = deployments();
		const looking = (name: string): Interceptor => ({
			name,
			begin: () => ({ toolCall: () => ({ action: "allow" }) }),
		});
		await shown(deploy({ tools: [pay()], middleware: [looking("one")] }));
		const later = deploy({ tools: [pay()], middleware: [looking("other")] });
		const asked = await (await later.answer([{ toolCallId: "c", approved: true }])).result();
		expect([asked.outcome, asked.pending?.length, ran]).toEqual(["waiting", 1, []]);
	});

	test("an input that the current schema rejects does not run", async () => {
		ran.length = 0;
		const { deploy } = deployments();
		await shown(deploy({ tools: [pay()] }));
		const later = deploy({ tools: [pay({ parameters: { ...stricter, required: ["to"] } })] });
		const run = await later.answer([{ toolCallId: "c", approved: true }]);
		expect(await run.result()).toMatchObject({ outcome: "completed" });
		expect(ran).toEqual([]);
	});

	test("a permission that was withdrawn since keeps an approved call from running", async () => {
		ran.length = 0;
		let permitted = true;
		const session = deployments().deploy({ tools: [pay({ approval: () => permitted })] });
		await shown(session);
		permitted = false;
		await (await session.answer([{ toolCallId: "c", approved: true }])).result();
		expect(ran).toEqual([]);
	});
});

describe("an approval may change the input if the tool allows it", () => {
	test("the replacement runs, validated, and is recorded with its author", async () => {
		ran.length = 0;
		const { deploy, journal } = deployments();
		const session = deploy({ tools: [pay({ editableApproval: true })] });
		const { pending } = await (await session.send("go")).result();
		expect(pending).toMatchObject([{ mayEdit: true }]);
		const by = { tenant: "t", user: "ann" };
		await (await session.answer([{ toolCallId: "c", approved: true, input: { euros: 3 }, by }])).result();
		expect(ran).toEqual([{ euros: 3 }]);
		const facts = (await journal.read("s")).map(({ fact }) => fact);
		expect(facts.find(({ kind }) => kind === "decision")).toMatchObject({
			answer: { input: { euros: 3 }, by },
		});
		expect(facts.find(({ kind }) => kind === "tool.started")).toMatchObject({ input: { euros: 3 } });
	});

	test("a replacement that the schema rejects does not run", async () => {
		ran.length = 0;
		const session = deployments().deploy({ tools: [pay({ editableApproval: true })] });
		await shown(session);
		await (await session.answer([{ toolCallId: "c", approved: true, input: { euros: "all" } }])).result();
		expect(ran).toEqual([]);
	});

	test.each([
		[{ editableApproval: true }, { approved: false, input: {} }],
		[{ editableApproval: true }, { approved: true, input: "all" }],
		[{}, { approved: true, input: { euros: 3 } }],
	])("with %o the answer %o is rejected", async (options, answer) => {
		const session = deployments().deploy({ tools: [pay(options)] });
		await shown(session);
		await expect(session.answer([{ toolCallId: "c", ...answer } as never])).rejects.toMatchObject({
			code: "invalid_input",
		});
		expect(await session.pending()).toHaveLength(1);
	});

	test("a tool that requires no approval cannot have the option", () => {
		const options = { editableApproval: true, needsApproval: false };
		expect(() => deployments().deploy({ tools: [pay(options)] })).toThrow(
			expect.objectContaining({ code: "invalid_tool" }),
		);
	});
});

describe("incomplete calls do not run", () => {
	test.each(["length", "error"] as const)(
		"a call without arguments in an answer that ended by %s",
		async (stopReason) => {
			for (const place of ["call", "session"] as const) {
				const rows: unknown[] = [];
				const remove = anyTool("delete_rows", (input) => void rows.push(input));
				const whole = { name: "delete_rows", id: "a", arguments: { id: 1 } };
				const half = { name: "delete_rows", id: "b", arguments: {} };
				const model = scriptedModel([{ toolCalls: [whole, half], stopReason }, "done"]);
				const hooked: unknown[] = [];
				const seen = definePlugin({
					name: "seen",
					setup: (on) => void on.on("tool.call", ({ input }) => void hooked.push(input)),
				});
				const agent = await Agent.create({ model, tools: [remove], plugins: [seen] });
				if (place === "call") await agent.generate("go");
				else await (await agent.session("s").send("go")).result();
				expect([rows, hooked]).toEqual([[{ id: 1 }], [{ id: 1 }]]);
				expect(JSON.stringify(model.requests[1]?.messages.at(-1))).toContain("was cut off before the call");
			}
		},
	);

	test("a call without arguments runs if the answer ended normally", async () => {
		const rows: unknown[] = [];
		const remove = anyTool("delete_rows", (input) => void rows.push(input));
		const model = scriptedModel([{ toolCalls: [{ name: "delete_rows", id: "a", arguments: {} }] }, "done"]);
		await new Agent({ model, tools: [remove] }).generate("go");
		expect(rows).toEqual([{}]);
	});
});

describe("a call that was running when its process died", () => {
	/** Leaves a call in progress, and continues the session with another deployment. */
	async function died(before: Partial<AnyTool>, now: Partial<AnyTool>) {
		ran.length = 0;
		const journal = memoryJournal();
		const host = journalHost(journal);
		const model = scriptedModel(script);
		const started = gate();
		const first: AnyTool = { ...pay({ needsApproval: false, retryPolicy: "idempotent", ...before }) };
		const hanging = { ...first, run: () => new Promise(() => started.open()) };
		const dying = new Agent({ model, host, tools: [hanging] });
		void (await dying.session("s").send("go")).result().catch(() => {});
		await started.promise;
		await dying.close();
		const later = pay({ needsApproval: false, retryPolicy: "idempotent", ...now });
		const session = new Agent({ model: scriptedModel(["done"]), host, tools: [later] }).session("s");
		const resumed = await (await session.resume())?.result();
		const settled = (await journal.read("s"))
			.map(({ fact }) => fact)
			.find(({ kind }) => kind === "tool.settled");
		return { session, resumed, settled, journal };
	}

	test("runs again with the same input if nothing changed", async () => {
		expect((await died({}, {})).resumed).toMatchObject({ outcome: "completed" });
		expect(ran).toEqual([{ euros: 1 }]);
	});

	test("does not run again with an input that the current schema rejects", async () => {
		const parameters = { type: "object", properties: { euros: { type: "string" } } };
		expect((await died({}, { parameters })).settled).toMatchObject({ outcome: "unknown" });
		expect(ran).toEqual([]);
	});

	test("does not run again if the current permission is denied", async () => {
		expect((await died({}, { approval: () => false })).settled).toMatchObject({ outcome: "unknown" });
		expect(ran).toEqual([]);
	});

	test.each([true, false])("waits for the approval that it now requires: %s", async (approved) => {
		const { session, resumed } = await died({}, { needsApproval: true });
		expect([resumed?.outcome, ran]).toEqual(["waiting", []]);
		expect(resumed?.pending).toMatchObject([{ awaits: "approval", arguments: { euros: 1 } }]);
		const run = await session.answer([{ toolCallId: "c", approved }]);
		const { state } = await run.result();
		expect(ran).toEqual(approved ? [{ euros: 1 }] : []);
		if (!approved) expect(JSON.stringify(state.messages)).toContain("may or may not have had its effect");
	});

	test("has an unknown outcome if the run is stopped while it waits", async () => {
		const { session, journal } = await died({}, { needsApproval: true });
		await session.stop();
		const facts = (await journal.read("s")).map(({ fact }) => fact);
		expect(facts.find(({ kind }) => kind === "tool.settled")).toMatchObject({ outcome: "unknown" });
		expect(ran).toEqual([]);
	});
});
