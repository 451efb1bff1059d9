// The agents and workflows that a workflow's code runs.

/** A workflow, as `child()` and `spawn()` take it. */
export interface ChildWorkflow<Input, Output> {
	readonly name: string;
	session(key: string): {
		send(input: Input): Promise<{ result(): Promise<{ readonly output?: Output }> }>;
	};
}

/** A child workflow that runs alongside the code. */
export interface FlowChild<Output = unknown> {
	/** Identifies the child within the run. */
	readonly id: string;
	/** Resolves with the child's result. Rejects with `tool_call_failed` if it failed or was cancelled. */
	result(): Promise<Output>;
	/** Cancels the child. Resolves when it has ended. */
	cancel(): Promise<void>;
}

/** An agent with a name. */
export interface NamedAgent<Output> {
	readonly name?: string;
	readonly "~types"?: { readonly output: Output } | undefined;
}
