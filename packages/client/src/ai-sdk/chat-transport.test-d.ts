// The transport implements the AI SDK's interface.
import type { ChatTransport, UIMessage } from "ai";
import { expectTypeOf, test } from "vitest";
import { HoldfastChatTransport } from "./chat-transport.ts";

test("useChat accepts it, with messages of any type", () => {
	type Mine = UIMessage<{ readonly at: number }>;
	expectTypeOf<HoldfastChatTransport>().toExtend<ChatTransport<UIMessage>>();
	expectTypeOf<HoldfastChatTransport<Mine>>().toExtend<ChatTransport<Mine>>();
	expectTypeOf(new HoldfastChatTransport<Mine>().load("id")).toEqualTypeOf<Promise<Mine[]>>();
});
