// Work on many rows, in many short transactions between which others can use the file (keeps I7): forks, removals, folds,
// and sweeping after interrupted ones. A journal sweeps when it opens the file and after a removal, `db prune` when it
// starts. Until then such rows take up space, but remain invisible.
import { journalClosed } from "../facts/index.ts";
import { type LeftFold, removeFolded } from "./fold-entries.ts";
import { type Copy, copySome, type Fork } from "./fork-entries.ts";
import { type Spent, sweepSome } from "./hidden-sessions.ts";
import type { Reading } from "./patient-reads.ts";
import { removeSession, type Seen } from "./session-writes.ts";
import { looseFile, removePieces } from "./sqlite-files.ts";
import type { Statements } from "./statements.ts";
import type { WorkerRegistration } from "./worker-row.ts";

/** The journal parts that long work needs. */
export interface LongWorkParts {
	readonly statements: Statements;
	readonly worker: WorkerRegistration;
	readonly now: () => number;
	/** Runs within a transaction. `committed` is called after the commit. */
	commit<T>(apply: () => T, committed?: (result: T) => void): Promise<T>;
	readonly reading: Reading;
	isClosed(): boolean;
}

/** The long work of one journal. */
export interface LongWork {
	fork(fork: Fork): Promise<void>;
	/**
	 * Removes a session if it is unchanged. `gone` is called with its number once it is unreachable, and the promise
	 * resolves once its rows are deleted.
	 */
	remove(key: string, seen: Seen, gone: (session: number | undefined) => void): Promise<void>;
	/** Deletes hidden sessions without an owner, and folded rows. */
	sweep(): Promise<void>;
}

/** Milliseconds after which a transaction with more rows to write ends. */
const slice = 20;
/** The longest pause in milliseconds that leaves the file to others. */
const longestPause = 25;

/** Creates the long work of a journal. */
export function makeLongWork({
	statements,
	worker,
	now,
	commit,
	reading,
	isClosed,
}: LongWorkParts): LongWork {
	let last: Promise<unknown> = Promise.resolve();

	/** Runs one transaction at a time. After each, other processes can use the file for as long as it took. */
	function inTurn<T>(apply: () => T): Promise<T> {
		const turn = last.then(async () => {
			if (isClosed()) throw journalClosed();
			const began = performance.now();
			const result = await commit(apply, () => worker.committed());
			const took = Math.min(performance.now() - began, longestPause);
			await new Promise((wake) => setTimeout(wake, took));
			return result;
		});
		last = turn.catch(() => {});
		return turn;
	}

	/** Makes a copy. Returns false if it has to start over. */
	async function copyAll(fork: Fork): Promise<boolean> {
		const some = (before?: Copy) => () =>
			copySome({ statements, worker, now: now(), spent: timer() }, fork, before);
		if (isClosed()) throw journalClosed();
		let copy = await commit(some(), () => worker.committed());
		while (typeof copy === "object") {
			const before: Copy = copy;
			copy = await inTurn(some(before)).catch(async (error: unknown) => {
				await giveUp(before);
				throw error;
			});
			if (copy === "changed") await giveUp(before);
		}
		return copy === "whole";
	}

	/** Rows that cannot be deleted now, because the disk is full or the journal closes, are left to the next sweep. */
	async function giveUp({ session, key }: Copy): Promise<void> {
		try {
			await inTurn(() => statements.disownCopy.run(session, key));
			await sweep();
		} catch {}
	}

	function sweepFold(spent: Spent): boolean {
		const left = statements.someFold.get() as unknown as LeftFold | undefined;
		if (left !== undefined) removeFolded(statements, left, spent);
		return left !== undefined;
	}

	const loose = (): number | undefined => looseFile(statements, worker, now());

	function sweepFile(spent: Spent): boolean {
		const file = loose();
		if (file !== undefined) removePieces(statements, file, spent);
		return file !== undefined;
	}

	async function sweep(): Promise<void> {
		try {
			const isClean = (): boolean =>
				(statements.hiddenSessions.get() ?? statements.someFold.get()) === undefined && loose() === undefined;
			if (await reading(isClean)) return;
			while (
				await inTurn(() => sweepSome(statements, worker, timer()) || sweepFold(timer()) || sweepFile(timer()))
			);
		} catch (error) {
			if (!isClosed()) throw error;
		}
	}

	return {
		async fork(fork) {
			while (!(await copyAll(fork)));
		},
		async remove(key, seen, gone) {
			const removed = await commit(
				() => removeSession(statements, key, seen, timer()),
				(found) => gone(found?.session),
			);
			if (removed?.rows === "some" || removed?.files === "some") await sweep();
		},
		sweep,
	};
}

/** Starts the time limit of a transaction on many rows. */
export function timer(): Spent {
	const end = performance.now() + slice;
	return () => performance.now() > end;
}
