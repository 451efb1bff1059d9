// The AI SDK accepts the chunks that this server sends.
import type { UIMessageChunk } from "ai";
import { expectTypeOf, test } from "vitest";
import type { UiChunk } from "./ui-chunk.ts";

test("every chunk conforms to the protocol", () => {
	expectTypeOf<UiChunk>().toExtend<UIMessageChunk>();
});
