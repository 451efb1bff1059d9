import { type Message, UserMessage } from "@holdfast/upp";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { AgentState } from "./agent-state.ts";
import { anyState } from "./random-state.fixture.ts";
import { ThreadNode, type ThreadNodeJSON } from "./thread-node.ts";
import { ThreadTree, type ThreadTreeJSON } from "./thread-tree.ts";

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const said = (...texts: string[]): Message[] => texts.map((text) => new UserMessage(text));
const texts = (state: AgentState): string[] => state.messages.map((message) => message.text);

function throughText(tree: ThreadTree): ThreadTree {
	return ThreadTree.fromJSON(JSON.parse(JSON.stringify(tree.toJSON())));
}

describe("a thread tree", () => {
	test("is one empty root at first [UAP-071]", () => {
		const tree = new ThreadTree();
		expect(tree.root).toBeInstanceOf(ThreadNode);
		expect(tree.root.id).toMatch(uuid);
		expect(tree.root).toMatchObject({ parentId: null, name: "root", children: [] });
		expect(tree.root.state.messages).toEqual([]);
		expect(tree.current).toBe(tree.root);
		expect([...tree.nodes]).toEqual([[tree.root.id, tree.root]]);
	});

	test("rejects an invalid node state", () => {
		const tree = new ThreadTree();
		const before = tree.root.state;
		for (const wrong of [5, undefined, {}]) {
			expect(() => {
				tree.current.state = wrong as unknown as AgentState;
			}).toThrow(expect.objectContaining({ code: "invalid_state" }));
		}
		expect(tree.root.state).toBe(before);
	});

	test("branches from a node, with its state, and keeps its current node [UAP-072]", () => {
		const tree = new ThreadTree();
		tree.current.state = AgentState.initial().withMessages(said("a"));
		const [one, two] = [tree.branch(tree.root.id, "one"), tree.branch(tree.root.id)];
		expect(one).toMatch(uuid);
		expect(tree.nodes.get(one)).toMatchObject({ id: one, parentId: tree.root.id, name: "one", children: [] });
		expect(tree.nodes.get(one)?.state).toBe(tree.root.state);
		expect(tree.nodes.get(two)?.name).toBeUndefined();
		expect(tree.root.children).toEqual([one, two]);
		expect(tree.current).toBe(tree.root);
	});

	test("lists its leaves and the names of its nodes, which can be set later", () => {
		const tree = new ThreadTree();
		expect(tree.getLeaves()).toEqual([tree.root.id]);
		expect(tree.getBranches()).toEqual(new Map([[tree.root.id, "root"]]));
		const named = tree.branch(tree.root.id, "alternative");
		const below = tree.branch(named);
		const other = tree.branch(tree.root.id);
		expect(tree.getLeaves()).toEqual([below, other]);
		(tree.nodes.get(other) as ThreadNode).name = "other";
		expect(tree.getBranches()).toEqual(
			new Map([
				[tree.root.id, "root"],
				[named, "alternative"],
				[below, undefined],
				[other, "other"],
			]),
		);
		tree.getBranches().clear();
		expect(tree.getBranches().size).toBe(4);
		expect(ThreadTree.fromJSON(tree.toJSON()).getBranches()).toEqual(tree.getBranches());
		expect(ThreadTree.fromJSON(tree.toJSON()).getLeaves()).toEqual(tree.getLeaves());
	});

	test("checks out a node, but only its own nodes [UAP-073]", () => {
		const tree = new ThreadTree();
		const id = tree.branch(tree.root.id);
		tree.checkout(id);
		expect(tree.current).toBe(tree.nodes.get(id));
		const before = JSON.stringify(tree);
		const unknown = expect.objectContaining({
			code: "unknown_thread_node",
			message: expect.stringContaining('"nowhere"'),
		});
		expect(() => tree.checkout("nowhere")).toThrow(unknown);
		expect(() => tree.branch("nowhere", "x")).toThrow(unknown);
		expect(JSON.stringify(tree)).toBe(before);
	});

	test("stores a snapshot only at the current node [UAP-075]", () => {
		const tree = new ThreadTree();
		const [a, b] = [tree.branch(tree.root.id), tree.branch(tree.root.id)];
		tree.checkout(a);
		tree.current.state = tree.history().withMessages(said("in a"));
		expect(texts(tree.current.state)).toEqual(["in a"]);
		expect(texts(tree.root.state)).toEqual([]);
		expect(texts(tree.nodes.get(b)?.state as AgentState)).toEqual([]);
	});
});

describe("the history of a tree", () => {
	test("contains every node on the path, each message once, and no sibling [UAP-076]", () => {
		const tree = new ThreadTree();
		tree.current.state = AgentState.initial().withMessages(said("root"));
		const [a, sibling] = [tree.branch(tree.root.id), tree.branch(tree.root.id)];
		tree.checkout(sibling);
		tree.current.state = tree.history().withMessages(said("sibling"));
		tree.checkout(a);
		tree.current.state = tree.history().withMessages(said("a1", "a2")); // cumulative
		const b = tree.branch(a);
		tree.checkout(b);
		tree.current.state = AgentState.initial().withMessages(said("b")).withStep(4); // its own messages only
		expect(texts(tree.history())).toEqual(["root", "a1", "a2", "b"]);
		expect(tree.history().step).toBe(4);
		tree.checkout(a);
		expect(texts(tree.history())).toEqual(["root", "a1", "a2"]);
		tree.checkout(tree.root.id);
		expect(texts(tree.history())).toEqual(["root"]);
	});

	test("is the current node's state if that contains all of it", () => {
		const tree = new ThreadTree();
		expect(tree.history()).toBe(tree.root.state);
		tree.checkout(tree.branch(tree.root.id));
		tree.current.state = tree.history().withMessages(said("a"));
		expect(tree.history()).toBe(tree.current.state);
	});

	test("keeps a message that one node contains twice", () => {
		const tree = new ThreadTree();
		const message = new UserMessage("again");
		tree.current.state = AgentState.initial().withMessages([message, message]);
		tree.checkout(tree.branch(tree.root.id));
		expect(texts(tree.history())).toEqual(["again", "again"]);
	});
});

