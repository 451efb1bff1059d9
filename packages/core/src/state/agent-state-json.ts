// Converts states to JSON data and back. Input is validated completely, and the result shares nothing with it.
import {
	HoldfastError,
	isHoldfastError,
	type JSONValue,
	type Message,
	type MessageJSON,
	messageFromJSON,
	messageOf,
	messageToJSON,
	type TokenUsage,
} from "@holdfast/upp";
import { type AgentStateParts, noneLoaded } from "./agent-state-parts.ts";
import { frozenCopy } from "./frozen-copy.ts";
import { List } from "./list.ts";
import { type PlanStep, readPlan } from "./plan-step.ts";
import { readCount, readId, readList, readOptional, readRecord, readString, readValue } from "./read-json.ts";
import { sealMessage } from "./sealed-message.ts";
import { readTraceJSON, type SubagentExecutionTraceJSON, traceToJSON } from "./subagent-trace.ts";
import { readUsage } from "./token-usage.ts";
import { writeValue, writeWith } from "./write-json.ts";

/** The version of serialised states that this release writes. */
const stateVersion = "1.0.0";
/** The spellings of this version in other packages. */
const sameVersions: ReadonlySet<unknown> = new Set([stateVersion, "1.0", "UAP-1.0", "UAP-1.0.0"]);

/** A serialised state. */
export interface AgentStateJSON {
	/** The version of the format. */
	version: string;
	/** The UUID of the snapshot. */
	id: string;
	/** The conversation, oldest first. */
	messages: MessageJSON[];
	/** The last step of the call that created the state, from 1; 0 before the first. */
	step: number;
	/** Your own values. */
	metadata: Record<string, JSONValue>;
	/** Absent means empty. */
	reasoning?: string[];
	/** The plan of `plan()`. Absent means none. */
	plan?: PlanStep[];
	/** The tokens of the call that created the state. Absent means none. */
	usage?: TokenUsage;
	/** The work of sub-agents. Absent means none. */
	subagentTraces?: SubagentExecutionTraceJSON[];
	/** Absent means none. */
	loadedTools?: string[];
}

/** @throws HoldfastError `unserialisable_value` with the path to the value that JSON cannot represent. */
export function partsToJSON(id: string, parts: AgentStateParts): AgentStateJSON {
	const { plan, usage, subagentTraces, loadedTools } = parts;
	const json: AgentStateJSON = {
		version: stateVersion,
		id,
		messages: parts.messages
			.toArray()
			.map((message, index) => writeWith(`messages.${index}`, () => messageToJSON(message))),
		step: parts.step,
		metadata: writeValue(parts.metadata, "metadata") as Record<string, JSONValue>,
		reasoning: [...parts.reasoning.toArray()],
	};
	if (plan !== undefined) json.plan = writeValue(plan, "plan") as unknown as PlanStep[];
	if (usage !== undefined) json.usage = writeValue(usage, "usage") as unknown as TokenUsage;
	if (subagentTraces !== undefined) {
		json.subagentTraces = subagentTraces
			.toArray()
			.map((trace, index) => traceToJSON(trace, `subagentTraces.${index}`));
	}
	if (loadedTools.length > 0) json.loadedTools = [...loadedTools];
	return json;
}

/** @throws HoldfastError `invalid_state` with the path to the fault, `state_version_unsupported`. */
export function partsFromJSON(given: unknown): { readonly id: string; readonly parts: AgentStateParts } {
	const json = readRecord(given, "state");
	checkVersion(json.version);
	const traces = readOptional(json.subagentTraces, "subagentTraces", (list, path) =>
		readList(list, path, readTraceJSON),
	);
	return {
		id: readId(json.id, "id"),
		parts: {
			messages: List.from(readList(json.messages, "messages", readMessage)),
			step: readCount(json.step, "step"),
			metadata: readMetadata(json.metadata),
			reasoning: List.from(
				readOptional(json.reasoning, "reasoning", (list, path) => readList(list, path, readString)) ?? [],
			),
			plan: readOptional(json.plan, "plan", (plan, path) => readPlan(readValue(plan, path), path)),
			usage: readOptional(json.usage, "usage", (usage, path) => readUsage(readValue(usage, path), path)),
			subagentTraces: traces && List.from(traces),
			callIds: undefined,
			loadedTools:
				readOptional(json.loadedTools, "loadedTools", (list, path) =>
					Object.freeze(readList(list, path, readString)),
				) ?? noneLoaded,
		},
	};
}

function checkVersion(version: unknown): void {
	if (sameVersions.has(version)) return;
	const found = version === undefined ? "no version" : `version ${JSON.stringify(version)}`;
	throw new HoldfastError(
		"state_version_unsupported",
		`This state has ${found}; version "${stateVersion}" is supported. Read it with the release that wrote it.`,
		{ data: { found: version, supported: stateVersion } },
	);
}

function readMessage(json: unknown, path: string): Message {
	try {
		return sealMessage(messageFromJSON(json as MessageJSON));
	} catch (cause) {
		const inner = isHoldfastError(cause) ? cause.data?.path : undefined;
		const place = typeof inner === "string" && inner !== "" ? `${path}.${inner}` : path;
		const why = messageOf(cause);
		throw new HoldfastError("invalid_state", `Not a state: "${place}" is wrong. ${why}`, {
			cause,
			data: { path: place },
		});
	}
}

function readMetadata(json: unknown): Readonly<Record<string, unknown>> {
	readRecord(json, "metadata");
	return frozenCopy(readRecord(readValue(json, "metadata"), "metadata"));
}
