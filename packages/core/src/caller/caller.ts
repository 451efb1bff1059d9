// The requester of a run, as identified by the program that authenticates users, such as a server. It is recorded with
// the run, so every worker of the run has it, even after a restart.
import { HoldfastError } from "@holdfast/upp";

/** The requester of a run. */
export interface Caller {
	/** The tenant whose sessions are meant. */
	readonly tenant?: string;
	/** The user, within the tenant. */
	readonly user?: string;
	/** Further data about the user, as JSON. It is recorded with each run, so it must not contain tokens. */
	readonly claims?: Readonly<Record<string, unknown>>;
}

/** The maximum length of the claims' JSON in characters, because they are written with every run. */
const mostClaims = 16 * 1024;

/**
 * Validates and copies a caller.
 * @throws HoldfastError `invalid_caller` naming the problem.
 */
export function readCaller(given: unknown): Caller {
	if (!isRecord(given)) throw invalidCaller("is not an object");
	const { tenant, user, claims } = given;
	return Object.freeze({
		...readName("tenant", tenant),
		...readName("user", user),
		...(claims === undefined ? {} : { claims: readClaims(claims) }),
	});
}

/** Whether both are the same caller, with the same claims. */
export function isSameCaller(one: Caller | undefined, other: Caller | undefined): boolean {
	const claims = (caller: Caller | undefined): string | undefined => JSON.stringify(caller?.claims);
	return one?.tenant === other?.tenant && one?.user === other?.user && claims(one) === claims(other);
}

function readName(name: "tenant" | "user", given: unknown): Partial<Record<"tenant" | "user", string>> {
	if (given === undefined) return {};
	if (typeof given === "string" && given !== "" && given.length <= 1_000) return { [name]: given };
	throw invalidCaller(`has a \`${name}\` that is not a string of 1 to 1,000 characters`);
}

function readClaims(given: unknown): Readonly<Record<string, unknown>> {
	if (!isRecord(given)) throw invalidCaller("has `claims` that are not an object");
	let text: string | undefined;
	try {
		text = JSON.stringify(given);
	} catch {}
	if (text === undefined) throw invalidCaller("has `claims` that cannot be written as JSON");
	if (text.length > mostClaims)
		throw invalidCaller(`has \`claims\` of ${text.length} characters of JSON; the limit is ${mostClaims}`);
	// Shared by all tools, so none may modify it.
	return JSON.parse(text, (_, value) => Object.freeze(value));
}

function isRecord(given: unknown): given is Readonly<Record<string, unknown>> {
	return typeof given === "object" && given !== null && !Array.isArray(given);
}

function invalidCaller(why: string): HoldfastError {
	return new HoldfastError(
		"invalid_caller",
		`The caller ${why}. Give {tenant, user?, claims?}, where claims are plain JSON.`,
	);
}
