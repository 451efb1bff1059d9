// Structured answers: validated, requested again if invalid, and the same after a crash.
import { type ScriptedReply, scriptedModel } from "@holdfast/testing";
import { expect, test } from "vitest";
import { z } from "zod";
import { anyTool, lines } from "../agent/agent.fixture.ts";
import { Agent, agent } from "../agent/agent.ts";
import { createSession, execute } from "../execute/create-session.ts";
import type { Entry } from "../facts/fact.ts";
import { journalHost } from "../host/host-port.ts";
import { type MemoryJournal, memoryJournal } from "../host/memory-journal.ts";
import type { Interceptor } from "../policy/interceptor.ts";
import { AgentState } from "../state/agent-state.ts";
import { loop } from "../strategies/loop.ts";
import { planOf } from "../strategies/plan.fixture.ts";
import { plan } from "../strategies/plan.ts";
import { react } from "../strategies/react.ts";
import type { OutputSchema } from "./output-types.ts";

const output = z.object({ city: z.string(), celsius: z.number(), unit: z.string().default("°C") });
const right = '{"city":"Lisbon","celsius":21}';
const wrong = '{"city":"Lisbon","celsius":"warm"}';
const found = { city: "Lisbon", celsius: 21, unit: "°C" };
const invalid = expect.objectContaining({ code: "output_invalid" });
const again = /^user: Your last answer cannot be used:/;

test("the answer is checked and parsed, with the defaults of the schema, and the model is shown the schema", async () => {
	const model = scriptedModel([right]);
	const result = await agent({ model, output }).generate("How warm is it in Lisbon?");
	expect(result.output).toEqual(found);
	expect(result.turn.data).toEqual(found);
	// The model's adapter must not refuse an answer that is not JSON.
	expect(model.requests[0]).toMatchObject({
		structure: { type: "object", required: ["city", "celsius"] },
		unparsed: "keep",
	});
	expect(lines(result.state.messages)).toEqual(["user: How warm is it in Lisbon?", `assistant: ${right}`]);
});

test("a wrong answer is returned to the model with its problems, as its own step", async () => {
	const model = scriptedModel([wrong, right]);
	const stream = agent({ model, output }).stream("go");
	const steps: number[] = [];
	for await (const { uap } of stream) if (uap?.type === "step_start") steps.push(uap.step);
	expect((await stream.result).output).toEqual(found);
	expect(steps).toEqual([1, 2]);
	const said = lines(model.requests[1]?.messages ?? []);
	expect(said.slice(0, 2)).toEqual(["user: go", `assistant: ${wrong}`]);
	expect(said[2]).toMatch(again);
	expect(said[2]).toContain("celsius:");
	expect(said[2]).toContain('"required":["city","celsius"]');
	expect(lines((await stream.result).state.messages)).toEqual([
		"user: go",
		`assistant: ${wrong}`,
		`assistant: ${right}`,
	]);
});

test.each([
	[undefined, 3],
	[0, 1],
	[1, 2],
])("with `outputRepairs: %s` the run fails after %s wrong answers", async (outputRepairs, answers) => {
	const model = scriptedModel([wrong, wrong, wrong, wrong]);
	const given = outputRepairs === undefined ? {} : { outputRepairs };
	await expect(agent({ model, output, ...given }).query("go")).rejects.toMatchObject({
		code: "output_invalid",
		message: expect.stringContaining("celsius:"),
		data: { answers, text: wrong },
	});
	expect(model.requests).toHaveLength(answers);
});

test("the count of wrong answers restarts after a right answer that is followed by another turn", async () => {
	const model = scriptedModel([wrong, wrong, right, wrong, wrong, right]);
	const one = agent({ model, output });
	const session = one.session("s");
	const run = await session.send("go");
	let isSteered = false;
	for await (const { type } of run.watch()) {
		if (type !== "step_end" || model.requests.length < 3 || isSteered) continue;
		isSteered = true;
		await session.steer("And now?");
	}
	expect(await run.result()).toMatchObject({ outcome: "completed", output: found });
	expect(model.requests).toHaveLength(6);
	await one.close();
});

