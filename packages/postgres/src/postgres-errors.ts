// Maps errors of Postgres and of its connections to error codes (keeps I9).
import { HoldfastError, isHoldfastError, messageOf } from "@holdfast/upp";

/** The server rejects temporarily or ends the connection: classes 08 and 53 except for a full disk, 57P, and timeouts. */
const passing = /^(?:08...|53[013]..|57P..|57014|55P03|25006|25P03)$/;
/** Errors of the network, and errors of `pg` without a code. */
const network = /^(?:ECONN|ETIMEDOUT|EPIPE|EAI_AGAIN|ENOTFOUND|EHOSTUNREACH|ENETUNREACH|ENETDOWN|ENOENT)/;
const lostConnection =
	/^(?:Connection terminated|timeout exc|timeout expired|Query read timeout|Client has encountered a connection error|Client was closed|Cannot use a pool after)/;
/** The message of `pg` when a pool with `connectionTimeoutMillis` has no connection available. */
const poolTimeout = /^timeout exceeded when trying to connect/;

function codeOf(error: unknown): string {
	const { code } = (error ?? {}) as { readonly code?: unknown };
	return typeof code === "string" ? code : "";
}

/**
 * Whether the same call may succeed a moment later, because the server or network is unavailable, busy or out of
 * connections.
 */
export function isUnavailable(error: unknown): boolean {
	if (isHoldfastError(error)) return error.code === "db_unavailable" || error.code === "pool_exhausted";
	const code = codeOf(error);
	if (code !== "") return (passing.test(code) && code !== "53100") || network.test(code);
	return error instanceof Error && (lostConnection.test(error.message) || error.name === "AggregateError");
}

/** Whether Postgres rolled a transaction back because of another one: nothing happened, and it can be repeated. */
export function isRolledBack(error: unknown): boolean {
	return ["40001", "40P01"].includes(codeOf(error));
}

/** Whether a transaction failed because of another one; retrying it at once may succeed. */
export function isConflict(error: unknown): boolean {
	return isRolledBack(error) || codeOf(error) === "23505";
}

/** Converts an error of Postgres; HoldfastErrors are returned unchanged. */
export function postgresError(error: unknown): HoldfastError {
	if (isHoldfastError(error)) return error;
	if (isUnavailable(error)) return unavailable(error);
	const code = codeOf(error);
	const what = messageOf(error);
	if (code === "53100")
		return new HoldfastError(
			"disk_full",
			"The journal has no space left. Committed data is safe; free some space and try again.",
			{ cause: error, retryable: true },
		);
	if (
		code.startsWith("28") ||
		code.startsWith("3D") ||
		code === "42501" ||
		code === "SELF_SIGNED_CERT_IN_CHAIN"
	)
		return new HoldfastError(
			"journal_unavailable",
			`Postgres rejected this user, or the database does not exist: ${what}. Check the connection and the user's permissions.`,
			{ cause: error },
		);
	return new HoldfastError(
		"journal_failed",
		`The journal's store failed: ${what}. Everything committed is kept.`,
		{ cause: error },
	);
}

/**
 * Reports that no connection was available in time: all connections of the pool are in use, or the server does not
 * answer. Nothing was sent.
 */
export function notConnected(
	{ waitingCount = 1 }: { readonly waitingCount?: number },
	withinMs: number,
): HoldfastError {
	return waitingCount > 0
		? poolExhausted(`within ${Math.ceil(withinMs)} ms`)
		: unavailable(new Error("no connection was opened in time"));
}

function poolExhausted(when: string, cause?: unknown): HoldfastError {
	return new HoldfastError(
		"pool_exhausted",
		`No connection of the Postgres pool became free ${when}. Give the pool more connections (\`max\`), ` +
			"release its clients before you wait for a run, or give the host a `connectionString`, so that it has its own pool.",
		{ retryable: true, ...(cause === undefined ? {} : { cause }) },
	);
}

function unavailable(cause: unknown): HoldfastError {
	if (cause instanceof Error && poolTimeout.test(cause.message)) return poolExhausted("in time", cause);
	const what = cause instanceof Error && cause.message !== "" ? cause.message : codeOf(cause);
	return new HoldfastError(
		"db_unavailable",
		`Postgres is not available: ${what}. Everything committed is kept; check that it is running and reachable, and try again.`,
		{ cause, retryable: true },
	);
}
