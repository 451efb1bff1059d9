// Policy for planned steps: the order of the rules, and the effect of the first objection.
import { after } from "@holdfast/upp";
import type { MaybePromise } from "holdfast/host";
import type {
	PolicyDecision,
	PolicyQuestion,
	RunnerStep,
	RunnerTool,
	RuntimeFlags,
	SafetyConfig,
	StepVerdict,
} from "../contract/index.ts";
import { firstMatch } from "./content.ts";
import type { RateLimits } from "./rate-limits.ts";

/** The result of checking a step. */
export interface CheckedStep {
	readonly step: RunnerStep;
	/** Absent if the step may run as planned. */
	readonly verdict?: StepVerdict;
}

/** The rules of an agent. */
export interface StepRules {
	readonly config: SafetyConfig;
	readonly flags: Required<RuntimeFlags>;
	readonly enableTools: ReadonlySet<string>;
	tool(id: string): RunnerTool | undefined;
	readonly limits: RateLimits;
	/** Whether tool calls can require a person's approval. If not, a decision `ask` blocks. */
	readonly mayAsk: boolean;
	now(): number;
	/** Undefined without a policy engine. */
	ask:
		| ((question: Pick<PolicyQuestion, "point" | "target" | "subject">) => MaybePromise<PolicyDecision>)
		| undefined;
}

/** Returns a promise only if an engine returns one. */
export function checkStep(rules: StepRules, step: RunnerStep): MaybePromise<CheckedStep> {
	const verdict = step.type === "tool" ? refusalOf(rules, step.toolId as string) : undefined;
	if (verdict !== undefined) return { step, verdict };
	const cleaned = step.type === "tool" ? sanitised(rules.config, step) : step;
	if (cleaned.type === "tool") {
		const match = firstMatch(rules.config.contentFilter ?? [], cleaned.input);
		if (match !== undefined)
			return {
				step: cleaned,
				verdict: blocked("contentFilter", "CONTENT_BLOCKED", "its input contains filtered content"),
			};
	}
	if (rules.ask !== undefined) return asked(rules, rules.ask, step, cleaned);
	return changed(step, cleaned, "sanitizers");
}

/** Whether a tool may be used at all. */
function refusalOf(rules: StepRules, id: string): StepVerdict | undefined {
	const refusal = lastingRefusal(rules, id);
	if (refusal !== undefined) return refusal;
	if (rules.limits.attempt(id, rules.now())) return undefined;
	return blocked("requestRateLimit", "RATE_LIMITED", `the tool ${JSON.stringify(id)} was called too often`);
}

/** Returns a refusal that does not expire. */
export function lastingRefusal(
	{ config, flags, enableTools, tool }: Omit<StepRules, "limits" | "mayAsk" | "now" | "ask">,
	id: string,
): StepVerdict | undefined {
	if (config.toolDenylist?.includes(id) === true)
		return blocked("toolDenylist", "TOOL_DENIED", `the tool ${JSON.stringify(id)} is denied`);
	if (config.toolAllowlist !== undefined && !config.toolAllowlist.includes(id))
		return blocked("toolAllowlist", "TOOL_NOT_ALLOWED", `the tool ${JSON.stringify(id)} is not allowed`);
	const { requires, safeByDefault } = tool(id) ?? {};
	if (requires === "network" && !flags.allowNetwork)
		return blocked(
			"allowNetwork",
			"NETWORK_DISABLED",
			`the tool ${JSON.stringify(id)} needs the network; set \`allowNetwork\``,
		);
	if (requires === "shell" && !flags.allowShell)
		return blocked(
			"allowShell",
			"SHELL_DISABLED",
			`the tool ${JSON.stringify(id)} starts processes; set \`allowShell\``,
		);
	if (requires === undefined && safeByDefault === false && !enableTools.has(id))
		return blocked(
			"safeByDefault",
			"TOOL_NOT_ENABLED",
			`the tool ${JSON.stringify(id)} is not enabled; name it in \`enableTools\``,
		);
	return undefined;
}

function sanitised({ sanitizers = [] }: SafetyConfig, step: RunnerStep): RunnerStep {
	let { input } = step;
	for (const sanitize of sanitizers) input = sanitize(step.toolId as string, input);
	if (input === step.input || JSON.stringify(input) === JSON.stringify(step.input)) return step;
	return { ...step, input: JSON.parse(JSON.stringify(input ?? null)) };
}

