// Templates take time that grows with their size, and no faster, up to the length that they may have (keeps I7).
import { test } from "vitest";
import { expectProportion } from "../../../../test/shared/in-proportion.fixture.ts";
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

test.each(shapes)("%s in %s", async (_, engine, textOf) => {
	await expectProportion(12_000, (size) => {
		const text = textOf(size);
		return () => memoryPromptStore().validate(text, engine);
	});
});

test("versions of one template", async () => {
	await expectProportion(32_000, (count) => async () => {
		const store = memoryPromptStore();
		for (let version = 0; version < count; version++)
			await store.put({ id: "a", text: "x", engine: "fstring" });
	});
});
