import { decode } from "@jridgewell/sourcemap-codec";
import { rolldown } from "rolldown";
import { expect, test } from "vitest";
import { namePrivateMethods } from "../tools/name-private-methods.ts";

const source = `export class Counter {
	#count = 0;
	get #double() { return this.#count * 2; }
	async #add(amount) { this.#count += amount; return this.#double; }
	run() {
		class Other { #count() { return 1; } get value() { return this.#count(); } }
		return this.#add(new Other().value);
	}
	static { this.isOne = (given) => #add in given; }
}`;

async function minified(): Promise<{ code: string; map: { mappings: string; names: string[] } }> {
	const build = await rolldown({
		input: "counter",
		plugins: [{ name: "counter", resolveId: (id) => id, load: () => source }],
	});
	const { output } = await build.generate({ sourcemap: true, minify: { mangle: { keepNames: true } } });
	await build.close();
	const [{ code, map }] = output;
	if (map === null) throw new Error("no map");
	return { code, map };
}

test("private methods have their names in minified code, private fields have short ones", async () => {
	const given = await minified();
	expect(given.code).not.toContain("#add");
	const { code, mappings } = namePrivateMethods(given);
	expect(code).toContain("async#add(");
	expect(code).toContain("get#double()");
	expect(code).toMatch(/#add in \w/);
	// A field and a method of one name in two classes are kept apart.
	expect(code).toMatch(/class Other ?\{ ?#count\(\)/);
	expect(code.match(/#count/g)).toHaveLength(2);

	const { Counter } = await import(`data:text/javascript,${encodeURIComponent(code)}`);
	expect(await new Counter().run()).toBe(2);
	expect(Counter.isOne(new Counter())).toBe(true);

	// What follows a longer name is still found in the source.
	const lines = code.split("\n");
	const sourceLines = source.split("\n");
	const words = decode(mappings).flatMap((segments, line) =>
		segments.flatMap(([column, , sourceLine = 0, sourceColumn = 0]) => {
			const here = /^(?:return|static|run|value)\b/.exec(lines[line]?.slice(column) ?? "")?.[0];
			return here === undefined
				? []
				: [[here, sourceLines[sourceLine]?.slice(sourceColumn).slice(0, here.length)]];
		}),
	);
	expect(words.length).toBeGreaterThan(4);
	for (const [here, there] of words) expect(there).toBe(here);
});
