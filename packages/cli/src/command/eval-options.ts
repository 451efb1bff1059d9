/** The options of the command `eval`. */

import { resolve } from "node:path";
import { UsageError } from "../work/index.ts";

/** The options as given. */
export type EvalValues = Partial<
	Record<"repetitions" | "concurrency" | "baseline" | "tolerance" | "save", string>
>;

/** @throws UsageError if a value is not a number or the file is missing. */
export function readEvalOptions(
	rest: readonly string[],
	values: EvalValues,
	base: string,
): {
	readonly file: string;
	readonly repetitions: number;
	readonly concurrency: number;
	readonly baseline: string | undefined;
	readonly tolerance: number;
	readonly save: string | undefined;
} {
	const [file] = rest;
	if (file === undefined || rest.length > 1)
		throw new UsageError('"holdfast eval" takes one file that exports scenarios: holdfast eval FILE.');
	const { repetitions = "1", concurrency = "1", tolerance = "0.1", baseline, save } = values;
	return {
		file: resolve(base, file),
		repetitions: count("repetitions", repetitions),
		concurrency: count("concurrency", concurrency),
		baseline: baseline === undefined ? undefined : resolve(base, baseline),
		tolerance: part(tolerance),
		save: save === undefined ? undefined : resolve(base, save),
	};
}

function count(option: string, text: string): number {
	const value = Number(text);
	if (Number.isInteger(value) && value >= 1) return value;
	throw new UsageError(`The option --${option} takes a whole number from 1, not "${text}".`);
}

function part(text: string): number {
	const value = Number(text);
	if (text.trim() !== "" && value >= 0 && Number.isFinite(value)) return value;
	throw new UsageError(`The option --tolerance takes a number from 0, such as 0.1, not "${text}".`);
}
