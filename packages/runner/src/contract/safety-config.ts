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
	readonly point: EnforcementPoint;
	readonly agentId: string;
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
	check(
		question: PolicyQuestion,
		context: { readonly signal: AbortSignal },
	): PolicyDecision | Promise<PolicyDecision>;
}

/** One recorded intervention of policy. */
export interface AuditRecord {
	readonly id: string;
	/** ISO 8601, UTC. */
	readonly timestamp: string;
	readonly agentId: string;
	readonly sessionId?: string;
	readonly point: EnforcementPoint | "access" | "prompt";
	readonly rule: string;
	readonly action: "blocked" | "modified" | "dropped" | "denied" | "approved" | "asked" | "put";
	/** The subject, redacted. */
	readonly subject?: unknown;
}

/** Receives audit records. If it rejects, the action is not executed. */
export interface AuditSink {
	write(record: AuditRecord): void | Promise<void>;
}
