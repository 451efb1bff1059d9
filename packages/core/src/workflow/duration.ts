// Durations and times as callers give them.
import { HoldfastTypeError } from "@holdfast/upp";
import { shown } from "./flow-checks.ts";

/**
 * A duration: milliseconds, or a number with a unit, such as `"90 seconds"`, `"15 minutes"`, `"3 days"` or `"2w"`. Units:
 * milliseconds (`ms`), seconds (`s`), minutes (`m`), hours (`h`), days (`d`) and weeks (`w`). A day has 24 hours.
 */
export type Duration = number | string;

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

const units: Readonly<Record<string, number>> = {
	ms: 1,
	millisecond: 1,
	milliseconds: 1,
	s: second,
	second,
	seconds: second,
	m: minute,
	min: minute,
	minute,
	minutes: minute,
	h: hour,
	hour,
	hours: hour,
	d: day,
	day,
	days: day,
	w: 7 * day,
	week: 7 * day,
	weeks: 7 * day,
};

/**
 * Returns the milliseconds of a duration. `name` is that of the option or function, for the error.
 * @throws HoldfastError `invalid_argument` if it is negative, not finite, or has no known unit.
 */
export function millisecondsOf(duration: Duration, name: string): number {
	if (typeof duration === "number" && Number.isFinite(duration) && duration >= 0) return duration;
	const given = typeof duration === "string" ? duration : "";
	const [, count, unit = ""] = /^\s*(\d+(?:\.\d+)?)\s*([a-z]+)\s*$/i.exec(given) ?? [];
	const factor = Object.hasOwn(units, unit.toLowerCase()) ? units[unit.toLowerCase()] : undefined;
	if (count !== undefined && factor !== undefined) return Number(count) * factor;
	throw new HoldfastTypeError(
		"invalid_argument",
		`${name} takes a duration: milliseconds from 0, or text such as "90 seconds", "15 minutes" or "3 days". It was given ${shown(duration)}.`,
	);
}

/**
 * Returns a point in time in milliseconds since the epoch.
 * @throws HoldfastError `invalid_argument` if it is not a valid time.
 */
export function timeOf(time: Date | number | string, name: string): number {
	if (typeof time === "number" && Number.isFinite(time)) return time;
	const at = typeof time === "string" ? Date.parse(time) : isDate(time) ? time.getTime() : Number.NaN;
	if (Number.isFinite(at)) return at;
	throw new HoldfastTypeError(
		"invalid_argument",
		`${name} takes a Date, milliseconds since the epoch or an ISO 8601 text. It was given ${shown(time)}.`,
	);
}

function isDate(time: unknown): time is Date {
	try {
		return time instanceof Date;
	} catch {
		return false;
	}
}
