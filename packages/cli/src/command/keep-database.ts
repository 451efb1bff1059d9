/** The command `db`: maintains a database, which may be in use. */

import { openJournalFile } from "holdfast/sqlite";
import { type CommandIo, counted, formatBytes, formatCount, formatTime, oneLine } from "../terminal/index.ts";
import {
	backupJournal,
	type CheckReport,
	checkJournal,
	checkStore,
	type PruneStep,
	pruneJournal,
	pruneStore,
	vacuumJournal,
} from "../upkeep/index.ts";
import { ending, exitCodes, isServer, requireDatabase, shownDatabase, UsageError } from "../work/index.ts";
import type { Command } from "./arguments.ts";
import { printReport, shown } from "./database-report.ts";
import type { DatabaseTask } from "./database-task.ts";
import { moveDatabase } from "./move-database.ts";

type KeepCommand = Extract<Command, { name: "db" }>;

/** Milliseconds of work before interactive users see progress. */
const quiet = 2_000;

/** Runs a task on the database; returns the exit code. */
export async function keepDatabase(command: KeepCommand, io: CommandIo): Promise<number> {
	const { db, task } = command;
	if (task.name === "move") {
		if (command.dbGiven !== undefined)
			throw new UsageError('"holdfast db move" has no option --db: holdfast db move FROM TO.');
		return moveDatabase(task, command.json, io);
	}
	if (isServer(db)) return keepServer(command, task, io);
	requireDatabase(db);
	switch (task.name) {
		case "check":
			return check(command, task.depth, io);
		case "backup": {
			const report = backupJournal({ from: db, to: task.to, existing: task.existing });
			printReport(io, command.json, { type: "backup", path: task.to, ...report.counts }, [
				`Copied ${shown(db, io)} to ${shown(task.to, io)}: ${contents(report)}.`,
				"No process owns sessions of the copy: runs that were open when it was made are interrupted there.",
			]);
			return exitCodes.completed;
		}
		case "prune":
			return prune(command, task, io);
		case "vacuum": {
			const { before, after } = vacuumJournal(db);
			printReport(io, command.json, { type: "vacuum", before, after }, [
				`${shown(db, io)}: ${formatBytes(before)} before, ${formatBytes(after)} now.`,
			]);
			return exitCodes.completed;
		}
	}
}

/** Opens a server's store; rejects tasks that the server performs itself. */
async function keepServer(command: KeepCommand, task: DatabaseTask, io: CommandIo): Promise<number> {
	const connectionString = command.db;
	switch (task.name) {
		case "check": {
			if (task.depth === "full")
				throw new UsageError("To check a server's indexes against their tables, use pg_amcheck.");
			const report = await checkStore({ connectionString });
			const { counts, problems, unlisted } = report;
			const found = problems.length + unlisted;
			printReport(io, command.json, { type: "check", ok: found === 0, counts, problems, unlisted }, [
				`${shownDatabase(connectionString)}: ${formatBytes(counts.bytes)} of bodies and files`,
				...contentLines(report),
				...problemLines(report, "one snapshot", io),
			]);
			return found === 0 ? exitCodes.completed : exitCodes.failed;
		}
		case "prune":
			return prune(command, task, io);
		case "backup":
			throw new UsageError(
				'To copy a server\'s database, use pg_dump --schema=holdfast. To move it into a file, use "holdfast db move".',
			);
		default:
			throw new UsageError(
				"Postgres reuses free space automatically (autovacuum). To shrink its files, run VACUUM FULL while nothing uses the database.",
			);
	}
}

function check(command: KeepCommand, depth: "quick" | "full", io: CommandIo): number {
	const file = openJournalFile(command.db, "read");
	let report: CheckReport;
	try {
		report = checkJournal(file, depth);
	} finally {
		file.database.close();
	}
	const { counts, problems, unlisted, version, latest } = report;
	const found = problems.length + unlisted;
	const lines = [
		`${shown(command.db, io)}: ${formatBytes(counts.bytes)}, of which ${formatBytes(counts.freeBytes)} free; tables of version ${version}${version < latest ? ` (brought up to ${latest} when it is opened)` : ""}`,
		...contentLines(report),
		...(counts.hidden > 0
			? [
					`unreachable: ${counted(counts.hidden, "session")}, partly copied or removed; "holdfast db prune" removes what no other process works on`,
				]
			: []),
		...problemLines(report, `${depth} check`, io),
	];
	printReport(
		io,
		command.json,
		{ type: "check", ok: found === 0, depth, version, latest, counts, problems, unlisted },
		lines,
	);
	return found === 0 ? exitCodes.completed : exitCodes.failed;
}

