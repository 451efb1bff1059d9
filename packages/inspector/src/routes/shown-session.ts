// Describes a session for the inspector.
import type { Exchange, SessionInspection } from "@holdfast/server";
import { HoldfastError } from "holdfast";
import type { PendingSessionCall } from "holdfast/execute";
import { entriesAround, isOfSession, isReadable, statusOf } from "../looks/index.ts";
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
	const damage: NonNullable<ShownSession["damage"]>[number][] = [];
	const head = await inspection.head(caller, sessionId);
	if (head === undefined) {
		// A session without committed entries has no head.
		if ((await exchange.service.get(caller, sessionId)) === undefined)
			throw new HoldfastError("session_not_found", "Session not found");
		const empty = { sessionId, incarnation: "", seq: 0, createdAt: 0, updatedAt: 0, waiting: 0 };
		return { ...(await shown(empty)), children: [] };
	}
	const children = (await part("sub-agents", inspection.children(caller, sessionId))) ?? [];
	const found: SessionLook[] = [];
	for (const { child, parent, subagent, sessionId: own, unreadable, ...rest } of children) {
		const { seq, createdAt, updatedAt } = rest;
		const of = {
			...(parent === undefined ? {} : { parent }),
			...(own === undefined ? {} : { sessionId: own }),
		};
		const about = { child, ...of, subagent, seq, createdAt, updatedAt };
		const from = { inspection, owner: caller, sessionId, child, last: seq };
		const lasts = seq === 0 ? [] : entriesAround(from, { after: seq - 1, limit: 1 });
		const [last] = (await part(`sub-agent ${subagent}`, lasts)) ?? [];
		const failure =
			unreadable !== undefined
				? { code: unreadable, message: "Its record is damaged." }
				: last !== undefined && !isReadable(last)
					? { code: last.error.code, message: last.error.message }
					: undefined;
		found.push(
			failure !== undefined
				? { ...about, status: "unreadable", failure }
				: {
						...about,
						status: statusOf(rest, last !== undefined && isReadable(last) ? last.fact : undefined),
					},
		);
	}
	return { ...(await shown(head)), children: found };

	/** Returns undefined for a part that is damaged, and lists it. */
	async function part<Value>(name: string, read: Value | Promise<Value>): Promise<Value | undefined> {
		try {
			return await read;
		} catch (error) {
			if (!isOfSession(error)) throw error;
			const { code, message } = error;
			damage.push({ part: name, code, message });
			return undefined;
		}
	}

	async function shown(of: NonNullable<typeof head>): Promise<Omit<ShownSession, "children">> {
		const origin = await part("origin", inspection.origin(caller, sessionId));
		const background =
			(await part("background tasks", inspection.backgroundCalls?.(caller, sessionId) ?? [])) ?? [];
		const agent = await part("agent", inspection.agent(caller, sessionId)).catch(() => undefined);
		const { counts } = await looks.counted(inspection, caller, of);
		const { agent: agentName, ...session } = await looks.session(inspection, caller, of);
		const forks = (await part("forks", inspection.forks(caller, sessionId))) ?? [];
		return {
			...session,
			...(agentName === undefined ? {} : { agentName }),
			counts,
			forks,
			...(origin === undefined ? {} : { origin }),
			...(background.length === 0 ? {} : { background: mask(background.map(waitingCall)) }),
			...(agent === undefined ? {} : { agent: mask(JSON.parse(JSON.stringify(agent))) }),
			...(damage.length === 0 ? {} : { damage }),
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
