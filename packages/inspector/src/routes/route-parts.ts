// Shared by the routes: permissions, answers, and parsing of requests.
import {
	type Exchange,
	type InspectedHead,
	isSessionId,
	type Route,
	type SessionInspection,
	type SessionOwner,
} from "@holdfast/server";
import { cutText } from "@holdfast/upp";
import { HoldfastError, isHoldfastError } from "holdfast";
import { isOfSession, type SessionLooks, type TrialCounts } from "../looks/index.ts";
import type { Playground, ShownPrompt, UnreadableSession } from "../wire/index.ts";

/** The parts of the routes. */
export interface RouteParts {
	/** Masks credentials and secrets. */
	readonly mask: <Value>(value: Value) => Value;
	readonly mayInspect: (caller: { readonly tenant: string; readonly user?: string }) => boolean;
	readonly looks: SessionLooks;
	/** The requests of the playground. */
	readonly trials: TrialCounts;
	/** The source of the data; by default the sessions of the server's service. */
	readonly inspection: SessionInspection | undefined;
	/** Versions of prompts; undefined without a prompt store. */
	readonly prompts: InspectedPrompts | undefined;
	readonly playground: Playground;
}

/** Versions of prompts: a prompt store of `@holdfast/runner/prompts`, or the prompts of threads. */
export interface InspectedPrompts {
	/** Returns the latest version of each. */
	list(): Promise<readonly ShownPrompt[]>;
	/** Returns a version, by default the latest, or null. */
	get(id: string, version?: string): Promise<ShownPrompt | null>;
	/** Writes a new version. */
	put(
		prompt: { readonly id: string; readonly text: string },
		options?: { readonly author?: string },
	): Promise<ShownPrompt>;
}

/** Creates a JSON response that is never cached. */
export function answerJson(value: unknown): Response {
	return new Response(JSON.stringify(value), {
		headers: { "content-type": "application/json; charset=utf-8", "cache-control": "no-store" },
	});
}

/** Describes a JSON response for the OpenAPI document. */
export function jsonAnswer(description: string): Route["answers"] {
	return { 200: { description, content: { "application/json": { type: "object" } } } };
}

/**
 * Returns the inspection of the sessions.
 * @throws HoldfastError `inspector_closed` if others may reach the server without a key, or the caller may not inspect;
 * `route_not_found` if the service does not support inspection.
 */
export function inspectionOf(
	exchange: Exchange,
	parts: Pick<RouteParts, "mayInspect" | "inspection">,
): SessionInspection {
	checkMay(exchange, parts);
	const inspection = parts.inspection ?? exchange.service.inspection;
	if (inspection !== undefined) return inspection;
	throw new HoldfastError("route_not_found", "The sessions of this server cannot be inspected.");
}

/**
 * @throws HoldfastError `inspector_closed` if others may reach the server without a key, or the caller may not inspect.
 */
export function checkMay(exchange: Exchange, { mayInspect }: Pick<RouteParts, "mayInspect">): void {
	checkOpen(exchange);
	if (!mayInspect(exchange.caller)) throw closed("You are not allowed to inspect sessions.");
}

/** Returns the mask of a session: the common secrets and its own. */
export async function maskOf(
	inspection: SessionInspection,
	caller: SessionOwner,
	sessionId: string,
	known: RouteParts["mask"],
): Promise<RouteParts["mask"]> {
	const own = await inspection.maskOf?.(caller, sessionId).catch((error: unknown) => {
		if (isHoldfastError(error) && error.code === "session_not_found") return undefined;
		throw error;
	});
	return own === undefined ? known : (value) => known(own(value));
}

/** @throws HoldfastError `inspector_closed` if others may reach the server without a key. */
export function checkOpen(exchange: Exchange): void {
	if (exchange.isProtected) return;
	throw closed(
		"The inspector is available on loopback, or with a key. Give the server `apiKeys` or `authenticate`.",
	);
}

function closed(message: string): HoldfastError {
	return new HoldfastError("inspector_closed", message);
}

/** @throws HoldfastError `session_not_found`. */
export function sessionIdOf(exchange: Exchange): string {
	const id = exchange.parameter("id");
	if (!isSessionId(id)) throw new HoldfastError("session_not_found", "Session not found");
	exchange.notes.sessionId = id;
	return id;
}

/**
 * Reads each session. Returns those that cannot be read, so that one of them does not fail the others. Rejects with
 * errors that do not concern a single session.
 */
export async function readEach<Session extends { readonly sessionId: string }>(
	sessions: Iterable<Session>,
	read: (session: Session) => Promise<void>,
): Promise<readonly UnreadableSession[]> {
	const unreadable: UnreadableSession[] = [];
	for (const session of sessions) {
		try {
			await read(session);
		} catch (error) {
			if (!isOfSession(error)) throw error;
			unreadable.push({ sessionId: session.sessionId, code: error.code });
		}
	}
	return unreadable;
}

