import { join } from "node:path";
import { scriptedModel } from "@holdfast/testing";
import { SpanKind, SpanStatusCode } from "@opentelemetry/api";
import * as conventions from "@opentelemetry/semantic-conventions/incubating";
import fc from "fast-check";
import { Agent, type AnyTool, memoryHost } from "holdfast";
import { foldHistory } from "holdfast/host";
import { sqliteHost } from "holdfast/sqlite";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../test/shared/temporary-folder.fixture.ts";
import { outline, Telemetry } from "./observed.fixture.ts";

const parameters = { type: "object" as const, properties: { key: { type: "string" as const } } };
const look: AnyTool = {
	name: "look",
	description: "Looks.",
	parameters,
	run: () => "It is sk-proj-4fK2mQ9xT7vB1nL8zR3wY6cH5jD0sGaPe1.",
};
const secretWords = "My address is ann@example.com.";

function clerk(options: Partial<ConstructorParameters<typeof Agent>[0]> = {}): Agent {
	return new Agent({
		name: "clerk",
		model: scriptedModel((_, call) =>
			call % 2 === 0
				? { toolCalls: [{ name: "look", arguments: { key: "hunter2hunter2" } }] }
				: "Done, ann@example.com.",
		),
		tools: [look],
		...options,
	} as ConstructorParameters<typeof Agent>[0]);
}

async function turn(agent: Agent, key: string): Promise<void> {
	await (await agent.session(key).send(secretWords)).result();
}

test("a turn is a trace of its agent, its model's answers and its tools' calls", async () => {
	const host = memoryHost();
	const agent = clerk({ host });
	const telemetry = new Telemetry();
	await turn(agent, "ticket-7");
	await telemetry.observe(host).close();
	const { spans } = telemetry;
	expect(outline(spans).toSorted()).toEqual([
		"chat scripted < invoke_agent clerk",
		"chat scripted < invoke_agent clerk",
		"execute_tool look < invoke_agent clerk",
		"invoke_agent clerk < -",
	]);
	expect(new Set(spans.map((span) => span.spanContext().traceId)).size).toBe(1);
	const called = spans.find(({ name }) => name === "execute_tool look");
	expect(called?.attributes).toMatchObject({
		"gen_ai.operation.name": "execute_tool",
		"gen_ai.tool.name": "look",
		"gen_ai.conversation.id": "ticket-7",
		"holdfast.tool.outcome": "done",
	});
	const said = spans.find(({ name }) => name === "chat scripted");
	expect(said?.kind).toBe(SpanKind.CLIENT);
	expect(said?.attributes).toMatchObject({
		"gen_ai.operation.name": "chat",
		"gen_ai.request.model": "scripted",
	});
	expect(spans.at(-1)?.attributes).toMatchObject({
		"gen_ai.agent.name": "clerk",
		"holdfast.run.outcome": "completed",
	});
});

test("spans lie within the time of the events they report", async () => {
	const host = memoryHost();
	const telemetry = new Telemetry();
	const before = Date.now();
	await turn(clerk({ host }), "s");
	const after = Date.now();
	await telemetry.observe(host).close();
	const ms = ([seconds, nanoseconds]: readonly [number, number]): number => seconds * 1e3 + nanoseconds / 1e6;
	for (const { startTime, endTime } of telemetry.spans) {
		// A model's duration is a fraction of a millisecond longer than the clock of commits shows.
		expect(ms(startTime)).toBeGreaterThanOrEqual(before - 1);
		expect(ms(endTime)).toBeGreaterThanOrEqual(ms(startTime));
		expect(ms(endTime)).toBeLessThanOrEqual(after);
	}
});

test("names follow the conventions, or start with holdfast", async () => {
	const host = memoryHost();
	const telemetry = new Telemetry();
	await turn(clerk({ host }), "s");
	await telemetry.observe(host, { content: {} }).close();
	const known = new Set<unknown>(Object.values(conventions));
	const names = telemetry.spans.flatMap(({ attributes }) => Object.keys(attributes));
	const metrics = [...(await telemetry.metrics()).keys()].map((name) => name.split(" ")[0]);
	expect(metrics).toContain("gen_ai.client.token.usage");
	for (const name of [...names, ...metrics])
		expect(name?.startsWith("holdfast.") || known.has(name), name).toBe(true);
});

describe("message content", () => {
	test("is not exported by default", async () => {
		const host = memoryHost();
		const telemetry = new Telemetry();
		await turn(clerk({ host }), "s");
		await telemetry.observe(host).close();
		const reported = JSON.stringify([
			telemetry.spans.map(({ name, attributes, events, status }) => ({ name, attributes, events, status })),
			telemetry.lines,
			[...(await telemetry.metrics()).keys()],
		]);
		for (const words of ["ann@", "Done", "sk-proj", "hunter2"]) expect(reported).not.toContain(words);
	});

	test("is masked and cut if it is requested", async () => {
		const host = memoryHost();
		const telemetry = new Telemetry();
		await turn(clerk({ host }), "s");
		await telemetry.observe(host, { content: { secrets: ["hunter2hunter2"], maxTextLength: 30 } }).close();
		const attributes = telemetry.spans.map((span) => span.attributes);
		const reported = JSON.stringify([attributes, telemetry.lines]);
		expect(reported).toContain("[REDACTED:email]");
		expect(reported).toContain("[REDACTED:secret]");
		for (const words of ["ann@", "hunter2", "sk-proj"]) expect(reported).not.toContain(words);
		const heard = attributes.find((each) => each["gen_ai.input.messages"] !== undefined);
		expect(JSON.parse(String(heard?.["gen_ai.input.messages"]))).toEqual([
			{
				role: "user",
				parts: [
					{ type: "text", content: "My address is [REDACTED:email].".slice(0, 30) + "… (1 more characters)" },
				],
			},
		]);
	});
});

