// The questions to policy, its answers, and their record.

/** The point between a decision and its effect at which policy runs. */
export type EnforcementPoint =
	| "planner-output"
	| "tool-input"
	| "model-prompt"
	| "memory-write"
	| "database-write"
	| "prompt-write"
	| "registration";

/** A question to policy. */
export interface PolicyQuestion {
	/** Where policy runs. */
	readonly point: EnforcementPoint;
	/** The agent that asks. */
	readonly agentId: string;
	/** The session that asks, if there is one. */
	readonly sessionId?: string;
	/** The tool, stream, collection or template that the question is about. */
	readonly target?: string;
	/** The step, message or value to run, send or write. */
	readonly subject: unknown;
}

/** A policy decision. `ask` leaves it to a person: the run waits for an approval. */
export type PolicyDecision =
	| { readonly action: "allow" }
	| { readonly action: "block"; readonly rule: string; readonly code?: string; readonly reason?: string }
	| { readonly action: "modify"; readonly rule: string; readonly subject: unknown; readonly reason?: string }
	| { readonly action: "drop"; readonly rule: string; readonly reason?: string }
	| { readonly action: "ask"; readonly rule: string; readonly reason?: string };

/** A custom policy. An error, or an answer later than `policyTimeoutMs`, blocks. */
export interface PolicyEngine {
	/** Decides one question. `context.signal` fires after `policyTimeoutMs`. */
	check(
		question: PolicyQuestion,
		context: { readonly signal: AbortSignal },
	): PolicyDecision | Promise<PolicyDecision>;
}

/** One recorded intervention of policy. */
export interface AuditRecord {
	/** A UUID. */
	readonly id: string;
	/** ISO 8601, UTC. */
	readonly timestamp: string;
	/** The agent that the decision was about. */
	readonly agentId: string;
	/** The session; absent for decisions about the agent as a whole. */
	readonly sessionId?: string;
	/** Where policy ran; `access` for a role check, `prompt` for a stored template. */
	readonly point: EnforcementPoint | "access" | "prompt";
	/** The rule that decided. */
	readonly rule: string;
	/** The decision of the rule. */
	readonly action: "blocked" | "modified" | "dropped" | "denied" | "approved" | "asked" | "put";
	/** The subject, redacted. */
	readonly subject?: unknown;
}

/** Receives audit records. If it rejects, the action is not executed. */
export interface AuditSink {
	/** Called with each record, before the action takes effect. */
	write(record: AuditRecord): void | Promise<void>;
}
