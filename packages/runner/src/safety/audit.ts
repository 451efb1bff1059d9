// Audit records: one for each intervention, written before the affected action is executed.
import type { Redactor } from "@holdfast/redaction";
import { HoldfastError, messageOf } from "@holdfast/upp";
import type { Clock, Ids } from "holdfast/host";
import type { AuditRecord, AuditSink, RunIdentity } from "../contract/index.ts";

/** The parts of an audit. */
export interface AuditParts {
	readonly redactor: Redactor;
	readonly clock: Clock;
	readonly ids: Ids;
	readonly sink?: AuditSink | undefined;
	/** Stores a record that is not part of any append of a run. */
	keep(record: AuditRecord): void | Promise<void>;
}

export class Audit {
	readonly #parts: AuditParts;

	constructor(parts: AuditParts) {
		this.#parts = parts;
	}

	/** Creates a record with its subject redacted. */
	record(
		{ agentId, sessionId }: RunIdentity,
		about: Pick<AuditRecord, "point" | "rule" | "action"> & { readonly subject?: unknown },
	): AuditRecord {
		const { redactor, clock, ids } = this.#parts;
		const { subject, ...rest } = about;
		return {
			id: ids.uuid(),
			timestamp: new Date(clock.now()).toISOString(),
			agentId,
			...(sessionId === undefined ? {} : { sessionId }),
			...redactor.maskSecrets(rest),
			...(subject === undefined ? {} : { subject: redactor.redact(subject) }),
		};
	}

	/**
	 * Passes a record to the sink. Rejects with `AUDIT_WRITE_FAILED` if it cannot be written: then the action must not be
	 * executed.
	 */
	async write(record: AuditRecord): Promise<void> {
		await this.#orFailed(() => this.#parts.sink?.write(record));
	}

	/** Writes a record of an action without its own append. Rejects in the same way. */
	async keep(record: AuditRecord): Promise<void> {
		await this.#orFailed(() => this.#parts.keep(record));
		await this.write(record);
	}

	/** The same without waiting: a later failure of the sink is ignored. */
	keepNow(record: AuditRecord): void {
		this.keep(record).catch(() => {});
	}

	async #orFailed(write: () => void | Promise<void>): Promise<void> {
		try {
			await write();
		} catch (cause) {
			if ((cause as { code?: unknown })?.code === "AUDIT_WRITE_FAILED") throw cause;
			const why = this.#parts.redactor.maskSecrets(messageOf(cause));
			throw new HoldfastError(
				"AUDIT_WRITE_FAILED",
				`The audit record could not be written, so nothing was done: ${why}`,
				{ cause },
			);
		}
	}
}
