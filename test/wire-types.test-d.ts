// What the server sends is what the client says it gets. The client has types of its own, for it is installed without the
// engine: here they are held together, member by member and in both directions, so that neither changes alone.
import type * as client from "@holdfast/client";
import type * as server from "@holdfast/server";
import type { SessionMessage } from "holdfast";
import type { LoggedEvent, ToolAnswerMessage } from "holdfast/execute";
import { expectTypeOf, test } from "vitest";

/** The members of each kind of a union, by the member that tells them apart. */
type Members<Union, Tag extends keyof Union> = {
	[Kind in Union[Tag] & string]: keyof Extract<Union, Record<Tag, Kind>>;
};
type Event = LoggedEvent["event"];
type ClientEvent = client.LoggedEvent["event"];
type PendingOf<All> =
	Extract<All, { readonly type: "awaiting_tool_execution" }> extends {
		readonly toolCalls: readonly (infer Call)[];
	}
		? Call
		: never;

test("events, sessions and pages of the service are those of the client", () => {
	expectTypeOf<LoggedEvent>().toExtend<client.LoggedEvent>();
	expectTypeOf<server.SessionInfo>().toExtend<client.SessionInfo>();
	expectTypeOf<server.SessionPage>().toExtend<client.SessionPage>();
	expectTypeOf<SessionMessage>().toExtend<client.SessionMessage>();
});

test("the client has no event that the service does not emit, and no answer that it does not accept", () => {
	expectTypeOf<ClientEvent["type"]>().toEqualTypeOf<Event["type"]>();
	expectTypeOf<client.Answer>().toExtend<ToolAnswerMessage>();
});

test("the client names exactly the members that the service sends", () => {
	expectTypeOf<Members<ClientEvent, "type">>().toEqualTypeOf<Members<Event, "type">>();
	expectTypeOf<Members<client.SessionMessage, "role">>().toEqualTypeOf<Members<SessionMessage, "role">>();
	expectTypeOf<keyof PendingOf<ClientEvent>>().toEqualTypeOf<keyof PendingOf<Event>>();
	expectTypeOf<keyof client.SessionInfo>().toEqualTypeOf<keyof server.SessionInfo>();
	expectTypeOf<keyof client.SessionPage>().toEqualTypeOf<keyof server.SessionPage>();
	expectTypeOf<keyof client.SessionPage["sessions"][number]>().toEqualTypeOf<
		keyof server.SessionPage["sessions"][number]
	>();
});
