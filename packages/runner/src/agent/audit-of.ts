// The audit of a session: records that share an append with what they are about, and those that were kept beside it.
import type { Host } from "holdfast";
import { type AuditRecord, topics } from "../contract/index.ts";

export async function auditOf(host: Host, sessionKey: string): Promise<readonly AuditRecord[]> {
	const entries = await host.journal.read(sessionKey);
	const inJournal = entries.flatMap(({ fact }) =>
		fact.kind === "note" && fact.topic === topics.audit ? [fact.value as AuditRecord] : [],
	);
	const beside = await host.values.values(sessionKey, "runner.audit").list();
	const records = [...inJournal, ...beside.map(({ value }) => value as AuditRecord)];
	return records.toSorted((a, b) => (a.timestamp < b.timestamp ? -1 : a.timestamp > b.timestamp ? 1 : 0));
}
