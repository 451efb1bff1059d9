// Values of any kind that an API must refuse or survive, and the places in other values where tests put them.
import fc from "fast-check";

/** The paths of a value and of everything in it. */
export function pathsOf(value: unknown, path: readonly string[] = []): (readonly string[])[] {
	if (typeof value !== "object" || value === null || value instanceof Date || value instanceof Uint8Array)
		return [path];
	return [path, ...Object.entries(value).flatMap(([key, inner]) => pathsOf(inner, [...path, key]))];
}

/** The value with other data at a path; `remove` takes the member away. The value itself is changed. */
export function changed(value: unknown, path: readonly string[], garbage: unknown): unknown {
	const root = { value } as Record<string, unknown>;
	const [name = "", ...before] = ["value", ...path].reverse();
	const parent = before.reverse().reduce((inner, key) => inner[key] as Record<string, unknown>, root);
	if (garbage === remove) delete parent[name];
	else parent[name] = garbage;
	return root.value;
}

const remove = Symbol("remove");
const circular: Record<string, unknown> = {};
circular.self = circular;
/** An object so many levels deep. */
export const nested = (levels: number): unknown =>
	JSON.parse(`${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`);
/** Not enumerable, so that a counterexample can be printed. */
const unreadable = Object.defineProperty({ type: "text" }, "text", {
	get() {
		throw new Error("It cannot be read.");
	},
});
const sparse: unknown[] = [];
sparse[2] = 1;
class Point {
	x = 1;
}
/** Such values: well-known ones, and any other. */
export const garbage: fc.Arbitrary<unknown> = fc.oneof(
	{
		weight: 3,
		arbitrary: fc.constantFrom<unknown>(
			remove,
			undefined,
			null,
			"",
			"text",
			0,
			-1,
			1.5,
			Number.NaN,
			Number.POSITIVE_INFINITY,
			true,
			[],
			[null],
			["a"],
			{},
			{ type: "text" },
			{ type: "text", text: 1 },
			{ type: "what", text: "" },
			{ toJSON: () => "other" },
			{
				toJSON: () => {
					throw new Error("no");
				},
			},
			unreadable,
			1n,
			() => 1,
			Symbol("s"),
			new Map([["a", 1]]),
			new Float64Array(1),
			new ArrayBuffer(1),
			new WeakMap(),
			new Response("x"),
			/a/,
			new Error("e"),
			sparse,
			"\ud800",
			{ $holdfast: ["what", 1] },
			{ __proto__: null, a: 1 },
			new Uint8Array(1),
			new Date(0),
			new Date(Number.NaN),
			new Point(),
			circular,
			nested(499),
			nested(501),
			nested(3_000),
			Promise.resolve(1),
		),
	},
	fc.anything({
		withBigInt: true,
		withMap: true,
		withSet: true,
		withDate: true,
		withTypedArray: true,
		withNullPrototype: true,
		withSparseArray: true,
	}),
);
