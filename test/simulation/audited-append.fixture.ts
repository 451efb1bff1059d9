// What policy did, held against the appends that were made: an intervention is committed with its audit records, right
// before it and in one append, and no append has an audit record of anything else.
import type { AuditRecord, RunnerStep } from "@holdfast/runner";
import type { Fact } from "holdfast/host";

/** What is on record of a plan. */
export interface RecordedPlan {
	readonly step?: RunnerStep;
	readonly verdict?: { readonly rule: string; readonly action: "ask" | "modified" | "blocked" | "refused" };
}

/** The plan that a fact records, if it does. */
export function planOf(fact: Fact | undefined): RecordedPlan | undefined {
	return fact?.kind === "decision" && fact.topic === "runner.plan"
		? (fact.answer as RecordedPlan)
		: undefined;
}

/** Whether a fact is an audit record. */
export function isAudit(fact: Fact): fact is Extract<Fact, { kind: "note" }> {
	return fact.kind === "note" && fact.topic === "runner.audit";
}

/** What a filter puts in place of what it finds. */
const filtered = "[REDACTED:filtered]";

/** What policy did to a decision: a rule and an action for each record that it needs. */
function interventionsOf(fact: Fact): readonly string[] {
	const verdict = planOf(fact)?.verdict;
	if (verdict !== undefined) {
		if (verdict.action === "refused") return [];
		return [`${verdict.rule} ${verdict.action === "ask" ? "asked" : verdict.action}`];
	}
	if (fact.kind !== "decision" || fact.topic !== "runner.reflect") return [];
	const { writes } = fact.answer as { readonly writes: readonly { readonly entry: unknown }[] };
	return writes.flatMap(({ entry }) =>
		JSON.stringify(entry).includes(filtered) ? ["write-filter modified"] : [],
	);
}

/** What is wrong with the audit of facts that were committed together, and with nothing else. */
export function wrongAudit(together: readonly Fact[]): string | undefined {
	let records: string[] = [];
	for (const fact of together) {
		if (isAudit(fact)) {
			const { rule, action } = fact.value as AuditRecord;
			records.push(`${rule} ${action}`);
			continue;
		}
		const needed = interventionsOf(fact).join(", ");
		if (records.join(", ") !== needed)
			return `what policy did ("${needed}") was committed with the audit records "${records.join(", ")}"`;
		records = [];
	}
	return records.length === 0
		? undefined
		: `the audit record "${records}" was committed without what it is of`;
}
