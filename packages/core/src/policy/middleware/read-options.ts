// Validates the options of middlewares.
import { HoldfastError } from "@holdfast/upp";

/** Reads a number of at least `least`. @throws HoldfastError `invalid_option`. */
export function readNumber(value: number, name: string, least: number): number {
	if (typeof value === "number" && value >= least) return value;
	throw new HoldfastError(
		"invalid_option",
		`The option \`${name}\` is ${String(value)}. Give a number of at least ${least}.`,
	);
}

/** Reads an integer of at least `least`, or `Infinity`. @throws HoldfastError `invalid_option`. */
export function readCount(value: number, name: string, least: number): number {
	if ((Number.isInteger(value) || value === Number.POSITIVE_INFINITY) && value >= least) return value;
	throw new HoldfastError(
		"invalid_option",
		`The option \`${name}\` is ${String(value)}. Give an integer of at least ${least}.`,
	);
}
