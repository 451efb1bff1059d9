import { scriptedModel } from "@holdfast/testing";
import { AssistantMessage, type Message, UserMessage } from "@holdfast/upp";
import { describe, expect, test } from "vitest";
import { Agent } from "../../agent/agent.ts";
import { memoryHost } from "../../host/memory-host.ts";
import { memoryValues } from "../../host/values.ts";
import { List } from "../../state/list.ts";
import { compaction } from "../plugins/compaction.ts";
import { eventsOf, shownIn } from "../plugins/plugins.fixture.ts";
import { hashUpTo, keepSummaries, keptSummaries } from "./kept-summary.ts";

const messages: readonly Message[] = [
	new UserMessage("one"),
	new AssistantMessage("two"),
	new UserMessage("three"),
];

describe("a stored summary", () => {
	test("represents exactly the messages it was made from", async () => {
		const values = memoryValues().values("s", "compaction");
		const summary = new UserMessage("one and two");
		const history = List.from(messages);
		await keepSummaries(values, [undefined, { cut: 2, hash: hashUpTo(2, history), summary }]);
		const [found] = await keptSummaries(values, history);
		expect([found?.cut, found?.summary.text]).toEqual([2, "one and two"]);
		const [first, second] = messages as [Message, Message];
		expect(await keptSummaries(values, List.from([new UserMessage("one"), second]))).toEqual([]);
		expect(await keptSummaries(values, List.from([first]))).toEqual([]);
	});

	test("of an earlier release, which stored one alone, is read", async () => {
		const values = memoryValues().values("s", "compaction");
		const history = List.from(messages);
		await values.set("summary", { cut: 2, hash: hashUpTo(2, history), text: "one and two" });
		expect((await keptSummaries(values, history)).map(({ cut }) => cut)).toEqual([2]);
	});

	test("is identified by a hash that extends a shorter prefix and reads each message once", () => {
		const written: string[] = [];
		const looked = messages.map((message) => ({
			text: message.text,
			toJSON() {
				written.push(message.text);
				return message.toJSON();
			},
		})) as unknown as readonly Message[];
		const history = List.from(looked);
		const beginning = { cut: 2, hash: hashUpTo(2, history) };
		const hash = hashUpTo(3, history, beginning);
		expect(written).toEqual(["one", "two", "three"]);
		expect(hash).toBe(hashUpTo(3, List.from(messages)));
		expect(hash).not.toBe(beginning.hash);
		const [first, , third] = messages as [Message, Message, Message];
		expect(hashUpTo(3, List.from([first, new AssistantMessage("other"), third]))).not.toBe(hash);
	});

	test("is shown by the next process, which does not request it again", async () => {
		const host = { ...memoryHost(), values: memoryValues() };
		const begins: string[] = [];
		const plugins = () => [
			compaction({
				summarise: (_, old) => `sum ${begins.push(old[0]?.text ?? "")}`,
				estimate: ({ text }) => (text.startsWith("[") ? 0.5 : 1),
				maxTokens: 4,
				keepRecent: 2,
			}),
		];
		const first = await Agent.create({ model: scriptedModel(["a1", "a2", "a3"]), plugins: plugins(), host });
		for (const input of ["q1", "q2", "q3"]) await eventsOf(first, input);
		expect(begins).toEqual(["q1"]);
		await first.close();
		const model = scriptedModel(["a4"]);
		const second = await Agent.create({ model, plugins: plugins(), host });
		await eventsOf(second, "q4");
		// Based on the stored summary, not on the whole history.
		expect(begins).toEqual(["q1", "[Summary of the conversation so far]\nsum 1"]);
		expect(model.requests.map(shownIn)[0]?.[0]).toBe("[Summary of the conversation so far]\nsum 2");
	});

	test("that cannot be read or stored is reported, and the turn continues", async () => {
		const broken = memoryValues();
		const values = () => ({
			...broken.values("s", "x"),
			get: () => Promise.reject(new Error("unreadable")),
			set: () => Promise.reject(new Error("unwritable")),
		});
		const host = { ...memoryHost(), values: { ...broken, values } };
		const emitted: string[] = [];
		const model = scriptedModel(["a1", "a2"]);
		const plugin = compaction({
			summarise: () => "sum",
			maxTokens: 1,
			keepRecent: 1,
			estimate: ({ text }) => (text.startsWith("[") ? 0.5 : 1),
			onError: (error) => emitted.push((error as Error).message),
		});
		const agent = await Agent.create({ model, plugins: [plugin], host });
		for (const input of ["q1", "q2"]) await eventsOf(agent, input);
		expect(emitted).toEqual(["unreadable", "unwritable"]);
		expect(model.requests.map(shownIn)[1]).toEqual(["[Summary of the conversation so far]\nsum", "q2"]);
	});
});
