// The one place that loads node:sqlite. It is loaded when a database is opened, so importing costs nothing, and
// without Node's note that it is experimental, which users of a journal can do nothing about.
import type * as Sqlite from "node:sqlite";

/** Whether this runtime has it: Node from 22.5 on. */
export function hasSqlite(): boolean {
	return process.getBuiltinModule?.("node:module").isBuiltin("node:sqlite") === true;
}

/** Node's SQLite. */
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