test("a waiting run has one part before and one after, linked, in one trace, and nothing in between", async () => {
	const host = memoryHost();
	const agent = clerk({ host, tools: [{ name: "look", description: "Looks.", parameters }] });
	const telemetry = new Telemetry();
	const session = agent.session("s");
	const { pending = [] } = await (await session.send("Hello")).result();
	const run = await session.answer(pending.map(({ toolCallId }) => ({ toolCallId, output: "seen" })));
	await run?.result();
	await telemetry.observe(host).close();
	const [first, second] = telemetry.spans.filter(({ name }) => name === "invoke_agent clerk");
	expect(first?.attributes["holdfast.run.outcome"]).toBe("waiting");
	expect(first?.events.map(({ name }) => name)).toEqual(["holdfast.waiting"]);
	expect(second?.links.map(({ context }) => context.spanId)).toEqual([first?.spanContext().spanId]);
	expect(second?.parentSpanContext?.spanId).toBe(first?.spanContext().spanId);
	expect(second?.spanContext().traceId).toBe(first?.spanContext().traceId);
	expect(telemetry.lines.map(({ message }) => message)).toContain("run waits");
});

test("a failed run has its code, and so does its line", async () => {
	const host = memoryHost();
	const telemetry = new Telemetry();
	await turn(clerk({ host, model: scriptedModel([]) }), "s");
	await telemetry.observe(host).close();
	const [failed] = telemetry.spans;
	expect(failed?.status.code).toBe(SpanStatusCode.ERROR);
	expect(failed?.attributes["error.type"]).toBe("INVALID_REQUEST");
	const line = telemetry.lines.find(({ message }) => message === "run ended");
	expect(line).toMatchObject({ level: "error", fields: { code: "INVALID_REQUEST", sessionKey: "s" } });
});

test("each line has the ids of its session, run, trace and span", async () => {
	const host = memoryHost();
	const telemetry = new Telemetry();
	await turn(clerk({ host }), "s");
	await telemetry.observe(host).close();
	const spanIds = telemetry.spans.map((span) => span.spanContext().spanId);
	const [span] = telemetry.spans;
	expect(telemetry.lines.map(({ message }) => message)).toEqual([
		"run started",
		"model answered",
		"tool started",
		"tool ended",
		"model answered",
		"run ended",
	]);
	for (const { fields } of telemetry.lines) {
		expect(fields).toMatchObject({ sessionKey: "s", agent: "clerk", trace_id: span?.spanContext().traceId });
		expect(fields.runId).toBe(span?.attributes["holdfast.run.id"]);
		expect(spanIds).toContain(fields.span_id);
	}
});

describe("a sub-agent", () => {
	const worker = () =>
		new Agent({ name: "worker", description: "Works.", model: scriptedModel(() => "I worked.") });

	test("that blocks its parent works within the parent's call", async () => {
		const host = memoryHost();
		const telemetry = new Telemetry();
		const agent = new Agent({
			name: "clerk",
			model: scriptedModel([
				{ toolCalls: [{ name: "delegate_to_worker", arguments: { prompt: "Work.", description: "work" } }] },
				"Done.",
			]),
			subagents: [worker()],
			host,
		});
		await turn(agent, "s");
		await telemetry.observe(host).close();
		expect(outline(telemetry.spans)).toContain("invoke_agent worker < execute_tool delegate_to_worker");
		expect(new Set(telemetry.spans.map((span) => span.spanContext().traceId)).size).toBe(1);
		const inner = telemetry.spans.find(({ name }) => name === "invoke_agent worker");
		expect(String(inner?.attributes["gen_ai.conversation.id"])).not.toContain("\u0000");
	});

	test("that works in the background has its own trace, linked to the call", async () => {
		const host = memoryHost();
		const telemetry = new Telemetry();
		const agent = new Agent({
			name: "clerk",
			model: scriptedModel((_, call) =>
				call === 0
					? {
							toolCalls: [
								{
									name: "delegate_to_worker",
									arguments: { prompt: "Work.", description: "work", run_in_background: true },
								},
							],
						}
					: "Done.",
			),
			subagents: [worker()],
			host,
		});
		const observer = telemetry.observe(host);
		await turn(agent, "s");
		await expect.poll(() => telemetry.spans.some(({ name }) => name === "invoke_agent worker")).toBe(true);
		await agent.close();
		await observer.close();
		const inner = telemetry.spans.find(({ name }) => name === "invoke_agent worker");
		const call = telemetry.spans.find(({ name }) => name === "execute_tool delegate_to_worker");
		expect(inner?.links.map(({ context }) => context.spanId)).toEqual([call?.spanContext().spanId]);
		expect(inner?.spanContext().traceId).not.toBe(call?.spanContext().traceId);
	});
});

