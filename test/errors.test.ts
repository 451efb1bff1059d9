// Compares docs/errors.md and docs/errors/ with the codes that the sources throw, in both directions (keeps I9).
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { findErrorCodes, readErrorCodes } from "../tools/error-codes.ts";
import { listSources } from "../tools/list-sources.ts";

const root = join(import.meta.dirname, "..");
const { raised, unreadable } = findErrorCodes(root);
const overview = readFileSync(join(root, "docs/errors.md"), "utf8");
const folder = join(root, "docs/errors");
const pages = [overview, ...readdirSync(folder).map((page) => readFileSync(join(folder, page), "utf8"))];
const rows = pages
	.join("\n")
	.matchAll(
		/^\| `(?<code>[\w-]+)` \|(?<happened>[^|]+)\|(?<remedy>[^|]+)\| (?<retryable>yes|no|depends) \|$/gm,
	);
const documented = [...rows].map(({ groups }) => ({
	code: groups?.code ?? "",
	retryable: groups?.retryable,
}));

/** Files that raise a TypeError of their own to themselves, and what becomes of it. */
const givenACodeLater: ReadonlyMap<string, string> = new Map([
	["packages/client/src/tools/answerer.ts", "the reason of a denial"],
	["packages/core/src/output/read-answer.ts", "the cause of unserialisable_value"],
	["packages/core/src/policy/plugins/plugin-set.ts", "the cause of plugin_failed"],
	["packages/core/src/policy/plugins/tool-hooks.ts", "the cause of plugin_failed"],
	["packages/core/src/tools/plain-json.ts", "the cause of unserialisable_value"],
	["packages/sandbox/src/execution.ts", "thrown into the guest"],
	["packages/sandbox/src/code-mode/script.ts", "thrown into the guest"],
	["packages/stores/src/journal/documents.ts", "the cause of journal_failed"],
	["packages/threads/src/load/read-definition.ts", "a problem of the project"],
	["packages/threads/src/values/thread-values.ts", "the cause of unserialisable_value"],
	["packages/upp/src/ai-sdk/answer.ts", "the cause of INVALID_RESPONSE"],
	["packages/upp/src/ai-sdk/answer-calls.ts", "the cause of INVALID_RESPONSE"],
	["packages/upp/src/ai-sdk/file-parts.ts", "the cause of INVALID_RESPONSE"],
]);

test("every place that raises an error states its code as a literal", () => {
	expect(unreadable).toEqual([]);
});

test("every code that is thrown is documented", () => {
	const known = new Set(documented.map(({ code }) => code));
	expect(
		raised.filter(({ code }) => !known.has(code)).map(({ code, place }) => `${code} in ${place}`),
	).toEqual([]);
});

test("every documented code is thrown somewhere, and documented once", () => {
	const known = new Set(raised.map(({ code }) => code));
	expect(documented.map(({ code }) => code).filter((code) => !known.has(code))).toEqual([]);
	expect(documented.map(({ code }) => code)).toEqual([...new Set(documented.map(({ code }) => code))]);
});

test("the overview of errors names ten common codes, which its pages describe", () => {
	const common = [...overview.matchAll(/^\| `([\w-]+)` \|[^|]+\|[^|]+\|$/gm)].map(([, code = ""]) => code);
	expect(common.filter((code) => documented.some((each) => each.code === code))).toHaveLength(10);
});

test("a TypeError without a code is thrown only where it is caught and given one", () => {
	const bare = listSources(root).filter(
		(file) =>
			/^packages\/.*\.ts$/.test(file) &&
			!/\.(?:test|test-d|fixture)\.ts$/.test(file) &&
			/\bnew TypeError\(/.test(readFileSync(join(root, file), "utf8")),
	);
	expect(bare.filter((file) => !givenACodeLater.has(file))).toEqual([]);
	expect([...givenACodeLater.keys()].filter((file) => !bare.includes(file))).toEqual([]);
});

test("the pages and the code agree on whether to retry", () => {
	const said = documented.map(({ code, retryable }) => `${code}: ${retryable}`);
	const meant = documented.map(({ code }) => {
		const answers = new Set(raised.filter((error) => error.code === code).map(({ retryable }) => retryable));
		return `${code}: ${answers.size === 1 ? [...answers].join("") : "depends"}`;
	});
	expect(said).toEqual(meant);
});

test("codes are read from calls across several lines, from choices and from subclasses", () => {
	const source = [
		'throw new HoldfastError("one", `It, "failed" (once).`, {',
		"\tretryable: true,",
		"});",
		'throw new HoldfastError(isLocal ? "two" : "three", "x");',
		'class Four extends HoldfastError { constructor() { super("four", "x", { retryable: late }); } }',
		'// throw new HoldfastError("none", "x");',
		"throw new HoldfastError(code, message);",
		"throw new HoldfastError(error.code, message);",
		'throw new UPPError("Too slow.", ErrorCode.TIMEOUT, "stub", "llm");',
		'return isLate ? "CANCELLED" : "STRANGE";',
		'return { ok: false, error: { code: "TOOL_LATE", message }, flag: "TOOL_FLAG" };',
	];
	const found = readErrorCodes(
		"a.ts",
		source.join("\n"),
		new Set(["TIMEOUT", "CANCELLED"]),
		new Set(["TOOL_LATE"]),
	);
	expect(found.raised.map(({ code, place, retryable }) => [code, place, retryable])).toEqual([
		["one", "a.ts:1", "yes"],
		["two", "a.ts:4", "no"],
		["three", "a.ts:4", "no"],
		["four", "a.ts:5", "depends"],
		["TIMEOUT", "a.ts:9", "depends"],
		["CANCELLED", "a.ts:10", "depends"],
		["TOOL_LATE", "a.ts:11", "no"],
	]);
	expect(found.unreadable).toEqual(["a.ts:7"]);
});
