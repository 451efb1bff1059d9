// Reads the limits of strategies: an invalid limit would apply never or always.
import { HoldfastTypeError } from "@holdfast/upp";

/**
 * Reads an integer of at least 1, or Infinity (the default). @throws HoldfastError `invalid_option` naming the option.
 */
export function readLimit(value: number | undefined, option: string): number {
	if (value === undefined) return Number.POSITIVE_INFINITY;
	if ((Number.isInteger(value) || value === Number.POSITIVE_INFINITY) && value >= 1) return value;
	throw new HoldfastTypeError(
		"invalid_option",
		`The option \`${option}\` is ${String(value)}. Give a whole number from 1, or Infinity.`,
	);
}
