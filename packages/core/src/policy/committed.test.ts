// The stage `committed`: it receives facts in order, after they are committed.
import { scriptedModel } from "@holdfast/testing";
import { expect, test } from "vitest";
import { agent } from "../agent/agent.ts";
import type { Entry } from "../facts/index.ts";
import { memoryHost } from "../host/index.ts";
import { faces } from "./interceptor.fixture.ts";
import type { Interceptor } from "./interceptor.ts";

const model = () => scriptedModel(["Done."]);

test.each(Object.entries(faces))(
	"%s: observers get committed facts in order, as admitted",
	async (_, run) => {
		const heard: Entry[] = [];
		const audit: Interceptor = {
			name: "audit",
			admitWaiting: "as-is",
			begin: () => ({
				admit: (fact) => (fact.kind === "assistant" ? { notes: [{ topic: "seen", value: 1 }] } : undefined),
				deltas: "as-is",
				committed: (entry) => void heard.push(entry),
			}),
		};
		await run({ model: model(), middleware: [audit] }, "hello");
		expect(heard.map(({ fact }) => fact.kind)).toEqual([
			"run.started",
			"input",
			"note",
			"assistant",
			"run.ended",
		]);
		expect(heard.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5]);
	},
);

test("a fact is in the journal when its observers are notified, and their errors change nothing", async () => {
	const host = memoryHost();
	const read: (readonly Entry[] | Promise<readonly Entry[]>)[] = [];
	const looks: Interceptor = {
		name: "looks",
		begin: () => ({
			committed(entry) {
				if (entry.fact.kind === "assistant") read.push(host.journal.read("s"));
				throw new Error("of no use");
			},
		}),
	};
	const run = await agent({ model: model(), host, middleware: [looks] })
		.session("s")
		.send("hello");
	expect((await run.result()).outcome).toBe("completed");
	expect((await read[0])?.map(({ fact }) => fact.kind)).toContain("assistant");
});

test("an interceptor that names kinds of facts is called for those, and notified of all", async () => {
	const [asked, heard]: [string[], string[]] = [[], []];
	const some: Interceptor = {
		name: "some",
		begin: () => ({
			admits: ["assistant"],
			admit(fact) {
				asked.push(fact.kind);
				return { notes: [{ topic: "seen", value: 1 }] };
			},
			committed: ({ fact }) => void heard.push(fact.kind),
		}),
	};
	const run = await agent({ model: model(), middleware: [some] })
		.session("s")
		.send("hello");
	expect((await run.result()).outcome).toBe("completed");
	expect(asked).toEqual(["assistant"]);
	expect(heard).toEqual(["run.started", "input", "note", "assistant", "run.ended"]);
});
