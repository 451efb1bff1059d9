// Searches the content of sessions. Each request reads a bounded part of the journals that it names, and returns where
// to continue (keeps I7). It needs no index, so it works in every store, and nothing is written for it.
import type { Route } from "@holdfast/server";
import { isHoldfastError } from "holdfast";
import { entriesAround, isReadable, searchEntry, wordsOf } from "../looks/index.ts";
import type { FoundText } from "../wire/index.ts";
import {
	answerJson,
	idsOf,
	inspectionOf,
	invalid,
	jsonAnswer,
	maskOf,
	mostIds,
	numberOf,
	type RouteParts,
	readEach,
} from "./route-parts.ts";

const longestQuery = 200;
/** Entries per session; the latest ones. */
const mostEntries = 5_000;
const pageEntries = 500;
/** Characters of entries after which a request reads no further session; with twice as many, it ends within one. */
const mostCharacters = 8_000_000;

/** The route. */
export function searchRoute(parts: RouteParts): Route {
	const text = { type: "string" } as const;
	return {
		method: "GET",
		path: "/api/inspect/search",
		name: "inspectSearch",
		summary: "Finds words in the messages, calls, results and errors of the given sessions.",
		parameters: [
			{
				in: "query",
				name: "q",
				description: `The words; an entry must contain all of them. ${longestQuery} characters at most.`,
				schema: text,
			},
			{
				in: "query",
				name: "ids",
				description: `Ids of sessions, with commas between; ${mostIds} at most.`,
				schema: text,
			},
			{
				in: "query",
				name: "after",
				description: "`next.after` of the previous response: the first session is searched from there.",
				schema: { type: "integer" },
			},
		],
		answers: jsonAnswer(
			`\`{ found: [{ sessionId, seq, at, kind, excerpt }], searched, cut, unreadable, next? }\`: the first entry of each session with the words; how many of the sessions were searched, in their order; those of which only the last ${mostEntries} entries were; and the sessions of which at least one entry cannot be read. With \`next: { sessionId, after }\`, the request ended within this session: continue with it and the sessions after it.`,
		),
		errors: ["inspector_closed", "invalid_input"],
		async handle(exchange) {
			const inspection = inspectionOf(exchange, parts);
			const { caller } = exchange;
			const query = exchange.query("q") ?? "";
			const words = wordsOf(query);
			if (query.length > longestQuery) throw invalid("q", `must have ${longestQuery} characters at most`);
			if (words.length === 0) throw invalid("q", "must contain a word");
			const wanted = idsOf(exchange).map((sessionId) => ({ sessionId }));
			const found: FoundText[] = [];
			const cut: string[] = [];
			const from = numberOf(exchange, "after") ?? 0;
			let next: { readonly sessionId: string; readonly after: number } | undefined;
			let characters = 0;
			let searched = 0;
			const damaged = new Map<string, string>();
			const skipped = await readEach(wanted, async ({ sessionId }) => {
				if (next !== undefined || characters >= mostCharacters) return;
				const begun = searched === 0 ? from : 0;
				searched++;
				const head = await inspection.head(caller, sessionId);
				if (head === undefined) return;
				const { seq: last } = head;
				const mask = await maskOf(inspection, caller, sessionId, parts.mask);
				const isLong = head.seq > mostEntries;
				if (isLong && begun === 0) cut.push(sessionId);
				let after = begun > 0 ? begun : Math.max(0, head.seq - mostEntries);
				let hit: FoundText | undefined;
				while (hit === undefined && after < head.seq) {
					if (characters >= 2 * mostCharacters) {
						searched--;
						next = { sessionId, after };
						return;
					}
					// The journal may have been folded since.
					const page = await entriesAfter(after);
					for (const entry of page) {
						if (!isReadable(entry)) {
							damaged.set(sessionId, entry.error.code);
							continue;
						}
						const { size, excerpt } = searchEntry(entry, words, mask);
						characters += size;
						if (excerpt === undefined) continue;
						hit = { sessionId, seq: entry.seq, at: entry.at, kind: entry.fact.kind, excerpt };
						break;
					}
					after = page.at(-1)?.seq ?? head.seq;
				}
				if (hit !== undefined) found.push(hit);

				async function entriesAfter(seq: number) {
					const of = { inspection, owner: caller, sessionId, last };
					const options = { after: seq, limit: pageEntries };
					try {
						return await entriesAround(of, options);
					} catch (error) {
						if (!isHoldfastError(error)) throw error;
						if (error.code === "session_not_found") return [];
						if (error.code !== "events_expired") throw error;
						return entriesAround(of, { ...options, after: 0 });
					}
				}
			});
			const inPart = [...damaged].map(([sessionId, code]) => ({ sessionId, code }));
			const unreadable = [...skipped, ...inPart];
			return answerJson({ found, searched, cut, unreadable, ...(next === undefined ? {} : { next }) });
		},
	};
}
