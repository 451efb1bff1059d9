import { deepStrictEqual } from "node:assert";
import { AssistantMessage, type MessageJSON, ToolResultMessage, UserMessage } from "@holdfast/upp";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { AgentState } from "./agent-state.ts";
import type { AgentStateJSON } from "./agent-state-json.ts";
import { anyState, contentOf } from "./random-state.fixture.ts";
import { ThreadTree } from "./thread-tree.ts";

function throughText(state: AgentState): AgentState {
	return AgentState.fromJSON(JSON.parse(JSON.stringify(state.toJSON())));
}

/** All objects within a value. */
function objectsIn(value: unknown, found: Set<object> = new Set()): Set<object> {
	if (typeof value !== "object" || value === null || found.has(value)) return found;
	found.add(value);
	for (const inner of Object.values(value)) objectsIn(inner, found);
	return found;
}

describe("a state that was serialised to JSON text", () => {
	test("is unchanged, for any content [UAP-070]", () => {
		fc.assert(
			fc.property(anyState, (state) => {
				const back = throughText(state);
				expect(back.id).toBe(state.id);
				// Unlike toStrictEqual, it is not confused by members named "constructor".
				deepStrictEqual(contentOf(back), contentOf(state));
				expect(JSON.stringify(back)).toBe(JSON.stringify(state));
			}),
			{ numRuns: 400 },
		);
	});

	test("keeps the classes of messages, and every id: of states, messages, calls, plan steps, sub-agents, thread nodes [UAP-128]", () => {
		const call = { toolCallId: "call-7", toolName: "t", arguments: {} };
		const state = AgentState.initial()
			.withMessages([
				new UserMessage("u", { id: "message-1" }),
				new AssistantMessage("a", [call]),
				new ToolResultMessage([{ toolCallId: "call-7", result: 1 }]),
			])
			.withPlan([{ id: "step-1", description: "", dependsOn: ["step-0"], status: "pending" }])
			.withSubagentTrace({
				subagentId: "sub-1",
				subagentType: "t",
				parentToolCallId: "call-7",
				prompt: "",
				startTime: 0,
				endTime: 0,
				success: false,
			});
		const back = throughText(state);
		const [user, assistant, result] = back.messages as [UserMessage, AssistantMessage, ToolResultMessage];
		expect([user, assistant, result].map((message) => message.constructor)).toEqual([
			UserMessage,
			AssistantMessage,
			ToolResultMessage,
		]);
		expect(user.id).toBe("message-1");
		expect(assistant.toolCalls?.[0]?.toolCallId).toBe("call-7");
		expect(result.results[0]?.toolCallId).toBe("call-7");
		expect(back.plan?.[0]).toMatchObject({ id: "step-1", dependsOn: ["step-0"] });
		expect(back.subagentTraces?.[0]).toMatchObject({ subagentId: "sub-1", parentToolCallId: "call-7" });
		expect(back.id).toBe(state.id);
		const tree = new ThreadTree();
		tree.checkout(tree.branch(tree.root.id));
		tree.current.state = state;
		const grown = ThreadTree.fromJSON(JSON.parse(JSON.stringify(tree)));
		expect([...grown.nodes.keys()]).toEqual([...tree.nodes.keys()]);
		expect([grown.root.id, grown.current.id]).toEqual([tree.root.id, tree.current.id]);
		expect(grown.current.state.id).toBe(state.id);
	});

	test("keeps its own metadata and that of messages, at any depth [UAP-129]", () => {
		const metadata = { openai: { item: { id: "x", list: [1, { encrypted: "…" }], at: new Date(3) } } };
		const state = AgentState.initial()
			.withMessage(new UserMessage("u", { metadata }))
			.withMetadata("mine", { deep: { er: [null, true, "ä", 0.5] } });
		const back = throughText(state);
		expect(back.messages[0]?.metadata).toEqual(metadata);
		expect(back.metadata).toEqual({ mine: { deep: { er: [null, true, "ä", 0.5] } } });
	});

	test("keeps bytes at any position, as base64 in the JSON [UAP-131]", () => {
		const bytes = (...values: number[]): Uint8Array => new Uint8Array(values);
		const state = AgentState.initial()
			.withMessages([
				new UserMessage([
					{ type: "image", mimeType: "image/png", source: { type: "bytes", data: bytes(0, 255, 1) } },
					{ type: "audio", mimeType: "audio/wav", data: bytes(2) },
				]),
				new ToolResultMessage([{ toolCallId: "c", result: { file: bytes(3, 4) } }]),
			])
			.withMetadata("blob", [bytes(5)]);
		const text = JSON.stringify(state);
		for (const base64 of ["AP8B", "Ag==", "AwQ=", "BQ=="]) expect(text).toContain(`"${base64}"`);
		expect(contentOf(throughText(state))).toStrictEqual(contentOf(state));
	});

	test("keeps binary data of every kind, in messages, tool results and metadata [UAP-131]", () => {
		const { buffer } = new Uint8Array([1, 2, 3, 4, 5, 6, 7, 8]);
		const kinds = [buffer, new DataView(buffer, 2, 4), new Float64Array(buffer), new BigInt64Array(buffer)];
		const state = AgentState.initial()
			.withMessage(new ToolResultMessage([{ toolCallId: "c", result: { kinds } }]))
			.withMessage(new UserMessage("u", { metadata: { acme: { kinds } } }))
			.withMetadata("kinds", kinds);
		expect(JSON.stringify(state)).toContain('"AQIDBAUGBwg="');
		const back = throughText(state);
		expect(contentOf(back)).toStrictEqual(contentOf(state));
		expect(back.metadata.kinds).toStrictEqual(kinds);
		expect(new Uint8Array((back.metadata.kinds as ArrayBuffer[])[0] as ArrayBuffer)).toEqual(
			new Uint8Array(buffer),
		);
	});

	test("keeps times, as ISO 8601 in the JSON [UAP-130]", () => {
		const at = new Date("2024-02-29T12:00:00.123Z");
		const state = AgentState.initial()
			.withMessage(new UserMessage("u", { timestamp: at }))
			.withMetadata("at", at)
			.withSubagentTrace({
				subagentId: "s",
				subagentType: "t",
				parentToolCallId: "c",
				prompt: "p",
				startTime: at.getTime(),
				endTime: at.getTime() + 5,
				success: true,
			});
		const json = JSON.parse(JSON.stringify(state)) as AgentStateJSON;
		expect(json.messages[0]?.timestamp).toBe("2024-02-29T12:00:00.123Z");
		expect(json.subagentTraces?.[0]).toMatchObject({
			startTime: "2024-02-29T12:00:00.123Z",
			endTime: "2024-02-29T12:00:00.128Z",
		});
		expect(JSON.stringify(json.metadata)).toContain("2024-02-29T12:00:00.123Z");
		const back = AgentState.fromJSON(json);
		expect(back.messages[0]?.timestamp).toEqual(at);
		expect(back.metadata.at).toEqual(at);
		expect(back.subagentTraces).toEqual(state.subagentTraces);
	});

	test("that another package wrote under the same version is read, including bytes in base64", () => {
		const timestamp = "2025-01-02T03:04:05.000Z";
		const data = "AQI=";
		for (const version of ["1.0.0", "1.0", "UAP-1.0"]) {
			const state = AgentState.fromJSON({
				version,
				id: "s",
				step: 2,
				metadata: { sessionId: "mine" },
				messages: [
					{
						id: "1",
						type: "user",
						timestamp,
						content: [
							{ type: "text", text: "Look." },
							{ type: "image", mimeType: "image/png", source: { type: "bytes", data } },
						],
					},
					{
						id: "2",
						type: "assistant",
						timestamp,
						content: [],
						toolCalls: [{ toolCallId: "c", toolName: "t", arguments: {} }],
					},
					{
						id: "3",
						type: "tool_result",
						timestamp,
						content: [],
						results: [{ toolCallId: "c", result: "r" }],
					},
				],
			});
			expect(state.id).toBe("s");
			expect(state.messages.map(({ type, text }) => [type, text])).toEqual([
				["user", "Look."],
				["assistant", ""],
				["tool_result", "r"],
			]);
			expect((state.messages[0] as UserMessage).content[1]).toMatchObject({
				source: { data: new Uint8Array([1, 2]) },
			});
			expect(state.toJSON().version).toBe("1.0.0");
		}
	});

	test("may contain the times of its traces as numbers", () => {
		const trace = { subagentId: "s", subagentType: "t", parentToolCallId: "c", prompt: "p", success: true };
		const json = {
			...AgentState.initial().toJSON(),
			subagentTraces: [{ ...trace, startTime: 1, endTime: 2 }],
		};
		expect(AgentState.fromJSON(json as never).subagentTraces).toEqual([
			{ ...trace, startTime: 1, endTime: 2 },
		]);
	});

	test("needs no reasoning, plan or traces [UAP-127]", () => {
		const { reasoning: _, ...json } = AgentState.initial().withStep(3).toJSON();
		expect(Object.keys(json).sort()).toEqual(["id", "messages", "metadata", "step", "version"]);
		const back = AgentState.fromJSON(json);
		expect(back.reasoning).toEqual([]);
		expect([back.plan, back.subagentTraces, back.usage]).toEqual([undefined, undefined, undefined]);
	});
});

