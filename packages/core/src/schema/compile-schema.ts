// Compiles a JSON Schema to closures, once per schema object. Supported keywords of drafts 7 and 2020-12: type, enum,
// const, nullable; minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf; minLength, maxLength, pattern;
// properties, required, additionalProperties, patternProperties, propertyNames, minProperties, maxProperties; items,
// prefixItems, additionalItems (draft 7), minItems, maxItems, uniqueItems; allOf, anyOf, oneOf, not; $ref within the
// schema. Others are ignored.

import {
	add,
	type Check,
	type Compilation,
	type Finding,
	found,
	isRecord,
	malformed,
	type SchemaNode,
} from "./check.ts";
import { allOfCheck, anyOfCheck, notCheck, oneOfCheck } from "./combining-keywords.ts";
import { arrayCheck, objectCheck } from "./container-keywords.ts";
import { shared, spend, TooMuchEffort, withEffort } from "./effort.ts";
import { formatPath, type Issue } from "./issue.ts";
import { withPatterns } from "./patterns.ts";
import { choiceCheck, numberCheck, stringCheck, typeCheck } from "./scalar-keywords.ts";
import { checkSize } from "./size.ts";
import { isStandardSchema } from "./standard-schema.ts";

/** Validates a value: returns undefined, or a list of issues. */
export type SchemaValidator = (value: unknown) => readonly Issue[];

const NO_ISSUES: readonly Issue[] = Object.freeze([]);
const compiled = new WeakMap<object, SchemaValidator>();

/**
 * Compiles a JSON Schema. Do not change a schema after it was compiled: the result is cached per object.
 *
 * @throws HoldfastError `invalid_schema`, naming the position, if the schema is malformed or refers outside itself, or
 * has more than 100,000 members, 4,000,000 characters or 500 levels.
 */
export function compileSchema(schema: object | boolean): SchemaValidator {
	if (typeof schema !== "object" || schema === null) return validatorOf(compileRoot(schema));
	let validator = compiled.get(schema);
	if (validator === undefined) {
		checkSize(schema);
		validator = validatorOf(compileRoot(schema));
		compiled.set(schema, validator);
	}
	return validator;
}

function validatorOf(check: Check | undefined): SchemaValidator {
	if (check === undefined) return () => NO_ISSUES;
	return (value) => {
		const findings = run(check, value);
		if (findings === undefined) return NO_ISSUES;
		return findings.map(({ path, message }) => ({ path: formatPath(path), message }));
	};
}

function run(check: Check, value: unknown): Finding[] | undefined {
	try {
		return withEffort(() => withPatterns(() => check(value)));
	} catch (error) {
		if (error instanceof TooMuchEffort) return found("takes too long to be checked against its schema");
		if (error instanceof RangeError) return found("is nested too deeply to be checked");
		throw error;
	}
}

function compileRoot(root: unknown): Check | undefined {
	const finished = new Map<object, Check | undefined>();
	const started = new Set<object>();
	/** Where a chain of references that starts at a node ends. */
	const ends = new Map<unknown, unknown>();
	const compilation: Compilation = { compile };
	try {
		return compile(root, []);
	} catch (error) {
		if (error instanceof RangeError) throw malformed([], "it is nested too deeply");
		throw error;
	}

	function compile(schema: unknown, place: readonly string[]): Check | undefined {
		if (schema === true) return undefined;
		if (schema === false) return () => found("nothing is allowed here");
		if (!isRecord(schema)) throw malformed(place, "expected a schema: an object, true or false");
		if (place.length > 0) refuseMixed(schema, place);
		if (finished.has(schema)) return finished.get(schema);
		// A schema that contains itself: its check exists by the time a value is checked.
		if (started.has(schema)) return (value) => finished.get(schema)?.(value);
		started.add(schema);
		const check = compileNode(schema, place);
		finished.set(schema, check);
		return check;
	}

	function compileNode(node: SchemaNode, place: readonly string[]): Check | undefined {
		for (const [keyword, value] of Object.entries(node)) refuseMixed(value, [...place, keyword]);
		const type = typeCheck(node, place);
		const others = [
			choiceCheck(node, place),
			numberCheck(node, place),
			stringCheck(node, place),
			objectCheck(node, place, compilation),
			arrayCheck(node, place, compilation),
			referenceCheck(node, place),
			allOfCheck(node, place, compilation),
			anyOfCheck(node, place, compilation),
			oneOfCheck(node, place, compilation),
			notCheck(node, place, compilation),
		].filter((check) => check !== undefined);
		const check = counted(inOrder(type, together(others)));
		if (node.nullable !== true || check === undefined) return check;
		return (value) => (value === null ? undefined : check(value));
	}

	function referenceCheck(node: SchemaNode, place: readonly string[]): Check | undefined {
		if (node.$ref === undefined) return undefined;
		const at = [...place, "$ref"];
		const seen = new Set<unknown>();
		let target: unknown = node;
		while (isRecord(target) && target.$ref !== undefined) {
			if (ends.has(target)) {
				target = ends.get(target);
				break;
			}
			if (seen.has(target)) throw malformed(at, "the reference is circular");
			seen.add(target);
			// Keywords next to a reference apply too, so only bare references are resolved here.
			if (target !== node && Object.keys(target).length > 1) break;
			target = resolveReference(root, target.$ref, at);
		}
		for (const passed of seen) if (passed !== target) ends.set(passed, target);
		const check = compile(target, at);
		return check === undefined ? undefined : shared(check);
	}
}

function counted(check: Check | undefined): Check | undefined {
	if (check === undefined) return undefined;
	return (value) => {
		spend();
		return check(value);
	};
}

/** A library's schema nested in JSON Schema would be ignored, and any value accepted. */
function refuseMixed(value: unknown, place: readonly string[]): void {
	if (!isStandardSchema(value)) return;
	const { vendor } = value["~standard"];
	throw malformed(
		place,
		`this is a schema of ${vendor} within JSON Schema. Give one schema of ${vendor} for the whole, such as an object of these members`,
	);
}

// Runs the type check first: if the type is wrong, other findings are not useful.
function inOrder(first: Check | undefined, second: Check | undefined): Check | undefined {
	if (first === undefined) return second;
	if (second === undefined) return first;
	return (value) => first(value) ?? second(value);
}

function together(checks: readonly Check[]): Check | undefined {
	if (checks.length <= 1) return checks[0];
	return (value) => {
		let findings: Finding[] | undefined;
		for (const check of checks) {
			const more = check(value);
			if (more !== undefined) findings = add(findings, more);
		}
		return findings;
	};
}

function resolveReference(root: unknown, reference: unknown, place: readonly string[]): unknown {
	if (typeof reference !== "string") throw malformed(place, "expected a string");
	if (reference !== "#" && !reference.startsWith("#/"))
		throw malformed(
			place,
			`${JSON.stringify(reference)} points outside the schema; only "#/..." is followed`,
		);
	let target = root;
	for (const part of reference.split("/").slice(1)) {
		const key = decoded(part).replaceAll("~1", "/").replaceAll("~0", "~");
		if (typeof target !== "object" || target === null || !Object.hasOwn(target, key))
			throw malformed(place, `${JSON.stringify(reference)} does not exist in the schema`);
		target = (target as Record<string, unknown>)[key];
	}
	return target;
}

function decoded(part: string): string {
	try {
		return decodeURIComponent(part);
	} catch {
		// A name with an unescaped percent sign.
		return part;
	}
}
