// The request behind a model's answer, and the answer. The journal stores messages, but not every request: the request is
// rebuilt from the entries before the answer.
import type { Exchange, SessionInspection } from "@holdfast/server";
import { messageToJSON } from "@holdfast/upp";
import { type Entry, emptySession, foldEntries } from "holdfast/host";
import { type ShownStep, shownEntry } from "../wire/index.ts";
import { invalid, sessionIdOf } from "./route-parts.ts";

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
	let agentChanged = false;
	for (let after = 0; reply === undefined; ) {
		const page = await inspection.entries(caller, sessionId, { after, child });
		const before = page.filter((entry) => entry.seq < seq);
		state = foldEntries(before, state);
		for (const { fact } of before) {
			if (fact.kind === "run.resumed" && fact.agentChanged !== undefined) agentChanged = true;
		}
		reply = page.find((entry) => entry.seq === seq);
		after = page.at(-1)?.seq ?? after;
		if (reply === undefined && (page.length === 0 || after >= seq)) break;
	}
	if (reply === undefined || reply.fact.kind !== "assistant")
		throw invalid("seq", "is not the seq of an answer of a model");
	// A sub-agent's instructions and tools are its own, not the session's.
	const agent =
		child === undefined ? await inspection.agent(caller, sessionId).catch(() => undefined) : undefined;
	const messages = [...state.context].map((message) => messageToJSON(message));
	const request = {
		model: reply.fact.modelId,
		...(agent?.system === undefined ? {} : { system: agent.system }),
		...(agent === undefined ? {} : { tools: agent.tools, params: agent.params }),
		messages,
	};
	return {
		request: mask(JSON.parse(JSON.stringify(request)) as typeof request),
		reply: shownEntry(reply, mask, "whole"),
		agentChanged,
	};
}
