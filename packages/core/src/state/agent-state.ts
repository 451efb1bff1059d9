// AgentState: an immutable snapshot of an agent's conversation. Every operation returns a new state; messages and
// reasoning share structure with the state they came from (keeps I2, I5).
import {
	decodeValue,
	encodeValue,
	HoldfastError,
	type JSONValue,
	type Message,
	type MessageJSON,
	messageFromJSON,
	messageToJSON,
	type TokenUsage,
} from "@holdfast/upp";
import { List } from "./list.ts";

/** One step of a plan. @see UAP 5.4 */
export interface PlanStep {
	readonly id: string;
	readonly description: string;
	readonly tool?: string;
	readonly dependsOn: readonly string[];
	readonly status: "pending" | "in_progress" | "completed" | "failed";
}

/** The version of serialised states that this release writes and reads. */
export const stateVersion = "1.0.0";

/** A serialised state. @see UAP 12.1 */
export interface AgentStateJSON {
	version: string;
	id: string;
	messages: MessageJSON[];
	step: number;
	metadata: Record<string, JSONValue>;
	reasoning: string[];
	plan?: PlanStep[];
	usage?: TokenUsage;
}

/** The parts of a state; internal to the core. */
export interface AgentStateParts {
	readonly messages: List<Message>;
	readonly step: number;
	readonly metadata: Readonly<Record<string, unknown>>;
	readonly reasoning: List<string>;
	readonly plan: readonly PlanStep[] | undefined;
	readonly usage: TokenUsage | undefined;
}

const noMetadata: Readonly<Record<string, unknown>> = Object.freeze({});

/**
 * An immutable snapshot of an agent's conversation: pass one in, get a new one back.
 *
 * @see UAP 6.1
 */
export class AgentState {
	readonly #parts: AgentStateParts;
	#id: string | undefined;

	private constructor(parts: AgentStateParts, id?: string) {
		this.#parts = parts;
		this.#id = id;
	}

	/** An empty state. */
	static initial(): AgentState {
		return new AgentState({
			messages: List.empty(),
			step: 0,
			metadata: noMetadata,
			reasoning: List.empty(),
			plan: undefined,
			usage: undefined,
		});
	}

	/** The snapshot's own id (UUIDv4); every new state has a new one. */
	get id(): string {
		this.#id ??= globalThis.crypto.randomUUID();
		return this.#id;
	}

	/** The conversation, oldest first; frozen. The first read of a state costs its length, further reads nothing. */
	get messages(): readonly Message[] {
		return this.#parts.messages.toArray();
	}

	/** The last step carried out, counted from 1 within a call; 0 before the first. */
	get step(): number {
		return this.#parts.step;
	}

	/** The caller's own values; frozen. */
	get metadata(): Readonly<Record<string, unknown>> {
		return this.#parts.metadata;
	}

	/** Reasoning traces, oldest first; frozen. */
	get reasoning(): readonly string[] {
		return this.#parts.reasoning.toArray();
	}

	/** The plan, where a strategy made one; frozen. */
	get plan(): readonly PlanStep[] | undefined {
		return this.#parts.plan;
	}

	/** Tokens used over all model calls of the call under way or just ended. */
	get usage(): TokenUsage | undefined {
		return this.#parts.usage;
	}

	/** Appends one message. */
	withMessage(message: Message): AgentState {
		return this.#with({ messages: this.#parts.messages.append(message) });
	}

	/** Appends messages in order. */
	withMessages(messages: readonly Message[]): AgentState {
		return this.#with({ messages: this.#parts.messages.appendAll(messages) });
	}

	/** Replaces the whole history. */
	withContext(messages: readonly Message[]): AgentState {
		return this.#with({ messages: List.from(messages) });
	}

	withStep(step: number): AgentState {
		return this.#with({ step });
	}

