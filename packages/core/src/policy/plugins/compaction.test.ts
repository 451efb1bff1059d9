import { type ScriptedReply, scriptedModel } from "@holdfast/testing";
import { AssistantMessage, type Message, ToolResultMessage, UserMessage } from "@holdfast/upp";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Agent } from "../../agent/agent.ts";
import { faultsOfHistory } from "../../engine/engine.fixture.ts";
import { joinStages } from "../join-stages.ts";
import { type CompactionOptions, compaction } from "./compaction.ts";
import { definePlugin } from "./plugin.ts";
import { setupPlugins } from "./plugin-set.ts";
import { eventsOf, historyOf, shownIn } from "./plugins.fixture.ts";

const summaryOf = (text: string): string => `[Summary of the conversation so far]\n${text}`;

/** One token per message, unless it contains `long`. */
const estimate = (message: Message): number => (message.text.startsWith("long") ? 50 : 1);

/** A summariser that counts its calls and records its requests. */
function counting(text = "sum") {
	const asked: (readonly Message[])[] = [];
	return {
		asked,
		summarise(_: string, messages: readonly Message[]): string {
			asked.push(messages);
			return `${text} ${asked.length}`;
		},
	};
}

/** The `assemble` hook of a compaction alone. */
async function assembling(
	options: CompactionOptions,
): Promise<(messages: readonly Message[]) => Promise<readonly Message[]>> {
	const set = await setupPlugins([compaction(options)]);
	const { assemble } = joinStages(
		set.stages({
			sessionKey: "s",
			signal: new AbortController().signal,
			history: () => [],
			stepIndex: () => 0,
			overlay: async () => {},
			steer: async () => {},
		}),
	);
	return async (messages) => (await assemble?.(messages)) ?? messages;
}

