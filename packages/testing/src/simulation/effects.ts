// The external effects of every tool call, with their keys. The receiver deduplicates idempotent effects.
import type { RetryPolicy } from "holdfast";
import { rootOf } from "./child-checks.ts";
import type { Ledger } from "./ledger.ts";

/** An attempt at an effect, as the receiver sees it. */
export interface Attempt {
	/** The subject of the call, unique per model call. */
	readonly subject: string;
	readonly idempotencyKey: string;
	readonly attempt: number;
	readonly retryPolicy: RetryPolicy;
	/** The session that requested it. */
	readonly sessionKey: string;
}

export class Effects {
	readonly #ledger: Ledger;
	readonly #subjects = new Map<string, string>();
	readonly #keys = new Map<string, string>();
	readonly #sessions = new Map<string, string>();
	readonly #started = new Set<string>();

	constructor(ledger: Ledger) {
		this.#ledger = ledger;
	}

	/** Records that a tool starts; the attempt must already be in the journal, under a unique key. */
	begin({ subject: about, idempotencyKey, attempt, retryPolicy, sessionKey }: Attempt): void {
		// After a deletion, a scheduled notification may be delivered once more to the new session with the key.
		const root = rootOf(sessionKey);
		const lives = this.#ledger.allLives.filter(({ key }) => key === root).length;
		const subject = about.startsWith("notified of") ? `${about} in life ${lives}` : about;
		const wrong = (problem: string): void => this.#ledger.wrong(problem);
		if (!this.#ledger.attempts.has(`${idempotencyKey} ${attempt}`))
			wrong(`attempt ${attempt} at ${subject} was not recorded`);
		const subjectOfKey = this.#subjects.get(idempotencyKey) ?? subject;
		if (subjectOfKey !== subject) wrong(`${subjectOfKey} and ${subject} have the same idempotency key`);
		const session = this.#sessions.get(idempotencyKey) ?? sessionKey;
		if (session !== sessionKey)
			wrong(`${session} and ${sessionKey} use the same idempotency key for ${subject}`);
		this.#sessions.set(idempotencyKey, session);
		const keyOfSubject = this.#keys.get(subject) ?? idempotencyKey;
		if (keyOfSubject !== idempotencyKey) wrong(`${subject} was carried out under two idempotency keys`);
		if (retryPolicy === "manual-recovery" && this.#started.has(subject))
			wrong(`${subject} was carried out twice`);
		this.#subjects.set(idempotencyKey, subject);
		this.#keys.set(subject, idempotencyKey);
		this.#started.add(subject);
	}

	/** Whether that key was received, for tools that reconcile. */
	came(idempotencyKey: string): boolean {
		return this.#subjects.has(idempotencyKey);
	}
}
