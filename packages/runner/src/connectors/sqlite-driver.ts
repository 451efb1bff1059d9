// SQLite for the SQL connector. A database file is queried in a separate process, because a statement cannot be
// interrupted inside this one: idle → busy → idle; a process that does not answer in time is killed and discarded.
import { type ChildProcess, fork } from "node:child_process";
import type { DatabaseSync } from "node:sqlite";
import { checkOptions, HoldfastError, isHoldfastError, optionNames } from "@holdfast/upp";
import { configInvalid } from "./connector.ts";
import { sqlReadOnly } from "./sql-connector.ts";
import type { SqlDriver, SqlRows, SqlStatement } from "./sql-driver.ts";
import { sqlRefused } from "./sql-statement.ts";
import { sqliteProgram } from "./sqlite-program.ts";
import { querySqlite, type SqliteFailure } from "./sqlite-query.ts";

const sqliteDriverNames = optionNames<SqliteDriverOptions>({ path: true, program: true, database: "object" });

/** The database to use. */
export type SqliteDriverOptions =
	| {
			/** Path of a file. A separate process opens it, for reading unless a statement may write. */
			readonly path: string;
			/**
			 * The program that opens it, as a path or a `file:` URL. By default the installed package's entry point
			 * `@holdfast/runner/sqlite-process`. Set it if you deploy a bundle without `node_modules`.
			 */
			readonly program?: string | URL;
	  }
	| {
			/**
			 * An open database. A statement blocks this process while it runs: use it only for tests and trusted plans.
			 */
			readonly database: DatabaseSync;
	  };

/** The answer of the separate process. */
export type SqliteAnswer = ReturnType<typeof querySqlite>;

/**
 * Returns the SQLite driver for `sqlConnector()`.
 * @throws HoldfastError `CONFIG_INVALID`, and `SQL_PROGRAM_MISSING` if the program of the process cannot be found.
 */
export function sqliteDriver(options: SqliteDriverOptions): SqlDriver {
	checkOptions(options, sqliteDriverNames, { of: "sqliteDriver()" });
	if ("database" in options) {
		const { database } = options;
		return { query: async (statement) => rowsOf(querySqlite(database, statement)) };
	}
	const { path } = options;
	if (typeof path !== "string" || path === "" || path.startsWith(":"))
		throw configInvalid("`path` is not a file; pass a database in memory as `database`");
	if (
		options.program !== undefined &&
		typeof options.program !== "string" &&
		!(options.program instanceof URL)
	)
		throw configInvalid("`program` is neither a path nor a URL");
	const program = sqliteProgram(options.program);
	let idle: ChildProcess | undefined;
	const release = (child: ChildProcess): void => {
		if (idle !== undefined || !child.connected) {
			child.kill("SIGKILL");
			return;
		}
		idle = child;
		child.unref();
		child.channel?.unref();
	};
	return {
		async query(statement, signal) {
			signal.throwIfAborted();
			const child = idle?.connected === true ? idle : started(program, path);
			if (child === idle) idle = undefined;
			child.ref();
			child.channel?.ref();
			try {
				const answer = await answerOf(child, statement, signal);
				release(child);
				return rowsOf(answer);
			} catch (error) {
				if (!isHoldfastError(error)) child.kill("SIGKILL");
				throw error;
			}
		},
		async close() {
			idle?.kill("SIGKILL");
			idle = undefined;
		},
	};
}

function started(program: string, path: string): ChildProcess {
	// A query needs none of this process's environment variables.
	return fork(program, ["holdfast-sqlite-process", path], {
		stdio: ["ignore", "ignore", "ignore", "ipc"],
		env: {},
		serialization: "advanced",
	});
}

function answerOf(child: ChildProcess, statement: SqlStatement, signal: AbortSignal): Promise<SqliteAnswer> {
	return new Promise((resolve, reject) => {
		const over = (settle: () => void): void => {
			child.off("message", onMessage).off("exit", onExit).off("error", onError);
			signal.removeEventListener("abort", onAbort);
			settle();
		};
		const onMessage = (message: unknown): void => over(() => resolve(message as SqliteAnswer));
		const onError = (error: unknown): void => over(() => reject(error));
		const onExit = (): void => onError(new Error("its process ended"));
		const onAbort = (): void => onError(signal.reason);
		child.on("message", onMessage).on("exit", onExit).on("error", onError);
		signal.addEventListener("abort", onAbort);
		child.send(statement, (error) => error !== null && onError(error));
	});
}

function rowsOf(answer: SqliteAnswer): SqlRows {
	if (answer.ok) return answer.rows;
	throw errorOf(answer.failure);
}

function errorOf({ code, message, isBusy }: SqliteFailure): HoldfastError {
	if (code === "SQL_READONLY") return sqlReadOnly();
	if (code === "SQL_REFUSED") return sqlRefused("it contains several statements");
	return new HoldfastError("SQL_FAILED", message, { retryable: isBusy === true });
}