	/** Sets one key of the metadata. The value is copied and frozen. */
	withMetadata(key: string, value: unknown): AgentState {
		const metadata = { ...this.#parts.metadata };
		Object.defineProperty(metadata, key, {
			value: frozenCopy(value),
			enumerable: true,
			configurable: true,
			writable: true,
		});
		return this.#with({ metadata: Object.freeze(metadata) });
	}

	/** Appends one reasoning trace. */
	withReasoning(reasoning: string): AgentState {
		return this.#with({ reasoning: this.#parts.reasoning.append(reasoning) });
	}

	/** Replaces the plan. It is copied and frozen. */
	withPlan(plan: readonly PlanStep[]): AgentState {
		return this.#with({ plan: frozenCopy(plan) as readonly PlanStep[] });
	}

	/**
	 * The state as JSON data that `fromJSON` turns back exactly.
	 * @throws HoldfastError `unserialisable_value` when metadata or messages hold what JSON cannot say.
	 */
	toJSON(): AgentStateJSON {
		const { plan, usage } = this.#parts;
		return {
			version: stateVersion,
			id: this.id,
			messages: this.messages.map(messageToJSON),
			step: this.step,
			metadata: encodeValue(this.metadata) as Record<string, JSONValue>,
			reasoning: [...this.reasoning],
			...(plan === undefined ? {} : { plan: structuredClone(plan) as PlanStep[] }),
			...(usage === undefined ? {} : { usage: { ...usage } }),
		};
	}

	/**
	 * Restores a state.
	 * @throws HoldfastError `state_version_unsupported` or `invalid_state` with the path to the fault.
	 */
	static fromJSON(json: AgentStateJSON): AgentState {
		if (typeof json !== "object" || json === null) throw invalidState("state", "an object", json);
		if (json.version !== stateVersion) {
			throw new HoldfastError(
				"state_version_unsupported",
				`This state has version ${JSON.stringify(json.version)}; version "${stateVersion}" is supported.`,
			);
		}
		if (typeof json.id !== "string" || json.id === "")
			throw invalidState("id", "a non-empty string", json.id);
		if (!Array.isArray(json.messages)) throw invalidState("messages", "an array", json.messages);
		if (!Number.isInteger(json.step)) throw invalidState("step", "an integer", json.step);
		const state = new AgentState(
			{
				messages: List.from(json.messages.map(messageFromJSON)),
				step: json.step,
				metadata: deepFreeze(decodeValue(json.metadata ?? {})) as Record<string, unknown>,
				reasoning: List.from(json.reasoning ?? []),
				plan: json.plan === undefined ? undefined : (frozenCopy(json.plan) as readonly PlanStep[]),
				usage: json.usage,
			},
			json.id,
		);
		return state;
	}

	#with(change: Partial<AgentStateParts>): AgentState {
		return new AgentState({ ...this.#parts, ...change });
	}

	/** For the engine: the parts with shared structure. @internal */
	static partsOf(state: AgentState): AgentStateParts {
		return state.#parts;
	}

	/** For the engine: a state of given parts. @internal */
	static ofParts(parts: AgentStateParts): AgentState {
		return new AgentState(parts);
	}
}

function invalidState(path: string, expected: string, found: unknown): HoldfastError {
	return new HoldfastError(
		"invalid_state",
		`${path}: expected ${expected}, found ${found === null ? "null" : typeof found}.`,
		{
			data: { path },
		},
	);
}

function frozenCopy(value: unknown): unknown {
	if (typeof value !== "object" || value === null) return value;
	let copy: unknown;
	try {
		copy = structuredClone(value);
	} catch {
		return value; // a function, say: kept as it is, and toJSON names it
	}
	return deepFreeze(copy);
}

function deepFreeze(value: unknown): unknown {
	if (typeof value !== "object" || value === null || Object.isFrozen(value) || ArrayBuffer.isView(value))
		return value;
	Object.freeze(value);
	for (const inner of Object.values(value)) deepFreeze(inner);
	return value;
}