describe("compaction", () => {
	test("shows the history unchanged up to its budget, then a summary of the old messages [SES-137]", async () => {
		const writer = counting();
		const model = scriptedModel(["a1", "a2", "a3", "a4"]);
		const plugins = [
			compaction({
				summarise: writer.summarise,
				estimate: (message) => (message.text.startsWith("[") ? 0.5 : 1),
				maxTokens: 4,
				keepRecent: 2,
			}),
		];
		const agent = await Agent.create({ model, plugins });
		for (const input of ["q1", "q2", "q3", "q4"]) await eventsOf(agent, input);
		expect(model.requests.map(shownIn)).toEqual(
			[["q1"], ["q1", "a1", "q2"], [summaryOf("sum 1"), "a2", "q3"], [summaryOf("sum 2"), "a3", "q4"]].map(
				(each) => each,
			),
		);
		expect(writer.asked).toHaveLength(2);
	});

	test("writes a summary once for a part of the history and reuses it until the budget is exceeded again", async () => {
		const writer = counting();
		const assemble = await assembling({
			summarise: writer.summarise,
			estimate,
			maxTokens: 10,
			keepRecent: 4,
			prepareAt: 1,
		});
		const messages: Message[] = [];
		const written: number[] = [];
		for (let at = 0; at < 30; at++) {
			messages.push(at % 2 === 0 ? new UserMessage(`q${at}`) : new AssistantMessage(`a${at}`));
			const seen = await assemble(messages);
			expect(seen.length).toBeLessThanOrEqual(10);
			expect(seen.at(-1)).toBe(messages.at(-1));
			written.push(writer.asked.length);
		}
		expect(written.slice(0, 10)).toEqual(Array(10).fill(0));
		expect(writer.asked.length).toBe(4);
		// Each summary is based on the previous one and the messages since then.
		expect(writer.asked[1]?.[0]?.text).toBe(summaryOf("sum 1"));
		expect(writer.asked[1]?.length).toBeLessThan(10);
	});

	const turns = fc.array(
		fc.record({
			calls: fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 4 }),
			long: fc.boolean(),
		}),
		{ minLength: 1, maxLength: 8 },
	);

	test("never separates a call from its result, and always shows the user's last message [SES-137]", async () => {
		await fc.assert(
			fc.asyncProperty(
				turns,
				fc.integer({ min: 1, max: 60 }),
				fc.integer({ min: 1, max: 9 }),
				async (given, maxTokens, keepRecent) => {
					const assemble = await assembling({
						summarise: () => "sum",
						estimate: (each) => (each.text.startsWith("[") ? 0 : estimate(each)),
						maxTokens,
						keepRecent,
					});
					const messages: Message[] = [];
					let count = 0;
					for (const { calls, long } of given) {
						const input = new UserMessage(long ? "long question" : "question");
						messages.push(input);
						const look = async (): Promise<void> => {
							const seen = await assemble(messages);
							expect(faultsOfHistory(seen)).toEqual([]);
							expect(seen).toContain(input);
							expect(seen.slice(seen.indexOf(messages.at(-1) as Message))).toHaveLength(1);
						};
						await look();
						for (const number of calls) {
							const asked = Array.from({ length: number + 1 }, () => ({
								toolCallId: `c${count++}`,
								toolName: "t",
								arguments: {},
							}));
							messages.push(new AssistantMessage("", asked));
							messages.push(
								new ToolResultMessage(
									asked.map(({ toolCallId }) => ({
										toolCallId,
										result: long ? "long" : "r",
									})),
								),
							);
							await look();
						}
						messages.push(new AssistantMessage("answer"));
					}
				},
			),
			{ numRuns: 200 },
		);
	});

	test("keeps pairs whole for the model within a turn of many tool calls [SES-137]", async () => {
		const script: ScriptedReply[] = Array.from({ length: 12 }, () => ({
			toolCalls: [{ name: "look" }, { name: "look" }],
		}));
		const model = scriptedModel([...script, "done"]);
		const look = {
			name: "look",
			description: "Looks.",
			parameters: { type: "object" },
			run: () => "seen",
		};
		const agent = await Agent.create({
			model,
			tools: [look],
			plugins: [
				compaction({
					summarise: () => "s",
					estimate: () => 1,
					maxTokens: 6,
					keepRecent: 3,
				}),
			],
		});
		expect((await eventsOf(agent, "go")).at(-1)).toEqual({ type: "turn-end" });
		for (const request of model.requests) {
			expect(faultsOfHistory(request.messages)).toEqual([]);
			expect(request.messages.length).toBeLessThanOrEqual(7);
			expect(shownIn(request)).toContain("go");
		}
	});

	test("changes the model's view but not the session [SES-138]", async () => {
		const model = scriptedModel(["a1", "a2", "a3"]);
		const agent = await Agent.create({
			model,
			plugins: [
				compaction({
					summarise: () => "s",
					estimate: (message) => (message.text.startsWith("[") ? 0.5 : 1),
					maxTokens: 2,
					keepRecent: 1,
				}),
			],
		});
		for (const input of ["q1", "q2", "q3"]) await eventsOf(agent, input);
		expect(shownIn(model.requests[2])[0]).toBe(summaryOf("s"));
		expect(await historyOf(agent)).toEqual(["q1", "a1", "q2", "a2", "q3", "a3"]);
	});

	test.each<[string, () => string]>([
		[
			"that fails",
			() => {
				throw new Error("no model");
			},
		],
		["that is empty", () => " \n"],
		["that is as long as what it represents", () => "long"],
	])(
		"a summary %s leaves the turn with the whole history, and is requested once per turn [SES-138]",
		async (_, summarise) => {
			let asked = 0;
			const errors: string[] = [];
			const options: CompactionOptions = {
				summarise() {
					asked++;
					return summarise();
				},
				estimate: (message) => (message.text.includes("long") ? 50 : 1),
				maxTokens: 2,
				keepRecent: 1,
				onError: (_, key) => errors.push(key),
			};
			const look = {
				name: "look",
				description: "Looks.",
				parameters: { type: "object" },
				run: () => "seen",
			};
			const model = scriptedModel(["a1", { toolCalls: [{ name: "look" }] }, "a2", "a3"]);
			const agent = await Agent.create({
				model,
				tools: [look],
				plugins: [compaction(options)],
			});
			for (const input of ["q1", "q2"])
				expect((await eventsOf(agent, input)).at(-1)).toEqual({
					type: "turn-end",
				});
			expect(shownIn(model.requests[2])).toEqual(["q1", "a1", "q2", "", "seen"]);
			expect(asked).toBe(1);
			await eventsOf(agent, "q3");
			expect([asked, errors]).toEqual([2, ["default", "default"]]);
		},
	);

	test("a later summary that fails keeps the previous one, and is requested once per turn [SES-138]", async () => {
		let asked = 0;
		const assemble = await assembling({
			summarise() {
				if (++asked > 1) throw new Error("no model");
				return "s";
			},
			estimate: (message) => (message.text.startsWith("[") ? 0.5 : 1),
			maxTokens: 2,
			keepRecent: 1,
		});
		const history: Message[] = [];
		const shown = async (...added: readonly Message[]): Promise<readonly string[]> => {
			history.push(...added);
			return (await assemble([...history])).map(({ text }) => text);
		};
		const [first, second, third, fourth] = ["q1", "q2", "q3", "q4"].map((text) => new UserMessage(text));
		const answer = (text: string): Message => new AssistantMessage(text);
		await shown(first as Message);
		expect(await shown(answer("a1"), second as Message)).toEqual([summaryOf("s"), "q2"]);
		expect(await shown(answer("a2"), third as Message)).toEqual([summaryOf("s"), "q2", "a2", "q3"]);
		expect(asked).toBe(2);
		await shown(answer("a3"));
		expect(asked).toBe(2);
		await shown(fourth as Message);
		expect(asked).toBe(3);
	});

	test("uses the agent's own model if there is no other writer, without its instructions and tools", async () => {
		const model = scriptedModel((request) => (request.system === "Be brief." ? "answer" : "the summary"));
		const agent = await Agent.create({
			model,
			instructions: "Be brief.",
			plugins: [
				compaction({
					estimate: (message) => (message.text.startsWith("[") ? 0.5 : 1),
					maxTokens: 2,
					keepRecent: 1,
				}),
			],
		});
		await eventsOf(agent, "q1");
		await eventsOf(agent, "q2");
		expect(model.requests).toHaveLength(3);
		expect(model.requests[1]?.system).toContain("You summarise conversations.");
		expect(model.requests[1]?.tools).toEqual([]);
		expect(shownIn(model.requests[1])[0]).toContain("user: q1\nassistant: answer");
		expect(shownIn(model.requests[2])).toEqual([summaryOf("the summary"), "q2"]);
	});

	test("keeps the overlays of a turn out of its summaries", async () => {
		const summarised: string[] = [];
		const plugins = [
			definePlugin({
				name: "clock",
				setup: (host) => host.on("turn.before", ({ overlay }) => overlay("It is noon.")),
			}),
			compaction({
				summarise(request) {
					summarised.push(request);
					return "s";
				},
				estimate: (message) => (message.text.startsWith("[") ? 0.5 : 1),
				maxTokens: 3,
				keepRecent: 1,
				prepareAt: 1,
			}),
		];
		const model = scriptedModel(["a1", "a2", "a3"]);
		const agent = await Agent.create({ model, plugins });
		for (const input of ["q1", "q2", "q3"]) await eventsOf(agent, input);
		expect(summarised).toHaveLength(1);
		expect(summarised[0]).not.toContain("noon");
		expect(shownIn(model.requests[2])).toEqual([summaryOf("s"), "It is noon.", "q3"]);
	});

	test("drops a summary when a message that it represents was edited or deleted", async () => {
		const writer = counting();
		const assemble = await assembling({
			summarise: writer.summarise,
			estimate,
			maxTokens: 2,
			keepRecent: 1,
		});
		const messages = ["one", "two", "three"].map((text) => new UserMessage(text));
		await assemble(messages);
		const edited = [new UserMessage("[erased]", { id: messages[0]?.id as string }), ...messages.slice(1)];
		expect((await assemble(edited))[0]?.text).toBe(summaryOf("sum 2"));
		expect((await assemble(messages.slice(1))).map(({ text }) => text)).toEqual(["two", "three"]);
	});

	test("does not write again for messages that were reread from the journal", async () => {
		const writer = counting();
		const assemble = await assembling({
			summarise: writer.summarise,
			estimate,
			maxTokens: 2,
			keepRecent: 1,
		});
		const messages = ["one", "two", "three"].map((text) => new UserMessage(text));
		const copy = messages.map(
			(each) =>
				new UserMessage(each.content, {
					id: each.id,
					timestamp: each.timestamp,
				}),
		);
		await assemble(messages);
		expect((await assemble(copy)).map(({ text }) => text)).toEqual([summaryOf("sum 1"), "three"]);
		expect(writer.asked).toHaveLength(1);
	});

	test.each([
		[{ maxTokens: 0 }, "invalid_option"],
		[{ keepRecent: 0 }, "invalid_option"],
		[{ summarise: () => "", model: scriptedModel([]) }, "conflicting_options"],
	])("rejects %o", (options, code) => {
		expect(() => compaction(options)).toThrow(expect.objectContaining({ code }));
	});
});
