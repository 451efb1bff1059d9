// A conversation as a tree: each node holds a snapshot, and a branch continues from one without affecting the others.
import { HoldfastError, type Message, uuid } from "@holdfast/upp";
import { AgentState } from "./agent-state.ts";
import { invalidState, readId, readList, readRecord } from "./read-json.ts";
import { readThreadNode, ThreadNode, type ThreadNodeJSON } from "./thread-node.ts";

/** A tree as JSON data. */
export interface ThreadTreeJSON {
	/** The id of the root. */
	rootId: string;
	/** The id of the checked-out node. */
	currentId: string;
	/** All nodes, parents before their branches. */
	nodes: ThreadNodeJSON[];
}

/**
 * A tree of conversation states, with a current node at which work continues.
 *
 * @example
 * const tree = new ThreadTree();
 * tree.current.state = AgentState.initial().withReasoning("first");
 * tree.checkout(tree.branch(tree.root.id, "alternative"));
 * tree.current.state = tree.history().withReasoning("another way");
 */
export class ThreadTree {
	#root: ThreadNode;
	#current: ThreadNode;
	readonly #nodes = new Map<string, ThreadNode>();

	/** Creates a tree with one node, which has an empty state and the name `root`. */
	constructor() {
		this.#root = new ThreadNode(uuid(), null, AgentState.initial(), "root");
		this.#nodes.set(this.#root.id, this.#root);
		this.#current = this.#root;
	}

	/** The first node, which has no parent. */
	get root(): ThreadNode {
		return this.#root;
	}

	/** The checked-out node; initially the root. */
	get current(): ThreadNode {
		return this.#current;
	}

	/** All nodes by their ids. */
	get nodes(): ReadonlyMap<string, ThreadNode> {
		return this.#nodes;
	}

	/**
	 * Creates a new node below another one, with that node's state, and returns its id (UUIDv4). Does not change the
	 * checked-out node.
	 * @throws HoldfastError `unknown_thread_node`
	 */
	branch(fromId: string, name?: string): string {
		const parent = this.#find(fromId);
		const node = new ThreadNode(uuid(), parent.id, parent.state, name);
		this.#nodes.set(node.id, node);
		parent.children.push(node.id);
		return node.id;
	}

	/** Makes a node the current one. @throws HoldfastError `unknown_thread_node` */
	checkout(nodeId: string): void {
		this.#current = this.#find(nodeId);
	}

	/** Returns the ids of the nodes without branches, in order of creation. */
	getLeaves(): string[] {
		return [...this.#nodes.values()].filter(({ children }) => children.length === 0).map(({ id }) => id);
	}

	/** Returns the names of all nodes by id; undefined for a node without one. */
	getBranches(): Map<string, string | undefined> {
		return new Map(Array.from(this.#nodes.values(), ({ id, name }) => [id, name]));
	}

	/**
	 * Returns the conversation from the root to the current node: the messages of every node on the path, each once, in
	 * order, and everything else from the current node. If the current node's own state already has all of them, returns
	 * that state.
	 */
	history(): AgentState {
		const { state } = this.#current;
		const messages = joinMessages(this.#path().map((node) => node.state.messages));
		const own = state.messages;
		const isWhole = messages.length === own.length && messages.every((message, at) => message === own[at]);
		return isWhole ? state : state.withContext(messages);
	}

	/** Converts the tree to JSON data. @throws HoldfastError `unserialisable_value` */
	toJSON(): ThreadTreeJSON {
		return {
			rootId: this.#root.id,
			currentId: this.#current.id,
			nodes: Array.from(this.#nodes.values(), (node) => node.toJSON()),
		};
	}

	/**
	 * Restores a tree. The data may come from an untrusted source: it is validated, and the tree shares nothing with it.
	 * @throws HoldfastError `invalid_state` with the path to the fault, `state_version_unsupported`.
	 */
	static fromJSON(json: ThreadTreeJSON): ThreadTree {
		const given = readRecord(json, "tree");
		const rootId = readId(given.rootId, "rootId");
		const currentId = readId(given.currentId, "currentId");
		const nodes = readList(given.nodes, "nodes", readThreadNode);
		checkTree(nodes, rootId);
		const tree = new ThreadTree();
		tree.#nodes.clear();
		for (const node of nodes) tree.#nodes.set(node.id, node);
		const current = tree.#nodes.get(currentId);
		if (current === undefined) throw invalidState("currentId", "the id of a node", currentId);
		tree.#current = current;
		tree.#root = tree.#find(rootId);
		return tree;
	}

	#find(nodeId: string): ThreadNode {
		const node = this.#nodes.get(nodeId);
		if (node !== undefined) return node;
		throw new HoldfastError(
			"unknown_thread_node",
			`The tree has no node ${JSON.stringify(nodeId)}. Give an id that branch() returned, or one of tree.nodes.`,
			{ data: { nodeId } },
		);
	}

	#path(): ThreadNode[] {
		const path = [this.#current];
		for (let node = this.#current; node.parentId !== null; path.push(node)) node = this.#find(node.parentId);
		return path.reverse();
	}
}

/** Concatenates histories, leaving out messages that an earlier one contains. */
function joinMessages(histories: readonly (readonly Message[])[]): Message[] {
	const joined: Message[] = [];
	const known = new Set<string>();
	for (const history of histories) {
		const added = history.filter((message) => !known.has(message.id));
		for (const message of added) {
			joined.push(message);
			known.add(message.id);
		}
	}
	return joined;
}

/** Refuses nodes that do not form one tree under the root. */
function checkTree(nodes: readonly ThreadNode[], rootId: string): void {
	const places = new Map<string, number>();
	for (const [place, { id }] of nodes.entries()) {
		if (places.has(id)) throw invalidState(`nodes.${place}.id`, "unlike the ids of the other nodes", id);
		places.set(id, place);
	}
	if (!places.has(rootId)) throw invalidState("rootId", "the id of a node", rootId);
	const reached = new Set([rootId]);
	// A set is iterated in insertion order, including items added during iteration.
	for (const id of reached) {
		const place = places.get(id) as number;
		for (const [index, childId] of (nodes[place] as ThreadNode).children.entries()) {
			const child = nodes[places.get(childId) ?? -1];
			const path = `nodes.${place}.children.${index}`;
			if (child?.parentId !== id) throw invalidState(path, "the id of a node with this parent", childId);
			if (reached.has(childId)) throw invalidState(path, "named once", childId);
			reached.add(childId);
		}
	}
	for (const [place, { id, parentId }] of nodes.entries()) {
		const isRoot = id === rootId;
		if (isRoot !== (parentId === null)) {
			throw invalidState(`nodes.${place}.parentId`, isRoot ? "null" : "the id of a node", parentId);
		}
		if (!reached.has(id)) {
			throw invalidState(
				`nodes.${place}.parentId`,
				"the id of a node that has this one as a child",
				parentId,
			);
		}
	}
}
