// Replaces secret values of the environment in plain data: verbatim, JSON-escaped, URL-encoded or base64.
import { createRedactor } from "@holdfast/redaction";

/** A shorter value is not masked: it would match parts of unrelated words and numbers. */
export const shortestSecret = 6;

/** Whether a value is too short to be masked. */
export function isTooShort(value: string): boolean {
	return value.length < shortestSecret;
}

/**
 * Returns the values to mask. If a thread declares a value as text, this overrides definitions that declare it a secret.
 */
export function secretsAmong(
	values: readonly { readonly value: string; readonly type: "text" | "secret"; readonly isOfThread?: true }[],
): readonly string[] {
	let secrets: Set<string> | undefined;
	for (const { value, type } of values)
		if (type === "secret" && !isTooShort(value)) {
			secrets ??= new Set();
			secrets.add(value);
		}
	if (secrets === undefined) return [];
	for (const { value, type, isOfThread } of values) if (isOfThread && type === "text") secrets.delete(value);
	return [...secrets].sort();
}

/** Masks secrets in plain data and in streamed text. */
export interface Redaction {
	/**
	 * For data of tools, models and projects: field names and numbers are masked too. Returns the same data if nothing
	 * was masked.
	 */
	redact<Value>(data: Value): Value;
	/**
	 * For messages, events and responses that the runtime builds from such data: the runtime's own field names, ids,
	 * kinds, numbers and times stay. Returns the same data if nothing was masked.
	 */
	redactWithin<Value>(made: Value): Value;
	/** For streamed text: holds back text that may be the start of a secret until more arrives. */
	stream(): { push(piece: string): string; flush(): string };
}

const nothingHeld = { push: (piece: string): string => piece, flush: (): string => "" };
const nothing: Redaction = {
	redact: (data) => data,
	redactWithin: (made) => made,
	stream: () => nothingHeld,
};
const mostMade = 64;

/** Redactions by their secrets: creating one takes longer than using it. */
export class Redactions {
	/** Most recently used last. */
	readonly #made = new Map<string, Redaction>();

	/** Returns the redaction for these secrets. */
	of(secrets: readonly string[]): Redaction {
		if (secrets.length === 0) return nothing;
		const name = JSON.stringify(secrets);
		const redaction = this.#made.get(name) ?? redactionOf(secrets);
		this.#made.delete(name);
		this.#made.set(name, redaction);
		for (const oldest of this.#made.keys()) if (this.#made.size > mostMade) this.#made.delete(oldest);
		return redaction;
	}
}

function redactionOf(secrets: readonly string[]): Redaction {
	const redactor = createRedactor({ secrets });
	const redact = <Value>(data: Value): Value => redactor.maskSecrets(data);
	return {
		redact,
		redactWithin: (made) => within(made, redact) as typeof made,
		stream: () => redactor.stream({ only: "secrets" }),
	};
}

/** Members whose text the runtime chooses or uses for look-ups. */
const ownMembers = new Set(
	[
		["id", "type", "role", "kind", "status", "event", "code", "reason", "level", "topic", "tag", "outcome"],
		[
			"messageId",
			"threadId",
			"thread_id",
			"runId",
			"run_id",
			"flowId",
			"sessionId",
			"stepId",
			"parent",
			"child",
		],
		[
			"parent_id",
			"parentId",
			"toolCallId",
			"tool_call_id",
			"callId",
			"toolName",
			"tool_name",
			"agentId",
			"agent_id",
		],
		["created_at", "createdAt", "updated_at", "updatedAt", "timestamp", "startedAt", "endedAt"],
		["model", "modelId", "mediaType", "mimeType", "mime_type", "finishReason", "stopReason", "version"],
	].flat(),
);

/** Members that hold data of tools, models and projects, which choose its field names. */
const dataMembers = new Set([
	"metadata",
	"data",
	"arguments",
	"args",
	"input",
	"output",
	"result",
	"env",
	"values",
]);

type Redact = <Value>(data: Value) => Value;

/** The runtime nests its own data less deeply than this; deeper values are user data. */
const deepest = 20;

function within(made: unknown, redact: Redact, depth = 0, isFunction = false): unknown {
	if (typeof made === "string") return redact(made);
	if (typeof made !== "object" || made === null || made instanceof Date || ArrayBuffer.isView(made))
		return made;
	if (made instanceof Error || depth > deepest) return redact(made);
	if (Array.isArray(made)) {
		const items = made.map((item) => within(item, redact, depth + 1));
		return items.some((item, at) => item !== made[at]) ? items : made;
	}
	// The data of this event is a message, which the runtime created.
	const isMessage = (made as { readonly type?: unknown }).type === "message_data";
	let isChanged = false;
	const entries = Object.entries(made).map(([name, value]): [string, unknown] => {
		const isOwn = typeof value === "string" && (ownMembers.has(name) || (isFunction && name === "name"));
		const isData = dataMembers.has(name) && !isMessage;
		const shown = isOwn
			? value
			: isData
				? redact(value)
				: within(value, redact, depth + 1, name === "function");
		isChanged ||= shown !== value;
		return [name, shown];
	});
	return isChanged ? Object.fromEntries(entries) : made;
}
