// The plans and the audit trail of a session, built from its entries. The checks use no other source: the journal must
// be complete, every call recorded before it ran, and every intervention of policy recorded.
import type { ShownEntry } from "../wire/index.ts";
import { summary } from "./format.ts";

/** A planned step, or a step of a plan. */
export interface Planned {
	readonly seq: number;
	readonly at: number;
	readonly what: string;
	readonly state: "planned" | "done" | "failed" | "blocked" | "modified" | "asked" | "refused";
	readonly detail: string;
}

/** A record of policy. */
export interface Audited {
	readonly seq: number;
	readonly id: string;
	readonly timestamp: string;
	readonly point: string;
	readonly rule: string;
	readonly action: string;
	readonly subject: unknown;
}

/** Something that was verified. */
export interface Check {
	readonly name: string;
	readonly ok: boolean;
	readonly detail: string;
}

export interface PlanAndAudit {
	readonly plans: readonly Planned[];
	readonly audit: readonly Audited[];
	readonly checks: readonly Check[];
}

interface PlanAnswer {
	readonly step?: {
		readonly type: string;
		readonly toolId?: string;
		readonly message?: string;
		readonly input?: unknown;
	};
	readonly verdict?: { readonly action: string; readonly rule: string; readonly message: string };
	readonly error?: { readonly message?: string; readonly code?: string };
}

export function planAndAudit(entries: readonly ShownEntry[]): PlanAndAudit {
	const plans: Planned[] = [];
	const audit: Audited[] = [];
	for (const { seq, at, kind, body } of entries) {
		if (kind === "decision") plans.push(...ofDecision(seq, at, String(body.topic), body.answer));
		if (kind !== "note") continue;
		if (body.topic === "plan") plans.push(...ofPlan(seq, at, body.value));
		if (body.topic === "plan-step") plans.push(...ofStep(seq, at, body.value));
		if (body.topic === "runner.audit") {
			const record = (body.value ?? {}) as Partial<Audited>;
			const { id = "", timestamp = "", point = "", rule = "", action = "", subject } = record;
			audit.push({ seq, id, timestamp, point, rule, action, subject });
		}
	}
	return { plans, audit, checks: verify(entries, audit) };
}

function ofDecision(seq: number, at: number, topic: string, answer: unknown): readonly Planned[] {
	if (topic === "runner.reflect") {
		const { goalMet, note, error } = (answer ?? {}) as {
			goalMet?: true;
			note?: string;
			error?: { message?: string };
		};
		const detail = error?.message ?? (goalMet === true ? "the goal is met" : (note ?? "it continues"));
		return [{ seq, at, what: "reflect", state: error === undefined ? "done" : "failed", detail }];
	}
	if (topic !== "runner.plan") return [];
	const { step, verdict, error } = (answer ?? {}) as PlanAnswer;
	const what = step === undefined ? "plan" : step.type === "tool" ? `call ${step.toolId}` : step.type;
	if (error !== undefined)
		return [{ seq, at, what, state: "failed", detail: error.message ?? error.code ?? "" }];
	const detail = summary(step?.message ?? step?.input ?? "");
	if (verdict === undefined) return [{ seq, at, what, state: "planned", detail }];
	const state = verdict.action === "ask" ? "asked" : (verdict.action as Planned["state"]);
	return [{ seq, at, what, state, detail: `${verdict.rule}: ${verdict.message}` }];
}

function ofPlan(seq: number, at: number, value: unknown): readonly Planned[] {
	const steps = Array.isArray(value) ? value : ((value as { steps?: unknown } | null)?.steps ?? []);
	return (Array.isArray(steps) ? steps : []).map((step: { description?: string; status?: string }) => ({
		seq,
		at,
		what: "plan step",
		state: "planned" as const,
		detail: summary(step.description ?? step),
	}));
}

function ofStep(seq: number, at: number, value: unknown): readonly Planned[] {
	const { id, stepId = id, status = "" } = (value ?? {}) as { id?: string; stepId?: string; status?: string };
	const state = status === "failed" ? "failed" : status === "completed" ? "done" : "planned";
	return [{ seq, at, what: `step ${stepId ?? ""}`, state, detail: status }];
}

function verify(entries: readonly ShownEntry[], audit: readonly Audited[]): readonly Check[] {
	const checks: Check[] = [];
	const put = (name: string, wrong: readonly string[], good: string): void => {
		checks.push({
			name,
			ok: wrong.length === 0,
			detail: wrong.length === 0 ? good : wrong.slice(0, 5).join("; "),
		});
	};
	const gaps: string[] = [];
	let before = entries[0]?.kind === "folded" ? (entries[0]?.seq ?? 0) : 0;
	for (const { seq, kind } of entries) {
		if (kind === "folded") before = seq;
		else if (seq !== ++before) {
			gaps.push(`entry ${seq} follows ${before - 1}`);
			before = seq;
		}
	}
	put("The journal is complete", gaps, `${entries.length} entries, no gaps`);

	const started = new Set<string>();
	const never: string[] = [];
	let settled = 0;
	for (const { seq, runId, kind, body } of entries) {
		const call = `${runId} ${body.callId}`;
		if (kind === "tool.started") started.add(call);
		if (kind !== "tool.settled" || body.outcome !== "done" || Number(body.duration) === 0) continue;
		settled++;
		if (!started.has(call)) never.push(`entry ${seq} settles a call that never started`);
	}
	put("Every call was recorded before it ran", never, `${settled} calls`);

	const ended = new Map<string, number>();
	const after: string[] = [];
	for (const { seq, runId, kind } of entries) {
		if (ended.has(runId))
			after.push(`entry ${seq} belongs to a run that ended with entry ${ended.get(runId)}`);
		if (kind === "run.ended") ended.set(runId, seq);
	}
	put("Each run ends once, with its last entry", after, `${ended.size} ended runs`);

	const bySeq = new Set(audit.map(({ seq }) => seq));
	const unrecorded: string[] = [];
	let verdicts = 0;
	for (const [index, { seq, kind, body, runId }] of entries.entries()) {
		if (kind !== "decision" || body.topic !== "runner.plan") continue;
		const { verdict } = (body.answer ?? {}) as PlanAnswer;
		if (verdict === undefined || verdict.action === "refused") continue;
		verdicts++;
		if (!hasRecordBeside(entries, index, runId, bySeq))
			unrecorded.push(`the verdict of entry ${seq} has no record`);
	}
	put("Every policy intervention has a record", unrecorded, `${verdicts} verdicts, ${audit.length} records`);

	const ids = new Set<string>();
	const twice = audit
		.filter(({ id }) => ids.size === ids.add(id).size)
		.map(({ id }) => `record ${id} exists twice`);
	put("Each record is unique", twice, `${audit.length} records`);
	return checks;
}

/** Records are in the same append as their subject, next to it. */
function hasRecordBeside(
	entries: readonly ShownEntry[],
	index: number,
	runId: string,
	records: ReadonlySet<number>,
): boolean {
	for (const by of [1, -1]) {
		for (let at = index + by; entries[at]?.kind === "note" && entries[at]?.runId === runId; at += by)
			if (records.has(entries[at]?.seq ?? 0)) return true;
	}
	return false;
}
