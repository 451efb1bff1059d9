// What the server sends is what the client says it gets. The client has types of its own, for it knows nothing of the
// engine: here they are held together.
import type * as client from "@holdfast/client";
import type * as server from "@holdfast/server";
import type { SessionMessage, ToolAnswerMessage } from "holdfast";
import type { LoggedEvent } from "holdfast/execute";
import { expectTypeOf, test } from "vitest";

test("events, sessions and pages of the service are those of the client", () => {
	expectTypeOf<LoggedEvent>().toExtend<client.LoggedEvent>();
	expectTypeOf<server.SessionInfo>().toExtend<client.SessionInfo>();
	expectTypeOf<server.SessionPage>().toExtend<client.SessionPage>();
	expectTypeOf<SessionMessage>().toExtend<client.SessionMessage>();
});

test("the client knows no event that the service does not emit, and no answer that it does not take", () => {
	expectTypeOf<client.LoggedEvent["event"]["type"]>().toEqualTypeOf<LoggedEvent["event"]["type"]>();
	expectTypeOf<client.Answer>().toExtend<ToolAnswerMessage>();
});
