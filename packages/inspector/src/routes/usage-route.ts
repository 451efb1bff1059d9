// Tokens, cost, errors and latency over time, of all sessions that changed in that period.
import type { Route } from "@holdfast/server";
import { addBucket, emptyBucket, emptyGroup, type Group, joinGroups, quantile } from "../looks/index.ts";
import type { UsageBucket, UsageGroup, UsageLatency } from "../wire/index.ts";
import {
	answerJson,
	inspectionOf,
	jsonAnswer,
	numberOf,
	type RouteParts,
	readEach,
	recentHeads,
} from "./route-parts.ts";

/** Maximum number of sessions read; those changed last. */
const mostSessions = 1_000;
const buckets = 60;
const minute = 60_000;

/** The route. */
export function usageRoute(parts: RouteParts): Route {
	return {
		method: "GET",
		path: "/api/inspect/usage",
		name: "inspectUsage",
		summary: "Tokens, cost, errors and latency over time, in sixty intervals.",
		parameters: [
			{
				in: "query",
				name: "minutes",
				description: "How far to look back. Default 60.",
				schema: { type: "integer", minimum: 60, maximum: 43_200 },
			},
		],
		answers: jsonAnswer(
			"`{ buckets, latencies, groups, sessions }`: the activity of each interval, by agent, model and tool, and the number of sessions, without unreadable ones. Requests of the playground count as the agent `playground`, since the server started.",
		),
		errors: ["inspector_closed", "invalid_input"],
		async handle(exchange) {
			const inspection = inspectionOf(exchange, parts);
			const { caller } = exchange;
			const minutes = numberOf(exchange, "minutes", { least: 60, most: 43_200 }) ?? 60;
			const width = Math.ceil(minutes / buckets) * minute;
			const begin = (Math.floor(Date.now() / width) - buckets + 1) * width;
			const sums: UsageBucket[] = Array.from({ length: buckets }, (_, at) => emptyBucket(begin + at * width));
			const heads = await recentHeads(inspection, caller, begin);
			const groups = new Map<string, Group>();
			const unreadable = await readEach(heads.slice(0, mostSessions), async (head) => {
				const { minutes: found, grouped } = await parts.looks.counted(inspection, caller, head);
				add(grouped.groups, found);
			});
			const tried = parts.trials.of(caller);
			add(tried.groups, tried.minutes);
			function add(activity: ReadonlyMap<string, Group>, found: ReadonlyMap<number, UsageBucket>): void {
				for (const group of activity.values()) {
					if (group.at < begin) continue;
					const at = group.kind === "all" ? begin + Math.floor((group.at - begin) / width) * width : 0;
					const key = `${group.kind} ${at} ${group.name}`;
					groups.set(key, joinGroups(groups.get(key) ?? emptyGroup(group.kind, group.name, at), group));
				}
				for (const bucket of found.values()) {
					const at = Math.floor((bucket.at - begin) / width);
					const sum = sums[at];
					if (sum !== undefined) sums[at] = addBucket(sum, bucket);
				}
			}
			return answerJson({
				buckets: sums,
				latencies: sums.map(({ at }) => latencyOf(groups.get(`all ${at} `))),
				groups: [...groups.values()].flatMap(shownGroup),
				widthMs: width,
				sessions: Math.min(heads.length, mostSessions) - unreadable.length,
			});
		},
	};
}

function latencyOf(group: Group | undefined): UsageLatency {
	const [p50, p95] = [0.5, 0.95].map((share) => quantile(group?.latencies ?? {}, share));
	return { ...(p50 === undefined ? {} : { p50 }), ...(p95 === undefined ? {} : { p95 }) };
}

function shownGroup(group: Group): readonly UsageGroup[] {
	const { kind, at: _at, latencies: _latencies, ...numbers } = group;
	return kind === "all" ? [] : [{ kind, ...numbers, ...latencyOf(group) }];
}
