// The skills of the agent, and the sessions that have loaded them.
import type { Route } from "@holdfast/server";
import type { ShownSkillLoad } from "../wire/index.ts";
import {
	answerJson,
	inspectionOf,
	jsonAnswer,
	type RouteParts,
	readEach,
	recentHeads,
} from "./route-parts.ts";

/** Maximum number of sessions read; those changed last. */
const mostSessions = 1_000;
/** Maximum number of loads in an answer; the latest ones. */
const mostLoads = 1_000;

/** The routes. */
export function skillRoutes(parts: RouteParts): readonly Route[] {
	const skills: Route = {
		method: "GET",
		path: "/api/inspect/skills",
		name: "inspectSkills",
		summary: "The skills of the agent: name, description, hash, allowed tools and files of each.",
		answers: jsonAnswer("`{ skills }`: an empty list if the agent has none."),
		errors: ["inspector_closed"],
		async handle(exchange) {
			const found = (await inspectionOf(exchange, parts).skills?.()) ?? [];
			return answerJson({ skills: found.map((each) => parts.mask(each)) });
		},
	};
	const loads: Route = {
		method: "GET",
		path: "/api/inspect/skills/loads",
		name: "inspectSkillLoads",
		summary: `The skills that sessions have loaded, the latest first: of the ${mostSessions} sessions that changed last.`,
		answers: jsonAnswer(
			"`{ loads, sessions }`: each load with its session, entry, time and hash, and the number of sessions.",
		),
		errors: ["inspector_closed"],
		async handle(exchange) {
			const inspection = inspectionOf(exchange, parts);
			const { caller } = exchange;
			const heads = (await recentHeads(inspection, caller)).slice(0, mostSessions);
			const found: ShownSkillLoad[] = [];
			const unreadable = await readEach(heads, async (head) => {
				const { loads } = await parts.looks.counted(inspection, caller, head);
				for (const load of loads) found.push({ sessionId: head.sessionId, ...parts.mask(load) });
			});
			found.sort((one, other) => other.at - one.at);
			return answerJson({ loads: found.slice(0, mostLoads), sessions: heads.length - unreadable.length });
		},
	};
	return [skills, loads];
}
