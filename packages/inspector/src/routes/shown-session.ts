// Describes a session for the inspector.
import type { Exchange, SessionInspection } from "@holdfast/server";
import { HoldfastError } from "holdfast";
import type { PendingSessionCall } from "holdfast/execute";
import { statusOf } from "../looks/index.ts";
import type { SessionLook, ShownSession, ShownWaitingCall } from "../wire/index.ts";
import { maskOf, type RouteParts, sessionIdOf } from "./route-parts.ts";

/** Rejects with `session_not_found`. */
export async function shownSession(
	exchange: Exchange,
	inspection: SessionInspection,
	{ looks, mask: known }: RouteParts,
): Promise<ShownSession> {
	const { caller } = exchange;
	const sessionId = sessionIdOf(exchange);
	const mask = await maskOf(inspection, caller, sessionId, known);
	const head = await inspection.head(caller, sessionId);
	if (head === undefined) {
		// A session without committed entries has no head.
		if ((await exchange.service.get(caller, sessionId)) === undefined)
			throw new HoldfastError("session_not_found", "Session not found");
		const empty = { sessionId, incarnation: "", seq: 0, createdAt: 0, updatedAt: 0, waiting: 0 };
		return { ...(await shown(empty)), children: [] };
	}
	const children = await inspection.children(caller, sessionId);
	const found: SessionLook[] = [];
	for (const { child, parent, subagent, sessionId: own, ...rest } of children) {
		const { seq, createdAt, updatedAt } = rest;
		const [last] =
			seq === 0 ? [] : await inspection.entries(caller, sessionId, { child, after: seq - 1, limit: 1 });
		const status = statusOf(rest, last?.fact);
		const of = {
			...(parent === undefined ? {} : { parent }),
			...(own === undefined ? {} : { sessionId: own }),
		};
		found.push({ child, ...of, subagent, status, seq, createdAt, updatedAt });
	}
	return { ...(await shown(head)), children: found };

	async function shown(of: NonNullable<typeof head>): Promise<Omit<ShownSession, "children">> {
		const origin = await inspection.origin(caller, sessionId);
		const background = (await inspection.backgroundCalls?.(caller, sessionId)) ?? [];
		const agent = await inspection.agent(caller, sessionId).catch(() => undefined);
		const { counts } = await looks.counted(inspection, caller, of);
		const { agent: agentName, ...session } = await looks.session(inspection, caller, of);
		return {
			...session,
			...(agentName === undefined ? {} : { agentName }),
			counts,
			forks: await inspection.forks(caller, sessionId),
			...(origin === undefined ? {} : { origin }),
			...(background.length === 0 ? {} : { background: mask(background.map(waitingCall)) }),
			...(agent === undefined ? {} : { agent: mask(JSON.parse(JSON.stringify(agent))) }),
		};
	}
}

function waitingCall(call: PendingSessionCall): ShownWaitingCall {
	const {
		id: callId,
		name,
		arguments: input,
		approval,
		runId,
		deadline,
		path = [],
		taskId = "",
		mayEdit,
	} = call;
	return {
		callId,
		name,
		input,
		awaits: approval === true ? "approval" : "result",
		...(runId === undefined ? {} : { runId }),
		...(deadline === undefined ? {} : { deadline }),
		agents: path.map(({ agent }) => agent),
		taskId,
		...(mayEdit === undefined ? {} : { mayEdit }),
	};
}