type Found = Pick<CheckReport, "counts" | "problems" | "unlisted">;

function contentLines(report: Found): readonly string[] {
	const { chunks, inputs, dedupe, values, records, workers, held } = report.counts;
	const at = held === undefined ? "" : ` with ${counted(held, "session")} under way`;
	return [
		contents(report),
		`in addition: ${counted(chunks, "chunk")}, ${counted(inputs, "input")} waiting, ${counted(dedupe, "dedupe key")}, ${counted(values, "value")}, ${counted(records, "record")}, ${counted(workers, "worker")}${at}`,
	];
}

function problemLines({ problems, unlisted }: Found, how: string, io: CommandIo): readonly string[] {
	const found = problems.length + unlisted;
	const width = io.stdout.isTerminal ? io.stdout.columns - 1 : 400;
	return [
		found === 0
			? `No problem was found (${how}).`
			: `${formatCount(found)} ${found === 1 ? "problem was" : "problems were"} found (${how}):`,
		...problems.map(({ what, session }) =>
			oneLine(session === undefined ? what : `session ${session}: ${what}`, width),
		),
		...(unlisted > 0 ? [`and ${formatCount(unlisted)} more`] : []),
	];
}

function contents({ counts }: Found): string {
	const { sessions, entries, runs, openRuns, folded } = counts;
	const past = folded === 0 ? "" : `, ${formatCount(folded)} with compacted history`;
	return `${counted(sessions, "session")} with ${counted(entries, "entry", "entries")} of ${counted(runs, "run")}, ${formatCount(openRuns)} of them open${past}`;
}

async function prune(
	command: KeepCommand,
	task: Extract<DatabaseTask, { name: "prune" }>,
	io: CommandIo,
): Promise<number> {
	const { olderThan, foldOlderThan, keep, mode } = task;
	const now = Date.now();
	const total = { removed: 0, folded: 0, inUse: 0, entries: 0 };
	let interrupted = false;
	let shownAt = now;
	const stopListening = io.onInterrupt(() => {
		interrupted = true;
	}, ending());
	const onStep = (step: PruneStep): void => {
		if (step.what === "removed") total.removed += step.sessions;
		else if (step.what === "folded") total.folded++;
		else total.inUse++;
		if (step.what !== "in-use") total.entries += step.entries;
		if (command.json) {
			const changedAt = new Date(step.changedAt).toISOString();
			io.stdout.write(`${JSON.stringify({ type: step.what, ...step, what: undefined, changedAt })}\n`);
		} else if (mode === "plan") io.stdout.write(`${planned(step)}\n`);
		else if (Date.now() - shownAt > quiet) {
			shownAt = Date.now();
			io.stderr.write(`${summary(total, mode)} so far\n`);
		}
	};
	try {
		const options = {
			removeBefore: olderThan === undefined ? undefined : now - olderThan,
			foldBefore: foldOlderThan === undefined ? undefined : now - foldOlderThan,
			keep,
			mode,
			stopped: () => interrupted,
			onStep,
		};
		if (isServer(command.db)) await pruneStore({ connectionString: command.db }, options);
		else await pruneJournal({ path: command.db, ...options });
	} finally {
		stopListening();
	}
	const left = interrupted ? " Interrupted: the same command continues." : "";
	const erased =
		mode === "do" && total.entries > 0 && !isServer(command.db)
			? ' To erase it and shrink the file: "holdfast db vacuum".'
			: "";
	printReport(io, command.json, { type: "prune", dryRun: mode === "plan", interrupted, ...total }, [
		`${summary(total, mode)}.${left}${erased}`,
	]);
	return interrupted ? exitCodes.interrupted : exitCodes.completed;
}

function planned({ what, session, sessions, entries, changedAt }: PruneStep): string {
	const more = sessions === 1 ? "" : ` and ${counted(sessions - 1, "session")} of its sub-agents`;
	const verb = what === "removed" ? "would remove" : "would fold";
	return `${verb} ${oneLine(session, 80)}${more}: ${counted(entries, "entry", "entries")}, changed ${formatTime(changedAt)}`;
}

function summary(
	{ removed, folded, inUse, entries }: Record<"removed" | "folded" | "inUse" | "entries", number>,
	mode: "plan" | "do",
): string {
	const verb = mode === "plan" ? "Would remove" : "Removed";
	const used = inUse === 0 ? "" : `; ${formatCount(inUse)} in use and skipped`;
	return `${verb} ${counted(removed, "session")} and fold${mode === "plan" ? "" : "ed"} ${formatCount(folded)}: ${counted(entries, "entry", "entries")}${used}`;
}