describe("a state's JSON data", () => {
	test("lists all members, equals what JSON text returns, and is not shared [UAP-066]", () => {
		expect(Object.keys(AgentState.initial().toJSON())).toEqual([
			"version",
			"id",
			"messages",
			"step",
			"metadata",
			"reasoning",
		]);
		fc.assert(
			fc.property(anyState, (state) => {
				const json = state.toJSON();
				expect(JSON.parse(JSON.stringify(json))).toEqual(json);
				for (const name of ["plan", "usage", "subagentTraces"] as const) {
					expect(Object.hasOwn(json, name)).toBe(state[name] !== undefined);
				}
				const own = objectsIn(contentOf(state));
				const given = [...objectsIn(json), ...objectsIn(state.toJSON())];
				expect(given.some((object) => own.has(object))).toBe(false);
				expect(new Set(given).size).toBe(given.length);
				expect(given.some((object) => Object.isFrozen(object))).toBe(false);
			}),
			{ numRuns: 100 },
		);
	});

	test("is rejected with the location of values that JSON cannot represent", () => {
		const circular: Record<string, unknown> = {};
		circular.self = [circular];
		const said = (result: unknown): AgentState =>
			AgentState.initial().withMessage(new ToolResultMessage([{ toolCallId: "c", result }]));
		for (const [state, path] of [
			[AgentState.initial().withMetadata("deep", { run: () => 1 }), "metadata.deep.run"],
			[AgentState.initial().withMetadata("circle", circular), "metadata.circle.self.0"],
			[AgentState.initial().withMetadata("big", 1n), "metadata.big"],
			[said(Symbol("x")), "messages.0.0.result"],
		] as const) {
			expect(() => state.toJSON()).toThrow(
				expect.objectContaining({
					code: "unserialisable_value",
					message: expect.stringContaining(path),
					data: { path },
				}),
			);
		}
	});
});