test.each<[string, OutputSchema, string, unknown]>([
	["JSON Schema", { type: "object", properties: { n: { type: "number" } } }, '{"n":1}', { n: 1 }],
	["a list", z.array(z.string()), '{"value":["a"]}', ["a"]],
	["a list that the model gives as it is", z.array(z.string()), '["a"]', ["a"]],
	["a choice", z.enum(["yes", "no"]), '{"value":"yes"}', "yes"],
	[
		"one of several forms",
		z.union([z.object({ a: z.string() }), z.object({ b: z.number() })]),
		'{"value":{"b":1}}',
		{ b: 1 },
	],
	["a fence", z.object({ n: z.number() }), 'Here it is:\n```json\n{"n":1}\n```\nDone.', { n: 1 }],
	["prose", z.object({ n: z.number() }), 'Here it is: {"n":1}. Done.', { n: 1 }],
	[
		"a date",
		z.object({ at: z.iso.datetime().transform((at) => new Date(at)) }),
		'{"at":"2026-01-01T00:00:00Z"}',
		{ at: new Date(Date.UTC(2026, 0)) },
	],
])("%s is parsed", async (_, schema, text, expected) => {
	const model = scriptedModel([text]);
	const one = agent({ model, output: schema });
	expect((await one.generate("go")).output).toEqual(expected);
	expect(model.requests[0]?.structure).toMatchObject({ type: "object" });
});

test("a schema that refers to itself still does if it is shown as a member", async () => {
	const tree = { type: "array", items: { $ref: "#" }, $defs: { unused: { type: "string" } } };
	const model = scriptedModel(['{"value":[[],[[]]]}']);
	const result = await agent({ model, output: tree }).generate("go");
	expect(result.output).toEqual([[], [[]]]);
	expect(model.requests[0]?.structure).toMatchObject({
		properties: { value: { items: { $ref: "#/properties/value" } } },
	});
});

test.each<[string, ScriptedReply]>([
	["no JSON", { text: "It is warm." }],
	["cut off at the token limit", { text: '{"city":"Lis', stopReason: "length" }],
	["nested too deeply", { text: `${"[".repeat(100_000)}${"]".repeat(100_000)}` }],
])("an answer that is %s is also returned", async (_, reply) => {
	const model = scriptedModel([reply, right]);
	expect((await agent({ model, output }).generate("go")).output).toEqual(found);
});

test("an answer that the provider refused is not requested again", async () => {
	const model = scriptedModel([{ text: "", stopReason: "content_filter" }]);
	await expect(agent({ model, output }).generate("go")).rejects.toEqual(invalid);
	expect(model.requests).toHaveLength(1);
});

test("validation against a schema that takes too long is aborted, for any answer", async () => {
	const $defs: Record<string, object> = { d40: { type: "object", required: ["a", "b"] } };
	for (let at = 0; at < 40; at++) {
		const next = { $ref: `#/$defs/d${at + 1}` };
		$defs[`d${at}`] = { anyOf: [next, { ...next, title: `${at}` }] };
	}
	const started = performance.now();
	const model = scriptedModel(() => "{}");
	const hostile = { type: "object", $defs, $ref: "#/$defs/d0" };
	await expect(agent({ model, output: hostile }).generate("go")).rejects.toEqual(invalid);
	expect(performance.now() - started).toBeLessThan(5_000);
});

test("a schema's own check that throws or is asynchronous works like any other check", async () => {
	const slow = z.object({ n: z.number() }).refine(async ({ n }) => n === 2, "must be two");
	const model = scriptedModel(['{"n":1}', '{"n":2}']);
	expect((await agent({ model, output: slow }).generate("go")).output).toEqual({ n: 2 });
	expect(lines(model.requests[1]?.messages ?? []).at(-1)).toContain("must be two");
	const broken = z.object({}).refine(() => {
		throw new Error("no luck");
	});
	const one = agent({ model: scriptedModel(() => "{}"), output: broken });
	await expect(one.generate("go")).rejects.toEqual(invalid);
});

test("the parsed value must be serialisable", async () => {
	const odd = z.object({}).transform(() => ({ run: () => 1 }));
	const one = agent({ model: scriptedModel(["{}"]), output: odd });
	await expect(one.generate("go")).rejects.toMatchObject({ code: "unserialisable_value" });
});

test("the model may call tools before it answers, and before it answers again", async () => {
	const call = { toolCalls: [{ name: "look" }] };
	const model = scriptedModel([call, wrong, call, right]);
	const result = await agent({ model, output, tools: [anyTool("look", () => "21")] }).generate("go");
	expect(result.output).toEqual(found);
	expect(result.turn.toolExecutions).toHaveLength(2);
});

test("a run that is stopped by a condition still needs its output: its answer is checked", async () => {
	const strategy = { stopCondition: () => true };
	const model = scriptedModel([wrong, right]);
	expect((await agent({ model, output, strategy }).generate("go")).output).toEqual(found);
});

