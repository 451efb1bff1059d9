import { describe, expect, test } from "vitest";
import { anyTool } from "../agent/agent.fixture.ts";
import type { AnyTool } from "../tools/types.ts";
import { play } from "./sessions.fixture.ts";

/** A tool that counts its calls. */
function counted(options: Partial<AnyTool>): { readonly tool: AnyTool; readonly calls: unknown[] } {
	const calls: unknown[] = [];
	return { tool: { ...anyTool("rm", (input) => calls.push(input)), ...options }, calls };
}

const once = [{ toolCalls: [{ name: "rm", id: "c" }] }, "done"];

describe("only a boolean decides", () => {
	test.each(["always", 1, 0, null, {}, "false"])(
		"needsApproval: %j is rejected when the agent is created",
		(value) => {
			const { tool } = counted({ needsApproval: value as never });
			expect(() => play(once, { tools: [tool] })).toThrow(expect.objectContaining({ code: "invalid_tool" }));
		},
	);

	test.each(["needApproval", "needsAproval", "requiresApproval", "timeoutMS"])(
		"a tool's misspelt `%s` is rejected when the agent is created",
		(name) => {
			const { tool } = counted({ [name]: true });
			expect(() => play(once, { tools: [tool] })).toThrow(expect.objectContaining({ code: "invalid_tool" }));
		},
	);

	const answers: readonly unknown[] = [1, 0, "yes", "no", "false", {}, [], null, undefined];
	const hooks: readonly [string, (answer: unknown) => Partial<AnyTool>][] = [
		["needsApproval", (answer) => ({ needsApproval: () => answer as never })],
		["an asynchronous needsApproval", (answer) => ({ needsApproval: async () => answer as never })],
		["approval", (answer) => ({ approval: () => answer as never })],
		["an asynchronous approval", (answer) => ({ approval: async () => answer as never })],
	];

	test.each(hooks)(
		"any other return value of %s requires approval in a session, and rejects if no one can approve",
		async (_, of) => {
			for (const answer of answers) {
				const { tool, calls } = counted(of(answer));
				const { session } = play(once, { tools: [tool] });
				const { outcome, pending } = await (await session.send("go")).result();
				expect([outcome, pending?.[0]?.awaits, calls.length]).toEqual(["waiting", "approval", 0]);
				const resumed = await session.answer([{ toolCallId: "c", approved: true }]);
				expect(await resumed.result()).toMatchObject({ outcome: "completed" });
				expect(calls).toHaveLength(1);
				await play(once, { tools: [tool] }).agent.generate("go");
				expect(calls).toHaveLength(1);
			}
		},
	);

	test("a return value of onBeforeCall other than true or false requires approval", async () => {
		for (const answer of ["no", 1, 0, {}, { proceed: "no" }, []]) {
			const { tool, calls } = counted({});
			const toolStrategy = { onBeforeCall: () => answer as never };
			const { session } = play(once, { tools: [tool], toolStrategy });
			const { pending } = await (await session.send("go")).result();
			expect([pending?.[0]?.awaits, calls.length]).toEqual(["approval", 0]);
		}
	});

	test("an approval that permits a call does not replace a user's approval", async () => {
		const { tool, calls } = counted({ approval: () => true, needsApproval: true });
		const { session } = play(once, { tools: [tool] });
		expect(await (await session.send("go")).result()).toMatchObject({ outcome: "waiting" });
		expect(calls).toEqual([]);
	});

	test.each(["false", "no", "0", 0, 1, {}, [], null, undefined])(
		"an answer with approved: %j is rejected, and the call still waits",
		async (approved) => {
			const { tool, calls } = counted({ needsApproval: true });
			const { session } = play(once, { tools: [tool] });
			await (await session.send("go")).result();
			await expect(session.answer([{ toolCallId: "c", approved: approved as never }])).rejects.toMatchObject({
				code: "invalid_input",
			});
			expect([calls.length, (await session.pending()).length]).toEqual([0, 1]);
		},
	);

	test("an answer with an unknown member is rejected, because the shown input would run", async () => {
		const { tool, calls } = counted({ needsApproval: true, editableApproval: true });
		const { session } = play(once, { tools: [tool] });
		await (await session.send("go")).result();
		for (const answer of [
			{ toolCallId: "c", approved: true, inputs: {} },
			{ toolCallId: "c", approved: true, output: "x" },
			{ toolCallId: "c", output: "x", reason: "x" },
		])
			await expect(session.answer([answer as never])).rejects.toMatchObject({
				code: "invalid_input",
				message: expect.stringContaining("has no member"),
			});
		expect(calls).toEqual([]);
	});

	test("an interceptor whose decision on a call is unknown fails the run, and the call does not run", async () => {
		const { tool, calls } = counted({});
		const middleware = [{ name: "odd", begin: () => ({ toolCall: () => ({ action: "deny" }) as never }) }];
		const { session } = play(once, { tools: [tool], middleware });
		expect(await (await session.send("go")).result()).toMatchObject({
			outcome: "error",
			error: { code: "policy_invalid" },
		});
		expect(calls).toEqual([]);
	});
});
