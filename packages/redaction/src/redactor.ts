// Masks secrets and personal data, in plain data and in streamed text. Registered secrets are always masked, and masked
// first; recognised data follows.
import { checkOptions, optionNames } from "@holdfast/upp";
import { typeOfField } from "./fields.ts";
import { isMask, type MaskType, maskOf } from "./mask.ts";
import { isCard } from "./numbers.ts";
import { Scanner, scanned } from "./scan.ts";
import { SecretSet, SecretStream } from "./secrets.ts";

const redactorNames = optionNames<RedactorOptions>({ secrets: "texts" });
const redactNames = optionNames<{ readonly keep?: "pii" }>({ keep: ["pii"] });
const streamNames = optionNames<{ readonly only?: "secrets" }>({ only: ["secrets"] });

/** Values nested deeper are masked without examination. */
const deepest = 500;

/**
 * Masks secrets and personal data with `[REDACTED:type]`, in strings, keys and numbers at any depth of plain data. The
 * given value is never changed; if nothing was masked, the same value is returned.
 */
export interface Redactor {
	/** Masks PII, credentials, and registered secrets; with `keep: "pii"` everything but PII, for raw logs. */
	redact<Value>(value: Value, options?: { readonly keep?: "pii" }): Value;
	/**
	 * Masks only registered secrets, for data that is executed, stored or shown to the user: a tool may need a field
	 * named like a password, or a value that only looks like a key.
	 */
	maskSecrets<Value>(value: Value): Value;
	/** The same as `redact` for streamed text: holds a possible beginning of a match, in bounded memory. */
	stream(options?: {
		/** `secrets`: only registered secrets, as with `maskSecrets`. Default: everything that `redact` masks. */
		readonly only?: "secrets";
	}): { push(piece: string): string; flush(): string };
}

/** Options of `createRedactor()`. */
export interface RedactorOptions {
	/**
	 * Values that are masked everywhere, including their URL-encoded, JSON-escaped and base64 forms. Use secrets of 8
	 * characters or more: shorter ones occur in unrelated words and numbers. Default: none.
	 */
	readonly secrets?: readonly string[] | undefined;
}

/**
 * Creates a redactor. It masks emails, phone and card numbers, API keys, bearer tokens, JWTs, private keys in PEM, the
 * values of fields named like `password`, and registered secrets, each with `[REDACTED:type]`. Redacting twice changes
 * nothing more.
 *
 * @example
 * ```ts
 * import { createRedactor } from "@holdfast/redaction";
 *
 * const redactor = createRedactor({ secrets: ["correct-horse-battery"] });
 * console.log(redactor.redact({ to: "ann@example.com", body: "It is correct-horse-battery." }));
 * // { to: "[REDACTED:email]", body: "It is [REDACTED:secret]." }
 * ```
 */
export function createRedactor(options: RedactorOptions = {}): Redactor {
	checkOptions(options, redactorNames, { of: "createRedactor()" });
	const { secrets = [] } = options;
	const values = [...new Set(secrets)].filter((value) => value !== "");
	const set = values.length === 0 ? undefined : new SecretSet(values);
	/** The last text without secrets: a result is redacted repeatedly, when it is settled, emitted and written. */
	let clean = "";
	const masked = (text: string): string => {
		if (set === undefined || text === clean) return text;
		const shown = set.mask(text);
		if (shown === text && text.length >= long) clean = text;
		return shown;
	};
	const all = masking((text) => scanned(masked(text), "all"), { fields: true, cards: true });
	const credentials = masking((text) => scanned(masked(text), "credentials"), { fields: true, cards: false });
	const registered = masking(masked, { fields: false, cards: false });
	return {
		redact(value, how) {
			checkOptions(how, redactNames, { of: "redact()" });
			return maskData(value, how?.keep === "pii" ? credentials : all);
		},
		maskSecrets: (value) => (set === undefined ? value : maskData(value, registered)),
		stream(how) {
			checkOptions(how, streamNames, { of: "stream()" });
			const inner = set === undefined ? undefined : new SecretStream(set);
			if (how?.only === "secrets") return inner ?? { push: (piece) => piece, flush: () => "" };
			const outer = new Scanner("all");
			if (inner === undefined) return outer;
			return {
				push: (piece) => outer.push(inner.push(piece)),
				flush: () => outer.push(inner.flush()) + outer.flush(),
			};
		},
	};
}

/** Length from which a text costs more to scan than to compare. */
const long = 64;

