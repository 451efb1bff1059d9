// Removes registered secrets from facts: messages, inputs, outputs and notes are masked before they are recorded.
import type { Redactor } from "@holdfast/redaction";
import { type Message, type MessageJSON, messageFromJSON, messageToJSON } from "@holdfast/upp";
import type { Fact } from "holdfast/host";

/**
 * The members to mask: `data` is plain data, `message` is a message. Ids, paths and the engine's own fields are not
 * listed.
 */
type Members<Kind extends Fact["kind"]> = {
	readonly [Name in keyof Extract<Fact, { readonly kind: Kind }>]?: "data" | "message";
};

/** Covers every kind of fact: a new kind does not compile until its sensitive members are declared. */
const members: { readonly [Kind in Fact["kind"]]: Members<Kind> } = {
	"run.started": { parent: "data", system: "data" },
	"run.resumed": { partial: "message", system: "data" },
	"run.parked": {},
	input: { message: "message" },
	assistant: { message: "message", data: "data" },
	"tools.requested": { calls: "data" },
	"tool.started": { input: "data" },
	"tool.settled": { result: "data", details: "data", stack: "data", metadata: "data" },
	decision: { answer: "data" },
	note: { value: "data" },
	"tools.pending": { calls: "data", children: "data" },
	waiting: { calls: "data", children: "data" },
	"wait.ended": {},
	"message.added": { message: "message" },
	"message.updated": { message: "message" },
	"message.deleted": {},
	"history.cut": {},
	"run.ended": { error: "data", partial: "message" },
	// Its content was masked when it was first recorded.
	folded: {},
};

/** Returns the same fact if it contains no secret. */
export function maskedFact(fact: Fact, { maskSecrets }: Redactor): Fact {
	let changed: Record<string, unknown> | undefined;
	for (const [name, kind] of Object.entries(members[fact.kind])) {
		const value = (fact as unknown as Record<string, unknown>)[name];
		if (value === undefined) continue;
		const masked = kind === "message" ? maskedMessage(value as Message, maskSecrets) : maskSecrets(value);
		if (masked !== value) changed = { ...changed, [name]: masked };
	}
	return changed === undefined ? fact : ({ ...fact, ...changed } as Fact);
}

function maskedMessage<M extends Message>(message: M, maskSecrets: Redactor["maskSecrets"]): M {
	const { id, type, timestamp, ...said } = messageToJSON(message);
	const masked = maskSecrets(said);
	return masked === said
		? message
		: (messageFromJSON({ ...masked, id, type, timestamp } as MessageJSON) as Message as M);
}
