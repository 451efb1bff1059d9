// The base class of every error that Holdfast raises (keeps I9): a string code, a message with the problem and what to
// do, and whether a retry may help.

const brand = Symbol.for("holdfast.error");

/** The parts of an error in addition to its code and message. */
export interface HoldfastErrorOptions {
	/** The error that caused this one. */
	cause?: unknown;
	/** Whether the same call may succeed if repeated. Default `false`. */
	retryable?: boolean;
	/** Data about the error for programs: names, paths, limits. */
	data?: Record<string, unknown>;
}

/** An error with a stable `code`. `message` explains the problem and what to do about it. */
export class HoldfastError extends Error {
	/** Identifies the problem; stable across versions. The error table lists all codes. */
	readonly code: string;
	/** Whether the same call may succeed if repeated. */
	readonly retryable: boolean;
	/** Data about the error for programs: names, paths, limits. */
	declare readonly data?: Record<string, unknown>;

	/** Creates an error. By default it is not retryable. */
	constructor(code: string, message: string, options: HoldfastErrorOptions = {}) {
		super(message, "cause" in options ? { cause: options.cause } : undefined);
		this.name = new.target.name;
		this.code = code;
		this.retryable = options.retryable ?? false;
		if (options.data !== undefined) this.data = options.data;
	}

	static {
		Object.defineProperty(this.prototype, brand, { value: true });
	}

	/** Also matches errors of other installed copies of this package, including those that are a `TypeError`. */
	static override [Symbol.hasInstance](value: unknown): boolean {
		return this === HoldfastError
			? isHoldfastError(value)
			: Function.prototype[Symbol.hasInstance].call(this, value);
	}
}

/** The `HoldfastError` for an argument or option of the wrong type: it is also a `TypeError`. It is never retryable. */
export class HoldfastTypeError extends TypeError {
	/** Identifies the problem; stable across versions. */
	readonly code: string;
	readonly retryable = false;
	/** Data about the error for programs: names, paths, limits. */
	declare readonly data?: Record<string, unknown>;

	/** Creates an error that is not retryable. */
	constructor(code: string, message: string, options: Pick<HoldfastErrorOptions, "cause" | "data"> = {}) {
		super(message, "cause" in options ? { cause: options.cause } : undefined);
		this.name = "TypeError";
		this.code = code;
		if (options.data !== undefined) this.data = options.data;
	}

	static {
		Object.defineProperty(this.prototype, brand, { value: true });
	}
}

/** Whether a value is a HoldfastError, including one created by another installed copy of this package. */
export function isHoldfastError(value: unknown): value is HoldfastError {
	return typeof value === "object" && value !== null && (value as Record<symbol, unknown>)[brand] === true;
}
