import { scriptedModel } from "@holdfast/testing";
import { expect, test } from "vitest";
import { Agent, agent } from "./agent.ts";
import { foreignOptions } from "./foreign-options.ts";
import { knownOptions } from "./options.ts";

const model = scriptedModel(() => "Hello.");
const makers = [
	["agent()", (options: object) => agent(options as never)],
	["new Agent()", (options: object) => new Agent(options as never)],
] as const;

test.each(makers)("%s rejects option names of other libraries and explains what to write", (_, make) => {
	for (const [option, instead] of Object.entries(foreignOptions))
		expect(() => make({ model, [option]: 1 })).toThrow(
			expect.objectContaining({
				code: "invalid_option",
				message: `An agent has no option \`${option}\`. ${instead}`,
			}),
		);
});

test.each(makers)("%s rejects unknown option names and suggests the intended one", (_, make) => {
	for (const option of ["somethingNew", "caching", "user", "metadata", "toString"])
		expect(() => make({ model, [option]: 1 })).toThrow(
			`An agent has no option \`${option}\`. Known options: `,
		);
	for (const option of knownOptions.keys()) {
		if (option.length < 6) continue;
		const slip = `${option.slice(0, 2)}${option.slice(3)}`;
		expect(() => make({ model, [slip]: 1 })).toThrow(
			expect.objectContaining({ code: "invalid_option", data: { option: slip, meant: option } }),
		);
	}
});

test("an option that two libraries share is not reported twice: the model is never called", () => {
	const { requests } = model;
	expect(() => agent({ model, stopWhen: 1, maxIterations: 2 } as never)).toThrow("maxSteps");
	expect(requests).toHaveLength(0);
});

test("misspelt hook names are rejected; data and helpers next to hooks are accepted", () => {
	const make = (options: object) => () => agent({ model, ...options } as never);
	expect(make({ strategy: { stopCondtion: () => true } })).toThrow("`stopCondition`");
	expect(make({ toolStrategy: { onBeforCall: () => true } })).toThrow("`onBeforeCall`");
	expect(make({ middleware: [{ name: "one", befor: () => {} }] })).toThrow("`before`");
	expect(make({ strategy: { count: 0, reset() {}, onStepEnd() {} } })).not.toThrow();
	expect(make({ middleware: [{ name: "one", state: {}, before: () => {} }] })).not.toThrow();
});
