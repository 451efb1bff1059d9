// What the agent asks of its safety layer and of its redactor: the seam between the two and all that runs.
import type { MaybePromise } from "holdfast/host";
import type { Interceptor } from "holdfast/middleware";
import type { ChatMessage } from "./llm-client.ts";
import type { EnforcementPoint } from "./safety.ts";

/** A run, as audit records name it. */
export interface RunIdentity {
	readonly agentId: string;
	readonly sessionId?: string;
}

/** Rules of one agent, shared by all of its sessions. */
export interface SafetyLayer {
	/** Its place in the one list of policy: it looks at every plan, reflection and result before it is committed. */
	readonly interceptor: Interceptor;
	/** Whether the planner is shown a tool. */
	allows(toolId: string): boolean;
	/** Whether one more attempt at a tool is within its rate; throws `RATE_LIMITED` with an audit record where it is not. */
	checkAttempt(toolId: string, run: RunIdentity): MaybePromise<void>;
	/** The prompt to send; throws `CONTENT_BLOCKED` where it may not be sent. */
	checkPrompt(messages: readonly ChatMessage[], run: RunIdentity): MaybePromise<readonly ChatMessage[]>;
	/** What is written in place of a value; undefined where nothing is. Throws where policy fails. */
	checkWrite(
		point: Extract<EnforcementPoint, "memory-write" | "database-write" | "prompt-write">,
		target: string,
		value: unknown,
		run: RunIdentity,
	): MaybePromise<{ readonly value: unknown } | undefined>;
	/** Whether the caller may; throws `RBAC_DENIED`. Synchronous: constructors ask. */
	checkPermission(permission: "tool:register" | "agent:create", target: string): void;
}

/** Masks what must not be seen: with `[REDACTED:type]`, in strings wherever they are in plain data. */
export interface Redactor {
	/** PII and secrets. */
	redact<Value>(value: Value): Value;
	/** Secrets alone: what is shown to the user keeps PII. */
	maskSecrets<Value>(value: Value): Value;
	/** For text that comes in pieces: holds back what may be the beginning of something. */
	stream(): { push(piece: string): string; flush(): string };
}
