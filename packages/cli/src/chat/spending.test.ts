import { expect, test } from "vitest";
import { Spending } from "./spending.ts";

const usage = (inputTokens: number, outputTokens: number) => ({
	inputTokens,
	outputTokens,
	totalTokens: inputTokens + outputTokens,
});

test("answers without reported usage count as unknown, not as none", () => {
	const spending = new Spending();
	expect(spending.text).toBe("no usage yet");
	spending.add(usage(0, 0), undefined);
	expect(spending.text).toBe("tokens unknown, cost unknown");
	spending.add(usage(1_000, 20), 0.5);
	expect(spending.text).toBe("1,000 tokens in, 20 out, $0.50 and 1 answer of unknown price");
});

test("after a summary, the context is as large as the summary until the next answer", () => {
	const spending = new Spending();
	const answer = (given: ReturnType<typeof usage>) =>
		spending.event({ type: "message", modelId: "m", usage: given, cost: 0.01 } as never);
	answer(usage(90_000, 1_000));
	expect(spending.context(200_000)).toBe("context 91,000 of 200,000 (46%)");
	spending.add(usage(91_000, 500), 0.02);
	spending.summarised(500);
	expect(spending.context(200_000)).toBe("context 500 of 200,000 (0%)");
	expect(spending.text).toBe("181,000 tokens in, 1,500 out, $0.0300");
	answer(usage(3_000, 100));
	expect(spending.context(200_000)).toBe("context 3,100 of 200,000 (2%)");
});