test("the history that a fork started with is not reported again", async () => {
	const host = memoryHost();
	const agent = clerk({ host });
	await turn(agent, "s");
	await agent.session("s").fork("t");
	await turn(agent, "t");
	const telemetry = new Telemetry();
	await telemetry.observe(host).close();
	const runs = telemetry.spans.filter(({ name }) => name === "invoke_agent clerk");
	expect(runs.map(({ attributes }) => attributes["gen_ai.conversation.id"]).toSorted()).toEqual(["s", "t"]);
});

describe("an observer", () => {
	test("that is closed and followed by another, at any time, reports together with it everything once", async () => {
		await fc.assert(
			fc.asyncProperty(fc.array(fc.constantFrom("step", "restart"), { maxLength: 8 }), async (doings) => {
				const host = memoryHost();
				let held = Promise.withResolvers<void>();
				const agent = clerk({
					host,
					tools: [{ ...look, run: () => held.promise.then(() => "seen") }],
				});
				const telemetry = new Telemetry();
				let observer = telemetry.observe(host);
				for (const [index, doing] of doings.entries()) {
					if (doing === "restart") {
						await observer.close();
						observer = telemetry.observe(host, { from: "last" });
						continue;
					}
					// Every second turn is closed over while its tool runs.
					held = Promise.withResolvers();
					const run = await agent.session(`s${index % 2}`).send("go");
					for await (const event of run.watch()) if (event.type === "tool_start") break;
					if (index % 2 === 0) {
						await observer.close();
						observer = telemetry.observe(host, { from: "last" });
					}
					held.resolve();
					await run.result();
				}
				await observer.close();
				const alone = new Telemetry();
				await alone.observe(host, { name: "alone" }).close();
				expect([...telemetry.problems, ...alone.problems]).toEqual([]);
				const ids = (each: Telemetry) =>
					each.spans.map((span) => `${span.name} ${span.spanContext().traceId} ${span.spanContext().spanId}`);
				expect([...new Set(ids(telemetry))].toSorted()).toEqual(ids(alone).toSorted());
				expect(telemetry.lines.map(({ message }) => message).toSorted()).toEqual(
					alone.lines.map(({ message }) => message).toSorted(),
				);
				const counts = async (each: Telemetry) =>
					[...(await each.metrics())].map(([name, { count }]) => `${name} ${count}`).toSorted();
				expect(await counts(telemetry)).toEqual(await counts(alone));
				await agent.close();
			}),
			{ numRuns: 20 },
		);
	});

	test("skips an unreadable session, and names it", async () => {
		const path = join(temporaryFolder(), "host.db");
		const before = sqliteHost(path);
		const agent = clerk({ host: before });
		for (const key of ["a", "b", "c"]) await turn(agent, key);
		await agent.close();
		await before.close();
		const { DatabaseSync } = await import("node:sqlite");
		const database = new DatabaseSync(path);
		database.exec("UPDATE entries SET body = '{' WHERE session = (SELECT id FROM sessions WHERE key = 'b')");
		database.close();
		const host = sqliteHost(path);
		const telemetry = new Telemetry();
		await telemetry.observe(host).close();
		await host.close();
		const reported = telemetry.spans.map(({ attributes }) => attributes["gen_ai.conversation.id"]);
		expect(new Set(reported)).toEqual(new Set(["a", "c"]));
		expect(telemetry.problems).toMatchObject([{ key: "b", error: { code: "journal_corrupt" } }]);
	});

	test("continues when sessions are compacted and deleted while it runs", async () => {
		const host = sqliteHost(join(temporaryFolder(), "host.db"));
		const agent = clerk({ host });
		for (let index = 0; index < 5; index++) await turn(agent, "a");
		const telemetry = new Telemetry();
		const observer = telemetry.observe(host, { from: "start" });
		await foldHistory(host.journal, "a", { before: Date.now() + 1_000 });
		await turn(agent, "b");
		await agent.session("b").delete();
		await turn(agent, "a");
		await turn(agent, "b");
		await agent.close();
		await observer.close();
		await host.close();
		expect(telemetry.problems).toEqual([]);
		const ended = telemetry.lines.filter(({ message }) => message === "run ended");
		expect(ended.at(-1)?.fields.sessionKey).toBe("b");
	});

	test("ends with a reason when the store fails while it runs", async () => {
		const host = memoryHost();
		const telemetry = new Telemetry();
		const failing = {
			...host,
			changes: {
				...host.changes,
				position: () => host.changes.position(),
				watch: host.changes.watch.bind(host.changes),
				read: () => Promise.reject(new Error("no disk")),
			},
		};
		const observer = telemetry.observe(failing);
		await observer.ended;
		await observer.close();
		expect(telemetry.problems).toMatchObject([{ error: { message: "no disk" } }]);
	});
});
