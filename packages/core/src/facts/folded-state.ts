// Converts a settled session to one fact and back (keeps I2). A folded session cannot be distinguished from one read
// entry by entry, however much of their results the agent's tools show.
import { isToolResultMessage, type Message } from "@holdfast/upp";
import { AgentState, List } from "../state/index.ts";
import type { Folded } from "./fact.ts";
import { journalCorrupt } from "./journal-errors.ts";
import { systemAfter } from "./recorded-system.ts";
import { refusedIds, withoutFiles } from "./refused-files.ts";
import type { FoldOptions, SessionState } from "./session-state.ts";
import { withShown } from "./shown-history.ts";

/** Wraps a result that its tool may cut for the model. */
class Given {
	readonly tool: string;

	constructor(tool: string) {
		this.tool = tool;
	}
}

/** Use these options for a fold that will become a fact: it remembers which tool returned which result. */
export const withTools: FoldOptions = { show: (tool) => new Given(tool) };

/**
 * Creates the fact for the entries up to a state. The state must have no open run, and must be folded `withTools`.
 * @throws HoldfastError `unserialisable_value` if an in-memory journal contains values that JSON cannot represent.
 */
export function foldedFact(session: SessionState): Folded {
	const { agent, context } = session;
	const refusals = refusedIds(session);
	const refused = new Set(refusals.refused);
	const results = context.toArray().filter(isToolResultMessage);
	const tools = results.map((message) => {
		// A result with refused files is shown as notes, however much its tool shows.
		const names = message.results.flatMap(({ result }) =>
			result instanceof Given ? [result.tool] : refused.has(message.id) ? [""] : [],
		);
		return names.length < message.results.length ? null : names;
	});
	const prefix = session.sent === undefined ? {} : { sent: session.sent };
	const told = session.system === undefined ? {} : { system: session.system.system };
	return { kind: "folded", state: agent.toJSON(), tools, ...refusals, ...prefix, ...told };
}

/** Returns the session after a folded entry. */
export function unfold(
	seq: number,
	{ state, tools, refused, sent, system: recorded }: Folded,
	{ show }: FoldOptions,
): SessionState {
	const agent = readState(seq, state);
	const { messages } = AgentState.partsOf(agent);
	const hidden = new Set(refused);
	let count = 0;
	let cut = hidden.size > 0;
	const visible = messages.toArray().map((message: Message) => {
		const names = isToolResultMessage(message) ? tools[count++] : undefined;
		if (hidden.has(message.id)) return withoutFiles(withShown(message, names, show), message);
		const visible = withShown(message, names, show);
		cut ||= visible !== message;
		return visible;
	});
	// The deltas of folded entries are deleted with them.
	const system = systemAfter(undefined, recorded);
	const context = cut ? List.from(visible) : messages;
	return { seq, agent, context, run: undefined, streamed: 0, sent, system };
}

function readState(seq: number, state: Folded["state"]): AgentState {
	try {
		return AgentState.fromJSON(state);
	} catch (cause) {
		throw journalCorrupt(`entry ${seq} holds no state`, cause);
	}
}
