/** Opens the database of the sessions; if that fails, reports a usage error of one line. */
import { existsSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { messageOf } from "@holdfast/upp";
import { type Host, isHoldfastError } from "holdfast";
import { sqliteHost } from "holdfast/sqlite";
import { makeOwnFolder } from "./own-folder.ts";
import { UsageError } from "./usage-error.ts";

/** Whether a database is on a server rather than in a file. */
export function isServer(database: string): boolean {
	return /^postgres(?:ql)?:\/\//.test(database);
}

/**
 * Resolves a database: an address unchanged, a path against a folder.
 * @throws UsageError for the address of another database.
 */
export function databaseFrom(folder: string, given: string): string {
	const scheme = /^[a-z][a-z\d+.-]+:\/\//i.exec(given)?.[0];
	if (scheme !== undefined && !isServer(given))
		throw new UsageError(
			`Sessions cannot be stored at ${scheme}…. Give the path of a file, or the address of a Postgres database: postgres://….`,
		);
	return isServer(given) ? given : resolve(folder, given);
}

/** Returns a database for display: an address without its password. */
export function shownDatabase(database: string): string {
	if (!isServer(database)) return database;
	try {
		const address = new URL(database);
		if (address.password !== "") address.password = "***";
		if (address.searchParams.has("password")) address.searchParams.set("password", "***");
		return address.href;
	} catch {
		return "postgres://…";
	}
}

/**
 * Opens or creates the database: a file, or `postgres://…`.
 * @throws UsageError if it cannot be used.
 */
export async function openDatabase(database: string): Promise<Host> {
	return isServer(database) ? openServer(database) : openFile(database);
}

async function openServer(address: string): Promise<Host> {
	try {
		// Loaded on demand, because most users have a file.
		const { postgresHost } = await import("@holdfast/postgres");
		const host = postgresHost({ connectionString: address });
		await host.journal.list({ limit: 1 });
		return host;
	} catch (error) {
		throw new UsageError(`The database ${shownDatabase(address)} cannot be used. ${messageOf(error)}`);
	}
}

function openFile(path: string): Host {
	if (existsSync(path)) requireDatabase(path);
	const folder = dirname(path);
	try {
		makeOwnFolder(folder);
		return sqliteHost(path);
	} catch (error) {
		const message = messageOf(error);
		throw new UsageError(
			`The database ${path} cannot be used. ${isHoldfastError(error) ? message : `${message}.`}`,
		);
	}
}

/** A database, and how it was given: undefined for the default one. */
export interface ChosenDatabase {
	readonly db: string;
	readonly dbGiven: string | undefined;
}

/**
 * Opens the database only if it exists: reading sessions creates no file. Undefined if the default one does not exist
 * yet.
 * @throws UsageError if the given file does not exist.
 */
export async function openExisting({ db, dbGiven }: ChosenDatabase): Promise<Host | undefined> {
	if (dbGiven !== undefined) requireDatabase(db);
	return isServer(db) || existsSync(db) ? openDatabase(db) : undefined;
}

/** @throws UsageError if the file does not exist. */
export function requireDatabase(db: string): void {
	if (isServer(db)) return;
	if (!existsSync(db)) throw new UsageError(`The database ${db} does not exist. Give its path: --db PATH.`);
	if (statSync(db).isDirectory())
		throw new UsageError(`The database ${db} is a folder. Give the path of a file.`);
}
