// Puts a mark in place of secret values of the environment, in whatever plain data holds them: as they are, escaped as in
// JSON, URL-encoded or in base64.
import { createRedactor } from "@holdfast/redaction";

/** A value that says yes or no reveals nothing, and is in every text. */
const flags = new Set(["true", "false", "yes", "no", "on", "off", "1", "0"]);

/** The values that are to be masked; empty ones are not. */
export function secretsAmong(
	values: Iterable<{ readonly value: string; readonly type: "text" | "secret" }>,
): readonly string[] {
	let secrets: Set<string> | undefined;
	for (const { value, type } of values)
		if (type === "secret" && value !== "" && !flags.has(value.toLowerCase())) {
			secrets ??= new Set();
			secrets.add(value);
		}
	return secrets === undefined ? [] : [...secrets].sort();
}

/** Masks secrets, in plain data and in text that comes in pieces. */
export interface Redaction {
	/** The same data where nothing was masked. */
	redact<Value>(data: Value): Value;
	/** For text in pieces: holds what may be the beginning of a secret until more comes. */
	stream(): { push(piece: string): string; flush(): string };
}

const nothingHeld = { push: (piece: string): string => piece, flush: (): string => "" };
const nothing: Redaction = { redact: (data) => data, stream: () => nothingHeld };
const mostMade = 64;

/** Redactions by their secrets: making one takes longer than using it. */
export class Redactions {
	/** Those used last at the end. */
	readonly #made = new Map<string, Redaction>();

	/** The redaction of these secrets. */
	of(secrets: readonly string[]): Redaction {
		if (secrets.length === 0) return nothing;
		const name = JSON.stringify(secrets);
		const redaction = this.#made.get(name) ?? redactionOf(secrets);
		this.#made.delete(name);
		this.#made.set(name, redaction);
		for (const oldest of this.#made.keys()) if (this.#made.size > mostMade) this.#made.delete(oldest);
		return redaction;
	}
}

function redactionOf(secrets: readonly string[]): Redaction {
	const redactor = createRedactor({ secrets });
	return { redact: (data) => redactor.maskSecrets(data), stream: () => redactor.stream({ only: "secrets" }) };
}
