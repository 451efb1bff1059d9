// The model port: whatever a provider answers, an accepted answer can be stored and read back, and every other one is an
// error with a code.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { changed, garbage, nested, pathsOf } from "../../../../test/shared/garbage.fixture.ts";
import { isHoldfastError } from "../errors/index.ts";
import { AssistantMessage, UserMessage } from "../messages/index.ts";
import {
	type BoundLLMModel,
	createProvider,
	type LLMCapabilities,
	type LLMResponse,
	type ModelReference,
	type Provider,
} from "../model/index.ts";
import { expectReadable } from "../model/readable.fixture.ts";
import type { StreamEvent } from "../stream/index.ts";
import { bindModel } from "./bind.ts";
import { llm } from "./llm.ts";

const capabilities: LLMCapabilities = {
	streaming: true,
	tools: true,
	structuredOutput: true,
	imageInput: false,
	videoInput: false,
	audioInput: false,
};

/** A model that returns these answers, by itself or through the port's own functions. */
function answering(
	answer: () => unknown,
	made: "by createProvider" | "by hand",
	events: readonly unknown[] = [],
): ModelReference {
	const bind = (modelId: string): BoundLLMModel => ({
		modelId,
		capabilities,
		complete: async () => answer() as LLMResponse,
		stream: () => ({
			response: Promise.resolve(answer() as LLMResponse),
			async *[Symbol.asyncIterator]() {
				yield* events as readonly StreamEvent[];
			},
		}),
	});
	const options = { name: "odd", version: "1", modalities: { llm: { bind } } };
	if (made === "by createProvider") return createProvider(options)("m");
	const { name, ...rest } = options;
	const provider = Object.defineProperty(
		Object.assign(() => {}, rest),
		"name",
		{ value: name },
	);
	return { modelId: "m", provider: provider as unknown as Provider };
}

/** Every way to ask a model for one answer. */
const ways: Readonly<Record<string, (reference: ModelReference) => Promise<LLMResponse>>> = {
	"a whole answer": (model) => {
		const binding = bindModel({ model });
		return binding.model.complete(binding.request([new UserMessage("x")]));
	},
	"a streamed answer": (model) => {
		const binding = bindModel({ model });
		return binding.model.stream(binding.request([new UserMessage("x")])).response;
	},
	"an answer with a time limit": (model) => {
		const binding = bindModel({ model, config: { timeout: 60_000 } });
		return binding.model.stream(binding.request([new UserMessage("x")])).response;
	},
};

const valid = (): Record<string, any> => ({
	message: {
		id: "m1",
		timestamp: new Date(0),
		metadata: { acme: { signature: "s" } },
		content: [
			{ type: "reasoning", text: "hm", metadata: { acme: { id: 1 } } },
			{ type: "text", text: "Hello." },
			{ type: "image", source: { type: "bytes", data: new Uint8Array([1]) }, mimeType: "image/png" },
			{ type: "document", source: { type: "url", url: "http://x.test" }, mimeType: "text/html", title: "X" },
			{ type: "audio", data: new Uint8Array([2]), mimeType: "audio/mp3", duration: 1 },
			{ type: "binary", data: new Uint8Array([3]), mimeType: "application/zip" },
		],
		toolCalls: [
			{ toolCallId: "c1", toolName: "add", arguments: { a: 1, b: [{ c: null }] }, metadata: { acme: {} } },
			{ toolCallId: "c2", toolName: "add", arguments: {}, after: ["c1"], invalidArguments: "{" },
		],
	},
	usage: { inputTokens: 1, outputTokens: 2, totalTokens: 3, cacheReadTokens: 0, cacheWriteTokens: 0 },
	stopReason: "tool_calls",
	data: { steps: ["a"] },
});

/** The answer with its message as a Message, if it is an object at all. */
function built(parts: any): unknown {
	if (typeof parts !== "object" || parts === null) return parts;
	const { message } = parts;
	if (typeof message !== "object" || message === null || Array.isArray(message)) return parts;
	const made = new AssistantMessage([]);
	for (const name of ["id", "timestamp", "metadata", "content", "toolCalls"]) {
		const given = Object.getOwnPropertyDescriptor(message, name);
		if (given !== undefined) Object.defineProperty(made, name, given);
	}
	return { ...parts, message: made };
}

const altered = (path: readonly string[], value: unknown) => built(changed(valid(), path, value));

const answers = fc.oneof(
	{
		weight: 5,
		arbitrary: fc
			.tuple(fc.constantFrom(...pathsOf(valid())), garbage)
			.map(([path, value]) => altered(path, value)),
	},
	garbage,
	garbage.map((message) => ({ ...valid(), message })),
);

describe.each(Object.entries(ways))("%s", (_, ask) => {
	test.each(["by createProvider", "by hand"] as const)(
		"of a provider %s passes unchanged if it is valid",
		async (made) => {
			const given = built(valid()) as LLMResponse;
			const response = await ask(answering(() => given, made));
			expect(response).toEqual(given);
			expect(response.message).toBe(given.message);
		},
	);

	test.each(["by createProvider", "by hand"] as const)(
		"of a provider %s can be stored and read, or is an error with a code",
		async (made) => {
			await fc.assert(
				fc.asyncProperty(answers, async (answer) => {
					const reference = answering(() => answer, made);
					let response: LLMResponse;
					try {
						response = await ask(reference);
					} catch (error) {
						expect(isHoldfastError(error), String(error)).toBe(true);
						expect(error).toMatchObject({ code: "INVALID_RESPONSE", provider: "odd" });
						return;
					}
					expectReadable(response);
				}),
				{ numRuns: 1_000 },
			);
		},
	);
});

