// Templates take time that grows with their size, and no faster, up to the length that they may have (keeps I7).
import { expect, test } from "vitest";
import type { PromptEngine } from "../contract/index.ts";
import { memoryPromptStore } from "./index.ts";

const shapes: readonly [string, PromptEngine, (n: number) => string][] = [
	["partials", "mustache", (n) => "{{>a}}\n".repeat(n)],
	["unknown helpers", "mustache", (n) => "{{a b}}\n".repeat(n)],
	["unknown helpers", "fstring", (n) => "{a!b}\n\n\n".repeat(n)],
	["partials", "handlebars", (n) => "{{>a}}\n".repeat(n)],
	["names", "handlebars", (n) => "{{a}}\n\n".repeat(n)],
	["sections", "mustache", (n) => "{{^a}}{{/a}}".repeat(n / 2)],
];

async function costOf(engine: PromptEngine, text: string): Promise<number> {
	let least = Number.POSITIVE_INFINITY;
	for (let round = 0; round < 3; round++) {
		const from = process.cpuUsage();
		await memoryPromptStore().validate(text, engine);
		const { user, system } = process.cpuUsage(from);
		least = Math.min(least, (user + system) / 1_000);
	}
	return least;
}

test.each(shapes)("%s in %s", async (_, engine, textOf) => {
	const once = await costOf(engine, textOf(1_500));
	// Linear work costs eight times as much, some more where it outgrows the caches, and a square 64 times.
	expect(await costOf(engine, textOf(12_000))).toBeLessThan(24 * Math.max(once, 4));
});

test("versions of one template", async () => {
	const cost = async (count: number): Promise<number> => {
		const store = memoryPromptStore();
		const from = process.cpuUsage();
		for (let version = 0; version < count; version++)
			await store.put({ id: "a", text: "x", engine: "fstring" });
		const { user, system } = process.cpuUsage(from);
		return (user + system) / 1_000;
	};
	const once = await cost(4_000);
	expect(await cost(32_000)).toBeLessThan(24 * Math.max(once, 4));
});