function asked(
	rules: StepRules,
	ask: NonNullable<StepRules["ask"]>,
	given: RunnerStep,
	cleaned: RunnerStep,
): MaybePromise<CheckedStep> {
	const target = cleaned.toolId === undefined ? {} : { target: cleaned.toolId };
	const ofPlan = (planned: PolicyDecision): MaybePromise<CheckedStep> => {
		switch (planned.action) {
			case "block":
			case "drop":
				return { step: cleaned, verdict: verdictOf(planned) };
			case "ask": {
				// A person can approve tool calls only. Other steps with a decision `ask` do not run.
				if (cleaned.type !== "tool" || !rules.mayAsk)
					return { step: cleaned, verdict: cannot(planned, cleaned) };
				const checked = ofTool(cleaned, "sanitizers");
				const asking = ({ step, verdict }: CheckedStep): CheckedStep =>
					verdict?.action === "blocked" ? { step, verdict } : { step, verdict: asks(planned) };
				return after(checked, asking);
			}
			case "modify": {
				const modified = modifiedStep(planned.subject, cleaned);
				if (modified === undefined) return { step: cleaned, verdict: cannot(planned, cleaned) };
				return ofTool(modified, planned.rule);
			}
			case "allow":
				return ofTool(cleaned, "sanitizers");
		}
	};
	const ofTool = (step: RunnerStep, rule: string): MaybePromise<CheckedStep> => {
		if (step.type !== "tool") return changed(given, step, rule);
		const match = step === cleaned ? undefined : firstMatch(rules.config.contentFilter ?? [], step.input);
		if (match !== undefined)
			return {
				step,
				verdict: blocked("contentFilter", "CONTENT_BLOCKED", "its input contains filtered content"),
			};
		const decision = ask({ point: "tool-input", ...target, subject: step.input });
		const ofInput = (decided: PolicyDecision): CheckedStep => afterInput(rules, decided, given, step, rule);
		return after(decision, ofInput);
	};
	const planned = ask({ point: "planner-output", ...target, subject: cleaned });
	return after(planned, ofPlan);
}

function afterInput(
	{ config, mayAsk }: StepRules,
	decision: PolicyDecision,
	given: RunnerStep,
	cleaned: RunnerStep,
	rule: string,
): CheckedStep {
	switch (decision.action) {
		case "block":
		case "drop":
			return { step: cleaned, verdict: verdictOf(decision) };
		case "ask":
			return { step: cleaned, verdict: mayAsk ? asks(decision) : cannot(decision, cleaned) };
		case "modify": {
			const step = { ...cleaned, input: JSON.parse(JSON.stringify(decision.subject ?? null)) };
			if (firstMatch(config.contentFilter ?? [], step.input) !== undefined)
				return {
					step,
					verdict: blocked("contentFilter", "CONTENT_BLOCKED", "its input contains filtered content"),
				};
			return changed(given, step, decision.rule);
		}
		case "allow":
			return changed(given, cleaned, rule);
	}
}

/**
 * Returns the step that policy puts in place of another: of the same type, for the same tool. Undefined for anything
 * else.
 */
function modifiedStep(subject: unknown, { type, toolId }: RunnerStep): RunnerStep | undefined {
	const plain = JSON.parse(JSON.stringify(subject ?? null)) as Partial<RunnerStep> | null;
	if (typeof plain !== "object" || plain === null || plain.type !== type || plain.toolId !== toolId)
		return undefined;
	const { input, message, reason } = plain;
	if (message !== undefined && typeof message !== "string") return undefined;
	return {
		type,
		...(toolId === undefined ? {} : { toolId }),
		...(input === undefined ? {} : { input }),
		...(message === undefined ? {} : { message }),
		...(typeof reason === "string" ? { reason } : {}),
	};
}

/** A decision that cannot be applied blocks: the step must not pass just because there is no way to apply it. */
function cannot(
	{ action, rule }: Exclude<PolicyDecision, { action: "allow" }>,
	{ type }: RunnerStep,
): StepVerdict {
	if (action !== "ask")
		return blocked(
			rule,
			"POLICY_ERROR",
			`\`modify\` returned no step of the type ${JSON.stringify(type)}, or another tool`,
		);
	const why =
		type === "tool"
			? "`planActReflect` cannot ask a person. Give the tool `needsApproval`, and let the policy allow the step"
			: `a person cannot be asked about a step of the type ${JSON.stringify(type)}`;
	return blocked(rule, "POLICY_ERROR", why);
}

function changed(given: RunnerStep, step: RunnerStep, rule: string): CheckedStep {
	if (given === step || JSON.stringify(given) === JSON.stringify(step)) return { step: given };
	return {
		step,
		verdict: { action: "modified", rule, code: "MODIFIED", message: "Its input was changed by policy." },
	};
}

function blocked(rule: string, code: string, why: string): StepVerdict {
	return { action: "blocked", rule, code, message: `The step was blocked by policy: ${why}.` };
}

function verdictOf(decision: Extract<PolicyDecision, { action: "block" | "drop" }>): StepVerdict {
	const code = decision.action === "block" ? (decision.code ?? "POLICY_BLOCKED") : "POLICY_BLOCKED";
	const message = decision.reason ?? "The step was blocked by policy.";
	return { action: "blocked", rule: decision.rule, code, message };
}

function asks({ rule, reason }: Extract<PolicyDecision, { action: "ask" }>): StepVerdict {
	return {
		action: "ask",
		rule,
		code: "APPROVAL_NEEDED",
		message: reason ?? "The step requires approval by a person.",
	};
}
