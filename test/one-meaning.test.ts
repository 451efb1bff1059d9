// Holds the public names to one meaning each: a name that two entries declare differently is a name users import by mistake.
import { join } from "node:path";
import { expect, test } from "vitest";
import { readExports } from "../tools/read-exports.ts";
import { readWorkspaces } from "../tools/workspaces.ts";

const root = join(import.meta.dirname, "..");
const entries = readWorkspaces(root).flatMap(({ folder, entries: own }) =>
	own.map(({ specifier, source }) => ({ specifier, file: join(root, "packages", folder, source) })),
);
const files = new Map(entries.map(({ specifier, file }) => [specifier, file]));

/**
 * Entries whose names may occur elsewhere: `client` mirrors the wire types without a dependency, which `wire-types.test-d.ts`
 * compares; `threads` has the names of the project format; the others keep names for programs written for other packages.
 */
const exempt = ["@holdfast/client", "@holdfast/client/ai-sdk", "@holdfast/threads"];
const kept = /\/(?:compat|execution-host)$/;

/** Names that still have two declarations, each with what they are. */
const known = [
	"FileCheckpointOptions", // the entry of `holdfast` loads the function of `@holdfast/stores` on first use
	"FileCheckpoints",
	"McpServerOptions", // how to connect to a server; how to offer one
	"SessionStore", // a store of bare sessions; the sessions of `createSession` by id
	"SqlStatement", // a prepared statement of a host; one that a connector runs
	"fileCheckpoints",
];

test("a public name has one declaration", () => {
	const declarations = new Map<string, Set<string>>();
	for (const { specifier, file } of entries) {
		if (exempt.includes(specifier) || kept.test(specifier)) continue;
		for (const [name, { origin }] of readExports(file, files)) {
			const place = origin === undefined ? "elsewhere" : `${origin.file}#${origin.name}`;
			declarations.set(name, (declarations.get(name) ?? new Set()).add(place));
		}
	}
	const ambiguous = [...declarations].filter(([, places]) => places.size > 1).map(([name]) => name);
	expect(ambiguous.sort()).toEqual(known);
});

test("the main entry exports what a program writes or annotates, and no more than 45 names", () => {
	const main = entries.find(({ specifier }) => specifier === "holdfast");
	expect(readExports(main?.file ?? "", files).size).toBeLessThanOrEqual(45);
});
