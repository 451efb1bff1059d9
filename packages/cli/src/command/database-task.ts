/** Parses a database task: `holdfast db <task>` and its options. */

import { resolve } from "node:path";
import { databaseFrom, isServer, UsageError } from "../work/index.ts";

/** A maintenance task. Ages are in milliseconds. */
export type DatabaseTask =
	| { readonly name: "check"; readonly depth: "quick" | "full" }
	| { readonly name: "backup"; readonly to: string; readonly existing: "keep" | "replace" }
	| {
			readonly name: "prune";
			readonly olderThan: number | undefined;
			readonly foldOlderThan: number | undefined;
			readonly keep: number;
			readonly mode: "plan" | "do";
	  }
	| { readonly name: "vacuum" }
	/** From a file to a server, or the reverse: absolute paths or addresses. */
	| { readonly name: "move"; readonly from: string; readonly to: string };

/** The task options as given. */
export type DatabaseValues = Partial<Record<"older-than" | "fold-older-than" | "keep", string>> &
	Partial<Record<"full" | "force" | "dry-run", boolean>>;

/** The options of each task. */
const known: Readonly<Record<DatabaseTask["name"], readonly (keyof DatabaseValues)[]>> = {
	check: ["full"],
	backup: ["force"],
	prune: ["older-than", "fold-older-than", "keep", "dry-run"],
	vacuum: [],
	move: [],
};

const minute = 60_000;
const units: Readonly<Record<string, number>> = {
	m: minute,
	h: 60 * minute,
	d: 24 * 60 * minute,
	w: 7 * 24 * 60 * minute,
};

/**
 * Parses the words after `holdfast db`.
 * @throws UsageError with one line: what is wrong and what to do.
 */
export function readDatabaseTask(
	words: readonly string[],
	values: DatabaseValues,
	base: string,
): DatabaseTask {
	const [name, ...rest] = words;
	if (name === undefined || !Object.hasOwn(known, name))
		throw new UsageError(
			`${name === undefined ? "No task was given." : `There is no task "${name}".`} Tasks: check, backup, prune, vacuum, move. See: holdfast db --help.`,
		);
	const task = name as DatabaseTask["name"];
	for (const option of allOptions)
		if (values[option] !== undefined && !known[task].includes(option))
			throw new UsageError(`"holdfast db ${task}" has no option --${option}. See: holdfast db --help.`);
	const most = task === "backup" ? 1 : task === "move" ? 2 : 0;
	if (rest.length > most)
		throw new UsageError(
			`"holdfast db ${task}" takes ${["no arguments", "one path", "two databases"][most]}; remove "${rest[most]}".`,
		);
	switch (task) {
		case "check":
			return { name: task, depth: values.full === true ? "full" : "quick" };
		case "vacuum":
			return { name: task };
		case "backup": {
			const [to] = rest;
			if (to === undefined || to === "")
				throw new UsageError("No destination was given. Give the path of the copy: holdfast db backup DEST.");
			return { name: task, to: resolve(base, to), existing: values.force === true ? "replace" : "keep" };
		}
		case "move":
			return readMove(rest, base);
		case "prune": {
			const { keep, "older-than": olderThan, "fold-older-than": foldOlderThan } = values;
			if (olderThan === undefined && foldOlderThan === undefined)
				throw new UsageError(
					"No age was given. Try a dry run first: holdfast db prune --older-than 30d --dry-run.",
				);
			if (keep !== undefined && !/^\d{1,9}$/.test(keep))
				throw new UsageError(`The option --keep takes a number of sessions, not "${keep}".`);
			return {
				name: task,
				olderThan: readAge("older-than", olderThan),
				foldOlderThan: readAge("fold-older-than", foldOlderThan),
				keep: Number(keep ?? 0),
				mode: values["dry-run"] === true ? "plan" : "do",
			};
		}
	}
}

function readMove([from, to]: readonly string[], base: string): DatabaseTask {
	if (!from || !to)
		throw new UsageError(
			"Give a source and a destination: holdfast db move .holdfast/holdfast.db postgres://…, or the other way round.",
		);
	if (isServer(from) === isServer(to))
		throw new UsageError(
			isServer(from)
				? '"holdfast db move" moves from a file to a server, or back. Between servers, use pg_dump and pg_restore.'
				: '"holdfast db move" moves from a file to a server, or back. To copy a file: holdfast db backup DEST.',
		);
	return { name: "move", from: databaseFrom(base, from), to: databaseFrom(base, to) };
}

const allOptions = [...new Set(Object.values(known).flat())];

function readAge(option: string, given: string | undefined): number | undefined {
	if (given === undefined) return undefined;
	const [, count, unit = ""] = /^(\d{1,9})([mhdw])$/.exec(given) ?? [];
	if (count === undefined)
		throw new UsageError(`The option --${option} takes an age such as 90m, 12h, 30d or 8w, not "${given}".`);
	return Number(count) * (units[unit] as number);
}
