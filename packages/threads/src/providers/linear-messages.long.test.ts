// Messages of any number reach a provider in time that grows with their number, and no faster (keeps I7).
import { scriptedModel } from "@holdfast/testing";
import { expect, test } from "vitest";
import type { ProviderMessage } from "../types/index.ts";
import { modelProvider } from "./model-provider.ts";

async function costOf(count: number): Promise<number> {
	const messages: ProviderMessage[] = [
		{ role: "user", content: "go" },
		...Array.from(
			{ length: count },
			(_, index): ProviderMessage => ({ role: "tool", toolCallId: `${index}`, toolName: "t", content: "x" }),
		),
	];
	let least = Number.POSITIVE_INFINITY;
	for (let round = 0; round < 3; round++) {
		const provider = modelProvider(scriptedModel(["done"]))({} as never);
		const from = process.cpuUsage();
		await provider.generate({ model: "m", messages } as never);
		const { user, system } = process.cpuUsage(from);
		least = Math.min(least, (user + system) / 1_000);
	}
	return least;
}

test("results one after the other", async () => {
	const once = await costOf(8_000);
	// Linear work costs eight times as much, some more where it outgrows the caches, and a square 64 times.
	expect(await costOf(64_000)).toBeLessThan(24 * Math.max(once, 4));
});
