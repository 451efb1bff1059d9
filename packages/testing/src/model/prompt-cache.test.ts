import { Agent } from "holdfast";
import { expect, test } from "vitest";
import { scriptedModel } from "./scripted-model.ts";

const words = (count: number): string => "word ".repeat(count);

async function shares(options: { control: "breakpoints" | "key"; instructions: readonly string[] }) {
	const model = scriptedModel(() => "ok", { promptCache: options.control });
	let state: Awaited<ReturnType<Agent["generate"]>>["state"] | undefined;
	const found: number[] = [];
	for (const instructions of options.instructions) {
		const agent = new Agent({ model, instructions });
		const result = await (state === undefined ? agent.generate("go") : agent.generate("go", state));
		state = result.state;
		const { inputTokens, cacheReadTokens = 0 } = result.turn.usage;
		found.push(Math.round((100 * cacheReadTokens) / inputTokens));
	}
	return found;
}

test.each(["breakpoints", "key"] as const)(
	"a scripted model with a cache of %s reads the common prefix with an earlier request",
	async (control) => {
		const [first, second] = [words(500), `Today: ${words(500)}`];
		const [none, most, fresh, again] = await shares({
			control,
			instructions: [first, first, second, second],
		});
		expect([none, (fresh ?? 100) < 5]).toEqual([0, true]);
		expect(most).toBeGreaterThan(90);
		expect(again).toBeGreaterThan(90);
	},
);

test("a scripted model without the option counts no cached tokens", async () => {
	const { turn } = await new Agent({ model: scriptedModel(["ok"]) }).generate("go");
	expect(turn.usage.cacheReadTokens).toBeUndefined();
});
