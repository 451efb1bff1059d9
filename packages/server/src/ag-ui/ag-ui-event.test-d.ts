// What is sent is what AG-UI reads.
import type { AGUIEvent } from "@ag-ui/client";
import { expectTypeOf, test } from "vitest";
import type { AgUiEvent } from "./ag-ui-event.ts";

/** The names of AG-UI's events are an enum there and text on the wire. */
type OnTheWire<Event> = Event extends { type: infer Type }
	? Omit<Event, "type"> & { type: `${Type & string}` }
	: never;

test("every event is one of the protocol's", () => {
	expectTypeOf<AgUiEvent>().toExtend<OnTheWire<AGUIEvent>>();
});