describe("an invalid state", () => {
	const valid = (): AgentStateJSON =>
		AgentState.initial()
			.withMessages([
				new UserMessage("u"),
				new AssistantMessage("a", [{ toolCallId: "c", toolName: "t", arguments: {} }]),
			])
			.withMetadata("key", 1)
			.withPlan([{ id: "1", description: "d", dependsOn: [], status: "pending" }])
			.withSubagentTrace({
				subagentId: "s",
				subagentType: "t",
				parentToolCallId: "c",
				prompt: "p",
				startTime: 1,
				endTime: 2,
				success: true,
				toolExecutions: [{ toolName: "t", arguments: {}, result: "r" }],
				usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
			})
			.toJSON();

	/** The valid data with a value changed or removed at a path. */
	function changed(path: string, value: unknown): unknown {
		const json = valid() as unknown as Record<string, unknown>;
		const names = path.split(".");
		let holder = json;
		for (const name of names.slice(0, -1)) holder = holder[name] as Record<string, unknown>;
		const last = names.at(-1) as string;
		if (value === undefined) delete holder[last];
		else holder[last] = value;
		return json;
	}

	test.each([
		["id", undefined],
		["id", 7],
		["id", ""],
		["messages", {}],
		["messages", undefined],
		["messages.0", null],
		["messages.1", "text"],
		["messages.0.type", "system"],
		["messages.0.id", 1],
		["messages.0.timestamp", "yesterday"],
		["messages.0.content", "text"],
		["messages.0.content.0", { type: "hologram" }],
		["messages.0.metadata", []],
		["messages.1.toolCalls.0.arguments", "{}"],
		["step", 1.5],
		["step", "1"],
		["step", -1],
		["metadata", []],
		["metadata", undefined],
		["metadata", { $holdfast: ["bytes", "AQI="] }],
		["metadata", { $holdfast: ["unknown"] }],
		["reasoning", "text"],
		["reasoning.0", 1],
		["plan", {}],
		["plan.0.id", undefined],
		["plan.0.status", "done"],
		["plan.0.dependsOn", [1]],
		["usage", 5],
		["usage", { inputTokens: "1" }],
		["subagentTraces", {}],
		["subagentTraces.0.startTime", "soon"],
		["subagentTraces.0.success", "yes"],
		["subagentTraces.0.toolExecutions.0.result", {}],
		["subagentTraces.0.usage.totalTokens", undefined],
	])("is rejected, and the message names the fault: %s = %j [UAP-149]", (path, value) => {
		if (path === "reasoning.0") return expectRefused({ ...valid(), reasoning: [value] }, path);
		expectRefused(changed(path, value), path);
	});

	test.each([[null], ["state"], [undefined], [[]], [7]])("is rejected as a whole: %j [UAP-149]", (value) => {
		expectRefused(value, "state");
	});

	function expectRefused(json: unknown, path: string): void {
		let error: { code?: string; message?: string; data?: { path?: string } } = {};
		try {
			AgentState.fromJSON(json as AgentStateJSON);
		} catch (thrown) {
			error = thrown as typeof error;
		}
		expect(error.code).toBe("invalid_state");
		expect(error.data?.path).toMatch(new RegExp(`^${path.replaceAll(".", "\\.")}`));
		expect(error.message).toContain(error.data?.path);
	}

	test("is rejected by its version, which the message names next to the supported one [UAP-132]", () => {
		for (const [version, found] of [
			[undefined, "no version"],
			["2.0.0", '"2.0.0"'],
			[1, "1"],
		] as const) {
			expect(() => AgentState.fromJSON(changed("version", version) as AgentStateJSON)).toThrow(
				expect.objectContaining({
					code: "state_version_unsupported",
					message: expect.stringMatching(new RegExp(`${found}.*"1\\.0\\.0"`)),
				}),
			);
		}
	});

	test("is rejected even if it is nested endlessly", () => {
		const deep = JSON.parse(`${"[".repeat(100_000)}${"]".repeat(100_000)}`);
		expectRefused({ ...valid(), metadata: { deep } }, "");
		expectRefused({ ...valid(), messages: [{ ...(valid().messages[0] as MessageJSON), content: deep }] }, "");
	});
});