interface Masking {
	text(text: string): string;
	/** Masks the name of a field. */
	name(text: string): string;
	/** Whether the names of fields are considered. */
	readonly fields: boolean;
	/** Whether a number may be a card number. */
	readonly cards: boolean;
}

/** Field names are few and recur: this many of up to this length are cached. */
const [mostNames, longestName] = [1_000, 64];

function masking(text: Masking["text"], what: Pick<Masking, "fields" | "cards">): Masking {
	const known = new Map<string, string>();
	const name = (given: string): string => {
		const before = known.get(given);
		if (before !== undefined) return before;
		const shown = text(given);
		if (known.size < mostNames && given.length <= longestName) known.set(given, shown);
		return shown;
	};
	return { text, name, ...what };
}

/** Returns the same value if nothing was masked. */
function maskData<Value>(value: Value, masking: Masking): Value {
	return masked(value, masking, undefined, 0) as Value;
}

function masked(value: unknown, masking: Masking, field: MaskType | undefined, depth: number): unknown {
	switch (typeof value) {
		case "string":
			if (field === undefined || value === "") return masking.text(value);
			return isMask(value) ? value : maskOf(field);
		case "number":
		case "bigint": {
			if (field !== undefined) return maskOf(field);
			const text = String(value);
			if (masking.cards && isCard(text)) return maskOf("card");
			// A bare number is only checked for secrets: it has no recognisable shape.
			return masking.text(text) === text ? value : maskOf("secret");
		}
		case "object":
			break;
		default:
			return value;
	}
	if (value === null || value instanceof Date || ArrayBuffer.isView(value)) return value;
	if (depth > deepest) return maskOf("depth");
	if (Array.isArray(value)) return maskedItems(value, masking, field, depth);
	if (value instanceof Error) return maskedError(value, masking, depth);
	return maskedFields(value, masking, field, depth);
}

function maskedItems(
	items: readonly unknown[],
	masking: Masking,
	field: MaskType | undefined,
	depth: number,
): unknown {
	let changed: unknown[] | undefined;
	for (let at = 0; at < items.length; at++) {
		const item = items[at];
		const next = masked(item, masking, field, depth + 1);
		if (next !== item) {
			changed ??= [...items];
			changed[at] = next;
		}
	}
	return changed ?? items;
}

function maskedFields(value: object, masking: Masking, field: MaskType | undefined, depth: number): unknown {
	const names = Object.keys(value);
	let changed: unknown[] | undefined;
	for (let at = 0; at < names.length; at++) {
		const name = names[at] as string;
		const each = (value as Record<string, unknown>)[name];
		const next = maskedField(each, name, masking, field, depth);
		if (changed === undefined) {
			if (next === each && masking.name(name) === name) continue;
			changed = [];
			// Earlier members are read again, and so checked again: exactly what is returned was checked.
			for (const before of names.slice(0, at))
				changed.push(maskedField((value as Record<string, unknown>)[before], before, masking, field, depth));
		}
		changed.push(next);
	}
	return changed === undefined ? value : withNames(names, changed, masking);
}

function maskedField(
	value: unknown,
	name: string,
	masking: Masking,
	field: MaskType | undefined,
	depth: number,
): unknown {
	return masked(value, masking, masking.fields ? (typeOfField(name) ?? field) : field, depth + 1);
}

/** Creates an object with masked names; equal ones get a number. */
function withNames(names: readonly string[], values: readonly unknown[], masking: Masking): unknown {
	const taken = new Set<string>();
	const entries = names.map((name, at): [string, unknown] => {
		const masked = masking.name(name);
		let shown = masked;
		for (let count = 2; taken.has(shown); count++) shown = `${masked} ${count}`;
		taken.add(shown);
		return [shown, values[at]];
	});
	return Object.fromEntries(entries);
}

/** Returns an error of the same kind if its text had to be masked. */
function maskedError(error: Error, masking: Masking, depth: number): Error {
	const texts = { name: error.name, message: error.message, stack: error.stack, cause: error.cause };
	const own = { ...texts, ...error };
	const next = maskedFields(own, masking, undefined, depth) as Record<string, unknown>;
	if (next === own) return error;
	const copy = Object.create(Object.getPrototypeOf(error)) as Error;
	for (const [name, value] of Object.entries(next))
		if (value !== undefined)
			Object.defineProperty(copy, name, {
				value,
				enumerable: Object.hasOwn(error, name) && !(name in texts),
				configurable: true,
				writable: true,
			});
	return copy;
}
