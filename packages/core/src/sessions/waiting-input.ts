// Passes inputs through policy, as the facts that they will become, before they enter a store's inbox: text that policy
// masks is never stored unmasked. A turn that starts at once never enters the inbox, and is admitted when it is
// committed.
import type { EngineAgent } from "../engine/index.ts";
import {
	type AcceptedInput,
	inputFact,
	type MessageEdit,
	type RunStarted,
	readEdit,
	storedEdit,
} from "../facts/index.ts";
import type { AdmitWaiting } from "../policy/index.ts";
import { startOf } from "./run-start.ts";

/** The dependencies of admitting inputs. */
export interface Admits {
	readonly engine: EngineAgent;
	/** Undefined if inputs are not changed. */
	readonly admitWaiting: AdmitWaiting | undefined;
}

/** Returns an input in the form in which it may be queued. Throws policy's refusal. */
export function waitingInput(agent: Admits, inputId: string, input: AcceptedInput): AcceptedInput {
	const { admitWaiting } = agent;
	if (admitWaiting === undefined) return input;
	const message = admitWaiting(inputFact(inputId, input, "turn")).message as AcceptedInput["message"];
	const origin = waitingOrigin(agent, admitWaiting, input.origin);
	return { ...input, message, ...(origin === undefined ? {} : { origin }) };
}

/** Returns the origin with the model's description of the run masked; the owner of its work is kept. */
function waitingOrigin(
	{ engine }: Admits,
	admitWaiting: AdmitWaiting,
	origin: AcceptedInput["origin"],
): AcceptedInput["origin"] {
	if (origin?.parent?.description === undefined) return origin;
	const { parent }: RunStarted = admitWaiting(startOf(engine, origin));
	const description = parent?.description;
	return { ...origin, parent: { ...origin.parent, ...(description === undefined ? {} : { description }) } };
}

/** Returns the body of a history change in the form in which it may be queued. Throws policy's refusal. */
export function waitingEdit({ admitWaiting }: Pick<Admits, "admitWaiting">, edit: MessageEdit): unknown {
	const body = storedEdit(edit);
	if (admitWaiting === undefined || edit.kind === "delete") return body;
	const fact = readEdit(body);
	return fact.kind === "message.deleted"
		? body
		: storedEdit({ ...edit, message: admitWaiting(fact).message });
}
