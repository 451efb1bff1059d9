// The only reader of duration options: it refuses values that make no sense.
import { HoldfastTypeError } from "../errors/index.ts";

/** Which durations an option accepts. */
export interface DurationRange {
	/** The minimum, in milliseconds. Default: anything above 0. */
	readonly least?: number;
	/** The maximum; `Infinity` if the option can mean "never". Default: any finite value. */
	readonly most?: number;
}

/**
 * The longest wait, 24 days, for durations that a driver or a database counts itself: their counters overflow after 24.8.
 * Use it as `most`.
 */
export const longestForeignWait: number = 24 * 24 * 60 * 60_000;

/** Describes the expected value if the given one is not a duration in the range; otherwise returns undefined. */
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

/** Returns the duration of an option, or `standard` if it is not given. @throws HoldfastError `invalid_option`. */
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
