import { expect, test } from "vitest";
import { Spending } from "./spending.ts";

const usage = (inputTokens: number, outputTokens: number) => ({
	inputTokens,
	outputTokens,
	totalTokens: inputTokens + outputTokens,
});

test("answers without reported usage count as unknown, not as none", () => {
	const spending = new Spending();
	expect(spending.text).toBe("nothing used yet");
	spending.add(usage(0, 0), undefined);
	expect(spending.text).toBe("tokens unknown, cost unknown");
	spending.add(usage(1_000, 20), 0.5);
	expect(spending.text).toBe("1,000 tokens in, 20 out, $0.50 and 1 answer of unknown price");
});
