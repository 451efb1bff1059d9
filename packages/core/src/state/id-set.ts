// A persistent set of ids with shared structure: adding one costs the same however many there are, and leaves older versions
// as they were (keeps I5). A trie over a hash of the id, 32 children wide.

interface Leaf {
	readonly hash: number;
	/** Ids of that hash. */
	readonly ids: readonly string[];
}

type Node = Leaf | readonly (Node | undefined)[];

const bits = 5;
const mask = 31;

/** A set of ids. `add` returns a new one. */
export class IdSet {
	static readonly #empty: IdSet = new IdSet(undefined);
	readonly #root: Node | undefined;

	private constructor(root: Node | undefined) {
		this.#root = root;
	}

	static empty(): IdSet {
		return IdSet.#empty;
	}

	has(id: string): boolean {
		return this.#has(id, hashOf(id));
	}

	add(id: string): IdSet {
		const hash = hashOf(id);
		return this.#has(id, hash) ? this : new IdSet(added(this.#root, hash, id, 0));
	}

	#has(id: string, hash: number): boolean {
		let node = this.#root;
		for (let shift = 0; node !== undefined && isBranch(node); shift += bits)
			node = node[(hash >>> shift) & mask];
		return node !== undefined && !isBranch(node) && node.hash === hash && node.ids.includes(id);
	}
}

function added(node: Node | undefined, hash: number, id: string, shift: number): Node {
	if (node === undefined) return { hash, ids: [id] };
	if (isBranch(node)) return withChild(node, (hash >>> shift) & mask, hash, id, shift);
	if (node.hash === hash) return { hash, ids: [...node.ids, id] };
	const branch: (Node | undefined)[] = [];
	branch[(node.hash >>> shift) & mask] = node;
	return withChild(branch, (hash >>> shift) & mask, hash, id, shift);
}

function withChild(
	branch: readonly (Node | undefined)[],
	at: number,
	hash: number,
	id: string,
	shift: number,
): readonly (Node | undefined)[] {
	const copy = branch.slice();
	copy[at] = added(branch[at], hash, id, shift + bits);
	return copy;
}

function isBranch(node: Node): node is readonly (Node | undefined)[] {
	return Array.isArray(node);
}

/** FNV-1a of 32 bits. */
function hashOf(id: string): number {
	let hash = 0x811c9dc5;
	for (let at = 0; at < id.length; at++) hash = Math.imul(hash ^ id.charCodeAt(at), 0x01000193);
	return hash >>> 0;
}