test.each<[string, unknown]>([
	["message.toolCalls.0.arguments", null],
	["message.toolCalls.0.arguments", "{}"],
	["message.toolCalls.0.arguments", [1]],
	["message.toolCalls.0.arguments", 5],
	["message.toolCalls.0.arguments", { at: () => 1 }],
	["message.toolCalls.0.toolName", 5],
	["message.toolCalls.0.toolCallId", undefined],
	["message.toolCalls.0", "add"],
	["message.toolCalls", {}],
	["message.content", "Hello."],
	["message.content.1", { type: "what" }],
	["message.content.1.text", 5],
	["message.content.2.source.data", "AQ=="],
	["message.content.4.data", [1]],
	["message.id", 5],
	["message.timestamp", "now"],
	["message.metadata", []],
	["message", "Hello."],
	["usage", null],
	["usage.inputTokens", Number.NaN],
	["usage.outputTokens", "2"],
	["data", 1n],
])("an answer with an invalid %s is rejected by that name: %o", async (path, value) => {
	const reference = answering(() => altered(path.split("."), value), "by createProvider");
	await expect(ways["a whole answer"]?.(reference)).rejects.toMatchObject({
		code: "INVALID_RESPONSE",
		retryable: false,
		message: expect.stringContaining(`\`${path}\``),
	});
});

test("unknown parts of an answer are omitted, so that nothing relies on them", async () => {
	const given = { ...(built(valid()) as LLMResponse), preceding: 5, results: null };
	const response = await ways["a whole answer"]?.(answering(() => given, "by createProvider"));
	expect(Object.keys(response as object).sort()).toEqual(["data", "message", "stopReason", "usage"]);
});

test("arguments nested too deeply are the model's mistake: they are marked as unreadable and the answer passes", async () => {
	const given = altered(["message", "toolCalls", "0", "arguments"], nested(501));
	const response = await ways["a whole answer"]?.(answering(() => given, "by createProvider"));
	expect(response?.message).toMatchObject({
		id: "m1",
		toolCalls: [
			{ toolCallId: "c1", arguments: {}, invalidArguments: "they are nested more than 500 levels deep" },
			{},
		],
	});
});

test.each([
	[1_000, "fine"],
	[1_001, "INVALID_RESPONSE"],
])("an answer with %i calls is %s", async (count, expected) => {
	const calls = Array.from({ length: count }, (_, index) => ({
		toolCallId: `c${index}`,
		toolName: "t",
		arguments: {},
	}));
	const answer = () => ({ ...valid(), message: new AssistantMessage("", calls) });
	for (const made of ["by createProvider", "by hand"] as const) {
		const asked = bindModel({ model: answering(answer, made) });
		const outcome = asked.model.complete(asked.request([new UserMessage("x")], {})).then(
			() => "fine",
			(error) => error.code,
		);
		expect(await outcome).toBe(expected);
	}
});

test.each<[string, unknown]>([
	["null", null],
	["without a function", { modelId: "m", capabilities }],
	["without a name", { capabilities, complete: () => {}, stream: () => {} }],
	["without capabilities", { modelId: "m", complete: () => {}, stream: () => {} }],
])("a provider that binds an invalid model is rejected: %s", (_, bound) => {
	const provider = createProvider({
		name: "odd",
		version: "1",
		modalities: { llm: { bind: () => bound as never } },
	});
	expect(() => bindModel({ model: provider("m") })).toThrow(
		expect.objectContaining({ code: "invalid_model" }),
	);
});

test.each([[undefined], [null], [{}], [{ response: 5 }]])(
	"an invalid stream is rejected: %o",
	async (stream) => {
		const bind = (modelId: string) =>
			({ modelId, capabilities, complete: () => {}, stream: () => stream }) as never;
		const provider = createProvider({ name: "odd", version: "1", modalities: { llm: { bind } } });
		await expect(llm({ model: provider("m") }).stream("x").turn).rejects.toMatchObject({
			code: "INVALID_RESPONSE",
		});
	},
);

test("a turn ends well or with an error with a code, for any streamed values", async () => {
	const event = fc.record({
		type: fc.oneof(fc.constant("text_delta"), garbage),
		index: fc.oneof(fc.constant(0), garbage),
		delta: fc.oneof(fc.record({ text: garbage }), garbage),
	});
	await fc.assert(
		fc.asyncProperty(fc.array(fc.oneof(event, garbage), { maxLength: 3 }), async (events) => {
			const text = { message: new AssistantMessage("Hi."), usage: valid().usage, stopReason: "stop" };
			const stream = llm({ model: answering(() => text, "by createProvider", events) }).stream("x");
			const seen: unknown[] = [];
			try {
				for await (const each of stream) seen.push(each);
				expect((await stream.turn).response.text).toBe("Hi.");
			} catch (error) {
				expect(error).toMatchObject({ code: "INVALID_RESPONSE" });
			}
			for (const each of seen)
				expect(each).toMatchObject({ type: expect.any(String), delta: expect.any(Object) });
		}),
		{ numRuns: 1_000 },
	);
});
