// Summaries that are written in the background: no death of a worker loses one that is stored, or requests it again.
import { DyingStore, scriptedModel } from "@holdfast/testing";
import { type LLMRequest, UserMessage } from "@holdfast/upp";
import { describe, expect, test } from "vitest";
import { Agent } from "../../agent/agent.ts";
import { faultsOfHistory } from "../../engine/engine.fixture.ts";
import { memoryHost } from "../../host/memory-host.ts";
import { memoryValues, type ValueStore } from "../../host/values.ts";
import { compaction } from "../plugins/compaction.ts";

const turns = 9;
const estimate = (): number => 1;

/** A perfect summariser: it keeps the name of every input. It must not be asked for what is already stored. */
class Summariser {
	readonly asked: string[] = [];
	readonly stored = new Set<string>();

	plugin(more: object = {}) {
		return compaction({
			maxTokens: 8,
			keepRecent: 2,
			prepareAt: 0.6,
			estimate,
			summarise: async (request) => {
				const text = [...new Set(request.match(/input-\d+/g))].join(" ");
				expect(this.stored).not.toContain(text);
				this.asked.push(text);
				return text;
			},
			...more,
		});
	}

	/** Values whose writes are counted. `write` may never return. */
	values(values: ValueStore, write: (apply: () => void) => void | Promise<void>): ValueStore {
		return {
			...values,
			values: (key, owner) => {
				const own = values.values(key, owner);
				const set = (name: string, value: unknown): void | Promise<void> =>
					write(() => {
						void own.set(name, value);
						const [last] = (value as readonly { readonly text: string }[]).slice(-1);
						this.stored.add(last?.text.split("\n")[1] ?? "");
					});
				return { ...own, set };
			},
		};
	}
}

const namesIn = ({ messages }: LLMRequest): readonly string[] =>
	messages.flatMap((message) => [...((message as { text: string }).text.match(/input-\d+/g) ?? [])]);

async function play(death: {
	readonly of: "append" | "value";
	readonly at: number;
	readonly when: "before" | "after";
}) {
	const store = new DyingStore();
	const kept = memoryValues();
	const summariser = new Summariser();
	const model = scriptedModel(() => "Noted.");
	let writes = 0;
	let deaths = 0;
	const start = (mayDie: boolean) => {
		const worker = store.worker(mayDie && death.of === "append" ? death : undefined);
		const write = (apply: () => void): void | Promise<void> => {
			writes++;
			const dies = mayDie && death.of === "value" && writes === death.at;
			if (!dies || death.when === "after") apply();
			if (!dies) return;
			worker.die();
			deathOfValue();
			return new Promise(() => {});
		};
		let deathOfValue = (): void => {};
		const diedOfValue = new Promise<"died">((resolve) => {
			deathOfValue = () => resolve("died");
		});
		const host = { ...worker.host, values: summariser.values(kept, write) };
		const session = new Agent({ model, host, plugins: [summariser.plugin()] }).session("s");
		return { session, died: Promise.race([worker.died, diedOfValue]) };
	};
	let worker = start(true);
	for (let turn = 0; turn < turns; turn++) {
		const work = async (): Promise<unknown> => {
			await (await worker.session.resume())?.result();
			const has = (await worker.session.state()).messages.some(({ text }) => text === `input-${turn}`);
			return has ? undefined : (await worker.session.send(`input-${turn}`)).result();
		};
		if ((await Promise.race([work(), worker.died])) !== "died") continue;
		deaths++;
		worker = start(false);
		turn--;
	}
	const { messages } = await worker.session.state();
	return { store, model, summariser, deaths, writes, messages };
}

describe("a worker that dies", () => {
	test.each(["append", "value"] as const)(
		"at any %s loses no stored summary, and requests none again",
		async (of) => {
			const undisturbed = await play({ of, at: Number.POSITIVE_INFINITY, when: "before" });
			expect(undisturbed.summariser.asked.length).toBeGreaterThan(2);
			const count = of === "append" ? undisturbed.store.appends : undisturbed.writes;
			for (let at = 1; at <= count; at++)
				for (const when of ["before", "after"] as const) {
					const { model, deaths, messages } = await play({ of, at, when });
					expect(deaths).toBe(1);
					expect(messages).toHaveLength(2 * turns);
					for (const request of model.requests) expect(faultsOfHistory(request.messages)).toEqual([]);
					const seen = new Set(namesIn(model.requests.at(-1) as LLMRequest));
					expect(seen).toEqual(new Set(Array.from({ length: turns }, (_, turn) => `input-${turn}`)));
					expect(Math.max(...model.requests.map((request) => request.messages.length))).toBeLessThanOrEqual(
						8,
					);
				}
		},
	);
});

