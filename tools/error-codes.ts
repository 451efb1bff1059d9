// Finds the error codes of the packages in their sources: the first parameter of `new HoldfastError(…)`,
// `new HoldfastTypeError(…)` and `new ClientError(…)`, and of `super(…)` in classes that extend HoldfastError. In addition,
// the UPP codes that the sources use, and the codes that a run of the runner reports as data. Rethrowing an error with the
// `code` of another one adds no code.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { listSources } from "./list-sources.ts";

/** A place in the sources that raises an error. */
export interface RaisedError {
	readonly code: string;
	/** `packages/core/src/journal/open.ts:12` */
	readonly place: string;
	/** The value of `retryable`; `depends` if it is computed. */
	readonly retryable: "yes" | "no" | "depends";
}

/** The findings, and locations whose code is known only at run time. */
export interface ErrorCodes {
	readonly raised: readonly RaisedError[];
	readonly unreadable: readonly string[];
}

/** UPPError takes its code as a parameter; its codes are those of this list that some other source names. */
const listsItsCodes = "packages/upp/src/errors/upp-error.ts";
/** A run reports these as data; each is one that some other source names. */
const listsCodesOfData = "packages/runner/src/contract/error-codes.ts";
const uppCode = /\bErrorCode\.([A-Z_]+)\b|"([A-Z]{4,}(?:_[A-Z]+)*)"/g;

/** The codes that one source raises. */
export function readErrorCodes(
	file: string,
	source: string,
	uppCodes: ReadonlySet<string> = new Set(),
	dataCodes: ReadonlySet<string> = new Set(),
): ErrorCodes {
	const text = source.replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, (comment) =>
		comment.replaceAll(/[^\n]/g, " "),
	);
	const raised: RaisedError[] = [];
	const unreadable: string[] = [];
	const calls = /extends\s+HoldfastError\b/.test(text)
		? /\b(?:new Holdfast(?:Type)?Error|super)\(/g
		: /\bnew (?:Holdfast(?:Type)?|Client)Error\(/g;
	for (const call of text.matchAll(calls)) {
		const [first = "", ...others] = splitParameters(text, call.index + call[0].length);
		const place = `${file}:${lineAt(text, call.index)}`;
		const codes = [...first.matchAll(/(?<=^|[?:]\s*)"([\w-]+)"/g)].map(([, code]) => code ?? "");
		const isPassedOn = /^\w+\.code$/.test(first);
		if (codes.length === 0 && !isPassedOn) unreadable.push(place);
		for (const code of codes) raised.push({ code, place, retryable: readRetryable(others.join(",")) });
	}
	for (const use of text.matchAll(uppCode)) {
		const code = use[1] ?? use[2] ?? "";
		if (!uppCodes.has(code)) continue;
		raised.push({ code, place: `${file}:${lineAt(text, use.index)}`, retryable: "depends" });
	}
	const known = new Set(raised.map(({ code }) => code));
	for (const { 0: literal, index } of text.matchAll(/"[A-Z]{3,}(?:_[A-Z]+)+"/g)) {
		const code = literal.slice(1, -1);
		if (dataCodes.has(code) && !known.has(code))
			raised.push({ code, place: `${file}:${lineAt(text, index)}`, retryable: "no" });
	}
	return { raised, unreadable };
}

/** The codes that the shipped sources of all packages raise. */
export function findErrorCodes(root: string): ErrorCodes {
	const shipped = listSources(root).filter(
		(file) =>
			/^packages\/.*\.ts$/.test(file) &&
			!/\.(?:test|test-d|fixture)\.ts$/.test(file) &&
			file !== listsItsCodes &&
			file !== listsCodesOfData,
	);
	const read = (file: string): string => readFileSync(join(root, file), "utf8");
	const uppCodes = new Set(
		[...read(listsItsCodes).matchAll(/^\t([A-Z_]+): "\1",$/gm)].map(([, code]) => code ?? ""),
	);
	const dataCodes = new Set(
		[...read(listsCodesOfData).matchAll(/^\t"([A-Z_]+)",$/gm)].map(([, code]) => code ?? ""),
	);
	const found = shipped.map((file) => readErrorCodes(file, read(file), uppCodes, dataCodes));
	return {
		raised: found.flatMap(({ raised }) => raised),
		unreadable: found.flatMap(({ unreadable }) => unreadable),
	};
}

function readRetryable(options: string): RaisedError["retryable"] {
	const value = /\bretryable(?:\s*:\s*(?<value>\w+))?/.exec(options);
	if (value === null || value.groups?.value === "false") return "no";
	return value.groups?.value === "true" ? "yes" : "depends";
}

function lineAt(text: string, index: number): number {
	return text.slice(0, index).split("\n").length;
}

/** The parameters of the call whose opening parenthesis ends at `start`, as written. */
function splitParameters(text: string, start: number): readonly string[] {
	const parameters: string[] = [];
	let depth = 0;
	let from = start;
	for (let at = start; at < text.length; at++) {
		const sign = text[at] ?? "";
		if (`"'\``.includes(sign)) at = endOfString(text, at);
		else if ("([{".includes(sign)) depth++;
		else if (")]}".includes(sign) && depth-- === 0) return [...parameters, text.slice(from, at).trim()];
		else if (sign === "," && depth === 0) {
			parameters.push(text.slice(from, at).trim());
			from = at + 1;
		}
	}
	return parameters;
}

function endOfString(text: string, start: number): number {
	let at = start + 1;
	while (at < text.length && text[at] !== text[start]) at += text[at] === "\\" ? 2 : 1;
	return at;
}
