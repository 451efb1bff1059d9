// Messages of any number reach a provider in time that grows with their number, and no faster (keeps I7).
import { scriptedModel } from "@holdfast/testing";
import { test } from "vitest";
import { expectProportion } from "../../../../test/shared/in-proportion.fixture.ts";
import type { ProviderMessage } from "../types/index.ts";
import { modelProvider } from "./model-provider.ts";

function generation(count: number): () => Promise<unknown> {
	const messages: ProviderMessage[] = [
		{ role: "user", content: "go" },
		...Array.from(
			{ length: count },
			(_, index): ProviderMessage => ({ role: "tool", toolCallId: `${index}`, toolName: "t", content: "x" }),
		),
	];
	const provider = modelProvider(scriptedModel(["done"]))({} as never);
	return () => provider.generate({ model: "m", messages } as never);
}

test("results one after the other", async () => {
	await expectProportion(64_000, generation);
});
