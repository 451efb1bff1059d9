// What is really answered has the shapes that the OpenAPI document describes, and no member more.
import { UPPError } from "@holdfast/upp";
import { tool } from "holdfast";
import { expect, test } from "vitest";
import { z } from "zod";
import { say, serveScript } from "../served.fixture.ts";
import { readSse } from "../sse.fixture.ts";
import { schemas } from "./schemas.ts";

/** The shapes for a validator that finds references in `$defs`, each object without members it does not name. */
function strict(schema: unknown): unknown {
	if (Array.isArray(schema)) return schema.map(strict);
	if (typeof schema !== "object" || schema === null) return schema;
	const copy = Object.fromEntries(
		Object.entries(schema).map(([name, value]) =>
			name === "$ref"
				? [name, String(value).replace("#/components/schemas/", "#/$defs/")]
				: [name, strict(value)],
		),
	);
	// Shapes that are put together out of others know their members only together.
	if ("allOf" in copy) return merged(copy.allOf as readonly Record<string, unknown>[]);
	return "properties" in copy ? { ...copy, additionalProperties: false } : copy;
}

function merged(parts: readonly Record<string, unknown>[]): unknown {
	const whole = parts.map((part) =>
		typeof part.$ref === "string" ? strict(schemas[part.$ref.replace("#/$defs/", "")]) : part,
	) as { readonly required?: readonly string[]; readonly properties?: object }[];
	return {
		type: "object",
		required: whole.flatMap(({ required = [] }) => required),
		properties: Object.assign({}, ...whole.map(({ properties }) => properties)),
		additionalProperties: false,
	};
}

function shapeOf(name: string): z.ZodType {
	const schema = { $ref: `#/$defs/${name}`, $defs: strict(schemas) };
	return z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]);
}

const shapes = { Event: shapeOf("Event"), Session: shapeOf("Session"), SessionPage: shapeOf("SessionPage") };

function expectShape(name: keyof typeof shapes, value: unknown): void {
	const { success, error } = shapes[name].safeParse(value);
	expect(success, `${JSON.stringify(value)} is no ${name}: ${error?.message}`).toBe(true);
}

test("events, sessions and pages match the document, for every kind of run", async () => {
	const look = tool({
		name: "look",
		description: "Looks.",
		parameters: { type: "object" },
		async *run() {
			yield { type: "delta", delta: "see" };
			yield { type: "complete", output: "seen", details: { count: 1 } };
		},
	} as unknown as Parameters<typeof tool>[0]);
	const fails = tool({
		name: "fails",
		description: "Fails.",
		parameters: { type: "object" },
		run: () => {
			throw new Error("No.");
		},
	});
	const pay = tool({
		name: "pay",
		description: "Pays.",
		parameters: { type: "object" },
		needsApproval: true,
		run: () => "paid",
	} as Parameters<typeof tool>[0]);
	const served = serveScript(
		[
			{
				reasoning: "Hm.",
				text: "First.",
				toolCalls: [{ name: "look" }, { name: "fails" }, { name: "ask" }, { name: "pay" }],
			},
			"Done.",
			{ text: "Half", error: new Error("The model broke.") },
			{ error: new UPPError("Busy.", "RATE_LIMITED", "scripted", "llm", 429) },
			"After a while.",
			{ text: "never", gate: new Promise(() => {}) },
		],
		{
			tools: [look, fails, pay],
			agent: { modelWait: { firstMs: 1 } },
			serving: { remoteToolTimeoutMs: 60_000, clientsMaySet: ["tools"] },
		},
	);
	const received: unknown[] = [];
	const keep = (events: readonly { readonly event: unknown }[]): void =>
		void received.push(...events.map(({ event }) => event));
	const session = async (): Promise<Awaited<ReturnType<typeof served.session>>> => {
		const found = await served.session("s");
		expectShape("Session", found);
		return found;
	};
	const ask = { name: "ask", description: "Asks.", parameters: { type: "object" } };
	keep(await served.run({ sessionId: "s", input: say("Go."), context: { tools: [ask] } }));
	const calls = (await session()).pendingToolCalls ?? [];
	expect(calls.map(({ name }) => name).sort()).toEqual(["ask", "pay"]);
	const idOf = (wanted: string): string => calls.find(({ name }) => name === wanted)?.id as string;
	const answer = [{ role: "tool", toolCallId: idOf("ask"), output: "blue", details: { sure: true } }];
	keep(await served.run({ sessionId: "s", input: answer }));
	const approved = await served.post("/api/agent/session/s/approve", {
		toolCallId: idOf("pay"),
		reason: "Fine.",
	});
	keep(await readSse(approved).rest());
	await session();
	keep(await served.run({ sessionId: "s", input: say("Again.") }));
	await session();
	keep(await served.run({ sessionId: "s", input: say("And wait.") }));
	const stopped = await served.begin({
		sessionId: "s",
		input: { role: "user", content: [{ type: "text", text: "And again." }] },
	});
	keep([(await stopped.next()) as { event: unknown }]);
	await session();
	// The reply that never comes is this run's, not the next one's.
	await expect.poll(() => served.model.requests.length).toBe(6);
	await served.post("/api/agent/session/s/stop");
	keep(await stopped.rest());
	const { messages, lastEventId } = await session();
	const asked = messages.findLast(({ role }) => role === "user");
	const edited = { id: asked?.id, role: "user", parts: [{ type: "text", text: "Something else." }] };
	const answered = await served.post("/api/chat", { id: "s", messages: [edited], messageId: asked?.id });
	await answered.text();
	keep(await readSse(await served.get(`/api/agent/session/s/events?after=${lastEventId}`)).rest());
	await session();
	for (const event of received) expectShape("Event", event);
	const types = new Set(received.map((event) => (event as { type: string }).type));
	const { oneOf } = schemas.Event as {
		readonly oneOf: readonly { properties: { type: { const: string } } }[];
	};
	const described = oneOf.map(({ properties }) => properties.type.const);
	expect([...types].sort()).toEqual(described.sort());
	expectShape("SessionPage", await (await served.get("/api/agent/sessions")).json());
	expect(shapes.Event.safeParse({ type: "text_delta", delta: "x", more: 1 }).success).toBe(false);
	await served.close();
});