describe("a tree that was serialised to JSON text", () => {
	test("is the same tree with the same current node [UAP-074]", () => {
		const branching = fc.array(fc.tuple(fc.nat(), fc.option(fc.string(), { nil: undefined }), anyState), {
			maxLength: 6,
		});
		fc.assert(
			fc.property(branching, fc.nat(), (branches, at) => {
				const tree = new ThreadTree();
				const ids = [tree.root.id];
				for (const [from, name, state] of branches) {
					const id = tree.branch(ids[from % ids.length] as string, name);
					(tree.nodes.get(id) as ThreadNode).state = state;
					ids.push(id);
				}
				tree.checkout(ids[at % ids.length] as string);
				const back = throughText(tree);
				expect(back.toJSON()).toEqual(tree.toJSON());
				expect(back.root.id).toBe(tree.root.id);
				expect(back.current).toBe(back.nodes.get(tree.current.id));
				expect(back.history().messages).toEqual(tree.history().messages);
			}),
			{ numRuns: 60 },
		);
	});

	test("lists its nodes", () => {
		const tree = new ThreadTree();
		const id = tree.branch(tree.root.id, "name");
		const { rootId, currentId, nodes } = tree.toJSON();
		expect([rootId, currentId]).toEqual([tree.root.id, tree.root.id]);
		expect(nodes).toEqual([
			{ id: rootId, parentId: null, state: tree.root.state.toJSON(), name: "root", children: [id] },
			{ id, parentId: rootId, state: tree.root.state.toJSON(), name: "name", children: [] },
		]);
		expect(ThreadNode.fromJSON(nodes[1] as ThreadNodeJSON).toJSON()).toEqual(nodes[1]);
	});

	test("is rejected if a state has no version or an unsupported one [UAP-132]", () => {
		const json = new ThreadTree().toJSON();
		for (const [version, found] of [
			["9.0.0", '"9.0.0"'],
			[undefined, "no version"],
		]) {
			const [node] = json.nodes as [ThreadNodeJSON];
			const nodes = [{ ...node, state: { ...node.state, version: version as string } }];
			expect(() => ThreadTree.fromJSON({ ...json, nodes })).toThrow(
				expect.objectContaining({
					code: "state_version_unsupported",
					message: expect.stringMatching(new RegExp(`nodes\\.0\\.state.*${found}.*"1\\.0\\.0"`)),
				}),
			);
		}
	});

	test.each<
		[string, (json: ThreadTreeJSON, nodes: [ThreadNodeJSON, ThreadNodeJSON, ThreadNodeJSON]) => unknown]
	>([
		["tree", () => null],
		["rootId", (json) => ({ ...json, rootId: "x" })],
		["currentId", (json) => ({ ...json, currentId: "x" })],
		["nodes", (json) => ({ ...json, nodes: {} })],
		["nodes.1.id", (json, [a, b, c]) => ({ ...json, nodes: [a, { ...b, id: a.id }, c] })],
		[
			"nodes.1.state.step",
			(json, [a, b, c]) => ({ ...json, nodes: [a, { ...b, state: { ...b.state, step: 0.5 } }, c] }),
		],
		["nodes.1.parentId", (json, [a, b, c]) => ({ ...json, nodes: [a, { ...b, parentId: 7 }, c] })],
		["nodes.1.name", (json, [a, b, c]) => ({ ...json, nodes: [a, { ...b, name: 7 }, c] })],
		["nodes.0.children.0", (json, [a, b, c]) => ({ ...json, nodes: [a, { ...b, parentId: "x" }, c] })],
		["nodes.0.children.0", (json, [a, , c]) => ({ ...json, nodes: [a, c] })],
		[
			"nodes.0.children.1",
			(json, [a, b, c]) => ({ ...json, nodes: [{ ...a, children: [b.id, b.id] }, b, c] }),
		],
		["nodes.2.parentId", (json, [a, b, c]) => ({ ...json, nodes: [a, { ...b, children: [] }, c] })],
		["nodes.0.parentId", (json, [a, b, c]) => ({ ...json, nodes: [{ ...a, parentId: b.id }, b, c] })],
		[
			"nodes.2.parentId",
			(json, [a, b, c]) => ({ ...json, nodes: [a, { ...b, children: [] }, { ...c, parentId: null }] }),
		],
	])("is rejected if it is not a tree: %s", (path, change) => {
		const tree = new ThreadTree();
		tree.branch(tree.branch(tree.root.id));
		const json = tree.toJSON();
		const changed = change(json, json.nodes as [ThreadNodeJSON, ThreadNodeJSON, ThreadNodeJSON]);
		expect(() => ThreadTree.fromJSON(changed as ThreadTreeJSON)).toThrow(
			expect.objectContaining({ code: "invalid_state", data: { path } }),
		);
	});
});
