// Providers parse requests strictly and refuse a lone surrogate. A history that contains one would make them refuse every
// later request, so text is made well-formed before it is stored and before it is sent. Well-formed data, which is almost
// all, is returned as the same object.

/** Deeper data is returned unchanged; the code that stores and sends it refuses it. */
const deepest = 1000;

const messageBrand = Symbol.for("holdfast.message");

/**
 * Replaces each lone surrogate with `U+FFFD`, in strings and member names at any depth. Instances of classes other than
 * messages are returned unchanged. Visits each member once.
 */
export function wellFormed<Value>(value: Value): Value {
	return repaired(value, deepest) as Value;
}

function repaired(value: unknown, levels: number): unknown {
	if (typeof value === "string") return value.isWellFormed() ? value : value.toWellFormed();
	if (typeof value !== "object" || value === null || levels === 0) return value;
	if (Array.isArray(value)) return repairedList(value, levels - 1);
	return isData(value) ? repairedMembers(value, levels - 1) : value;
}

function repairedList(list: readonly unknown[], levels: number): readonly unknown[] {
	let copy: unknown[] | undefined;
	for (let index = 0; index < list.length; index++) {
		const member = repaired(list[index], levels);
		if (member === list[index]) continue;
		copy ??= list.slice();
		copy[index] = member;
	}
	return copy ?? list;
}

function repairedMembers(data: object, levels: number): object {
	const members = data as Readonly<Record<string, unknown>>;
	// Unlike `Object.keys()` this creates no list of names, and every committed fact passes through here.
	for (const name in members)
		if (!name.isWellFormed() || !isRepaired(members[name], levels)) return repairedCopy(members, levels);
	return data;
}

function isRepaired(value: unknown, levels: number): boolean {
	return typeof value === "string" ? value.isWellFormed() : repaired(value, levels) === value;
}

function repairedCopy(members: Readonly<Record<string, unknown>>, levels: number): object {
	const copy = Object.create(Object.getPrototypeOf(members));
	for (const name of Object.keys(members)) {
		const value = repaired(members[name], levels);
		// Defined, not assigned: a member may be named `__proto__`.
		Object.defineProperty(copy, name.toWellFormed(), {
			value,
			enumerable: true,
			writable: true,
			configurable: true,
		});
	}
	return copy;
}

/** Whether it is a message or a plain object, possibly from another realm. */
function isData(value: object): boolean {
	const prototype: object | null = Object.getPrototypeOf(value);
	if (prototype === null || prototype === Object.prototype) return true;
	return (
		Object.getPrototypeOf(prototype) === null || (value as Record<symbol, unknown>)[messageBrand] === true
	);
}
