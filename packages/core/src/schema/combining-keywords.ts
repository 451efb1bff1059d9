// The keywords that combine schemas: allOf, anyOf, oneOf, not. Also reports which alternative was probably intended.

import { cutText } from "@holdfast/upp";
import {
	add,
	type Check,
	type Compilation,
	type Finding,
	found,
	malformed,
	type SchemaNode,
} from "./check.ts";
import { describeValue, formatPath } from "./issue.ts";

/** `allOf`: all schemas must match. */
export function allOfCheck(node: SchemaNode, place: readonly string[], to: Compilation): Check | undefined {
	const checks = alternatives(node, "allOf", place, to)?.filter((check) => check !== undefined);
	if (checks === undefined || checks.length === 0) return undefined;
	return (value) => {
		let findings: Finding[] | undefined;
		for (const check of checks) {
			const below = check(value);
			if (below !== undefined) findings = add(findings, below);
		}
		return findings;
	};
}

/** `anyOf`: at least one schema must match. */
export function anyOfCheck(node: SchemaNode, place: readonly string[], to: Compilation): Check | undefined {
	const checks = alternatives(node, "anyOf", place, to);
	if (checks === undefined || checks.includes(undefined)) return undefined;
	return (value) => {
		const failures: Finding[][] = [];
		for (const check of checks) {
			const below = check?.(value);
			if (below === undefined) return undefined;
			failures.push(below);
		}
		return explain(failures, value);
	};
}

/** `oneOf`: exactly one schema must match. */
export function oneOfCheck(node: SchemaNode, place: readonly string[], to: Compilation): Check | undefined {
	const checks = alternatives(node, "oneOf", place, to);
	if (checks === undefined) return undefined;
	return (value) => {
		const failures: Finding[][] = [];
		for (const check of checks) {
			const below = check?.(value);
			if (below !== undefined) failures.push(below);
		}
		const matching = checks.length - failures.length;
		if (matching === 1) return undefined;
		if (matching === 0) return explain(failures, value);
		return found(`matches ${matching} of the allowed forms, but must match exactly one`);
	};
}

/** `not`: the schema must not match. */
export function notCheck(node: SchemaNode, place: readonly string[], to: Compilation): Check | undefined {
	if (node.not === undefined) return undefined;
	const check = to.compile(node.not, [...place, "not"]);
	return (value) =>
		check?.(value) === undefined ? found(`${describeValue(value)} is not allowed here`) : undefined;
}

function alternatives(
	node: SchemaNode,
	keyword: string,
	place: readonly string[],
	to: Compilation,
): (Check | undefined)[] | undefined {
	const schemas = node[keyword];
	if (schemas === undefined) return undefined;
	if (!Array.isArray(schemas) || schemas.length === 0)
		throw malformed([...place, keyword], "expected a list of at least one schema");
	return schemas.map((schema, index) => to.compile(schema, [...place, keyword, String(index)]));
}

const MISMATCH = /^expected (.*), got /s;

// An alternative that fails at the root was probably not intended. One that fails deeper, or at something other than a
// fixed value, best explains the problem.
function explain(failures: readonly Finding[][], value: unknown): Finding[] {
	const deep = failures.filter((findings) => !findings.every(isMismatchOfWhole));
	if (deep.length === 0) {
		const expected = failures.flat().map(({ message }) => MISMATCH.exec(message)?.[1]);
		return found(`expected ${[...new Set(expected)].join(" or ")}, got ${describeValue(value)}`);
	}
	const matchingFixedValues = deep.filter((findings) => !findings.some(isWrongFixedValue));
	const likely = matchingFixedValues.length > 0 ? matchingFixedValues : deep;
	const [only] = likely;
	if (likely.length === 1 && only !== undefined) return only;
	const forms = likely.map((findings) => findings.map(inline).join(", "));
	return found(shortened(`matches none of the allowed forms: ${[...new Set(forms)].join("; or ")}`));
}

function isMismatchOfWhole({ path, message }: Finding): boolean {
	return path.length === 0 && MISMATCH.test(message);
}

// Only the message about a fixed value expects a literal.
function isWrongFixedValue({ path, message }: Finding): boolean {
	return path.length === 1 && /^expected (one of )?["\d-]/.test(message);
}

/** The maximum length of an alternative's message; nested alternatives would make it grow without limit. */
const longestInline = 500;

function inline({ path, message }: Finding): string {
	const said = path.length === 0 ? message : `${formatPath(path)}: ${message}`;
	return said.length <= longestInline ? said : `${cutText(said, longestInline)}\u2026`;
}

const longestExplanation = 2_000;

function shortened(message: string): string {
	return message.length <= longestExplanation ? message : `${cutText(message, longestExplanation)}\u2026`;
}
