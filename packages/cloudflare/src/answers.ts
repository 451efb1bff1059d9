// The response of a session's object to the Worker: a value, or an error with all its fields.
import { HoldfastError, isHoldfastError } from "holdfast";

interface Failure {
	readonly code: string;
	readonly message: string;
	readonly retryable: boolean;
	readonly data?: Readonly<Record<string, unknown>>;
}

/** Responds with the result of `act`, or with its error. */
export async function answerWith(act: () => Promise<unknown>): Promise<Response> {
	try {
		const value = await act();
		return value instanceof Response ? value : Response.json({ value });
	} catch (error) {
		return Response.json({ failure: failureOf(error) }, { status: 422 });
	}
}

/** Serialises an error. Unknown errors stay in the object's log. */
export function failureOf(error: unknown): Failure {
	if (!isHoldfastError(error)) {
		console.error(error);
		return {
			code: "internal_error",
			message: "The session's object failed. See its log.",
			retryable: true,
		};
	}
	const { code, message, retryable, data } = error;
	return { code, message, retryable, ...(data === undefined ? {} : { data }) };
}

/** Restores a serialised error. */
export function errorOf(failure: Failure): HoldfastError {
	const { message, retryable, data } = failure;
	return new HoldfastError(failure.code, message, { retryable, ...(data === undefined ? {} : { data }) });
}

/** Reads a response. @throws HoldfastError the object's error. */
export async function readAnswer(answer: Response): Promise<unknown> {
	const { value, failure } = (await answer.json()) as { value?: unknown; failure?: Failure };
	if (failure !== undefined) throw errorOf(failure);
	return value;
}
