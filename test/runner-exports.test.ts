// The public names of the runner: those of the checked-in lists, and what is gone since a release is in the migration guide.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { listPublicExports } from "../tools/public-exports.ts";

const root = join(import.meta.dirname, "..");
const read = (path: string): string => readFileSync(join(root, path), "utf8");
const released = read("test/runner-released-names.txt").split("\n").filter(Boolean);

/** Every name of an entry as `@holdfast/runner/entry name`. */
function namesOf(lists: Iterable<readonly [file: string, list: string]>): ReadonlySet<string> {
	return new Set(
		[...lists].flatMap(([, list]) => {
			const [title = "", ...lines] = list.split("\n").filter(Boolean);
			return lines.map((line) => `${title.replace("# ", "")} ${line.split(" ").at(-1)}`);
		}),
	);
}

/** Released names that are gone and of which a guide says nothing. */
function unmentioned(
	names: readonly string[],
	current: ReadonlySet<string>,
	guide: string,
): readonly string[] {
	return names.filter((name) => !current.has(name) && !guide.includes(`\`${name.split(" ").at(-1)}\``));
}

test("the exports of every entry point equal their checked-in list [RUN-160]", () => {
	const lists = [...listPublicExports(root)].filter(([file]) => file.startsWith("@holdfast.runner"));
	expect(lists.map(([file]) => file).toSorted()).toEqual(
		readdirSync(join(root, "docs/api"))
			.filter((file) => file.startsWith("@holdfast.runner"))
			.toSorted(),
	);
	for (const [file, list] of lists) expect(list, file).toBe(read(`docs/api/${file}`));
});

test("the migration guide mentions every released name that was removed [RUN-160]", () => {
	const current = namesOf(
		readdirSync(join(root, "docs/api"))
			.filter((file) => file.startsWith("@holdfast.runner"))
			.map((file) => [file, read(`docs/api/${file}`)]),
	);
	expect(released.length).toBeGreaterThan(100);
	const guide = read("docs/guide/runner-migration.md");
	expect(unmentioned(released, current, guide)).toEqual([]);
	expect(unmentioned([...released, "goneByNow"], current, guide)).toEqual(["goneByNow"]);
	expect(unmentioned(["goneByNow"], current, "| `goneByNow` | use another |")).toEqual([]);
});
