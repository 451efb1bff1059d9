// One node of a thread tree: a state, and its position in the tree.
import { HoldfastError } from "@holdfast/upp";
import { AgentState } from "./agent-state.ts";
import type { AgentStateJSON } from "./agent-state-json.ts";
import { prefixed, readId, readList, readOptional, readRecord, readString } from "./read-json.ts";

/** A node as JSON data. */
export interface ThreadNodeJSON {
	/** The UUID of the node. */
	id: string;
	/** `null` for the root. */
	parentId: string | null;
	/** The state of the node. */
	state: AgentStateJSON;
	/** The name of the branch, if it has one. */
	name?: string;
	/** Ids of the nodes that were branched from this one, in order. */
	children: string[];
}

/** A node of a ThreadTree. Assigning `state` replaces the snapshot of this node only; `name` can be set, too. */
export class ThreadNode {
	/** The UUID of the node. */
	readonly id: string;
	/** `null` for the root. */
	readonly parentId: string | null;
	#state!: AgentState;
	/** The name of the branch, if it has one. */
	declare name?: string | undefined;
	/** Ids of the nodes that were branched from this one, in order. */
	readonly children: string[];

	/** Creates a node. To add one to a tree, call `branch`. */
	constructor(
		id: string,
		parentId: string | null,
		state: AgentState,
		name?: string,
		children: readonly string[] = [],
	) {
		this.id = id;
		this.parentId = parentId;
		this.state = state;
		if (name !== undefined) this.name = name;
		this.children = [...children];
	}

	/** The snapshot at this node. @throws HoldfastError `invalid_state` if it is set to a value that is not a state. */
	get state(): AgentState {
		return this.#state;
	}

	set state(state: AgentState) {
		if (!(state instanceof AgentState)) {
			throw new HoldfastError(
				"invalid_state",
				"A node of a thread tree holds an AgentState. Give AgentState.initial(), or the state of an earlier call.",
			);
		}
		this.#state = state;
	}

	/** Converts the node to JSON data. @throws HoldfastError `unserialisable_value` */
	toJSON(): ThreadNodeJSON {
		const { id, parentId, name, children } = this;
		const json: ThreadNodeJSON = { id, parentId, state: this.state.toJSON(), children: [...children] };
		if (name !== undefined) json.name = name;
		return json;
	}

	/**
	 * Reads a node from JSON data, with its state but without its tree.
	 * @throws HoldfastError `invalid_state` with the path to the fault, `state_version_unsupported`.
	 */
	static fromJSON(json: ThreadNodeJSON): ThreadNode {
		return readThreadNode(json, "node");
	}
}

/** Reads a node nested at a path of a larger document. */
export function readThreadNode(given: unknown, path: string): ThreadNode {
	const json = readRecord(given, path);
	return new ThreadNode(
		readId(json.id, `${path}.id`),
		json.parentId === null ? null : readId(json.parentId, `${path}.parentId`),
		readState(json.state, `${path}.state`),
		readOptional(json.name, `${path}.name`, readString),
		readList(json.children, `${path}.children`, readId),
	);
}

function readState(json: unknown, path: string): AgentState {
	try {
		return AgentState.fromJSON(json as AgentStateJSON);
	} catch (error) {
		throw prefixed(error, path);
	}
}
