// What other packages and the pages of users read off the type of an agent.
import { createClient, type ExecuteResult } from "@holdfast/client";
import { HoldfastChatTransport } from "@holdfast/client/ai-sdk";
import type { UIDataTypes, UIMessage } from "ai";
import { agent, type InferTools, tool } from "holdfast";
import { expectTypeOf, test } from "vitest";
import { z } from "zod";

test("the type of the server's agent determines the types of results and events", async () => {
	const look = tool({
		name: "look",
		description: "",
		parameters: z.object({ at: z.string() }),
		run: ({ at }) => at,
	});
	const clerk = agent({ tools: [look], output: z.object({ found: z.boolean() }) });
	const typed = createClient<typeof clerk>({ url: "" });
	const stream = typed.execute({ input: "Hi" });
	expectTypeOf((await stream.result()).output).toEqualTypeOf<{ found: boolean } | undefined>();
	for await (const event of stream) {
		if (event.type !== "tool_execution_start") continue;
		expectTypeOf(event.toolName).toEqualTypeOf<"look">();
		expectTypeOf(event.args).toEqualTypeOf<{ at: string }>();
	}
	expectTypeOf<InferTools<typeof clerk>>().toEqualTypeOf<{
		look: { input: { at: string }; output: string };
	}>();
	expectTypeOf<ExecuteResult["output"]>().toEqualTypeOf<unknown>();
	const plain = createClient<ReturnType<typeof agent>>({ url: "" }).execute({ input: "Hi" });
	expectTypeOf((await plain.result()).output).toEqualTypeOf<unknown>();
});

test("messages of useChat have the tools of the agent", async () => {
	const look = tool({ name: "look", description: "", parameters: z.object({}), run: () => 1 });
	const clerk = agent({ tools: [look] });
	type Message = UIMessage<unknown, UIDataTypes, InferTools<typeof clerk>>;
	const [message] = await new HoldfastChatTransport<Message>().load("id");
	for (const part of message?.parts ?? []) {
		if (part.type !== "tool-look" || part.state !== "output-available") continue;
		expectTypeOf(part.output).toEqualTypeOf<number>();
	}
});
