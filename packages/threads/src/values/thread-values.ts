// The key-value pairs of one thread, over the host's values. It returns the same JSON that was stored; null and undefined
// delete a key.
import { cutText, messageOf } from "@holdfast/upp";
import { HoldfastError } from "holdfast";

/** Named values that a host stores with a session. */
export interface HostValues {
	get(name: string): unknown;
	set(name: string, value: unknown): unknown;
	delete(name: string): unknown;
	list(): unknown;
}

/** A key and its value. */
export interface KeyValue {
	readonly key: string;
	readonly value: unknown;
}

export class ThreadValues {
	readonly #values: HostValues;

	constructor(values: HostValues) {
		this.#values = values;
	}

	/** Returns the value of a key; null if it has none. */
	async getValue<T = unknown>(key: string): Promise<T | null> {
		const text = (await this.#values.get(checked(key))) as string | undefined;
		return text === undefined ? null : (JSON.parse(text) as T);
	}

	/**
	 * Stores a value, replacing any earlier one; null and undefined delete it.
	 * @throws HoldfastError `invalid_value` for values that are not JSON (functions, BigInts, cycles); the old value
	 * stays.
	 */
	async setValue(key: string, value: unknown): Promise<void> {
		const name = checked(key);
		if (value === null || value === undefined) await this.#values.delete(name);
		else await this.#values.set(name, jsonOf(name, value));
	}

	/** Returns all pairs, sorted by key. */
	async listValues(): Promise<readonly KeyValue[]> {
		const all = (await this.#values.list()) as readonly { name: string; value: string }[];
		return all.map(({ name, value }) => ({ key: name, value: JSON.parse(value) as unknown }));
	}
}

function checked(key: unknown): string {
	if (typeof key === "string") return key;
	throw new HoldfastError("invalid_value", "The key of a value must be a string.");
}

function jsonOf(key: string, value: unknown): string {
	let text: string | undefined;
	try {
		text = JSON.stringify(value, (_, each: unknown) => {
			if (typeof each === "function" || typeof each === "symbol" || typeof each === "bigint")
				throw new TypeError(`It holds a ${typeof each}`);
			return each;
		});
	} catch (cause) {
		throw notJson(key, messageOf(cause), cause);
	}
	if (text === undefined) throw notJson(key, "It is undefined as JSON", undefined);
	return text;
}

function notJson(key: string, why: string, cause: unknown): HoldfastError {
	return new HoldfastError(
		"invalid_value",
		`The value for ${JSON.stringify(cutText(key, 100))} cannot be stored: ${why.split("\n")[0]}. Give plain JSON.`,
		{ cause },
	);
}
