// Names chosen by callers: session ids and idempotency keys. Both appear in headers, logs and store keys, so they are
// short and of plain characters, without line breaks or paths.
import { HoldfastError } from "holdfast";
import type { SessionOwner } from "../service/index.ts";

const sessionIdPattern = /^(?!\.{1,2}$)[\w.:~@-]{1,128}$/;
const idempotencyKeyPattern = /^[\x21-\x7e]{1,255}$/;

/** Whether a string can be a session id over HTTP. */
export function isSessionId(value: unknown): value is string {
	return typeof value === "string" && sessionIdPattern.test(value);
}

/**
 * Returns the session id of a path. An invalid id belongs to no session.
 * @throws HoldfastError `session_not_found`.
 */
export function sessionIdOfPath(value: string | undefined): string {
	if (isSessionId(value)) return value;
	throw new HoldfastError("session_not_found", "Session not found");
}

/**
 * Returns the session id of a body; undefined if it has none.
 * @throws HoldfastError `invalid_input`.
 */
export function sessionIdOfBody(value: unknown): string | undefined {
	if (value === undefined || isSessionId(value)) return value;
	throw new HoldfastError(
		"invalid_input",
		"`sessionId` must be 1 to 128 letters, digits or characters of `.:_~@-`.",
		{ data: { field: "sessionId" } },
	);
}

/**
 * Returns the idempotency key of a request; undefined if it has none.
 * @throws HoldfastError `invalid_input`.
 */
export function idempotencyKeyOf(headers: Headers): string | undefined {
	const value = headers.get("idempotency-key");
	if (value === null || idempotencyKeyPattern.test(value)) return value ?? undefined;
	throw new HoldfastError(
		"invalid_input",
		"The header `Idempotency-Key` must be 1 to 255 visible ASCII characters.",
		{ data: { field: "Idempotency-Key" } },
	);
}

/**
 * Returns the id of a new session: the same one for the same idempotency key, so that a repeated request finds its
 * session.
 */
export async function newSessionId(
	{ tenant, user }: SessionOwner,
	idempotencyKey: string | undefined,
): Promise<string> {
	if (idempotencyKey === undefined) return crypto.randomUUID();
	const named = new TextEncoder().encode(JSON.stringify([tenant, idempotencyKey, user]));
	const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", named)).subarray(0, 16);
	return [...digest].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
