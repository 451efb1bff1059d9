// The connector for SQL: one statement with bound parameters, read-only unless the agent may change databases.
import {
	checkOptions,
	HoldfastError,
	isHoldfastError,
	longestForeignWait,
	optionNames,
	startTimer,
	timeoutSignal,
} from "@holdfast/upp";
import type { ToolOutput } from "../contract/index.ts";
import { type Connector, connector, duration, failed, limit } from "./connector.ts";
import type { SqlDriver, SqlValue } from "./sql-driver.ts";
import { parseStatement, sqlRefused } from "./sql-statement.ts";

const sqlConnectorNames = optionNames<SqlConnectorOptions>({
	driver: "object",
	id: "text",
	timeoutMs: "number",
	maxRows: true,
	maxCharacters: true,
});

/** Options of `sqlConnector()`. */
export interface SqlConnectorOptions {
	/** The database. */
	readonly driver: SqlDriver;
	/** Default: `sql`. */
	readonly id?: string;
	/** In milliseconds. Default: 10000. */
	readonly timeoutMs?: number;
	/** The maximum number of rows; `meta.truncated` reports whether there were more. Default: 1000. */
	readonly maxRows?: number;
	/** Approximate maximum length of all rows as JSON, in characters. Default: 1048576. */
	readonly maxCharacters?: number;
}

/**
 * A tool for one SQL statement with its parameters; its id has to be in the agent's `enableTools`, and writes require the
 * agent's `allowDbWrites`. Its output is `{ rows, changes? }`.
 *
 * Error codes: `SQL_REFUSED`, `SQL_READONLY`, `SQL_TIMEOUT`, `SQL_FAILED`, `TOOL_INPUT_INVALID`.
 * @throws HoldfastError `CONFIG_INVALID`.
 */
export function sqlConnector(options: SqlConnectorOptions): Connector {
	checkOptions(options, sqlConnectorNames, { of: "sqlConnector()" });
	const { driver, id = "sql" } = options;
	const timeoutMs = duration("timeoutMs", options.timeoutMs, 10_000, { most: longestForeignWait });
	const maxRows = limit("maxRows", options.maxRows, 1_000);
	const maxCharacters = limit("maxCharacters", options.maxCharacters, 1_048_576);
	return connector({
		id,
		description: "Executes one SQL statement. Write ? for each value, and give the values in params.",
		safeByDefault: false,
		timeoutMs: timeoutMs + 2_000,
		schema: {
			type: "object",
			properties: {
				sql: { type: "string" },
				params: { type: "array", items: { type: ["null", "boolean", "number", "string"] } },
			},
			required: ["sql"],
			additionalProperties: false,
		},
		async carryOut(
			{ sql, params = [] }: { readonly sql: string; readonly params?: readonly SqlValue[] },
			{ signal, allowDbWrites },
		): Promise<ToolOutput> {
			const { writes, placeholders } = parseStatement(sql);
			if (placeholders.length !== params.length)
				throw sqlRefused(`it has ${placeholders.length} placeholders for ${params.length} parameters`);
			// Databases written in C end a string at a NUL.
			if (params.some((value) => typeof value === "string" && value.includes("\0")))
				throw sqlRefused("a parameter contains a NUL character");
			if (writes && allowDbWrites !== true) throw sqlReadOnly();
			const time = timeoutSignal(timeoutMs);
			try {
				const ended = AbortSignal.any([signal, time]);
				const statement = { sql, placeholders, params, readOnly: !writes, maxRows, maxCharacters, timeoutMs };
				const { truncated = false, ...output } = await untilLeft(driver.query(statement, ended), ended);
				return { ok: true, output, ...(truncated ? { meta: { truncated } } : {}) };
			} catch (error) {
				if (signal.aborted) throw error;
				if (time.aborted) return failed("SQL_TIMEOUT", `The statement took longer than ${timeoutMs} ms.`);
				if (isHoldfastError(error)) return failed(error.code, error.message, { retriable: error.retryable });
				return failed("SQL_FAILED", `The statement failed: ${(error as Error).message}.`);
			}
		},
	});
}

export function sqlReadOnly(): HoldfastError {
	return new HoldfastError(
		"SQL_READONLY",
		"The statement writes, but the agent may only read. Set `allowDbWrites` to allow it.",
	);
}

/** Milliseconds that a driver has to end a statement. */
const graceMs = 1_000;

/** Awaits a driver's answer; a driver that ignores its signal is abandoned. */
async function untilLeft<Value>(given: Promise<Value>, signal: AbortSignal): Promise<Value> {
	const left = Promise.withResolvers<never>();
	let callOff: (() => void) | undefined;
	const leave = (): void => {
		callOff = startTimer(graceMs, () => left.reject(signal.reason));
	};
	if (signal.aborted) leave();
	else signal.addEventListener("abort", leave, { once: true });
	try {
		return await Promise.race([given, left.promise]);
	} finally {
		signal.removeEventListener("abort", leave);
		callOff?.();
	}
}
