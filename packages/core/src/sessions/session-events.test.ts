import { describe, expect, test } from "vitest";
import { anyTool } from "../agent/agent.fixture.ts";
import { drain } from "./drain.ts";
import type { AgentEvent } from "./session-events.ts";
import { eventsOf, eventsWhile, gate, never, play, settled, shown, types, upTo } from "./sessions.fixture.ts";

const callLook = { toolCalls: [{ name: "look" }] };

describe("the events of a turn", () => {
	test("without tools are these six [SES-025]", async () => {
		const { session } = play(["Yes."]);
		expect(await eventsOf(await session.send("go"))).toEqual([
			{ type: "user-text", text: "go" },
			{ type: "turn-start" },
			{ type: "step-start" },
			{ type: "assistant-text", text: "Yes." },
			{ type: "step-end" },
			{ type: "turn-end" },
		]);
	});

	test("tell what the model thought apart from what it said, in order [SES-026]", async () => {
		const model = () => [
			{
				role: "assistant" as const,
				content: [
					{ type: "reasoning" as const, text: "Hm." },
					{ type: "reasoning" as const, text: "Or so." },
					{ type: "text" as const, text: "Yes." },
				],
			},
		];
		const events = await eventsOf(await play([], { model }).session.send("go"));
		expect(events.filter(({ type }) => type.startsWith("assistant-"))).toEqual([
			{ type: "assistant-reasoning", text: "Hm." },
			{ type: "assistant-reasoning", text: "Or so." },
			{ type: "assistant-text", text: "Yes." },
		]);
	});

	test("show a tool call while the tool works [SES-027]", async () => {
		const held = gate();
		const { session } = play([{ toolCalls: [{ name: "look", arguments: { at: 1 } }] }, "Done."], {
			tools: [anyTool("look", () => held.promise)],
		});
		const events = (await session.send("go")).events();
		expect((await upTo(events, "tool-call")).at(-1)).toEqual({
			type: "tool-call",
			toolCallId: "call_0_0",
			toolName: "look",
			input: { at: 1 },
		});
		held.open();
		await upTo(events, "turn-end");
	});

	test("show a result when its tool is done, before slower ones are, and one for each call [SES-028]", async () => {
		const held = gate();
		const tools = [anyTool("slow", () => held.promise.then(() => "s")), anyTool("fast", () => "f")];
		const script = [{ toolCalls: [{ name: "slow" }, { name: "fast" }] }, "Done."];
		const events = (await play(script, { tools }).session.send("go")).events();
		const before = await upTo(events, "tool-result");
		expect(before.at(-1)).toEqual({
			type: "tool-result",
			toolCallId: "call_0_1",
			toolName: "fast",
			output: "f",
		});
		held.open();
		const step = [...before, ...(await upTo(events, "step-end"))];
		const ids = (wanted: string): string[] =>
			step.flatMap((event) =>
				event.type === wanted && "toolCallId" in event ? [event.toolCallId ?? ""] : [],
			);
		expect(ids("tool-call").sort()).toEqual(["call_0_0", "call_0_1"]);
		expect(ids("tool-result")).toEqual(["call_0_1", "call_0_0"]);
		await upTo(events, "turn-end");
	});

	test("with a tool are two steps [SES-029]", async () => {
		const { session } = play([callLook, "Done."], { tools: [anyTool("look", () => 1)] });
		expect(types(await eventsOf(await session.send("go"))).slice(2)).toEqual([
			"step-start",
			"tool-call",
			"tool-result",
			"step-end",
			"step-start",
			"assistant-text",
			"step-end",
			"turn-end",
		]);
	});

	test("mark the result of a tool that throws; the model is told, and the turn goes on [SES-030]", async () => {
		const look = anyTool("look", () => {
			throw new Error("nothing to see");
		});
		const { session, model } = play([callLook, "Done."], { tools: [look] });
		const events = await eventsOf(await session.send("go"));
		const result = events.find(({ type }) => type === "tool-result");
		expect(result).toMatchObject({ toolCallId: "call_0_0", isError: true });
		expect(shown(model)[1]).toEqual(["user: go", "assistant:  [look]", "results: nothing to see!"]);
		expect(types(events).slice(-4)).toEqual(["step-start", "assistant-text", "step-end", "turn-end"]);
	});

	test("end with turn-error where the model fails, and nothing between; the next turn works [SES-031]", async () => {
		const { session } = play([{ error: new Error("no line") }, "Yes."]);
		expect(await eventsOf(await session.send("go"))).toEqual([
			{ type: "user-text", text: "go" },
			{ type: "turn-start" },
			{ type: "step-start" },
			{ type: "turn-error", code: expect.any(String), message: expect.stringContaining("no line") },
		]);
		expect(await drain(await session.send("again"))).toEqual({ outcome: "completed", text: "Yes." });
	});

	test.each(["model", "tool"])(
		"end with turn-abort where the run is interrupted while the %s works, without the ends of step and turn [SES-032]",
		async (at) => {
			const working = gate();
			const hang = () => {
				working.open();
				return never;
			};
			const { session } = play(() => (at === "model" ? { gate: hang() } : callLook), {
				tools: [anyTool("look", hang)],
			});
			const all = eventsOf(await session.send("go"));
			await working.promise;
			session.interrupt();
			const calls = at === "model" ? [] : ["tool-call", "tool-result"];
			expect(types(await all)).toEqual(["user-text", "turn-start", "step-start", ...calls, "turn-abort"]);
		},
	);

	test("are JSON, and none of them carries the conversation [SES-033]", async () => {
		const output = { at: new Date(0), bytes: new Uint8Array([1]), gone: undefined, deep: [{ a: 1 }] };
		const input = { when: "now", missing: undefined };
		const script = [
			{ reasoning: "Hm.", text: "I look.", toolCalls: [{ name: "look", arguments: input }] },
			"Done.",
		];
		const { session } = play(script, { tools: [anyTool("look", () => output)] });
		const image = { type: "image" as const, image: new Uint8Array([1, 2]), mediaType: "image/png" };
		const run = await session.send({ type: "user-message", content: [{ type: "text", text: "go" }, image] });
		const events = await eventsWhile(run, "step-start", async () => {
			await session.steer([image]);
			await session.overlay("beside");
		});
		const failed = await eventsOf(await session.send("more"));
		expect(failed.at(-1)?.type).toBe("turn-error");
		for (const event of [...events, ...failed]) {
			expect(JSON.parse(JSON.stringify(event))).toStrictEqual(event);
			expect(members(event)).toEqual(allowed[event.type] ?? []);
		}
		const told = new Set(types([...events, ...failed]));
		expect(Object.keys(allowed).filter((type) => !told.has(type))).toEqual([]);
	});

	test("tell nothing after the last, whatever comes in late", async () => {
		const held = gate();
		const { session, happened } = play([callLook], { tools: [anyTool("look", () => held.promise)] });
		const run = await session.send("go");
		const events = run.events();
		await upTo(events, "tool-call");
		const rest = upTo(events, "turn-abort");
		session.interrupt();
		await rest;
		held.open();
		await settled();
		expect(happened.at(-1)).toBe("turn-abort");
	});
});

/** What events carry beside their type. */
const allowed: Record<string, string[]> = {
	"user-text": ["text"],
	"user-message": ["content"],
	"runtime-input": ["input", "placement"],
	"assistant-text": ["text"],
	"assistant-reasoning": ["text"],
	"tool-call": ["input", "toolCallId", "toolName"],
	"tool-result": ["output", "toolCallId", "toolName"],
	"turn-error": ["code", "message"],
};

function members({ type: _, ...rest }: AgentEvent): string[] {
	return Object.keys(rest).sort();
}
