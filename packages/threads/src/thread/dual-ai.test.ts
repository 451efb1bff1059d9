// An agent of two sides: whose turn it is, what each sees, how a session ends.
import { expect, test } from "vitest";
import { z } from "zod";
import { defineAgent, defineModel, definePrompt, defineTool } from "../define/index.ts";
import type {
	AgentDefinition,
	Project,
	PromptDefinition,
	ProviderRequest,
	ToolDefinition,
} from "../types/index.ts";
import {
	oneAgent,
	projectOf,
	type Reply,
	type ScriptedProvider,
	said,
	scripted,
	start,
} from "./threads.fixture.ts";

/** A project of one agent of two sides, each with a prompt of its own. */
function twoSides(
	provider: ScriptedProvider,
	agent: Partial<AgentDefinition> = {},
	// biome-ignore lint/suspicious/noExplicitAny: tools of any arguments
	tools: Record<string, ToolDefinition<any, any, any>> = {},
): Project {
	const prompt = (name: string): PromptDefinition =>
		definePrompt({
			name,
			toolDescription: "x",
			prompt: `You are ${name}.`,
			model: "main",
			tools: Object.keys(tools),
		}) as PromptDefinition;
	return projectOf({
		agents: [
			defineAgent({
				name: "pair",
				type: "dual_ai",
				sideA: { prompt: "alice" },
				sideB: { prompt: "bob" },
				...agent,
			}),
		],
		prompts: [prompt("alice"), prompt("bob")],
		models: [defineModel({ name: "main", provider: provider.factory, model: "m" })],
		tools,
	});
}

const who = ({ messages }: Pick<ProviderRequest, "messages">): string =>
	/You are (?<name>\w+)/.exec(String(messages[0]?.content))?.groups?.name ?? "";
const call = (name: string, args: unknown = {}): Reply => ({ calls: [{ name, args }] });

test("side A starts, the sides alternate, and the session ends after the given number of turns of both [SA-004] [SA-005]", async () => {
	const look = defineTool({
		description: "Looks.",
		execute: async () => ({ status: "success", result: "seen" }),
	});
	// A turn of several calls of the model is one turn.
	const provider = scripted((request, at) => (at === 1 ? call("look") : `${who(request)} ${at}`));
	const { threads } = start(twoSides(provider, { maxSessionTurns: 4 }, { look }));
	const { threadId } = await threads.createThread({ agentId: "pair", message: "Talk." });
	await threads.quiet();
	expect(provider.requests.map(who)).toEqual(["alice", "bob", "bob", "alice", "bob"]);
	expect(await said(threads, threadId)).toEqual([
		"user: Talk.",
		"assistant: alice 0",
		"assistant: <look>",
		"tool: seen",
		"assistant: bob 2",
		"assistant: alice 3",
		"assistant: bob 4",
	]);
	await threads.close();
});

test("a side sees itself as assistant and the other as user, without the other's calls [SA-129]", async () => {
	const look = defineTool({
		description: "Looks.",
		execute: async () => ({ status: "success", result: "seen" }),
	});
	const script = [{ text: "I look.", calls: [{ name: "look" }] }, "A1", "B1", "A2"];
	const provider = scripted(script);
	const { threads } = start(twoSides(provider, { maxSessionTurns: 3 }, { look }));
	await threads.createThread({ agentId: "pair", message: "Talk." });
	await threads.quiet();
	const shown = provider.requests.map(({ messages }) =>
		messages.slice(1).map(({ role, content }) => `${role}: ${typeof content === "string" ? content : "?"}`),
	);
	expect(shown[2]).toEqual(["assistant: Talk.", "user: I look.", "user: A1"]);
	expect(shown[3]).toEqual(["user: Talk.", "assistant: I look.", "assistant: A1", "user: B1"]);
	expect(JSON.stringify(provider.requests[2]?.messages)).not.toContain("seen");
	await threads.close();
});

test.each([
	["a", "sessionStop"],
	["b", "sessionStop"],
	["a", "sessionFail"],
	["b", "sessionFail"],
] as const)(
	"side %s ends the session by its %s, and no further turn runs [SA-011]",
	async (side, binding) => {
		const finish = defineTool({
			description: "Ends.",
			args: z.object({ summary: z.string() }),
			execute: async () => ({ status: "success", result: "ended" }),
		});
		const script =
			side === "a"
				? [call("finish", { summary: "all good" })]
				: ["A1", call("finish", { summary: "all good" })];
		const provider = scripted(script);
		const ends = { [binding]: { name: "finish", messageProperty: "summary" } };
		const sides = {
			sideA: { prompt: "alice", ...(side === "a" ? ends : {}) },
			sideB: { prompt: "bob", ...(side === "b" ? ends : {}) },
		};
		const { threads, host } = start(twoSides(provider, sides, { finish }));
		const { threadId } = await threads.createThread({ agentId: "pair", message: "Talk." });
		await threads.quiet();
		expect(provider.requests).toHaveLength(script.length);
		const ended = (await host.journal.read(threadId)).at(-1)?.fact;
		expect(ended).toMatchObject({ kind: "run.ended", outcome: "completed" });
		await threads.close();
	},
);

