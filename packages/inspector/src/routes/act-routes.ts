// The routes for actions that the server lacks: fork, steer, release. To send, stop, answer and approve, the page uses
// the server's own routes.

import { type Exchange, isSessionId, type Route, type SessionInspection } from "@holdfast/server";
import {
	answerJson,
	type ChosenSettings,
	checkNoOthers,
	checkUnmasked,
	inspectionOf,
	invalid,
	jsonAnswer,
	maskOf,
	type RouteParts,
	sessionIdOf,
	settingsOf,
	unmaskedSystem,
} from "./route-parts.ts";

const bodyErrors = ["unsupported_media_type", "body_too_large", "invalid_json", "invalid_input"];

/** The routes. */
export function actRoutes(parts: RouteParts): readonly Route[] {
	const fork: Route = {
		method: "POST",
		path: "/api/inspect/session/:id/fork",
		name: "forkSession",
		summary:
			"Creates a session that starts with the settled history of this one, with another model or other instructions if given.",
		body: {
			type: "object",
			properties: {
				to: { type: "string", description: "Id of the new session. Default: a new one." },
				at: {
					description:
						"The seq of a settled entry, or the id of an ended run; 0 forks before the first message. Default: the last run that ended.",
					oneOf: [{ type: "integer", minimum: 0 }, { type: "string" }],
				},
				model: { type: "string", description: "One of the server's named models." },
				systemPrompt: { type: "string" },
				temperature: { type: "number" },
				maxTokens: { type: "integer" },
			},
			additionalProperties: false,
		},
		answers: jsonAnswer("`{ sessionId, seq }`: the new session, and the entry up to which it was copied."),
		errors: [
			...bodyErrors,
			"inspector_closed",
			"session_not_found",
			"session_exists",
			"fork_unsettled",
			"run_not_found",
			"unknown_model",
			"shutting_down",
		],
		async handle(exchange) {
			const inspection = inspectionOf(exchange, parts);
			const sessionId = sessionIdOf(exchange);
			const { systemPrompt: wanted, ...how } = forkOf(await exchange.readJson());
			const systemPrompt = await realSystem(exchange, inspection, sessionId, wanted);
			const { seq } = await inspection.fork(exchange.caller, sessionId, {
				...how,
				...(systemPrompt === undefined ? {} : { systemPrompt }),
			});
			return answerJson({ sessionId: how.to, seq });
		},
	};
	const steer: Route = {
		method: "POST",
		path: "/api/inspect/session/:id/steer",
		name: "steerSession",
		summary: "Sends a message to the active run, at its next boundary.",
		body: {
			type: "object",
			required: ["input"],
			properties: { input: { description: "Text, or a message of the user." } },
			additionalProperties: false,
		},
		answers: jsonAnswer("`{ sessionId, runId }`: the run it is for."),
		errors: [...bodyErrors, "inspector_closed", "session_not_found", "session_killed", "shutting_down"],
		async handle(exchange) {
			const inspection = inspectionOf(exchange, parts);
			const sessionId = sessionIdOf(exchange);
			const { input, ...rest } = await exchange.readJson();
			checkNoOthers(rest);
			if (input === undefined) throw invalid("input", "is missing");
			checkUnmasked("input", input);
			const { runId } = await inspection.steer(exchange.caller, sessionId, input);
			return answerJson({ sessionId, runId });
		},
	};
	const release: Route = {
		method: "POST",
		path: "/api/inspect/session/:id/release",
		name: "releaseSession",
		summary: "Continues a run that was parked.",
		answers: jsonAnswer("`{ sessionId, released }`: whether a run was continued."),
		errors: [...bodyErrors, "inspector_closed", "session_not_found", "session_held", "shutting_down"],
		async handle(exchange) {
			const inspection = inspectionOf(exchange, parts);
			const sessionId = sessionIdOf(exchange);
			await exchange.readNothing();
			const { released } = await inspection.release(exchange.caller, sessionId);
			return answerJson({ sessionId, released });
		},
	};
	return [fork, steer, release];

	/** Returns the instructions of a fork; undefined for those of the session. */
	async function realSystem(
		{ caller }: Exchange,
		inspection: SessionInspection,
		sessionId: string,
		given: string | undefined,
	): Promise<string | undefined> {
		if (given === undefined) return undefined;
		const mask = await maskOf(inspection, caller, sessionId, parts.mask);
		const { system } = await inspection.agent(caller, sessionId);
		return unmaskedSystem(given, system, mask);
	}
}

interface ForkBody {
	readonly to: string;
	readonly at?: string | number;
	readonly systemPrompt?: string;
	readonly options: Omit<ChosenSettings, "systemPrompt">;
}

/** @throws HoldfastError `invalid_input`. */
function forkOf({ to, at, ...rest }: Readonly<Record<string, unknown>>): ForkBody {
	const { systemPrompt, ...options } = settingsOf(rest);
	if (to !== undefined && !isSessionId(to)) throw invalid("to", "must be the id of a session");
	const isSeq = Number.isSafeInteger(at) && (at as number) >= 0;
	if (at !== undefined && !isSeq && typeof at !== "string")
		throw invalid("at", "must be a seq or the id of a run");
	return {
		to: to ?? crypto.randomUUID(),
		...(at === undefined ? {} : { at: at as string | number }),
		...(systemPrompt === undefined ? {} : { systemPrompt }),
		options,
	};
}
