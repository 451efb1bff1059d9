// AG-UI accepts the events that this server sends.
import type { AGUIEvent } from "@ag-ui/client";
import { expectTypeOf, test } from "vitest";
import type { AgUiEvent } from "./ag-ui-event.ts";

/** The package declares the names of AG-UI's events as an enum; on the wire they are strings. */
type OnTheWire<Event> = Event extends { type: infer Type }
	? Omit<Event, "type"> & { type: `${Type & string}` }
	: never;

test("every event conforms to the protocol", () => {
	expectTypeOf<AgUiEvent>().toExtend<OnTheWire<AGUIEvent>>();
});
