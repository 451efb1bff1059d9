// The one reader of options that are durations: what makes no sense is refused where it is given.
import { HoldfastTypeError } from "../errors/index.ts";

/** Which durations an option accepts. */
export interface DurationRange {
	/** Shortest one, in milliseconds. Default: anything above 0. */
	readonly least?: number;
	/** Longest one; `Infinity` where the option can mean "never". Default: any that is finite. */
	readonly most?: number;
}

/**
 * The longest wait, 24 days, for options that a driver or a database counts itself: their counters overflow after 24.8.
 * Use it as `most`.
 */
export const longestForeignWait: number = 24 * 24 * 60 * 60_000;

/** The expected form of an option that is not a duration in the range; undefined if it is one. */
export function durationFault(
	value: unknown,
	{ least, most = Number.MAX_VALUE }: DurationRange = {},
): string | undefined {
	const isLong = typeof value === "number" && (least === undefined ? value > 0 : value >= least);
	if (isLong && value <= most) return undefined;
	const from = least === undefined ? "above 0" : `from ${least}`;
	const end =
		most === Number.POSITIVE_INFINITY ? ", or Infinity" : most < Number.MAX_VALUE ? ` up to ${most}` : "";
	return `a number of milliseconds ${from}${end}`;
}

/** The duration that an option has, or `standard` when it is not given. @throws HoldfastError `invalid_option`. */
export function readDuration(
	name: string,
	value: number | undefined,
	standard: number,
	range?: DurationRange,
): number {
	if (value === undefined) return standard;
	const fault = durationFault(value, range);
	if (fault === undefined) return value;
	throw new HoldfastTypeError(
		"invalid_option",
		`The option \`${name}\` is ${String(value)}. It must be ${fault}.`,
		{ data: { option: name } },
	);
}
