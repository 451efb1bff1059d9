// The only module that loads node:sqlite. It does so when a database is opened, so that importing costs nothing. It
// suppresses Node's warning that the module is experimental, because users of a journal cannot act on it.
import type * as Sqlite from "node:sqlite";

/** Whether this runtime has node:sqlite: Node from 22.5 on. */
export function hasSqlite(): boolean {
	return process.getBuiltinModule?.("node:module").isBuiltin("node:sqlite") === true;
}

/** Returns node:sqlite. */
export function loadSqlite(): typeof Sqlite {
	const { emitWarning } = process;
	process.emitWarning = (warning: string | Error, ...rest: unknown[]): void => {
		if (String(warning).includes("SQLite is an experimental feature")) return;
		Reflect.apply(emitWarning, process, [warning, ...rest]);
	};
	try {
		return process.getBuiltinModule("node:sqlite");
	} finally {
		process.emitWarning = emitWarning;
	}
}