test("the answer of a side's stop tool reaches the other; without the property all of it [SA-009]", async () => {
	const results = [JSON.stringify({ answer: "42", why: "x" }), "no JSON", JSON.stringify({ why: "x" })];
	for (const [result, heard] of [
		[results[0], "42"],
		[results[1], "no JSON"],
		[results[2], results[2]],
	] as const) {
		const done = defineTool({
			description: "x",
			execute: async () => ({ status: "success", result: result ?? "" }),
		});
		const provider = scripted([call("done"), "B"]);
		const sides = {
			maxSessionTurns: 2,
			sideA: { prompt: "alice", stopTool: "done", stopToolResponseProperty: "answer" },
		};
		const { threads } = start(twoSides(provider, sides, { done }));
		await threads.createThread({ agentId: "pair", message: "Talk." });
		await threads.quiet();
		expect(provider.requests[1]?.messages.at(-1)).toEqual({ role: "user", content: heard });
		await threads.close();
	}
});

test("steps are counted for both sides, the acting one is named, and the flow keeps its id [SA-130]", async () => {
	const seen: unknown[] = [];
	const look = defineTool({
		description: "x",
		execute: async ({ execution }) => {
			const { flowId, currentSide, stepCount, sideAStepCount, sideBStepCount } = execution as NonNullable<
				typeof execution
			>;
			seen.push({ flowId, currentSide, stepCount, sideAStepCount, sideBStepCount });
			return { status: "success", result: "ok" };
		},
	});
	const provider = scripted([call("look"), "A", call("look"), call("look"), "B"]);
	const { threads } = start(twoSides(provider, { maxSessionTurns: 2 }, { look }));
	await threads.createThread({ agentId: "pair", message: "Talk." });
	await threads.quiet();
	const flowId = (seen[0] as { flowId: string }).flowId;
	expect(flowId).toMatch(/./);
	expect(seen).toEqual([
		{ flowId, currentSide: "a", stepCount: 1, sideAStepCount: 1, sideBStepCount: 0 },
		{ flowId, currentSide: "b", stepCount: 3, sideAStepCount: 2, sideBStepCount: 1 },
		{ flowId, currentSide: "b", stepCount: 4, sideAStepCount: 2, sideBStepCount: 2 },
	]);
	await threads.close();
});

test("stop() ends the execution after the results of the step are stored, and names the side [SA-131]", async () => {
	const seen: unknown[] = [];
	const halt = defineTool({
		description: "x",
		execute: async ({ execution }) => {
			execution?.stop();
			seen.push([execution?.stopped, execution?.stoppedBy]);
			return { status: "success", result: "halted" };
		},
	});
	const after = defineTool({
		description: "x",
		execute: async () => ({ status: "success", result: "after" }),
	});
	const provider = scripted(["A", { calls: [{ name: "halt" }, { name: "after" }] }]);
	const { threads } = start(twoSides(provider, {}, { halt, after }));
	const { threadId } = await threads.createThread({ agentId: "pair", message: "Talk." });
	await threads.quiet();
	expect(seen).toEqual([[true, "b"]]);
	expect(provider.requests).toHaveLength(2);
	expect((await said(threads, threadId)).slice(-3)).toEqual([
		"assistant: <halt> <after>",
		"tool: halted",
		"tool: after",
	]);
	await threads.close();
});

test("forceTurn makes the other side take the next step [SA-132]", async () => {
	const pass = defineTool({
		description: "x",
		execute: async ({ execution }) => {
			execution?.forceTurn("b");
			return { status: "success", result: "over to you" };
		},
	});
	const provider = scripted([call("pass"), "B"]);
	const { threads } = start(twoSides(provider, { maxSessionTurns: 1 }, { pass }));
	await threads.createThread({ agentId: "pair", message: "Talk." });
	await threads.quiet();
	expect(provider.requests.map(who)).toEqual(["alice", "bob"]);
	await threads.close();
});

test("forceTurn throws where an agent has one side [SA-132]", async () => {
	const thrown: unknown[] = [];
	const pass = defineTool({
		description: "x",
		execute: async ({ execution }) => {
			for (const side of ["a", "b"] as const)
				try {
					execution?.forceTurn(side);
				} catch (error) {
					thrown.push((error as { readonly code?: string }).code);
				}
			return { status: "success", result: "stayed" };
		},
	});
	const provider = scripted([call("pass"), "A"]);
	const { threads } = start(oneAgent(provider, { tools: { pass } }));
	const { threadId } = await threads.createThread({ agentId: "helper", message: "Talk." });
	await threads.quiet();
	expect(thrown).toEqual(["no_second_side", "no_second_side"]);
	expect(await said(threads, threadId)).toEqual([
		"user: Talk.",
		"assistant: <pass>",
		"tool: stayed",
		"assistant: A",
	]);
	await threads.close();
});
