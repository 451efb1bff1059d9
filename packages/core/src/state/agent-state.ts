// AgentState: an immutable snapshot of an agent's conversation. Every operation returns a new state, which shares
// messages and reasoning with the one it was derived from (keeps I2, I5).

import type { Message, TokenUsage } from "@holdfast/upp";
import { uuid } from "@holdfast/upp";
import { type AgentStateJSON, partsFromJSON, partsToJSON } from "./agent-state-json.ts";
import { type AgentStateParts, noneLoaded } from "./agent-state-parts.ts";
import { withMember } from "./frozen-copy.ts";
import { IdSet } from "./id-set.ts";
import { List } from "./list.ts";
import { type PlanStep, readPlan } from "./plan-step.ts";
import { invalidState, readCount, readString } from "./read-json.ts";
import { sealMessage, sealMessages } from "./sealed-message.ts";
import { readTrace, type SubagentExecutionTrace } from "./subagent-trace.ts";

const noMetadata: Readonly<Record<string, unknown>> = Object.freeze({});

/**
 * An immutable snapshot of an agent's conversation: pass one in, get a new one back.
 */
export class AgentState {
	readonly #parts: AgentStateParts;
	#id: string | undefined;

	private constructor(parts: AgentStateParts, id?: string) {
		this.#parts = parts;
		this.#id = id;
	}

	/** Creates an empty state. */
	static initial(): AgentState {
		return new AgentState({
			messages: List.empty(),
			step: 0,
			metadata: noMetadata,
			reasoning: List.empty(),
			plan: undefined,
			usage: undefined,
			subagentTraces: undefined,
			callIds: IdSet.empty(),
			loadedTools: noneLoaded,
		});
	}

	/** The snapshot's own id (UUIDv4). Every new state has a different one. */
	get id(): string {
		this.#id ??= uuid();
		return this.#id;
	}

	/**
	 * The conversation, oldest first; frozen. The first read of a state costs time proportional to its length; later
	 * reads are free.
	 */
	get messages(): readonly Message[] {
		return this.#parts.messages.toArray();
	}

	/** The last completed step, counted from 1 within a call; 0 before the first. */
	get step(): number {
		return this.#parts.step;
	}

	/** The caller's own values; frozen. Binary data and dates are returned as copies. */
	get metadata(): Readonly<Record<string, unknown>> {
		return this.#parts.metadata;
	}

	/** Reasoning traces, oldest first; frozen. */
	get reasoning(): readonly string[] {
		return this.#parts.reasoning.toArray();
	}

	/** The plan, if a strategy made one; frozen. */
	get plan(): readonly PlanStep[] | undefined {
		return this.#parts.plan;
	}

	/** Tokens used by all model calls of the current or last call; frozen. */
	get usage(): TokenUsage | undefined {
		const { usage } = this.#parts;
		return usage === undefined ? undefined : (Object.freeze(usage) as TokenUsage);
	}

	/** The work of sub-agents, in the order they ended; frozen. `undefined` before the first. */
	get subagentTraces(): readonly SubagentExecutionTrace[] | undefined {
		return this.#parts.subagentTraces?.toArray();
	}

	/** The names of the tools that other tools have loaded (`loadedBy`), in the order in which the model is sent them. */
	get loadedTools(): readonly string[] {
		return this.#parts.loadedTools;
	}

	/**
	 * Appends one message. The message is sealed: it remains the same object but can no longer change. The arrays it
	 * was built from are copied, and its bytes and times are returned as copies. A compatible message from another
	 * package, or one that was frozen before, is appended as a sealed copy.
	 * @throws HoldfastError `invalid_message` for any other value.
	 */
	withMessage(message: Message): AgentState {
		return this.#with({ messages: this.#parts.messages.append(sealMessage(message)), callIds: undefined });
	}

	/** Appends messages in order, sealed as in `withMessage`. */
	withMessages(messages: readonly Message[]): AgentState {
		return this.#with({
			messages: this.#parts.messages.appendAll(sealMessages(messages)),
			callIds: undefined,
		});
	}

	/** Replaces the whole history. Messages are sealed as in `withMessage`. */
	withContext(messages: readonly Message[]): AgentState {
		return this.#with({ messages: List.from(sealMessages(messages)), callIds: undefined });
	}

	/** Sets the step. @throws HoldfastError `invalid_state` unless it is a non-negative integer. */
	withStep(step: number): AgentState {
		return this.#with({ step: readCount(step, "step") });
	}

	/**
	 * Sets one key of the metadata. Plain data, binary data and dates are copied and immutable from then on. Anything
	 * else, such as a function, is kept unchanged, and `toJSON` refuses it.
	 */
	withMetadata(key: string, value: unknown): AgentState {
		return this.#with({ metadata: withMember(this.#parts.metadata, key, value) });
	}

	/** Appends one reasoning trace. @throws HoldfastError `invalid_state` unless it is a string. */
	withReasoning(reasoning: string): AgentState {
		return this.#with({ reasoning: this.#parts.reasoning.append(readString(reasoning, "reasoning")) });
	}

	/**
	 * Replaces the plan. It is copied and frozen.
	 * @throws HoldfastError `invalid_state` with the path to the fault.
	 */
	withPlan(plan: readonly PlanStep[]): AgentState {
		return this.#with({ plan: readPlan(plan) });
	}

	/**
	 * Appends the trace of a sub-agent's work. It is copied and frozen.
	 * @throws HoldfastError `invalid_state` with the path to the fault.
	 */
	withSubagentTrace(trace: SubagentExecutionTrace): AgentState {
		const traces = this.#parts.subagentTraces ?? List.empty<SubagentExecutionTrace>();
		return this.#with({ subagentTraces: traces.append(readTrace(trace, `subagentTraces.${traces.length}`)) });
	}

	/**
	 * Converts the state to JSON data that `fromJSON` restores exactly. It shares nothing with the state.
	 * @throws HoldfastError `unserialisable_value` with the path, if metadata or messages contain values that JSON cannot
	 * represent.
	 */
	toJSON(): AgentStateJSON {
		return partsToJSON(this.id, this.#parts);
	}

	/**
	 * Restores a state. The data may come from an untrusted source: it is validated, and the state shares nothing with
	 * it.
	 * @throws HoldfastError `state_version_unsupported`, or `invalid_state` with the path to the fault.
	 */
	static fromJSON(json: AgentStateJSON): AgentState {
		try {
			const { id, parts } = partsFromJSON(json);
			return new AgentState(parts, id);
		} catch (error) {
			if (error instanceof RangeError) throw invalidState("state", "nested less deeply", json, error);
			throw error;
		}
	}

	#with(change: Partial<AgentStateParts>): AgentState {
		return new AgentState({ ...this.#parts, ...change });
	}

	/** For the engine: returns the parts, with shared structure. @internal */
	static partsOf(state: AgentState): AgentStateParts {
		return state.#parts;
	}

	/** For the engine: creates a state from parts. @internal */
	static ofParts(parts: AgentStateParts): AgentState {
		return new AgentState(parts);
	}
}

/** The interface of a state, for code that implements or accepts one. */
export type AgentStateInterface = Pick<AgentState, keyof AgentState>;