test("keys such as __proto__ stay data and do not reach a prototype [UAP-150]", () => {
	const json = AgentState.initial().withMessage(new UserMessage("u")).toJSON();
	const hostile = JSON.parse(
		'{"__proto__": {"polluted": 1}, "constructor": {"prototype": {"polluted": 1}}, "in": [{"__proto__": {"polluted": 1}}]}',
	);
	const message = { ...(json.messages[0] as MessageJSON), metadata: hostile };
	const state = AgentState.fromJSON({ ...json, messages: [message], metadata: hostile });
	expect(({} as { polluted?: number }).polluted).toBeUndefined();
	for (const metadata of [state.metadata, state.messages[0]?.metadata, state.withMetadata("x", 1).metadata]) {
		expect(Object.getPrototypeOf(metadata)).toBe(Object.prototype);
		expect(Object.hasOwn(metadata as object, "__proto__")).toBe(true);
		expect((metadata as { polluted?: number }).polluted).toBeUndefined();
	}
	const set = AgentState.initial().withMetadata("__proto__", { polluted: 1 });
	expect((set.metadata as { polluted?: number }).polluted).toBeUndefined();
	expect(JSON.stringify(set.toJSON().metadata)).toBe('{"__proto__":{"polluted":1}}');
	expect(JSON.stringify(state.toJSON().metadata)).toBe(JSON.stringify(hostile));
});

test("metadata that JSON would drop makes toJSON throw instead [UAP-150]", () => {
	const circular: Record<string, unknown> = {};
	circular.self = circular;
	class Account {
		readonly owner = "Ann";
		readonly #balance = 5;
		get balance() {
			return this.#balance;
		}
	}
	const lossy = [
		new Error("no"),
		Object.assign(new Error("no"), { code: "E" }),
		/x/,
		new Blob(["x"]),
		new File(["x"], "x.txt"),
		Promise.resolve(1),
		new WeakMap(),
		new Account(),
	];
	for (const value of [
		() => 1,
		{ deep: () => 1 },
		circular,
		new Map(),
		1n,
		...lossy,
		{ deep: new Account() },
	]) {
		expect(() => AgentState.initial().withMetadata("key", value).toJSON()).toThrow(/metadata\.key/);
	}
});
