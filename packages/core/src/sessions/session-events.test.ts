import { type ScriptedReply, scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { anyTool } from "../agent/agent.fixture.ts";
import { Agent } from "../agent/agent.ts";
import type { AgentEvent } from "../facts/agent-event.ts";
import { drain } from "./drain.ts";
import { eventsOf, gate, never, play, settled, shown, types, upTo } from "./sessions.fixture.ts";

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

	test("keep the model's reasoning separate from its text, in order [SES-026]", async () => {
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

	test("show a result when its tool finishes, before slower ones, and one for each call [SES-028]", async () => {
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

	test("mark the result of a tool that throws; the model sees the error, and the turn continues [SES-030]", async () => {
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

	test("end with turn-error if the model fails, and nothing between; the next turn works [SES-031]", async () => {
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
		"end with turn-abort if the run is interrupted while the %s works, without the ends of step and turn [SES-032]",
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
		const [jobOver, asked] = [gate(), gate()];
		const delegated = { prompt: "2+2?", description: "sum", run_in_background: true };
		const calls = [
			{ name: "look", arguments: input },
			{ name: "delegate_to_helper", arguments: delegated },
		];
		const replies: ScriptedReply[] = [
			{ reasoning: "Hm.", text: "I look.", toolCalls: calls },
			{ text: "Done.", gate: jobOver.promise },
			{ error: new Error("no line") },
			{ toolCalls: [{ name: "locate" }, { name: "look", arguments: input }] },
			{ gate: never },
		];
		const helper = new Agent({ name: "helper", description: "Helps.", model: scriptedModel(["Four."]) });
		const { session } = play(
			(_, call) => {
				if (call === 4) asked.open();
				return replies[call] as ScriptedReply;
			},
			{ tools: [anyTool("look", () => output), { name: "locate", description: "" }], subagents: [helper] },
		);
		const image = { type: "image" as const, image: new Uint8Array([1, 2]), mediaType: "image/png" };
		const run = await session.send({ type: "user-message", content: [{ type: "text", text: "go" }, image] });
		const emitted: AgentEvent[] = [];
		for await (const event of run.events()) {
			emitted.push(event);
			if (event.type === "subagent-job-end") jobOver.open();
			if (event.type !== "step-start" || emitted.some(({ type }) => type === "step-end")) continue;
			await session.steer([image]);
			await session.overlay("beside");
		}
		emitted.push(...(await eventsOf(await session.send("this fails"))));
		emitted.push(...(await eventsOf(await session.send("this waits"))));
		await session.stop();
		const interrupted = eventsOf(await session.send("this is interrupted"));
		await asked.promise;
		session.interrupt();
		emitted.push(...(await interrupted));
		for (const event of emitted) {
			expect(JSON.parse(JSON.stringify(event))).toStrictEqual(event);
			expect(carried[event.type]).toEqual(expect.arrayContaining(members(event)));
		}
		const dropped = "events-dropped"; // of runs that nobody reads; see unread-runs.test.ts
		expect([...new Set([...types(emitted), dropped])].sort()).toEqual(Object.keys(carried).sort());
	});

	test("end with the last, even if late output arrives", async () => {
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

const job = ["subagent", "task_id"] as const;

/** All members that events may have in addition to their type. */
const carried: Record<AgentEvent["type"], readonly string[]> = {
	"user-text": ["text"],
	"user-message": ["content"],
	"runtime-input": ["input", "placement"],
	"turn-start": [],
	"turn-end": [],
	"turn-abort": [],
	"tools-pending": ["toolCalls"],
	"turn-waiting": ["toolCalls"],
	"events-dropped": ["count"],
	"turn-error": ["code", "message"],
	"step-start": [],
	"step-end": [],
	"overlay-accepted": [],
	"overlay-expired": [],
	"assistant-text": ["text"],
	"assistant-reasoning": ["text"],
	"tool-call": ["input", "toolCallId", "toolName"],
	"tool-result": ["output", "toolCallId", "toolName"],
	"subagent-job-start": [...job, "delegateToolCallId", "description", "run_in_background"],
	"subagent-job-update": [...job, "eventType", "status"],
	"subagent-job-end": [...job, "eventCount", "status"],
};

function members({ type: _, ...rest }: AgentEvent): string[] {
	return Object.keys(rest);
}