test("a run that is stopped before it has an answer fails with an explanation", async () => {
	const model = scriptedModel([{ toolCalls: [{ name: "look" }] }]);
	const tools = [anyTool("look", () => "21")];
	const strategy = { stopCondition: () => true };
	await expect(agent({ model, output, tools, strategy }).generate("go")).rejects.toMatchObject({
		code: "output_missing",
	});
});

test("if a strategy ends without an answer, the model is asked for one", async () => {
	const call = { toolCalls: [{ name: "look" }] };
	const tools = [anyTool("look", () => "21")];
	const limited = scriptedModel([call, right]);
	const execution = loop({ maxIterations: 1 });
	expect((await agent({ model: limited, output, tools, execution }).generate("go")).output).toEqual(found);
	const planned = scriptedModel([planOf({ id: "a" }), "Done.", right]);
	const result = await agent({ model: planned, output, tools, execution: plan() }).generate("go");
	expect(result.output).toEqual(found);
	const asked = planned.requests.map(({ structure }) => structure?.required);
	expect(asked).toEqual([["steps"], undefined, ["city", "celsius"]]);
});

test("the final text of a strategy is its answer: it is checked, and requested again if it is wrong", async () => {
	const saying = (text: string) => ({ name: "saying", decide: () => ({ kind: "finish", text }) as const });
	const unasked = scriptedModel([]);
	const told = await agent({ model: unasked, output, execution: saying(right) }).generate("go");
	expect(told.output).toEqual(found);
	expect(told.turn.response.text).toBe(right);
	expect(unasked.requests).toHaveLength(0);
	expect(lines(told.state.messages)).toEqual(["user: go", `assistant: ${right}`]);

	const asked = scriptedModel([right]);
	const repaired = await agent({ model: asked, output, execution: saying(wrong) }).generate("go");
	expect(repaired.output).toEqual(found);
	expect(lines(asked.requests[0]?.messages ?? [])).toEqual([
		"user: go",
		`assistant: ${wrong}`,
		expect.stringMatching(again),
	]);
});

test("react() thinks in free text and answers with the output", async () => {
	const model = scriptedModel(["Hm.", wrong, right]);
	const one = agent({ model, output, execution: react() });
	expect((await one.generate("go")).output).toEqual(found);
	expect(model.requests.map(({ structure }) => structure !== undefined)).toEqual([false, true, true]);
});

test("a single call may have its own output", async () => {
	const model = scriptedModel([right, "Hello.", wrong, right]);
	const one = agent({ model });
	expect((await one.generate("go", AgentState.initial(), { output })).output).toEqual(found);
	expect((await one.generate("go")).output).toBeUndefined();
	expect((await one.query("go", { output })).data).toEqual(found);
	await expect(
		agent({ model, outputRepairs: 0 }).stream("go", AgentState.initial(), { output }).result,
	).rejects.toMatchObject({
		code: "INVALID_REQUEST",
	});
});

test("invalid options are rejected when the agent is created", () => {
	const model = scriptedModel([]);
	for (const wrongly of [5, "object", null, [], () => output]) {
		expect(() => agent({ model, output: wrongly as never })).toThrow("The option `output` ");
	}
	for (const outputRepairs of [-1, 0.5, Number.POSITIVE_INFINITY, "2" as never])
		expect(() => agent({ model, output, outputRepairs })).toThrow("The option `outputRepairs` ");
	expect(() => agent({ model, output, structure: {} as never })).toThrow(
		expect.objectContaining({ code: "conflicting_options" }),
	);
	const circular: Record<string, unknown> = { type: "string" };
	circular.default = circular;
	const unreadable = { type: "string", toJSON: () => expect.unreachable("It cannot be read.") };
	for (const schema of [{ type: "nothing" }, circular, unreadable, { toJSON: () => undefined }])
		expect(() => agent({ model, output: schema })).toThrow(
			expect.objectContaining({ code: "invalid_schema" }),
		);
	const execution = { name: "own", execute: async () => ({}) as never, stream: () => ({}) as never };
	expect(() => agent({ model, output, execution })).toThrow(
		expect.objectContaining({ code: "conflicting_options" }),
	);
});

/** A journal whose only worker died after it committed these entries. */
function cutOff(entries: readonly Entry[]): MemoryJournal {
	const journal = memoryJournal({ workerId: "dead" });
	const acquired = journal.acquire("s");
	if (acquired instanceof Promise || !acquired.ok) throw new Error("a new session is free");
	for (const { at, runId, fact } of entries) acquired.lease.append({ at, runId, facts: [fact] });
	journal.die();
	return journal.worker("next");
}

