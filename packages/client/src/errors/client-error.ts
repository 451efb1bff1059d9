// The error of this package (keeps I9). It has the shape and the brand of the engine's errors, so that `isHoldfastError`
// recognises it without an import of the engine.

const brand = Symbol.for("holdfast.error");

/** The parts of an error in addition to its code and message. */
export interface ClientErrorOptions {
	/** The error that caused this one. */
	cause?: unknown;
	/** Whether the same call may succeed if it is repeated. Default `false`. */
	retryable?: boolean;
	/** The HTTP status of the response, if there was one. */
	status?: number;
	/** Machine-readable data about the error. */
	data?: Record<string, unknown>;
}

/**
 * An error with a stable `code`: one of the server's, with its HTTP `status`, or one of the client's own.
 *
 * @example
 * const error = new ClientError("session_busy", "The session is busy.", { status: 409 });
 * console.log(isClientError(error) && error.status);
 */
export class ClientError extends Error {
	/** The server's code, or one of the client's own. */
	readonly code: string;
	/** Whether the same request can succeed later. */
	readonly retryable: boolean;
	/** The HTTP status, if the server responded. */
	declare readonly status?: number;
	/** Further values for programs. */
	declare readonly data?: Record<string, unknown>;

	/** Creates an error. By default it is not retryable. */
	constructor(code: string, message: string, options: ClientErrorOptions = {}) {
		super(message, "cause" in options ? { cause: options.cause } : undefined);
		this.name = "ClientError";
		this.code = code;
		this.retryable = options.retryable ?? false;
		if (options.status !== undefined) this.status = options.status;
		if (options.data !== undefined) this.data = options.data;
	}

	static {
		Object.defineProperty(this.prototype, brand, { value: true });
	}
}

/** Whether a value is a ClientError, even one created by another installed copy of this package. */
export function isClientError(value: unknown): value is ClientError {
	if (typeof value !== "object" || value === null) return false;
	return (value as Record<symbol, unknown>)[brand] === true && (value as Error).name === "ClientError";
}
