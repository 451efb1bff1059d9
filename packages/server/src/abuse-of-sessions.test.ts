// Bad input on the real service: whatever is sent, the answer has a code, nothing fails inside, and a good request is
// answered as before.
import fc from "fast-check";
import { expect, test } from "vitest";
import { everyField } from "./every-field.fixture.ts";
import { statusByCode } from "./http/errors.ts";
import { say, serveScript } from "./served.fixture.ts";
import type { RequestLogEntry } from "./telemetry/log.ts";

// Thousands of requests take their time on a busy machine.
const anything = fc.anything({ maxDepth: 2, withBigInt: false });
/** Mostly what is right, sometimes anything. */
const nearly = (right: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
	fc.oneof({ weight: 12, arbitrary: right }, { weight: 1, arbitrary: anything });
const text = fc.oneof(fc.string({ maxLength: 30 }), fc.string({ unit: "binary", maxLength: 10 }));
const part = fc.oneof(
	fc.record({ type: nearly(fc.constant("text")), text: nearly(text) }),
	fc.record({
		type: nearly(fc.constant("image")),
		image: nearly(fc.constantFrom("iVBORw0KGgo=", "https://example.com/a.png", "file:///etc/passwd")),
		mediaType: nearly(fc.constantFrom("image/png", "")),
	}),
	fc.record({
		type: nearly(fc.constant("file")),
		data: nearly(text),
		mediaType: nearly(fc.constant("application/pdf")),
	}),
	fc.record({ type: fc.constantFrom("thinking", "toolCall", "__proto__"), thinking: nearly(text) }),
);
const user = fc.record({
	role: nearly(fc.constant("user")),
	content: nearly(fc.oneof(text, fc.array(part, { minLength: 1, maxLength: 3 }))),
});
const call = fc.record({
	type: nearly(fc.constant("toolCall")),
	id: nearly(fc.constantFrom("call-1", "call-2", "")),
	name: nearly(fc.constantFrom("look", "none")),
	arguments: nearly(fc.dictionary(text, text, { maxKeys: 2 })),
});
const message = fc.oneof(
	user,
	fc.record(
		{
			role: nearly(fc.constant("assistant")),
			id: nearly(text),
			content: nearly(fc.array(fc.oneof(part, call), { maxLength: 3 })),
			model: nearly(text),
			stopReason: nearly(fc.constantFrom("stop", "length", "tool_calls")),
			usage: nearly(fc.constant({ inputTokens: 1, outputTokens: 1, totalTokens: 2 })),
			timestamp: nearly(fc.nat()),
		},
		{ requiredKeys: ["role", "content"] },
	),
	fc.record({
		role: nearly(fc.constant("tool")),
		toolCallId: nearly(fc.constantFrom("call-1", "call-2", "call-9")),
		toolName: nearly(fc.constantFrom("look", "none")),
		output: nearly(text),
		isError: nearly(fc.boolean()),
		timestamp: nearly(fc.nat()),
	}),
	fc.record({
		role: fc.constantFrom("error", "aborted", "system"),
		error: nearly(text),
		code: nearly(text),
		partial: nearly(fc.constant(undefined)),
		timestamp: nearly(fc.nat()),
	}),
);
const answer = fc.oneof(
	fc.record({
		role: nearly(fc.constant("tool")),
		toolCallId: nearly(fc.constantFrom("call_0_0", "call-1")),
		output: nearly(text),
	}),
	fc.record({
		role: nearly(fc.constant("approval")),
		toolCallId: nearly(fc.constantFrom("call_0_0", "call-1")),
		approved: nearly(fc.boolean()),
	}),
);
const schema = fc.record(
	{
		type: nearly(fc.constantFrom("object", "object", "odd")),
		properties: nearly(fc.dictionary(text, anything, { maxKeys: 3 })),
		required: nearly(fc.array(text, { maxLength: 2 })),
		$ref: nearly(fc.constantFrom("#", "#/properties/x", "http://evil.example/schema")),
		pattern: nearly(fc.constantFrom("(", "a+", "(a+)+$")),
	},
	{ requiredKeys: [] },
);
const tool = fc.record(
	{
		name: nearly(fc.constantFrom("look", "find", "a b", "")),
		label: nearly(text),
		description: nearly(text),
		parameters: nearly(schema),
	},
	{ requiredKeys: ["name"] },
);
const body = fc.record(
	{
		sessionId: nearly(fc.constantFrom("a", "b", "c", "d", undefined)),
		input: nearly(
			fc.oneof({ weight: 3, arbitrary: user }, fc.array(answer, { maxLength: 2 }), fc.constant(say("Hi."))),
		),
		context: nearly(
			fc.record(
				{
					systemPrompt: nearly(text),
					messages: nearly(fc.array(nearly(message), { maxLength: 4 })),
					tools: nearly(fc.array(nearly(tool), { maxLength: 3 })),
				},
				{ requiredKeys: [] },
			),
		),
		options: nearly(
			fc.record(
				{
					model: nearly(fc.constant("scripted")),
					temperature: nearly(fc.double()),
					maxTokens: nearly(fc.nat()),
				},
				{ requiredKeys: [] },
			),
		),
	},
	{ requiredKeys: ["input", "context"] },
);

const uiPart = fc.oneof(
	fc.record({ type: nearly(fc.constant("text")), text: nearly(text) }),
	fc.record({ type: fc.constant("step-start") }),
	fc.record({
		type: nearly(fc.constant("file")),
		url: nearly(fc.constantFrom("data:image/png;base64,iVBORw0KGgo=", "https://example.com/a.png")),
		mediaType: nearly(fc.constantFrom("image/png", "application/pdf")),
		filename: nearly(text),
	}),
	fc.record(
		{
			type: nearly(fc.constant("tool-look")),
			toolCallId: nearly(fc.constantFrom("call_0_0", "call-1")),
			state: nearly(fc.constantFrom("output-available", "output-error", "approval-responded")),
			output: anything,
			errorText: nearly(text),
			approval: nearly(fc.record({ id: nearly(text), approved: nearly(fc.boolean()), reason: nearly(text) })),
		},
		{ requiredKeys: ["type", "toolCallId", "state"] },
	),
);
const chatBody = fc.record(
	{
		id: nearly(fc.constantFrom("a", "b")),
		trigger: nearly(fc.constant("submit-message")),
		messageId: fc.constantFrom(undefined, undefined, "m"),
		messages: nearly(
			fc.array(
				fc.record({
					id: nearly(fc.constant("m")),
					role: nearly(fc.constantFrom("user", "user", "assistant")),
					parts: nearly(fc.array(uiPart, { minLength: 1, maxLength: 3 })),
				}),
				{ minLength: 1, maxLength: 2 },
			),
		),
	},
	{ requiredKeys: ["id", "messages"] },
);
const agUiBody = fc.record(
	{
		threadId: nearly(fc.constantFrom("a", "c")),
		runId: nearly(fc.uuid()),
		messages: nearly(
			fc.array(
				fc.record(
					{
						id: nearly(text),
						role: nearly(fc.constantFrom("user", "user", "tool")),
						content: nearly(
							fc.oneof(
								text,
								fc.array(fc.record({ type: fc.constant("text"), text: nearly(text) }), { maxLength: 2 }),
							),
						),
						toolCallId: nearly(fc.constant("call-1")),
						error: nearly(text),
					},
					{ requiredKeys: ["role", "content"] },
				),
				{ minLength: 1, maxLength: 2 },
			),
		),
		tools: nearly(fc.array(nearly(tool), { maxLength: 2 })),
		resume: nearly(
			fc.array(
				fc.record({ interruptId: nearly(text), status: nearly(fc.constant("resolved")), payload: anything }),
				{ maxLength: 1 },
			),
		),
	},
	{ requiredKeys: ["threadId", "runId", "messages"] },
);

test("almost valid bodies get a clear answer, and a valid one is answered as before", async () => {
	const logged: RequestLogEntry[] = [];
	const served = serveScript(() => "Fine.", {
		log: (entry) => logged.push(entry),
		serving: { clientsMaySet: everyField },
	});
	let streamed = 0;
	const asked = fc.oneof(
		fc.tuple(fc.constantFrom("agent/execute", "agent/session/a/approve", "agent/session/a/deny"), body),
		fc.tuple(fc.constant("chat"), chatBody),
		fc.tuple(fc.constant("ag-ui"), agUiBody),
	);
	await fc.assert(
		fc.asyncProperty(asked, async ([route, value]) => {
			const response = await served.post(`/api/${route}`, value);
			const answer = await response.text();
			if (response.status === 200) {
				streamed++;
				expect(answer).toMatch(/("execute_complete".*|"RUN_FINISHED".*|"RUN_ERROR".*|\[DONE\])\n\n$/);
				return;
			}
			const { code } = JSON.parse(answer) as { code: string };
			expect(statusByCode.get(code), answer).toBe(response.status);
			expect(code, `${answer} for ${JSON.stringify(value)}`).not.toBe("internal_error");
			expect(JSON.stringify(logged.filter(({ type }) => type === "error"))).toBe("[]");
		}),
		{ numRuns: 3_000 },
	);
	// Not everything was refused at the door.
	expect(streamed).toBeGreaterThan(20);
	for (const id of ["a", "b", "c", "d", "new"]) {
		const events = await served.run({ sessionId: id, input: say("Hello."), context: {} });
		expect(events.at(-1)?.event).toEqual({ type: "execute_complete", status: "completed" });
		expect((await served.session(id)).status).toBe("completed");
	}
	await served.close();
});