test.each<[string, readonly string[], object]>([
	["in the end is right", [wrong, wrong, right], { outcome: "completed", output: found }],
	["is wrong to the end", [wrong, wrong, wrong], { outcome: "error", error: { code: "output_invalid" } }],
])(
	"in a session whose answer %s, it ends the same after a crash at any entry",
	async (_, script, expected) => {
		const answer = ({ messages }: { readonly messages: readonly unknown[] }): string =>
			script[lines(messages as never).filter((line) => line.startsWith("assistant: ")).length] ?? "too many";
		const journal = memoryJournal();
		const alone = new Agent({ model: scriptedModel(answer), output, host: journalHost(journal) });
		const run = await alone.session("s").send("go");
		const events = [];
		for await (const event of run.events()) events.push(event);
		const ended = await run.result();
		expect(ended).toMatchObject(expected);
		expect(events.at(-1)).toMatchObject(
			ended.outcome === "completed" ? { type: "turn-end", output: found } : { type: "turn-error" },
		);
		const entries = await journal.read("s");
		const checks = (all: readonly Entry[]) =>
			all.flatMap(({ fact }) => (fact.kind === "decision" ? [fact.answer] : []));
		expect(checks(entries)).toHaveLength(3);
		for (let kept = 2; kept < entries.length; kept++) {
			const over = cutOff(entries.slice(0, kept));
			const next = new Agent({ model: scriptedModel(answer), output, host: journalHost(over) });
			const resumed = await (await next.session("s").resume())?.result();
			expect(resumed, `cut after entry ${kept}`).toMatchObject(expected);
			expect(checks(await over.read("s"))).toEqual(checks(entries));
			await next.close();
		}
		await alone.close();
	},
);

test("a follower that does not have the agent sees the output at the end of the run", async () => {
	const one = new Agent({ model: scriptedModel([right]), output });
	const session = one.session("s");
	await (await session.send("go")).result();
	const ends = [];
	for await (const { event } of session.follow({ until: "complete" }))
		if (event.type === "run_end") ends.push(event.output);
	expect(ends).toEqual([found]);
	await one.close();
});

test("policy may remove parts of an output that must not be recorded, but cannot make a wrong output right", async () => {
	const changing = (answer: (given: unknown) => unknown): Interceptor => ({
		name: "changing",
		begin: () => ({
			admits: ["decision"],
			admit: (fact) =>
				fact.kind === "decision" ? { fact: { ...fact, answer: answer(fact.answer) } } : undefined,
		}),
	});
	const redact = changing((given) => ({ ...(given as object), value: { city: "[redacted]" } }));
	const redacted = agent({ model: scriptedModel([right]), output, middleware: [redact] });
	expect((await redacted.generate("go")).output).toEqual({ city: "[redacted]" });
	const lie = changing(() => ({ ok: true, value: found }));
	const lying = agent({ model: scriptedModel([wrong]), output, middleware: [lie] });
	await expect(lying.generate("go")).rejects.toMatchObject({ code: "policy_invalid" });
});

test("an execution streams a structured answer as text, and its result has the output", async () => {
	const context = { messages: [], tools: [anyTool("look", () => "21")] };
	const model = scriptedModel([
		{ text: wrong, deltas: 3 },
		{ text: right, deltas: 4 },
	]);
	const stream = execute(createSession("s", context, { model, output }), "go");
	const said: string[] = [];
	for await (const event of stream) if (event.type === "text_delta") said.push(event.delta);
	expect(said).toHaveLength(7);
	expect(await stream.result()).toMatchObject({ status: "completed", output: found });
	const failing = scriptedModel(["no", "no"]);
	const refused = createSession("t", {}, { model: failing, output, outputRepairs: 1 });
	expect(await execute(refused, "go").result()).toMatchObject({
		status: "error",
		error: { code: "output_invalid" },
	});
});

test("the partial text of a structured answer that failed is shown with the end of the run", async () => {
	const model = scriptedModel([{ text: '{"city":', error: new Error("the line is cut") }]);
	const one = new Agent({ model, output });
	const run = await one.session("s").send("go");
	const partial: string[] = [];
	for await (const event of run.watch())
		if (event.type === "run_end") partial.push(event.partial?.text ?? "");
	expect(partial).toEqual(['{"city":']);
	await one.close();
});