/** Returns the readable sessions that changed since a time, those changed last first. */
export async function recentHeads(
	inspection: SessionInspection,
	caller: SessionOwner,
	since = 0,
): Promise<readonly InspectedHead[]> {
	const heads: InspectedHead[] = [];
	for (let after: string | undefined; ; ) {
		const page = await inspection.heads(caller, { after });
		heads.push(...page.filter((head) => head.updatedAt >= since && head.unreadable === undefined));
		after = page.at(-1)?.sessionId;
		if (page.length < 1_000 || after === undefined) break;
	}
	return heads.sort((left, right) => right.updatedAt - left.updatedAt);
}

/** Statuses of errors of damaged data: operators see their messages. */
export const damageStatuses = { journal_corrupt: 500, journal_newer: 500 } as const;

/** Parses an integer of the query. @throws HoldfastError `invalid_input`. */
export function numberOf(
	exchange: Exchange,
	name: string,
	{ least = 0, most = Number.MAX_SAFE_INTEGER }: { readonly least?: number; readonly most?: number } = {},
): number | undefined {
	const text = exchange.query(name);
	if (text === undefined) return undefined;
	const value = Number(text);
	if (/^\d{1,16}$/.test(text) && value >= least && value <= most) return value;
	throw invalid(name, `must be a whole number from ${least} to ${most}`);
}

/** Maximum number of sessions requested by id. */
export const mostIds = 50;

/** Parses the ids of the query, without duplicates. @throws HoldfastError `invalid_input`. */
export function idsOf(exchange: Exchange): readonly string[] {
	const ids = [...new Set((exchange.query("ids") ?? "").split(",").filter(isSessionId))];
	if (ids.length > mostIds) throw invalid("ids", `must be ${mostIds} ids at most`);
	return ids;
}

/** The choices for requests to a model, in the bodies of forks and trials. */
export interface ChosenSettings {
	readonly model?: string;
	readonly systemPrompt?: string;
	readonly temperature?: number;
	readonly maxTokens?: number;
}

/** @throws HoldfastError `invalid_input`; also for fields other than these. */
export function settingsOf({
	model,
	systemPrompt,
	temperature,
	maxTokens,
	...rest
}: Readonly<Record<string, unknown>>): ChosenSettings {
	checkNoOthers(rest);
	if (model !== undefined && (typeof model !== "string" || model === ""))
		throw invalid("model", "must be a name");
	if (systemPrompt !== undefined && typeof systemPrompt !== "string")
		throw invalid("systemPrompt", "must be text");
	if (temperature !== undefined && !(typeof temperature === "number" && temperature >= 0))
		throw invalid("temperature", "must be a number of at least 0");
	if (maxTokens !== undefined && !isCount(maxTokens))
		throw invalid("maxTokens", "must be a whole number above 0");
	return {
		...(model === undefined ? {} : { model }),
		...(systemPrompt === undefined ? {} : { systemPrompt }),
		...(temperature === undefined ? {} : { temperature }),
		...(maxTokens === undefined ? {} : { maxTokens }),
	};
}

export function isCount(value: unknown): value is number {
	return Number.isSafeInteger(value) && (value as number) > 0;
}

/** Rejects fields that a body does not have. @throws HoldfastError `invalid_input`. */
export function checkNoOthers(rest: object): void {
	const [unknown] = Object.keys(rest);
	if (unknown !== undefined) throw invalid(cutText(unknown, 40), "is not known");
}

const maskPattern = /\[REDACTED:[\w-]+\]/;

/**
 * Rejects a text or value that contains a masked secret: what it stands for is not known, and the mask itself must not be
 * sent. @throws HoldfastError `invalid_input`.
 */
export function checkUnmasked(field: string, value: unknown): void {
	if (value === undefined || !maskPattern.test(JSON.stringify(value) ?? "")) return;
	throw invalid(
		field,
		"contains a masked secret, which would be sent as the text of its mask. Replace the mask, or leave the field unchanged",
	);
}

/**
 * Returns instructions to send; undefined if they are the shown ones, whose secrets are masked, so that the real ones are
 * sent. @throws HoldfastError `invalid_input` for other instructions with a mask.
 */
export function unmaskedSystem(
	given: string | undefined,
	real: string | undefined,
	mask: RouteParts["mask"],
): string | undefined {
	if (given === undefined || (real !== undefined && given !== real && given === mask(real))) return undefined;
	if (given !== real) checkUnmasked("systemPrompt", given);
	return given;
}

/** Creates the error for an invalid request. */
export function invalid(field: string, why: string): HoldfastError {
	return new HoldfastError("invalid_input", `\`${field}\` ${why}.`, { data: { field } });
}
