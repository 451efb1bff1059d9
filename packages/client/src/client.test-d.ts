// The type errors that users of the client see.
import { expectTypeOf, test } from "vitest";
import { createClient } from "./client.ts";
import type { ExecuteResult } from "./execute/tally.ts";
import type { ClientTool } from "./tools/client-tool.ts";
import type { ExecuteComplete, ExecuteEvent, LoggedEvent } from "./wire/events.ts";
import type { SessionMessage } from "./wire/messages.ts";

const client = createClient({ url: "" });

test("events are distinguished by their type", async () => {
	for await (const event of client.execute({ input: "Hi" })) {
		expectTypeOf(event).toEqualTypeOf<ExecuteEvent | ExecuteComplete>();
		if (event.type === "text_delta") expectTypeOf(event.delta).toBeString();
		if (event.type === "message_end") expectTypeOf(event.message).toEqualTypeOf<SessionMessage>();
		// @ts-expect-error there is no such event
		if (event.type === "text_detla") throw event;
	}
	for await (const logged of client.watch("s")) expectTypeOf(logged).toEqualTypeOf<LoggedEvent>();
});

test("a price can be unknown", () => {
	expectTypeOf<ExecuteResult["cost"]>().toEqualTypeOf<number | undefined>();
});

test("a tool's parameters can be typed where it is declared", () => {
	const add: ClientTool<{ a: number }> = { name: "add", execute: (_, { a }) => ({ output: String(a) }) };
	client.execute({
		input: "Hi",
		tools: [add, { name: "look", run: async ({ at }: { at: string }, { signal }) => [at, signal.aborted] }],
	});
	// @ts-expect-error a tool has a name
	client.execute({ input: "Hi", tools: [{ run: () => "" }] });
});

test("an invalid input is rejected", () => {
	// @ts-expect-error the server's messages are not for users to say
	client.execute({ input: { role: "assistant", content: [] } });
	// @ts-expect-error a decision needs to say what was decided
	client.answer("s", [{ role: "approval", toolCallId: "c" }]);
});
