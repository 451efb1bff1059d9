// The request behind a model's answer, and the answer. The journal stores messages, but not every request: the request is
// rebuilt from the entries before the answer, and compared with the fingerprint that was recorded with it.
import type { Exchange, SessionInspection } from "@holdfast/server";
import { messageToJSON } from "@holdfast/upp";
import { sentRequest } from "holdfast/execute";
import { type Entry, emptySession, foldEntries, type SessionState } from "holdfast/host";
import { type ShownStep, shownEntry } from "../wire/index.ts";
import { invalid, sessionIdOf } from "./route-parts.ts";

/** Returns the state of a session, or of what precedes an entry. Rejects with `session_not_found`. */
export async function stateBefore(
	{ caller }: Exchange,
	inspection: SessionInspection,
	sessionId: string,
	{ before = Number.POSITIVE_INFINITY }: { readonly before?: number | undefined },
): Promise<SessionState> {
	let state = emptySession();
	for (let after = 0; ; ) {
		const page = await inspection.entries(caller, sessionId, { after });
		const own = page.filter(({ seq }) => seq < before);
		state = foldEntries(own, state);
		after = page.at(-1)?.seq ?? after;
		if (page.length === 0 || own.length < page.length) return state;
	}
}

/** Rejects with `session_not_found`, or `invalid_input` if the seq is not an answer's. */
export async function shownStep(
	exchange: Exchange,
	inspection: SessionInspection,
	mask: <Value>(value: Value) => Value,
	seq: number,
): Promise<ShownStep> {
	const { caller } = exchange;
	const sessionId = sessionIdOf(exchange);
	const child = exchange.query("child");
	let state = emptySession();
	let reply: Entry | undefined;
	for (let after = 0; reply === undefined; ) {
		const page = await inspection.entries(caller, sessionId, { after, child });
		state = foldEntries(
			page.filter((entry) => entry.seq < seq),
			state,
		);
		reply = page.find((entry) => entry.seq === seq);
		after = page.at(-1)?.seq ?? after;
		if (reply === undefined && (page.length === 0 || after >= seq)) break;
	}
	if (reply === undefined || reply.fact.kind !== "assistant")
		throw invalid("seq", "is not the seq of an answer of a model");
	// A sub-agent's instructions and tools are its own, not the session's.
	const agent =
		child === undefined ? await inspection.agent(caller, sessionId).catch(() => undefined) : undefined;
	const sent = sentRequest(state, reply.fact, agent);
	// The instructions of a thread are rendered for each call, so the fingerprint does not identify them.
	const isThread = inspection.kind === "threads";
	const request = {
		model: sent.model,
		...(sent.system === undefined ? {} : { system: sent.system }),
		...(sent.tools === undefined ? {} : { tools: sent.tools.map(({ loadedBy: _, ...tool }) => tool) }),
		...(agent === undefined ? {} : { params: agent.params }),
		messages: sent.messages.map((message) => messageToJSON(message)),
	};
	return {
		request: mask(JSON.parse(JSON.stringify(request)) as typeof request),
		parts: isThread
			? { model: "same", instructions: "unknown", tools: "unknown", messages: "unknown" }
			: sent.parts,
		...(sent.strategy === undefined ? {} : { strategy: sent.strategy }),
		...(sent.prepared === undefined ? {} : { prepared: sent.prepared.changed }),
		reply: shownEntry(reply, mask, "whole"),
	};
}
