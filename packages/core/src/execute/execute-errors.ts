// The errors of `createSession` sessions.
import { cutText, HoldfastError, HoldfastTypeError } from "@holdfast/upp";

/** The first argument of `execute()` is not a session. */
export function noSession(): HoldfastTypeError {
	return new HoldfastTypeError(
		"invalid_argument",
		"execute(session, input) takes a session, which `createSession(id, context, options)` returns.",
	);
}

/** A session needs a context. */
export function noContext(): HoldfastTypeError {
	return new HoldfastTypeError(
		"invalid_argument",
		"createSession(id, context) takes a context, such as `{ systemPrompt, tools }`, or `{}`.",
	);
}

export function invalidBufferLimit(): HoldfastError {
	return new HoldfastError("invalid_option", "The option `bufferLimit` must be a whole number above 0.");
}

/** The host of a session is not a host. */
export function noHost(): HoldfastTypeError {
	return new HoldfastTypeError(
		"invalid_option",
		"The option `host` of createSession() must be a host, such as the return value of `sqliteHost()` or `memoryHost()`.",
	);
}

/** The session does not exist, or was deleted. */
export function sessionNotFound(): HoldfastError {
	return new HoldfastError("session_not_found", "Session not found");
}

/** No model is served under that name. */
export function unknownModel(name: string): HoldfastError {
	return new HoldfastError("unknown_model", `There is no model ${JSON.stringify(cutText(name, 100))} here.`);
}

/** Neither the session nor the execution has a model. */
export function modelMissing(): HoldfastError {
	return new HoldfastError(
		"model_missing",
		"The session has no model. Give `model` with it, or with the execution.",
	);
}

/** Two tools of a session have the same name. */
export function toolNameConflict(name: string): HoldfastError {
	return new HoldfastError("tool_name_conflict", `A tool is already named "${name}". Rename one of them.`);
}

/** An input that cannot be executed. */
export function invalidInput(field: string, why: string): HoldfastError {
	return new HoldfastError("invalid_input", `\`${field}\` ${why}.`, { data: { field } });
}
