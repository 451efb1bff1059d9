// The routes for reading: sessions, one session, its entries, a model's request, usage, and changes.
import type { Exchange, InspectedHead, Route } from "@holdfast/server";
import { atEntry } from "holdfast/execute";
import { entriesAround, isOfSession, unreadableSession } from "../looks/index.ts";
import { type InspectedCounts, type InspectedSession, shownEntry } from "../wire/index.ts";
import type { RouteParts } from "./route-parts.ts";
import {
	answerJson,
	idsOf,
	inspectionOf,
	invalid,
	jsonAnswer,
	maskOf,
	mostIds,
	numberOf,
	readEach,
	sessionIdOf,
} from "./route-parts.ts";
import { searchRoute } from "./search-route.ts";
import { shownSession } from "./shown-session.ts";
import { shownStep } from "./shown-step.ts";
import { usageRoute } from "./usage-route.ts";

/** Maximum number of sessions per page. */
const mostSessions = 200;
/** Maximum number of entries per page, and the number of characters after which a page ends. */
const mostEntries = 1_000;
const pageCharacters = 4_000_000;
/** Maximum wait of a request for changes, in milliseconds. */
const longestWaitMs = 20_000;

const query = (name: string, description: string, type: "integer" | "string" = "integer") =>
	({ in: "query", name, description, schema: { type } }) as const;

