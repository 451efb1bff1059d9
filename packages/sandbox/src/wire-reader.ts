// Assembles the pieces of a guest's value as they arrive, and creates the value without blocking the event loop. The
// pieces are not trusted: see `decode.ts`.
import type { MaybePromise } from "@holdfast/upp";

/** Nodes of a value as the guest's marshaller writes them, and the token of its root. */
export interface Nodes {
	readonly root: unknown;
	readonly nodes: readonly (readonly unknown[])[];
}

/** Milliseconds of work between two turns of the event loop. */
const turnMs = 5;

export function malformed(): Error {
	return new Error("The sandbox sent a value that cannot be read");
}

/** Collects the pieces of one value after another. */
export class WireReader {
	#root: unknown;
	#nodes: unknown[][] = [];

	/** Adds a piece. Throws an `Error` for an invalid one. */
	add(text: string): void {
		const piece: { readonly r?: unknown; readonly "*"?: unknown; readonly n?: unknown } = JSON.parse(text);
		if (piece === null || !Array.isArray(piece.n)) throw malformed();
		if ("r" in piece) this.#root = piece.r;
		if ("*" in piece) this.#root = joined(this.#root, piece["*"]);
		for (const node of piece.n as unknown[]) {
			if (!Array.isArray(node)) throw malformed();
			if (node[0] === "+" || node[0] === "*") this.#continue(node);
			else this.#nodes.push(node);
		}
	}

	/** Returns the value whose last piece was added. The next piece starts another. */
	end(): Nodes {
		const read = { root: this.#root, nodes: this.#nodes };
		[this.#root, this.#nodes] = [undefined, []];
		return read;
	}

	/** Adds the rest of a node; after `*` also the rest of a cut text. */
	#continue([mark, first, ...rest]: readonly unknown[]): void {
		const node = this.#nodes.at(-1);
		if (node === undefined) throw malformed();
		node.push(mark === "*" ? joined(node.pop(), first) : first);
		for (const token of rest) node.push(token);
	}
}

function joined(text: unknown, rest: unknown): string {
	if (typeof text !== "string" || typeof rest !== "string") throw malformed();
	return text + rest;
}

/** Runs all steps. */
export function atOnce<T>(steps: Generator<void, T>): T {
	for (;;) {
		const step = steps.next();
		if (step.done === true) return step.value;
	}
}

/** Runs all steps, yielding to the event loop if they take long. */
export function inTurns<T>(steps: Generator<void, T>): MaybePromise<T> {
	const until = performance.now() + turnMs;
	for (;;) {
		const step = steps.next();
		if (step.done === true) return step.value;
		if (performance.now() >= until) break;
	}
	return new Promise<void>((resolve) => setImmediate(resolve)).then(() => inTurns(steps));
}
