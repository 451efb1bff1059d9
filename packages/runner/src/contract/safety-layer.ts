// The interface between the agent and its safety layer.
import type { MaybePromise } from "holdfast/host";
import type { Interceptor } from "holdfast/middleware";
import type { ChatMessage } from "./llm-client.ts";
import type { EnforcementPoint } from "./safety-config.ts";

/** A run in the form that audit records identify it. */
export interface RunIdentity {
	readonly agentId: string;
	readonly sessionId?: string;
}

/** Rules of one agent, shared by all of its sessions. */
export interface SafetyLayer {
	/**
	 * Its part of the policy list: every fact is masked, then plans and reflections are checked, before they are
	 * committed.
	 */
	readonly interceptors: readonly Interceptor[];
	/** Whether the planner may see a tool. */
	allows(toolId: string): boolean;
	/**
	 * Checks whether one more attempt at a tool is within its rate limit; throws `RATE_LIMITED` with an audit record if
	 * not.
	 */
	checkAttempt(toolId: string, run: RunIdentity): MaybePromise<void>;
	/** Returns the prompt to send; throws `CONTENT_BLOCKED` if it may not be sent. */
	checkPrompt(messages: readonly ChatMessage[], run: RunIdentity): MaybePromise<readonly ChatMessage[]>;
	/** Returns the value to write instead, or undefined to write nothing. Throws if policy fails. */
	checkWrite(
		point: Extract<EnforcementPoint, "memory-write" | "database-write" | "prompt-write">,
		target: string,
		value: unknown,
		run: RunIdentity,
	): MaybePromise<{ readonly value: unknown } | undefined>;
	/** Checks the caller's permission; throws `RBAC_DENIED`. Synchronous, because constructors call it. */
	checkPermission(permission: "tool:register" | "agent:create", target: string): void;
}
