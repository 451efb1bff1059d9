// Sub-agents: how a prompt lists them, and the record that their parent keeps.

/** A parent's record of a sub-agent. */
export interface SubagentRegistryEntry {
	/** Its thread's ID: what the parent's tools name it by. */
	reference: string;
	/** Name of the agent. */
	name: string;
	/** Title of the agent. */
	title?: string;
	/** A description of the agent. */
	description: string;
	/** Whether it takes further messages. */
	resumable?: boolean;
	/** Whether the parent waits for it. */
	blocking?: boolean;
	/** Name of its thread. */
	threadName?: string;
	/** Shared by those that one step created. */
	spawnGroupId?: string;
	/** When it was created: microseconds since 1970. */
	createdAt?: number;
	/** Its current state, or the text of its `setStatus`. */
	status: "running" | "idle" | "terminated" | (string & {});
	/** How it reports to its parent. */
	parentCommunication?: "implicit" | "explicit";
}

/** Which sub-agent starts by itself, and under which names of the environment it finds what it needs. */
export interface ImmediateSubagent {
	/** The environment value that names the thread. */
	nameEnv?: string;
	/** The environment value that describes the purpose of the thread. */
	descriptionEnv?: string;
	/** Environment values given to the child alone. The model never sees them. */
	scopedEnv?: string[];
}

/** A sub-agent that takes further messages. */
export interface ResumableSubagent {
	/** The side that messages of the parent go to: `side_a` as user, `side_b` as assistant. */
	receives_messages: "side_a" | "side_b";
	/** Most instances at once, terminated ones not counted; no limit by default. */
	maxInstances?: number;
	/** Whether results are queued to the parent (`implicit`, the default) or only what `notifyParent` says. */
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
	/** The argument that lists the files given to the child. */
	initAttachmentsProperty?: string;
	/** The argument that names the child's thread. */
	initAgentNameProperty?: string;
	/** Whether the child starts before the first model step; `false` by default. */
	immediate?: boolean | ImmediateSubagent;
	/** Name of an environment value: the sub-agent is offered only while it is `true`, `1` or `yes`. */
	optional?: string;
	/** Whether and how the child takes further messages; `false` by default. */
	resumable?: false | ResumableSubagent;
}