/** The routes. */
export function lookRoutes(parts: RouteParts): readonly Route[] {
	const { looks, mask } = parts;
	const sessions: Route = {
		method: "GET",
		path: "/api/inspect/sessions",
		name: "inspectSessions",
		summary: "Sessions with their status and first message, ordered by id.",
		parameters: [
			query("after", "`next` of the previous page.", "string"),
			query("limit", `Sessions of a page, ${mostSessions} at most.`),
			query("ids", `Only these, with commas between; ${mostIds} at most.`, "string"),
		],
		answers: jsonAnswer(
			"A page of sessions: `{ sessions, next? }`. Damaged ones have the status `unreadable`, and their error.",
		),
		errors: ["inspector_closed", "invalid_input"],
		async handle(exchange) {
			const inspection = inspectionOf(exchange, parts);
			const { caller } = exchange;
			const found: InspectedSession[] = [];
			const add = async (head: InspectedHead): Promise<void> => {
				found.push(await looks.session(inspection, caller, head));
			};
			if (exchange.query("ids") !== undefined) {
				for (const sessionId of idsOf(exchange)) {
					try {
						const head = await inspection.head(caller, sessionId);
						if (head !== undefined) await add(head);
					} catch (error) {
						if (!isOfSession(error)) throw error;
						const nothing = { sessionId, seq: 0, createdAt: 0, updatedAt: 0 };
						found.push(unreadableSession(nothing, error));
					}
				}
				return answerJson({ sessions: found });
			}
			const limit = numberOf(exchange, "limit", { least: 1, most: mostSessions }) ?? mostSessions;
			const heads = await inspection.heads(caller, { after: exchange.query("after"), limit: limit + 1 });
			for (const head of heads.slice(0, limit)) await add(head);
			const next = heads.length > limit ? { next: heads[limit - 1]?.sessionId } : {};
			return answerJson({ sessions: found, ...next });
		},
	};
	const counts: Route = {
		method: "GET",
		path: "/api/inspect/counts",
		name: "inspectCounts",
		summary: "Totals of the given sessions: tokens, cost, errors, tools.",
		parameters: [query("ids", `Ids of sessions, with commas between; ${mostIds} at most.`, "string")],
		answers: jsonAnswer(
			"`{ counts: [{ sessionId, counts, tools, codes }] }`; unknown and unreadable sessions are omitted.",
		),
		errors: ["inspector_closed", "invalid_input"],
		async handle(exchange) {
			const inspection = inspectionOf(exchange, parts);
			const found: InspectedCounts[] = [];
			const wanted = idsOf(exchange).map((sessionId) => ({ sessionId }));
			await readEach(wanted, async ({ sessionId }) => {
				const head = await inspection.head(exchange.caller, sessionId);
				if (head === undefined) return;
				const { counts, tools, codes } = await looks.counted(inspection, exchange.caller, head);
				found.push({ sessionId, counts, tools: [...tools], codes: [...codes] });
			});
			return answerJson({ counts: found });
		},
	};
	const session: Route = {
		method: "GET",
		path: "/api/inspect/session/:id",
		name: "inspectSession",
		summary:
			"A session: status, numbers, where it was forked from, its sub-agents, and the settings of its turns.",
		answers: jsonAnswer("The session."),
		errors: ["inspector_closed", "session_not_found"],
		async handle(exchange) {
			return answerJson(await shownSession(exchange, inspectionOf(exchange, parts), parts));
		},
	};
	const entries: Route = {
		method: "GET",
		path: "/api/inspect/session/:id/entries",
		name: "inspectEntries",
		summary:
			"The entries of a session's journal, masked; long texts are cut. A page ends earlier if its entries are long. A damaged entry has the kind `unreadable`, and its error.",
		parameters: [
			query("after", "Only entries after this seq."),
			query("limit", `Entries of a page, ${mostEntries} at most.`),
			query("child", "The sub-agent's session, by its name.", "string"),
		],
		answers: jsonAnswer(
			"`{ entries, isLast }`. Unless `isLast` is true, continue after the seq of the last entry.",
		),
		errors: ["inspector_closed", "session_not_found", "events_expired", "invalid_input"],
		async handle(exchange) {
			const inspection = inspectionOf(exchange, parts);
			const after = numberOf(exchange, "after") ?? 0;
			const limit = numberOf(exchange, "limit", { least: 1, most: mostEntries }) ?? mostEntries;
			const child = exchange.query("child");
			const { caller } = exchange;
			const sessionId = sessionIdOf(exchange);
			const from = { inspection, owner: caller, sessionId, child };
			const found = await entriesAround(from, { after, limit });
			const masked = await maskOf(inspection, caller, sessionId, mask);
			const texts: string[] = [];
			let characters = 0;
			for (const entry of found) {
				const text = JSON.stringify(shownEntry(entry, masked));
				characters += text.length;
				if (texts.length > 0 && characters > pageCharacters) break;
				texts.push(text);
			}
			const last = found[texts.length - 1]?.seq ?? after;
			const isLast = texts.length === found.length && found.length < limit && (await isEnd(last));
			// The event after which the public stream continues: later text is not committed yet.
			const lastEventId = last === 0 ? "" : `,"lastEventId":${JSON.stringify(atEntry(last))}`;
			// A page may end early because its entries are long.
			async function isEnd(seq: number): Promise<boolean> {
				if (found.length === 0) return true;
				const [next] = await entriesAround(from, { after: seq, limit: 1 });
				return next === undefined;
			}
			return new Response(`{"entries":[${texts.join(",")}],"isLast":${isLast}${lastEventId}}`, {
				headers: answerJson(null).headers,
			});
		},
	};
	const entry: Route = {
		method: "GET",
		path: "/api/inspect/session/:id/entries/:seq",
		name: "inspectEntry",
		summary: "One entry, masked, with nothing cut.",
		parameters: [query("child", "The sub-agent's session, by its name.", "string")],
		answers: jsonAnswer("The entry."),
		errors: ["inspector_closed", "session_not_found", "invalid_input"],
		async handle(exchange) {
			const inspection = inspectionOf(exchange, parts);
			const seq = seqOf(exchange);
			const child = exchange.query("child");
			const { caller } = exchange;
			const sessionId = sessionIdOf(exchange);
			const from = { inspection, owner: caller, sessionId, child };
			const [found] = await entriesAround(from, { after: seq - 1, limit: 1 });
			if (found?.seq !== seq) throw invalid("seq", "is not an entry of the session");
			const masked = await maskOf(inspection, caller, sessionId, mask);
			return answerJson(shownEntry(found, masked, "whole"));
		},
	};
	const step: Route = {
		method: "GET",
		path: "/api/inspect/session/:id/steps/:seq",
		name: "inspectStep",
		summary: "The request behind the answer of this seq, rebuilt from the journal, and the recorded reply.",
		parameters: [query("child", "The sub-agent's session, by its name.", "string")],
		answers: jsonAnswer(
			"`{ request, parts, reply, strategy?, prepared? }`; `parts` states for each part of the request whether it is what was sent.",
		),
		errors: ["inspector_closed", "session_not_found", "invalid_input"],
		async handle(exchange) {
			const inspection = inspectionOf(exchange, parts);
			const masked = await maskOf(inspection, exchange.caller, sessionIdOf(exchange), mask);
			return answerJson(await shownStep(exchange, inspection, masked, seqOf(exchange)));
		},
	};
	const changes: Route = {
		method: "GET",
		path: "/api/inspect/changes",
		name: "inspectChanges",
		summary: "Waits a few seconds at most for a change in any session, and returns the changed sessions.",
		parameters: [
			query("after", "`position` of the previous response. Default: now."),
			query("wait", "`0`: does not wait, and returns only the position."),
		],
		answers: jsonAnswer("`{ position, changed, deleted }`, ids of sessions."),
		errors: ["inspector_closed", "changes_expired", "invalid_input"],
		async handle(exchange) {
			const inspection = inspectionOf(exchange, parts);
			const after = numberOf(exchange, "after");
			if (inspection.changes === undefined)
				throw invalid("after", "is unknown: this store records no changes");
			const isNow = numberOf(exchange, "wait", { most: 1 }) === 0;
			const signal = isNow
				? AbortSignal.abort()
				: AbortSignal.any([exchange.request.signal, AbortSignal.timeout(longestWaitMs)]);
			return answerJson(await inspection.changes(exchange.caller, { after, signal }));
		},
	};
	return [sessions, counts, session, entries, entry, step, usageRoute(parts), searchRoute(parts), changes];
}

function seqOf(exchange: Exchange): number {
	const text = exchange.parameter("seq") ?? "";
	if (/^[1-9]\d{0,14}$/.test(text)) return Number(text);
	throw invalid("seq", "must be the seq of an entry");
}
