// Sub-agents: their configuration in a prompt, and the record that their parent keeps.

/** A parent's record of a sub-agent. */
export interface SubagentRegistryEntry {
	/** Its thread's ID, by which the parent's tools refer to it. */
	reference: string;
	/** Name of the agent. */
	name: string;
	/** Title of the agent. */
	title?: string;
	/** A description of the agent. */
	description: string;
	/** Whether it accepts further messages. */
	resumable?: boolean;
	/** Whether the parent waits for it. */
	blocking?: boolean;
	/** Name of its thread. */
	threadName?: string;
	/** Shared by the sub-agents that one step created. */
	spawnGroupId?: string;
	/** When it was created, in microseconds since 1970. */
	createdAt?: number;
	/** Its current state, or the text of its `setStatus`. */
	status: "running" | "idle" | "terminated" | (string & {});
	/** How it reports to its parent. */
	parentCommunication?: "implicit" | "explicit";
}

/** A sub-agent that starts automatically, and the names of the environment values that it needs. */
export interface ImmediateSubagent {
	/** The environment value that names the thread. */
	nameEnv?: string;
	/** The environment value that describes the purpose of the thread. */
	descriptionEnv?: string;
	/** Environment values for the child only. The model never sees them. */
	scopedEnv?: string[];
}

/** A sub-agent that accepts further messages. */
export interface ResumableSubagent {
	/** The side that receives messages of the parent: `side_a` as user, `side_b` as assistant. */
	receives_messages: "side_a" | "side_b";
	/** Maximum number of instances at once, not counting terminated ones; no limit by default. */
	maxInstances?: number;
	/** Whether results are queued to the parent (`implicit`, the default), or only messages from `notifyParent`. */
	parentCommunication?: "implicit" | "explicit";
}

/** A sub-agent in a prompt's `tools`. */
export interface SubagentToolConfig<Name extends string = string> {
	/** Name of a `dual_ai` agent, or of an `ai_human` one that is exposed. */
	name: Name;
	/** Whether the parent waits for the outcome; `true` by default. */
	blocking?: boolean;
	/** The argument that becomes the child's first message. */
	initUserMessageProperty?: string;
	/** The argument that lists the files to pass to the child. */
	initAttachmentsProperty?: string;
	/** The argument that names the child's thread. */
	initAgentNameProperty?: string;
	/** Whether the child starts before the first model step; `false` by default. */
	immediate?: boolean | ImmediateSubagent;
	/** Name of an environment value: the sub-agent is offered only while it is `true`, `1` or `yes`. */
	optional?: string;
	/** Whether and how the child accepts further messages; `false` by default. */
	resumable?: false | ResumableSubagent;
}
