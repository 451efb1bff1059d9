// The rules of one agent: at `admit`, where they run before every plan and every write of its runs is recorded, and as
// functions for the actions of a tool or a planner in between. Every intervention has one audit record, and none takes
// effect without it.

import type { Redactor } from "@holdfast/redaction";
import { after, HoldfastError } from "@holdfast/upp";
import type { Clock, Fact, Ids, MaybePromise, Timers } from "holdfast/host";
import type { Admission, AuditNote, Interceptor } from "holdfast/middleware";
import {
	type AuditRecord,
	type PlanAnswer,
	type PlannedWrite,
	type PolicyDecision,
	type PolicyQuestion,
	type ReflectAnswer,
	type RunIdentity,
	type RunnerTool,
	type RuntimeFlags,
	type SafetyConfig,
	type SafetyLayer,
	type StepVerdict,
	topics,
} from "../contract/index.ts";
import { askEngine } from "./ask-engine.ts";
import { Audit } from "./audit.ts";
import { type CheckedStep, checkStep, lastingRefusal, type StepRules } from "./check-step.ts";
import { type CheckedWrite, checkWrite } from "./check-write.ts";
import { firstMatch } from "./content.ts";
import { maskedDeltas } from "./masked-deltas.ts";
import { maskedFact } from "./masked-fact.ts";
import { RateLimits } from "./rate-limits.ts";

/** The parts of the layer. */
export interface SafetyParts {
	readonly agentId: string;
	readonly config: SafetyConfig;
	readonly flags: Required<RuntimeFlags>;
	readonly enableTools: readonly string[];
	/** A registered tool. */
	tool(id: string): RunnerTool | undefined;
	readonly redactor: Redactor;
	readonly clock: Clock;
	readonly ids: Ids;
	readonly timers: Timers;
	/** Whether a person can approve tool calls. Default: yes. */
	readonly mayAsk?: boolean;
	/** Stores an audit record that is not part of any append of a run. */
	keep(record: AuditRecord): void | Promise<void>;
}

