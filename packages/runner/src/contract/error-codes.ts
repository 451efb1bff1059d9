// Codes of errors that a run reports as data, in its result, its actions and its events, and does not throw.

/** The values of `ResultError.code` in addition to the codes of thrown errors. */
export const resultCodes = [
	"APPROVAL_NEEDED",
	"AUDIT_WRITE_FAILED",
	"CONTENT_BLOCKED",
	"MEMORY_FAILED",
	"MODEL_TIMEOUT",
	"MODEL_UNAVAILABLE",
	"MODEL_FAILED",
	"NETWORK_DISABLED",
	"PLANNER_FAILED",
	"PLAN_INVALID",
	"POLICY_BLOCKED",
	"POLICY_ERROR",
	"REFLECTOR_FAILED",
	"REPLAY_DIVERGED",
	"RUN_FAILED",
	"SAFETY_VIOLATION",
	"SHELL_DISABLED",
	"TOOL_DENIED",
	"TOOL_FAILED",
	"TOOL_FATAL",
	"TOOL_INPUT_INVALID",
	"TOOL_NOT_ALLOWED",
	"TOOL_NOT_ENABLED",
	"TOOL_NOT_FOUND",
	"TOOL_NOT_RUN",
	"TOOL_OUTCOME_UNKNOWN",
	"TOOL_OUTPUT_INVALID",
	"TOOL_REFUSED",
	"TOOL_TIMEOUT",
] as const;

/** One of them. */
export type ResultCode = (typeof resultCodes)[number];
