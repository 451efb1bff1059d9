// The responses of the inspector's routes. All data is masked.
import type { TokenUsage } from "@holdfast/upp";

/** A journal entry in the form that is shown. */
export interface ShownEntry {
	/** Position in the journal, from 1. */
	readonly seq: number;
	/** Milliseconds since the epoch; 0 if it is not known. */
	readonly at: number;
	/** The run that it belongs to. */
	readonly runId: string;
	/** The kind of its fact: `run.started`, `assistant`, `tool.settled` …; `unreadable` for a damaged entry. */
	readonly kind: string;
	/** The fact as JSON; `{ code, message }` of the error for a damaged entry. */
	readonly body: Readonly<Record<string, unknown>>;
	/** Long texts and lists were cut; request the single entry for all of it. */
	readonly isCut?: true;
}

/**
 * The status of a session. `running`: a worker owns it. `waiting`: for answers, a time or its model. `parked`: until it
 * is released. `interrupted`: its worker died, and no other owns it yet. `queued`: a message waits. `unreadable`: its data is
 * damaged or of a later release, or it is incomplete. The others: how its last run ended.
 */
export type ShownStatus =
	| "idle"
	| "queued"
	| "running"
	| "waiting"
	| "parked"
	| "interrupted"
	| "completed"
	| "error"
	| "aborted"
	| "killed"
	| "unreadable";

/** A session in a list. */
export interface InspectedSession {
	readonly sessionId: string;
	/** The state of the session. */
	readonly status: ShownStatus;
	/** The first message; absent if there is none. */
	readonly title?: string;
	/** Number of entries in its journal. */
	readonly seq: number;
	/** Milliseconds since the epoch; 0 if they are not known. */
	readonly createdAt: number;
	/** Milliseconds since the epoch; 0 if they are not known. */
	readonly updatedAt: number;
	/** Name of the agent that works on it; absent if it has none. */
	readonly agent?: string;
	/** The user that it belongs to; absent if it is not known. */
	readonly user?: string;
	/** Why its last run failed, or why it cannot be read; absent otherwise. */
	readonly failure?: { readonly code: string; readonly message: string };
	/** What it waits for, such as `2 approvals`; absent unless it waits. */
	readonly waitsFor?: string;
}

/** A session that a search skips entirely or in part: its data is damaged or of a later release, or it is incomplete. */
export interface UnreadableSession {
	readonly sessionId: string;
	readonly code: string;
}

/** What can be tried outside of runs. */
export type Playground = "off" | "models" | "models-and-tools";

/** The actions that a server allows its inspector. */
export interface InspectorAbout {
	/** The listed kind, which determines the public routes for actions. */
	readonly kind: "sessions" | "threads";
	/** Names of the models for a fork; absent if they cannot be listed. */
	readonly models?: readonly string[];
	/** Whether there are versions of prompts to view and edit. */
	readonly hasPrompts: boolean;
	/** Whether the agent has skills. */
	readonly hasSkills: boolean;
	/** What can be tried outside of runs. */
	readonly playground: Playground;
}

/** A skill that a session has loaded. */
export interface SkillLoad {
	readonly name: string;
	/** The beginning of the SHA-256 of its text. */
	readonly hash: string;
	/** The entry of the result. */
	readonly seq: number;
	/** In milliseconds since the epoch. */
	readonly at: number;
}

/** A skill that one of the sessions has loaded. */
export interface ShownSkillLoad extends SkillLoad {
	readonly sessionId: string;
}

/** A version of a prompt. */
export interface ShownPrompt {
	/** Id of the prompt. */
	readonly id: string;
	/** The version of this text. */
	readonly version: string;
	/** A name for people. */
	readonly name?: string;
	/** The text. */
	readonly text: string;
	/** The syntax of its variables; absent if it has none. */
	readonly engine?: string;
	/** The author of this version. */
	readonly createdBy?: string;
	/** ISO 8601, UTC. */
	readonly createdAt?: string;
}

/** The totals of a session. */
export interface SessionCounts {
	/** Number of runs. */
	readonly runs: number;
	/** Number of steps. */
	readonly steps: number;
	/** Answers of models. */
	readonly answers: number;
	/** Number of tool calls. */
	readonly toolCalls: number;
	/** Input tokens of all answers. */
	readonly inputTokens: number;
	/** Output tokens of all answers. */
	readonly outputTokens: number;
	/** Input tokens that providers read from their prompt caches. */
	readonly cachedTokens: number;
	/** US dollars of the answers with a known price. */
	readonly cost: number;
	/** Number of answers without a known price. */
	readonly unpriced: number;
	/** Failed runs and failed tool calls. */
	readonly errors: number;
	/** Milliseconds spent in models. */
	readonly modelMs: number;
	/** Milliseconds from the start to the end of its ended runs, including waits. */
	readonly runMs: number;
	/** Number of entries that cannot be read. */
	readonly unreadable: number;
}

/** Counts of a session, by its id. */
export interface InspectedCounts {
	readonly sessionId: string;
	/** Its totals. */
	readonly counts: SessionCounts;
	/** Names of the tools that it called, and codes of its errors: the first fifty of each. */
	readonly tools: readonly string[];
	/** Codes of its errors, the first fifty. */
	readonly codes: readonly string[];
}

/** The first entry of a session that contains the words of a search. */
export interface FoundText {
	readonly sessionId: string;
	readonly seq: number;
	/** Milliseconds since the epoch. */
	readonly at: number;
	readonly kind: string;
	/** The text around the first word, masked. */
	readonly excerpt: string;
}

