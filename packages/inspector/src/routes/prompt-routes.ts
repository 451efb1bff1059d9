// The routes for the inspector's permissions, and for versions of prompts: reading them and writing new ones. Versions
// never change.

import type { Exchange, Route, SessionInspection } from "@holdfast/server";
import { cutText } from "@holdfast/upp";
import { HoldfastError } from "holdfast";
import type { InspectorAbout, ShownPrompt } from "../wire/index.ts";
import {
	answerJson,
	checkMay,
	checkNoOthers,
	checkUnmasked,
	type InspectedPrompts,
	inspectionOf,
	invalid,
	jsonAnswer,
	type RouteParts,
} from "./route-parts.ts";

/** Maximum number of versions shown per prompt; the latest ones. */
const mostVersions = 100;
const statuses = { PROMPT_NOT_FOUND: 404, PROMPT_INVALID: 400, AUDIT_WRITE_FAILED: 503 } as const;

/** The routes. */
export function promptRoutes(parts: RouteParts): readonly Route[] {
	const about: Route = {
		method: "GET",
		path: "/api/inspect/about",
		name: "inspectAbout",
		summary: "The views and actions of this inspector.",
		answers: jsonAnswer("`{ kind, models?, hasPrompts, playground }`."),
		errors: ["inspector_closed"],
		async handle(exchange) {
			const { kind = "sessions", models, trial, skills } = inspectionOf(exchange, parts);
			const answer: InspectorAbout = {
				kind,
				...(models === undefined ? {} : { models }),
				hasPrompts: parts.prompts !== undefined,
				hasSkills: await hasAny(skills),
				playground: trial === undefined ? "off" : parts.playground,
			};
			return answerJson(answer);
		},
	};
	const list: Route = {
		method: "GET",
		path: "/api/inspect/prompts",
		name: "inspectPrompts",
		summary: "The latest version of each prompt.",
		answers: jsonAnswer("`{ prompts }`."),
		errors: ["inspector_closed"],
		async handle(exchange) {
			const prompts = promptsOf(exchange, parts);
			return answerJson({ prompts: (await prompts.list()).map((each) => parts.mask(shown(each))) });
		},
	};
	const one: Route = {
		method: "GET",
		path: "/api/inspect/prompts/:promptId",
		name: "inspectPrompt",
		summary: `The versions of a prompt, the latest first, ${mostVersions} at most.`,
		answers: jsonAnswer("`{ versions }`."),
		errors: ["inspector_closed"],
		statuses,
		async handle(exchange) {
			const prompts = promptsOf(exchange, parts);
			const id = exchange.parameter("promptId") ?? "";
			const latest = await prompts.get(id);
			if (latest === null) throw promptNotFound(id);
			const versions = [latest];
			for (let number = Number(latest.version) - 1; number >= 0; number--) {
				if (versions.length >= mostVersions) break;
				const version = await prompts.get(id, String(number));
				if (version !== null) versions.push(version);
			}
			return answerJson({ versions: versions.map((each) => parts.mask(shown(each))) });
		},
	};
	const put: Route = {
		method: "POST",
		path: "/api/inspect/prompts/:promptId",
		name: "editPrompt",
		summary: "Writes a new version of a prompt, which applies from then on.",
		body: {
			type: "object",
			required: ["text"],
			properties: {
				text: { type: "string" },
				after: {
					type: "string",
					description: "The version that was edited. Refused if it is no longer the latest.",
				},
			},
			additionalProperties: false,
		},
		answers: jsonAnswer("`{ version }`: the new version."),
		errors: ["inspector_closed", "unsupported_media_type", "body_too_large", "invalid_json", "invalid_input"],
		statuses,
		async handle(exchange) {
			const prompts = promptsOf(exchange, parts);
			const id = exchange.parameter("promptId") ?? "";
			const { text, after, ...rest } = await exchange.readJson();
			checkNoOthers(rest);
			if (typeof text !== "string") throw invalid("text", "must be text");
			const latest = await prompts.get(id);
			if (latest === null) throw promptNotFound(id);
			if (after !== undefined && after !== latest.version)
				throw invalid("after", `must be the latest version, which is ${latest.version} now`);
			if (parts.mask(latest.text) !== latest.text) checkUnmasked("text", text);
			// Other fields of the previous version are kept.
			const { version: _, createdAt: __, createdBy: ___, ...kept } = latest;
			const { caller } = exchange;
			const version = await prompts.put({ ...kept, id, text }, { author: caller.user ?? caller.tenant });
			return answerJson({ version: parts.mask(shown(version)) });
		},
	};
	return [about, list, one, put];
}

/** @throws HoldfastError `inspector_closed`, or `route_not_found` without a prompt store. */
function promptsOf(exchange: Exchange, parts: RouteParts): InspectedPrompts {
	checkMay(exchange, parts);
	if (parts.prompts !== undefined) return parts.prompts;
	throw new HoldfastError("route_not_found", "This server keeps no versions of prompts.");
}

function promptNotFound(id: string): HoldfastError {
	return new HoldfastError("PROMPT_NOT_FOUND", `There is no prompt ${JSON.stringify(cutText(id, 200))}.`);
}

function shown({ id, version, name, text, engine, createdBy, createdAt }: ShownPrompt): ShownPrompt {
	return {
		id,
		version,
		...(name === undefined ? {} : { name }),
		text,
		...(engine === undefined ? {} : { engine }),
		...(createdBy === undefined ? {} : { createdBy }),
		...(createdAt === undefined ? {} : { createdAt }),
	};
}

/** Whether the agent has skills. Skills that cannot be read are shown with their error. */
async function hasAny(skills: SessionInspection["skills"]): Promise<boolean> {
	try {
		return ((await skills?.()) ?? []).length > 0;
	} catch {
		return true;
	}
}
