// The waits of a run: calls that need outside answers, calls of sub-agents that wait, and times.

/** A call that needs an outside answer. */
export interface PendingCall {
	/** The id of the call. */
	readonly callId: string;
	/** `result`: the result of a tool without a local function. `approval`: whether the call may run. */
	readonly awaits: "result" | "approval";
	/** Milliseconds since the epoch when the wait started. */
	readonly since: number;
	/** The time in milliseconds since the epoch after which the call fails. Absent: no time limit. */
	readonly deadline?: number;
	/** The input that is shown, approved and run, if hooks or the schema's defaults changed the model's arguments. */
	readonly input?: unknown;
	/** The input given to the schema, if hooks changed the model's arguments. */
	readonly given?: unknown;
	/** Hash of the tool, its schema and the policy that the input passed. Absent if an earlier release wrote the fact. */
	readonly basis?: string;
	/** Set if the approver may change the input. */
	readonly mayEdit?: true;
	/**
	 * Set if answers must not wait in the inbox: the policy changes answers, and does not define how it changes those in
	 * the inbox.
	 */
	readonly noInbox?: true;
}

/** A delegation on the path to a call of a sub-agent: the agent, and the call that delegated to it. */
export interface CallPathStep {
	/** Name of the sub-agent. */
	readonly agent: string;
	/** Id of the delegating call, unique in the session of that call. */
	readonly toolCallId: string;
}

/** A call of a sub-agent's run that needs an outside answer. */
export interface NestedCall extends PendingCall {
	/** The id under which the call is known in this session; `callId` is its own. */
	readonly id: string;
	/** The delegations from this run down to the run of the call. The first is a call of this run. */
	readonly path: readonly CallPathStep[];
	/** The tool to run. */
	readonly toolName: string;
	/** The arguments of the call. */
	readonly arguments: Readonly<Record<string, unknown>>;
}

/** A call of this run whose sub-agent waits, or has calls that wait while it still runs others. */
export interface WaitingChild {
	/** The delegating call of this run. */
	readonly callId: string;
	/** Name of the sub-agent. */
	readonly agent: string;
	/** The key of its session in the store. */
	readonly storeKey: string;
	/** Seq of the last entry of its session. Once there are later entries, the call continues. */
	readonly seq: number;
	/** Set while its run is in progress: the run accepts answers and expires its own calls. */
	readonly status?: "running";
	/**
	 * The calls it waits for, including those of its own sub-agents. Empty if it waits for a time, or for other work in
	 * its session.
	 */
	readonly calls: readonly NestedCall[];
	/** Its other wait. If there are several, the one that ends first. */
	readonly wait?: PendingWait;
}

/** A run waits for a time or an input, whichever comes first. */
export interface PendingWait {
	/** The subject of the wait: the strategy's own tag, or `model` for the model's provider. */
	readonly tag: string;
	/** In milliseconds since the epoch. Absent: it waits for an input only. */
	readonly until?: number;
	/** Set if the run, not the strategy, waits: the provider of its model is busy or unreachable. */
	readonly model?: {
		/** Time of the first failure since the last answer, in milliseconds since the epoch. */
		readonly since: number;
		/** How many times the model has failed since then. */
		readonly attempt: number;
		/** Code of the provider's last error. */
		readonly code: string;
	};
}