export function createSafety(parts: SafetyParts): SafetyLayer {
	const { config, redactor, clock, ids, timers, agentId } = parts;
	const audit = new Audit({ redactor, clock, ids, sink: config.auditSink, keep: parts.keep });
	const engine = config.policyEngine;
	const limits = new RateLimits(config.requestRateLimit);
	const ask = (run: RunIdentity) =>
		engine === undefined
			? undefined
			: (question: Pick<PolicyQuestion, "point" | "target" | "subject">): MaybePromise<PolicyDecision> =>
					askEngine(engine, { ...run, ...question }, { timeoutMs: config.policyTimeoutMs ?? 5_000, timers });
	const standing = {
		config,
		flags: parts.flags,
		enableTools: new Set(parts.enableTools),
		tool: parts.tool,
	};
	const rules = (run: RunIdentity): StepRules => ({
		...standing,
		limits,
		mayAsk: parts.mayAsk ?? true,
		now: () => clock.now(),
		ask: ask(run),
	});

	const admitPlan = (
		answer: PlanAnswer,
		run: RunIdentity,
	): MaybePromise<Admitted<PlanAnswer> | undefined> => {
		const { step, verdict } = answer;
		if (step === undefined || verdict !== undefined) return undefined;
		const checked = checkStep(rules(run), step);
		const then = (came: CheckedStep): MaybePromise<Admitted<PlanAnswer> | undefined> => {
			if (came.verdict === undefined) return undefined;
			const point =
				step.type === "tool" && came.verdict.rule !== "policy-engine" ? "tool-input" : "planner-output";
			const isOfTheTool = ["toolDenylist", "toolAllowlist", "safeByDefault", "allowNetwork", "allowShell"];
			const record = audit.record(run, {
				point: isOfTheTool.includes(came.verdict.rule) ? "planner-output" : point,
				rule: came.verdict.rule,
				action:
					came.verdict.action === "ask"
						? "asked"
						: came.verdict.action === "modified"
							? "modified"
							: "blocked",
				subject: step,
			});
			// Masks a verdict that policy left unchanged.
			const verdict = redactor.maskSecrets(came.verdict);
			const changed = came.step === step ? step : redactor.maskSecrets(came.step);
			return written(audit, record, { ...answer, step: changed, verdict }, (refusal) => ({
				...answer,
				verdict: refusal,
			}));
		};
		return after(checked, then);
	};

	const admitWrites = (
		answer: ReflectAnswer,
		run: RunIdentity,
	): MaybePromise<Admitted<ReflectAnswer> | undefined> => {
		const checks = answer.writes.map(({ key, entry }) =>
			checkWrite(config, redactor, asking(run, "memory-write", key), entry),
		);
		const then = (came: readonly CheckedWrite[]): MaybePromise<Admitted<ReflectAnswer> | undefined> =>
			came.some(({ intervention }) => intervention !== undefined)
				? changedWrites(answer, came, run)
				: undefined;
		return checks.some((check) => check instanceof Promise)
			? Promise.all(checks).then(then)
			: then(checks as CheckedWrite[]);
	};

	const changedWrites = async (
		answer: ReflectAnswer,
		came: readonly CheckedWrite[],
		run: RunIdentity,
	): Promise<Admitted<ReflectAnswer>> => {
		const writes: PlannedWrite[] = [];
		const notes: AuditRecord[] = [];
		for (const [at, write] of answer.writes.entries()) {
			const { written, intervention } = came[at] as CheckedWrite;
			if (written !== undefined) writes.push({ ...write, entry: written.value });
			if (intervention !== undefined)
				notes.push(recordOf(run, "memory-write", intervention, { key: write.key, entry: write.entry }));
		}
		try {
			for (const record of notes) await audit.write(record);
		} catch (error) {
			const { code, message } = error as HoldfastError;
			return { answer: { ...answer, writes: [], error: { code, message } }, notes };
		}
		return { answer: { ...answer, writes }, notes };
	};

	const asking = (run: RunIdentity, point: PolicyQuestion["point"], target: string) => {
		const question = ask(run);
		return question === undefined ? undefined : (subject: unknown) => question({ point, target, subject });
	};

	const recordOf = (
		run: RunIdentity,
		point: AuditRecord["point"],
		{ rule, action }: NonNullable<CheckedWrite["intervention"]>,
		subject: unknown,
	): AuditRecord => audit.record(run, { point, rule, action, subject });

	const secrets: Interceptor = {
		name: "secrets",
		admitWaiting: (fact) => maskedFact(fact, redactor),
		begin: () => ({
			deltas: maskedDeltas(redactor),
			waits: "never",
			admit(fact) {
				const masked = maskedFact(fact, redactor);
				return masked === fact ? undefined : { fact: masked };
			},
		}),
	};

	const policy: Interceptor = {
		name: "safety",
		begin: ({ sessionKey }) => {
			const run = { agentId, sessionId: sessionKey };
			return {
				deltas: "as-is",
				admits: ["decision"],
				admit(fact) {
					if (fact.kind !== "decision") return undefined;
					const came = admitDecision(fact, run);
					return after(came, (admitted) => admissionOf(fact, admitted));
				},
			};
		},
	};

	const admitDecision = (
		{ topic, answer }: Decided,
		run: RunIdentity,
	): MaybePromise<Admitted<PlanAnswer | ReflectAnswer> | undefined> => {
		if (topic === topics.plan) return admitPlan(answer as PlanAnswer, run);
		if (topic !== topics.reflect || (answer as ReflectAnswer).writes.length === 0) return undefined;
		return admitWrites(answer as ReflectAnswer, run);
	};

	return {
		interceptors: config.secrets?.some((value) => value !== "") === true ? [secrets, policy] : [policy],
		allows: (toolId) => lastingRefusal(standing, toolId) === undefined,
		async checkAttempt(toolId, run) {
			if (limits.attempt(toolId, clock.now())) return;
			await audit.keep(
				audit.record(run, {
					point: "tool-input",
					rule: "requestRateLimit",
					action: "blocked",
					subject: { toolId },
				}),
			);
			throw new HoldfastError("RATE_LIMITED", `The tool ${JSON.stringify(toolId)} was called too often.`);
		},
		async checkPrompt(messages, run) {
			const block = async (rule: string, code: string, reason: string): Promise<never> => {
				await audit.keep(
					audit.record(run, { point: "model-prompt", rule, action: "blocked", subject: messages }),
				);
				const blocked = { code };
				throw new HoldfastError(blocked.code, reason);
			};
			if (firstMatch(config.contentFilter ?? [], messages) !== undefined)
				await block(
					"contentFilter",
					"CONTENT_BLOCKED",
					"The prompt contains filtered content; the model was not called.",
				);
			const question = ask(run);
			if (question === undefined) return redactor.maskSecrets(messages);
			const decision = await question({ point: "model-prompt", subject: messages });
			if (decision.action === "allow") return redactor.maskSecrets(messages);
			if (decision.action === "modify") {
				await audit.keep(
					audit.record(run, {
						point: "model-prompt",
						rule: decision.rule,
						action: "modified",
						subject: messages,
					}),
				);
				return redactor.maskSecrets(decision.subject as typeof messages);
			}
			const code = decision.action === "block" ? (decision.code ?? "POLICY_BLOCKED") : "POLICY_BLOCKED";
			return block(decision.rule, code, decision.reason ?? "The prompt was blocked by policy.");
		},
		async checkWrite(point, target, value, run) {
			const came = await checkWrite(config, redactor, asking(run, point, target), value);
			const { intervention, written: admitted } = came;
			if (intervention === undefined) return admitted;
			await audit.keep(recordOf(run, point, intervention, { target, value }));
			if (intervention.code !== undefined)
				throw new HoldfastError(
					intervention.code,
					`Writing to ${JSON.stringify(target)} was blocked by policy.`,
				);
			return admitted;
		},
		checkPermission(permission, target) {
			const { rbac } = config;
			if (rbac === undefined) return;
			const grants = (role: string): boolean =>
				Object.hasOwn(rbac.permissions, role) && (rbac.permissions[role]?.includes(permission) ?? false);
			if (rbac.roles.some(grants)) return;
			audit.keepNow(
				audit.record(
					{ agentId },
					{ point: "registration", rule: permission, action: "denied", subject: { target } },
				),
			);
			const roles = rbac.roles.join(", ") || "no role";
			throw new HoldfastError("RBAC_DENIED", `${roles} may not do ${permission} (${target}).`);
		},
	};
}

interface Admitted<Answer> {
	readonly answer: Answer;
	readonly notes: readonly AuditRecord[];
}

type Decided = Extract<Fact, { readonly kind: "decision" }>;

function admissionOf(fact: Decided, admitted: Admitted<unknown> | undefined): Admission | undefined {
	if (admitted === undefined) return undefined;
	return { fact: { ...fact, answer: admitted.answer }, notes: admitted.notes.map(noteOf) };
}

function noteOf(record: AuditRecord): AuditNote {
	return { topic: topics.audit, value: record };
}

/** Returns an answer whose record is written; if that fails, the step does not run. A promise only with a sink. */
async function written<Answer>(
	audit: Audit,
	record: AuditRecord,
	answer: Answer,
	refused: (verdict: StepVerdict) => Answer,
): Promise<Admitted<Answer>> {
	try {
		await audit.write(record);
		return { answer, notes: [record] };
	} catch (error) {
		const { code, message } = error as HoldfastError;
		return { answer: refused({ action: "blocked", rule: record.rule, code, message }), notes: [record] };
	}
}