/** The activity of all examined sessions in one interval. */
export interface UsageBucket extends Omit<SessionCounts, "runs" | "steps" | "runMs" | "unreadable"> {
	/** Its start, in milliseconds since the epoch. */
	readonly at: number;
	/** Milliseconds of the slowest answer. */
	readonly slowestMs: number;
}

/** The activity of one agent, model or tool in a period. */
export interface UsageGroup {
	readonly kind: "agent" | "model" | "tool";
	/** Empty for an agent without a name. */
	readonly name: string;
	/** Answers of models; calls of a tool. */
	readonly count: number;
	readonly inputTokens: number;
	readonly outputTokens: number;
	readonly cachedTokens: number;
	readonly cost: number;
	readonly unpriced: number;
	readonly errors: number;
	/** Latencies in milliseconds, within 8 %; absent if nothing was measured. */
	readonly p50?: number;
	readonly p95?: number;
}

/** The latencies of the answers in one interval, in milliseconds. */
export interface UsageLatency {
	readonly p50?: number;
	readonly p95?: number;
}

/** A session or child session, and its origin. */
export interface SessionLook {
	/** Name of the sub-agent. */
	readonly subagent: string;
	/** Its name for the routes. */
	readonly child: string;
	/** Its id, if it is a session of its own. */
	readonly sessionId?: string;
	/** The child session that started it; absent if the session itself did. */
	readonly parent?: string;
	/** The state of the session. */
	readonly status: ShownStatus;
	/** Why it cannot be read; absent if it can. */
	readonly failure?: { readonly code: string; readonly message: string };
	/** Number of entries in its journal. */
	readonly seq: number;
	/** Milliseconds since the epoch; 0 if they are not known. */
	readonly createdAt: number;
	/** Milliseconds since the epoch; 0 if they are not known. */
	readonly updatedAt: number;
}

/** A call of a background task that waits for an outside answer. */
export interface ShownWaitingCall {
	/** Id of the call. */
	readonly callId: string;
	/** The tool to run. */
	readonly name: string;
	/** The arguments of the call. */
	readonly input: unknown;
	/** Whether it waits for an approval or for a result. */
	readonly awaits: "result" | "approval";
	/** The run that an approval is for. */
	readonly runId?: string;
	/** Milliseconds since the epoch; absent without a deadline. */
	readonly deadline?: number;
	/** Names of the sub-agents that lead to it. */
	readonly agents: readonly string[];
	/** The background task that made the call. */
	readonly taskId: string;
	/** Set if an approval may change its input. */
	readonly mayEdit?: true;
}

/** The details of a session. */
export interface ShownSession extends Omit<InspectedSession, "agent"> {
	/** Name of the agent that works on it; absent if it has none. */
	readonly agentName?: string;
	/** Its totals. */
	readonly counts: SessionCounts;
	/** The session and entry that it was forked from. */
	readonly origin?: { readonly sessionId: string; readonly seq: number };
	/** Its forks, each with the entry it was forked from. */
	readonly forks: readonly { readonly sessionId: string; readonly seq: number }[];
	/** The sessions of its sub-agents. */
	readonly children: readonly SessionLook[];
	/** Parts that cannot be read, such as `forks` or `sub-agents`; absent if all can. */
	readonly damage?: readonly { readonly part: string; readonly code: string; readonly message: string }[];
	/** Waiting calls of its background tasks. */
	readonly background?: readonly ShownWaitingCall[];
	/** The inputs of its next turn; absent if they cannot be determined. */
	readonly agent?: {
		readonly model?: string;
		readonly system?: string;
		readonly tools: readonly {
			readonly name: string;
			readonly description: string;
			readonly parameters: unknown;
		}[];
		readonly params: Readonly<Record<string, unknown>>;
	};
}

/** The request behind a model's answer, and the answer. */
export interface ShownStep {
	/** Rebuilt from the journal: the earlier messages, with the session's current instructions, tools and parameters. */
	readonly request: {
		readonly model: string;
		readonly system?: string;
		readonly tools?: readonly unknown[];
		readonly params?: Readonly<Record<string, unknown>>;
		readonly messages: readonly unknown[];
	};
	/** Whether each part is what was sent, according to what was recorded then. */
	readonly parts: Readonly<Record<"model" | "instructions" | "tools" | "messages", ShownPart>>;
	/** The strategy added a message, which is not recorded, or prevented the model from using or seeing the tools. */
	readonly strategy?: { readonly prompt?: string; readonly tools?: "shown" | "withheld" };
	/** The parts that `prepareStep` changed for this call. */
	readonly prepared?: readonly string[];
	/** The answer. */
	readonly reply: ShownEntry;
}

/** Whether a part of a request is what was sent. `unknown`: nothing about it was recorded. */
export type ShownPart = "same" | "differs" | "unknown";

/** The answer of a model that was tried. */
export interface ShownTrialAnswer {
	readonly modelId: string;
	readonly message: unknown;
	readonly usage: TokenUsage;
	readonly stopReason: string;
	/** Milliseconds. */
	readonly duration: number;
	/** US dollars; absent if the model's prices are unknown. */
	readonly cost?: number;
}

/** The result of a tool that was tried. */
export interface ShownTrialResult {
	readonly result: unknown;
	readonly isError: boolean;
	readonly streamed: string;
	/** Milliseconds. */
	readonly duration: number;
}
