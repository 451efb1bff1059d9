// Tokens, cost, errors and latency over time, of all sessions that changed in that period.
import type { Route } from "@holdfast/server";
import { addBucket, emptyBucket } from "../looks/index.ts";
import type { UsageBucket } from "../wire/index.ts";
import { answerJson, inspectionOf, jsonAnswer, numberOf, type RouteParts } from "./route-parts.ts";

/** The most sessions read; those changed last. */
const mostSessions = 1_000;
const buckets = 60;
const minute = 60_000;

/** The route. */
export function usageRoute(parts: RouteParts): Route {
	return {
		method: "GET",
		path: "/api/inspect/usage",
		name: "inspectUsage",
		summary: "Tokens, cost, errors and latency over time, in sixty parts of the time.",
		parameters: [
			{
				in: "query",
				name: "minutes",
				description: "How far to look back. Default 60.",
				schema: { type: "integer", minimum: 60, maximum: 43_200 },
			},
		],
		answers: jsonAnswer("`{ buckets, sessions }`: what happened in each part, and of how many sessions."),
		errors: ["inspector_closed", "invalid_input"],
		async handle(exchange) {
			const inspection = inspectionOf(exchange, parts);
			const { caller } = exchange;
			const minutes = numberOf(exchange, "minutes", { least: 60, most: 43_200 }) ?? 60;
			const width = Math.ceil(minutes / buckets) * minute;
			const begin = (Math.floor(Date.now() / width) - buckets + 1) * width;
			const sums: UsageBucket[] = Array.from({ length: buckets }, (_, at) => emptyBucket(begin + at * width));
			const heads = [];
			for (let after: string | undefined; ; ) {
				const page = await inspection.heads(caller, { after });
				heads.push(...page.filter(({ updatedAt }) => updatedAt >= begin));
				after = page.at(-1)?.sessionId;
				if (page.length < 1_000 || after === undefined) break;
			}
			heads.sort((left, right) => right.updatedAt - left.updatedAt);
			for (const head of heads.slice(0, mostSessions)) {
				const { minutes: found } = await parts.looks.counted(inspection, caller, head);
				for (const bucket of found.values()) {
					const at = Math.floor((bucket.at - begin) / width);
					const sum = sums[at];
					if (sum !== undefined) sums[at] = addBucket(sum, bucket);
				}
			}
			return answerJson({ buckets: sums, widthMs: width, sessions: Math.min(heads.length, mostSessions) });
		},
	};
}
