// The routes of the playground: a request to a model, or a tool call, outside of any run. Nothing is recorded, and the
// session does not change. Tools have their real effects, so the server's operator has to allow them.
import type { Exchange, Route, SessionInspection } from "@holdfast/server";
import { messageToJSON, textOfSystem, UserMessage } from "@holdfast/upp";
import { HoldfastError, isHoldfastError } from "holdfast";
import type { SessionTrial } from "holdfast/execute";
import type { ShownTrialAnswer, ShownTrialResult } from "../wire/index.ts";
import {
	answerJson,
	type ChosenSettings,
	checkNoOthers,
	checkUnmasked,
	inspectionOf,
	invalid,
	isCount,
	jsonAnswer,
	maskOf,
	type RouteParts,
	sessionIdOf,
	settingsOf,
	unmaskedSystem,
} from "./route-parts.ts";
import { stateBefore } from "./shown-step.ts";

/** The longest that a trial takes, in milliseconds. */
const longestMs = 120_000;
const bodyErrors = ["unsupported_media_type", "body_too_large", "invalid_json", "invalid_input"];
const errors = [...bodyErrors, "inspector_closed", "route_not_found", "session_not_found"];
const statuses = { tool_not_found: 404, trial_unsupported: 400, trial_failed: 502 } as const;

/** The routes. */
export function trialRoutes(parts: RouteParts): readonly Route[] {
	const model: Route = {
		method: "POST",
		path: "/api/inspect/session/:id/try-model",
		name: "tryModel",
		summary:
			"Sends the request of an answer, or the conversation so far, to a model, with other instructions or another model if given. Nothing is recorded, and tool calls of the answer are not executed.",
		body: {
			type: "object",
			properties: {
				seq: { type: "integer", minimum: 1, description: "The seq of an answer. Default: the end." },
				input: { type: "string", description: "A further message of the user, at the end." },
				model: { type: "string", description: "The name of one of the server's models." },
				systemPrompt: { type: "string" },
				temperature: { type: "number" },
				maxTokens: { type: "integer" },
			},
			additionalProperties: false,
		},
		answers: jsonAnswer("`{ modelId, message, usage, stopReason, duration, cost? }`."),
		errors: [...errors, "unknown_model"],
		statuses,
		async handle(exchange) {
			checkAllowed(exchange, parts, "models");
			const { seq, input, ...given } = readModelTrial(await exchange.readJson());
			const { inspection, sessionId, trial, mask } = await begin(exchange, parts);
			checkUnmasked("input", input);
			const state = await stateBefore(exchange, inspection, sessionId, { before: seq });
			const messages = [...state.context, ...(input === undefined ? [] : [new UserMessage(input)])];
			if (messages.length === 0) throw invalid("input", "is required: the conversation has no messages");
			// Return values of the agent's functions are recorded.
			const system = trial.info.system === undefined ? state.system?.system : undefined;
			const { systemPrompt: wanted, ...settings } = given;
			const changed = unmaskedSystem(
				wanted,
				system === undefined ? trial.info.system : textOfSystem(system),
				mask,
			);
			const systemPrompt = changed ?? system;
			const started = performance.now();
			const asked = trial.ask({ systemPrompt, ...settings, messages, signal: until(exchange) });
			const answer = await asked.catch((error: unknown) => {
				if (isHoldfastError(error) && known.has(error.code)) throw error;
				// It may have been sent: what it cost is not known.
				const modelId = given.model ?? trial.info.model ?? "";
				parts.trials.add(exchange.caller, { modelId, duration: performance.now() - started });
				if (isHoldfastError(error) && error.code === "agent_closed") throw error;
				const text = mask(error instanceof Error ? error.message : String(error));
				throw new HoldfastError("trial_failed", `The model could not be called: ${text}`, { cause: error });
			});
			const { message, ...rest } = answer;
			parts.trials.add(exchange.caller, rest);
			const shown: ShownTrialAnswer = { ...rest, message: mask(plain(messageToJSON(message))) };
			return answerJson(shown);
		},
	};
	const tool: Route = {
		method: "POST",
		path: "/api/inspect/session/:id/try-tool",
		name: "tryTool",
		summary:
			"Runs the function of a tool once, with its real effects, outside of any run. Nothing is recorded. Only if the inspector's `playground` allows tools.",
		body: {
			type: "object",
			required: ["tool"],
			properties: { tool: { type: "string" }, input: { description: "The arguments." } },
			additionalProperties: false,
		},
		answers: jsonAnswer("`{ result, isError, streamed, duration }`."),
		errors,
		statuses,
		async handle(exchange) {
			checkAllowed(exchange, parts, "models-and-tools");
			const { tool: name, input = {}, ...rest } = await exchange.readJson();
			checkNoOthers(rest);
			if (typeof name !== "string") throw invalid("tool", "must be the name of a tool");
			checkUnmasked("input", input);
			const { trial, mask } = await begin(exchange, parts);
			const result = await trial.call(name, input, until(exchange));
			const shown: ShownTrialResult = mask(plain(result));
			return answerJson(shown);
		},
	};
	return [model, tool];
}

interface Begun {
	readonly inspection: SessionInspection;
	readonly sessionId: string;
	readonly trial: SessionTrial;
	readonly mask: RouteParts["mask"];
}

/** Errors of a trial that are not those of the provider. */
const known: ReadonlySet<string> = new Set(["unknown_model", "trial_unsupported", "session_not_found"]);

/** @throws HoldfastError `inspector_closed`; `route_not_found` if the playground does not allow this. */
function checkAllowed(exchange: Exchange, parts: RouteParts, needs: "models" | "models-and-tools"): void {
	inspectionOf(exchange, parts);
	const { playground } = parts;
	if (playground === "models-and-tools" || playground === needs) return;
	throw new HoldfastError(
		"route_not_found",
		"The playground of this inspector does not allow this. Set its option `playground`.",
	);
}

/** Rejects with `session_not_found`, and with `route_not_found` if the sessions have no playground. */
async function begin(exchange: Exchange, parts: RouteParts): Promise<Begun> {
	const inspection = inspectionOf(exchange, parts);
	if (inspection.trial === undefined)
		throw new HoldfastError("route_not_found", "These sessions have no playground.");
	const sessionId = sessionIdOf(exchange);
	const trial = await inspection.trial(exchange.caller, sessionId);
	const mask = await maskOf(inspection, exchange.caller, sessionId, parts.mask);
	return { inspection, sessionId, trial, mask };
}

function until({ request }: Exchange): AbortSignal {
	return AbortSignal.any([request.signal, AbortSignal.timeout(longestMs)]);
}

function plain<Value>(value: Value): Value {
	return JSON.parse(JSON.stringify(value)) as Value;
}

interface ModelTrial extends ChosenSettings {
	readonly seq?: number;
	readonly input?: string;
}

/** @throws HoldfastError `invalid_input`. */
function readModelTrial({ seq, input, ...rest }: Readonly<Record<string, unknown>>): ModelTrial {
	if (seq !== undefined && !isCount(seq)) throw invalid("seq", "must be the seq of an entry");
	if (input !== undefined && (typeof input !== "string" || input === ""))
		throw invalid("input", "must be text");
	return {
		...settingsOf(rest),
		...(seq === undefined ? {} : { seq }),
		...(input === undefined ? {} : { input }),
	};
}
