// The AI SDK accepts the chunks that this server sends.
import type { UIMessageChunk } from "ai";
import { expectTypeOf, test } from "vitest";
import type { UiChunk } from "./ui-chunk.ts";

test("every chunk is one of the protocol's", () => {
	expectTypeOf<UiChunk>().toExtend<UIMessageChunk>();
});
