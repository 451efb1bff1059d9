// Audit records: one for each intervention, written before what it is about is carried out.
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
	/** Keeps a record that no append of a run carries. */
	keep(record: AuditRecord): void | Promise<void>;
}

export class Audit {
	readonly #parts: AuditParts;

	constructor(parts: AuditParts) {
		this.#parts = parts;
	}

	/** A record, with its subject redacted. */
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
	 * Gives a record to the sink. Rejects with `AUDIT_WRITE_FAILED` where it cannot be written: then what it is about must not
	 * be done.
	 */
	async write(record: AuditRecord): Promise<void> {
		await this.#orFailed(() => this.#parts.sink?.write(record));
	}

	/** Writes a record of something that has no append of its own. Rejects in the same way. */
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
