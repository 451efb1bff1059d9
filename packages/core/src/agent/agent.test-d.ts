// What the types of agents promise: options are checked and named, tools keep their inferred arguments, results are
// the model layer's own types.

import { scriptedModel } from "@holdfast/testing";
import type { AssistantMessage, Message, TokenUsage, Tool, Turn } from "@holdfast/upp";
import { expectTypeOf, test } from "vitest";
import { z } from "zod";
import type { AgentState } from "../state/agent-state.ts";
import { loop } from "../strategies/loop.ts";
import { tool } from "../tools/tool.ts";
import { Agent, agent } from "./agent.ts";

const model = scriptedModel([]);

test("inline tools keep the arguments inferred from their schema", () => {
	agent({
		model,
		tools: [
			tool({
				name: "weather",
				description: "",
				parameters: z.object({ city: z.string(), days: z.number().default(1) }),
				run(params, { signal, toolCallId, idempotencyKey }) {
					expectTypeOf(params).toEqualTypeOf<{ city: string; days: number }>();
					expectTypeOf(signal).toEqualTypeOf<AbortSignal>();
					expectTypeOf(toolCallId).toEqualTypeOf<string>();
					expectTypeOf(idempotencyKey).toEqualTypeOf<string>();
					// @ts-expect-error the schema has no such property
					return params.country;
				},
			}),
			{ name: "plain", description: "", parameters: { type: "object" }, run: ({ a }: { a: number }) => a },
		],
	});
	const upp: Tool<{ a: string }> = {
		name: "a",
		description: "",
		parameters: { type: "object" },
		run: ({ a }) => a,
	};
	agent({ model, tools: [upp] });
	agent({ model, tools: { named: { description: "", inputSchema: z.object({}), execute: () => "" } } });
});

test("results are the model layer's types", async () => {
	const coder = agent({ model });
	const { turn, state } = await coder.generate("go");
	expectTypeOf(turn).toEqualTypeOf<Turn>();
	expectTypeOf(state).toEqualTypeOf<AgentState>();
	expectTypeOf(turn.response).toEqualTypeOf<AssistantMessage>();
	expectTypeOf(turn.usage).toEqualTypeOf<TokenUsage>();
	expectTypeOf(state.messages).toEqualTypeOf<readonly Message[]>();
	expectTypeOf(coder.query("go")).resolves.toEqualTypeOf<Turn>();
	expectTypeOf(coder.ask).parameter(1).toEqualTypeOf<AgentState>();
	for await (const event of coder.stream("go")) {
		if (event.source === "upp") {
			expectTypeOf(event.upp.delta.text).toEqualTypeOf<string | undefined>();
			expectTypeOf(event.uap).toEqualTypeOf<undefined>();
		} else {
			expectTypeOf(event.uap.step).toEqualTypeOf<number>();
			expectTypeOf(event.upp).toEqualTypeOf<undefined>();
		}
	}
});

test("hooks are typed by their arguments, and may be asynchronous", () => {
	agent({
		model,
		execution: loop({ maxIterations: 3 }),
		strategy: {
			stopCondition: async (state) => state.step > 3,
			onStepStart: async (step, state) => {
				expectTypeOf(step).toEqualTypeOf<number>();
				expectTypeOf(state).toEqualTypeOf<AgentState>();
			},
			onObserve(_step, [first]) {
				expectTypeOf(first?.duration).toEqualTypeOf<number | undefined>();
			},
			onStepEnd(_step, { turn }) {
				expectTypeOf(turn).toEqualTypeOf<Turn>();
			},
		},
	});
	agent({
		model,
		strategy: {
			// @ts-expect-error a stop condition answers true or false
			stopCondition: () => "yes",
		},
	});
});

test("the strict constructor reports unknown options, and requires a valid model", () => {
	new Agent({ model, instructions: "Be brief." });
	// @ts-expect-error 'sistem' does not exist in type 'AgentOptions'
	new Agent({ model, sistem: "Be brief." });
	// @ts-expect-error a name is no model
	new Agent({ model: "gpt-5" });
	// @ts-expect-error a limit is a number
	loop({ maxIterations: "3" });
	// @ts-expect-error an agent is not a tool
	new Agent({ model, tools: [agent({ model })] });
	// @ts-expect-error the state is an AgentState, not its JSON
	void agent({ model }).generate("go", { messages: [], step: 0 });
});

test("an agent spreads into options, and the factory needs no model", () => {
	const coder = agent({ model, params: { temperature: 0 } });
	agent({ ...coder, execution: loop() });
	agent({});
});
