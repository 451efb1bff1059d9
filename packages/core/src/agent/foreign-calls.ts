// Methods that other libraries' agents have, and properties of their streams. The error explains what to write instead.
import { HoldfastTypeError } from "@holdfast/upp";

const once =
	"Write `await agent.query(input)` for a single answer, or `await agent.session(key).send(input)`";
const single = `${once} for a conversation that is kept.`;
const events = "Iterate over the stream itself, with `for await (const event of agent.stream(input))`";

/** Methods of foreign agents, each with its replacement. */
const foreignCalls: Readonly<Record<string, string>> = {
	call: single,
	chat: single,
	invoke: single,
	run: single,
	streamEvents: `${events}.`,
};

/** Properties of foreign streams, each with its replacement. */
const foreignParts: Readonly<Record<string, string>> = {
	fullStream: `${events}.`,
	textStream: `${events}: the text is \`event.upp.delta.text\` where \`event.upp?.type\` is "text_delta".`,
	toTextStream: `${events}.`,
	toUIMessageStreamResponse:
		"Serve the agent with `createHandler()` of @holdfast/server, which `useChat` reads.",
};

/** Adds the foreign methods to a prototype: each throws `invalid_argument` when it is called. Nothing enumerates them. */
export function refuseForeignCalls(prototype: object): void {
	for (const [name, instead] of Object.entries(foreignCalls))
		Object.defineProperty(prototype, name, {
			configurable: true,
			value: () => {
				throw new HoldfastTypeError("invalid_argument", `An agent has no \`${name}()\`. ${instead}`);
			},
		});
}

/** Creates the prototype of streams: reading a foreign property throws `invalid_argument`. Nothing enumerates them. */
export function foreignStream(): object {
	const prototype = {};
	for (const [name, instead] of Object.entries(foreignParts))
		Object.defineProperty(prototype, name, {
			configurable: true,
			get() {
				throw new HoldfastTypeError(
					"invalid_argument",
					`The stream of an agent has no \`${name}\`. ${instead}`,
				);
			},
		});
	return prototype;
}