describe("a summary in the background", () => {
	test("does not delay the run, and is shown by the first request that exceeds the limit", async () => {
		let finish = (): void => {};
		const gate = new Promise<void>((resolve) => {
			finish = resolve;
		});
		let asked = 0;
		const summarise = async () => {
			asked++;
			await gate;
			return "They talked.";
		};
		const model = scriptedModel(() => "Noted.");
		const plugins = [compaction({ maxTokens: 8, keepRecent: 2, prepareAt: 0.6, estimate, summarise })];
		const session = new Agent({ model, plugins }).session("s");
		const texts = (at: number) =>
			model.requests[at]?.messages.map((each) => (each as { text: string }).text) ?? [];
		for (let turn = 0; turn < 4; turn++) await (await session.send(`input-${turn}`)).result();
		expect([asked, texts(3).length]).toEqual([1, 7]);
		finish();
		await (await session.send("input-4")).result();
		expect(asked).toBe(1);
		expect(texts(4)[0]).toContain("They talked.");
	});

	test("outlasts an interrupt of the run that began it", async () => {
		const summariser = new Summariser();
		const model = scriptedModel((_, number) =>
			number === 3 ? { text: "x", gate: new Promise(() => {}) } : "Noted.",
		);
		const session = new Agent({ model, plugins: [summariser.plugin({ prepareAt: 0.8 })] }).session("s");
		for (let turn = 0; turn < 3; turn++) await (await session.send(`input-${turn}`)).result();
		const run = await session.send("input-3");
		while (model.requests.length < 4) await new Promise((resolve) => setImmediate(resolve));
		await session.interrupt();
		expect((await run.result()).outcome).toBe("aborted");
		for (let turn = 4; turn < 6; turn++) await (await session.send(`input-${turn}`)).result();
		expect(summariser.asked).toEqual([...new Set(summariser.asked)]);
		expect(new Set(namesIn(model.requests.at(-1) as LLMRequest)).size).toBe(6);
	});

	test("is dropped if a message that it represents was edited, and another is written", async () => {
		const summariser = new Summariser();
		const model = scriptedModel(() => "Noted.");
		const session = new Agent({ model, plugins: [summariser.plugin()] }).session("s");
		for (let turn = 0; turn < 4; turn++) await (await session.send(`input-${turn}`)).result();
		const [first] = (await session.state()).messages;
		await session.edit({ kind: "update", message: new UserMessage("input-77", first as never) });
		for (let turn = 4; turn < 7; turn++) await (await session.send(`input-${turn}`)).result();
		const seen = namesIn(model.requests.at(-1) as LLMRequest);
		expect(seen).toContain("input-77");
		expect(seen).not.toContain("input-0");
	});

	test("goes with a fork, which requests it no second time", async () => {
		const summariser = new Summariser();
		const host = { ...memoryHost(), values: summariser.values(memoryValues(), (apply) => apply()) };
		const model = scriptedModel(() => "Noted.");
		const agentOf = () => new Agent({ model, host, plugins: [summariser.plugin()] });
		for (let turn = 0; turn < 4; turn++) await (await agentOf().session("s").send(`input-${turn}`)).result();
		const asked = summariser.asked.length;
		expect(asked).toBeGreaterThan(0);
		const fork = await agentOf().session("s").fork("f");
		await (await fork.send("input-4")).result();
		expect(new Set(namesIn(model.requests.at(-1) as LLMRequest)).size).toBe(5);
		expect(summariser.asked).toEqual([...new Set(summariser.asked)]);
	});

	test("is neither awaited nor stored when its session is deleted, here or by another process", async () => {
		for (const where of ["here", "elsewhere"] as const) {
			const host = memoryHost();
			const gate = Promise.withResolvers<void>();
			let stopped: AbortSignal | undefined;
			const summarise = async (_: string, __: unknown, signal: AbortSignal) => {
				stopped = signal;
				await gate.promise;
				return "They talked.";
			};
			const plugins = [compaction({ maxTokens: 8, keepRecent: 2, prepareAt: 0.6, estimate, summarise })];
			const model = scriptedModel(() => "Noted.");
			const agent = new Agent({ model, plugins, host });
			for (let turn = 0; turn < 4; turn++) await (await agent.session("s").send(`input-${turn}`)).result();
			expect(stopped?.aborted).toBe(false);
			const deleting = where === "here" ? agent : new Agent({ model, host });
			await deleting.session("s").delete();
			expect(stopped?.aborted).toBe(where === "here");
			gate.resolve();
			for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
			expect(await host.journal.head("s")).toBeUndefined();
		}
	});
});
