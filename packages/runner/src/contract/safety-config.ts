// The questions to policy, its answers, and their record.

/** The place of policy between a decision and its effect. */
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
	/** The tool, stream, collection or template it is about. */
	readonly target?: string;
	/** The step, message or value that would be run, sent or written. */
	readonly subject: unknown;
}

/** What policy answers. `ask` leaves it to a person: the run waits for an approval. */
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

/** One intervention of policy, on record. */
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

/** Takes audit records. One that rejects keeps the action from being carried out. */
export interface AuditSink {
	write(record: AuditRecord): void | Promise<void>;
}
