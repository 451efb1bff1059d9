// Errors that may occur in a scenario with faults.

/** Error codes that may occur with any store. */
export const expectedErrors: ReadonlySet<string> = new Set([
	"agent_closed",
	"duplicate_input",
	"events_expired",
	"fork_unsettled",
	"history_unsettled",
	"journal_failed",
	"lease_lost",
	"no_pending_tool_calls",
	"run_failed",
	"run_parked",
	"run_suspended",
	"session_busy",
	"session_held",
	"session_killed",
	"tool_call_settled",
	"tool_result_conflict",
	"tool_result_expired",
	"unknown_tool_call_id",
	"PROVIDER_ERROR",
	"CANCELLED",
]);
