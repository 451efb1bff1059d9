// The options of threads, validated on entry.
import { type AnswerLimits, checkOptions, HoldfastTypeError, optionNames, readDuration } from "@holdfast/upp";
import type { AgentOptions, Host } from "holdfast";
import type { Ports } from "holdfast/host";
import type { MiddlewareEntry } from "holdfast/middleware";
import type { Plugin } from "holdfast/plugins";
import type { EnvGiven } from "../environment/index.ts";
import type { ProjectSource, QueueMessageInput } from "../types/index.ts";
import type { ThreadLogger } from "./logs.ts";
import { type GivenMcp, requireMcp } from "./mcp-tools.ts";
import type { ThreadParts } from "./parts.ts";
import type { ProjectIndex } from "./project-index.ts";
import type { ThreadRecord } from "./records.ts";

/** Options of `threads()`. */
export interface ThreadsOptions {
	/** The agents of the threads. A change takes effect with the next turn. */
	readonly project: ProjectSource;
	/** The host that stores them: one with records, such as `sqliteHost()` or `memoryHost()`. */
	readonly host: Host;
	/** Values of the environment for all threads: a plain string is a secret. Default: none. */
	readonly env?: EnvGiven;
	/** Values of a user's account. Default: none. */
	readonly userEnv?: (userId: string) => EnvGiven | undefined | Promise<EnvGiven | undefined>;
	/** Model calls after which a turn ends if its side has no `maxSteps`. Default 250. */
	readonly stepCap?: number;
	/** Receives log entries: failed hooks and models, limits. Must not throw. Default: none. */
	readonly onLog?: ThreadLogger;
	/** Whether each request to a model is logged, without keys. Default false. */
	readonly logRequests?: boolean;
	/**
	 * Whether prompts can be edited while the project runs: `threads.prompts` stores versions with the threads, and the
	 * latest one takes effect with the next model call. Each call then reads one more record. Default `false`: prompts
	 * come from the project.
	 */
	readonly editablePrompts?: boolean;
	/** Resources of the program, available to tools as `_notPackableRuntimeContext`. Default: none. */
	readonly runtimeContext?: Record<string, unknown>;
	/** Replaces the built-in files, key-values, environment or effects. */
	readonly parts?: Partial<ThreadParts>;
	/**
	 * Policy around every execution, as in the options of any agent. An execution fails with `conflicting_options` if it
	 * changes the messages of a request, which threads assemble themselves. Default: none.
	 */
	readonly middleware?: readonly MiddlewareEntry[];
	/** Plugins, as in the options of any agent, with the same exception as `middleware`. Default: none. */
	readonly plugins?: readonly Plugin[];
	/**
	 * The MCP servers whose tools prompts may name, as `mcp:SERVER` or `mcp:SERVER.TOOL`: the result of `connectMcp` of
	 * `@holdfast/mcp`. The program closes them. Their tools are those that they have when a project is first used.
	 * Default: none.
	 */
	readonly mcp?: GivenMcp;
	/** Separates the threads of several projects in one store. Default: none. */
	readonly namespace?: string;
	/** Milliseconds for which a model's output is gathered before it is stored for followers. Default: not stored. */
	readonly keepDeltasMs?: number;
	/**
	 * How an execution waits if the provider is busy or unreachable, as in the options of an agent. On a durable host it waits by
	 * default; in memory, or with `"never"`, the execution fails and the next message runs normally.
	 */
	readonly modelWait?: AgentOptions["modelWait"];
	/** The longest silence of a model and the largest answer, as in the options of an agent. Default: those of an agent. */
	readonly config?: AnswerLimits;
	/** Time and ids. Default: the system's. */
	readonly ports?: Partial<Ports>;
}

/** Options for creating a thread. */
export interface CreateThreadOptions {
	/** Name of its agent. */
	readonly agentId: string;
	/** The user who owns the thread. Default: none. */
	readonly userId?: string | null;
	/** The tenant that owns the thread. Default: none. */
	readonly tenant?: string;
	/** Tags of the thread, for `list`. Default: none. */
	readonly tags?: readonly string[];
	/** Default: a new UUID. */
	readonly id?: string;
	/** The first message, which is sent immediately. */
	readonly message?: string | QueueMessageInput;
}

/** Receives the events that threads emit, in order. */
export type ThreadListener = (event: {
	readonly threadId: string;
	readonly event: string;
	readonly data: unknown;
}) => void;

const limitNames = optionNames<AnswerLimits>({ silenceMs: "number", maxAnswerCharacters: true });

const threadsNames = optionNames<ThreadsOptions>({
	project: true,
	host: true,
	env: "object",
	userEnv: "function",
	stepCap: "number",
	onLog: "function",
	logRequests: "flag",
	editablePrompts: "flag",
	runtimeContext: "object",
	parts: "object",
	middleware: "list",
	plugins: "list",
	mcp: "object",
	namespace: "text",
	keepDeltasMs: true,
	modelWait: true,
	config: true,
	ports: "object",
});

/** @throws HoldfastError `invalid_option` for invalid options; `mcp_tools_missing`. */
export function checkThreadsOptions(options: ThreadsOptions): void {
	checkOptions(options, threadsNames, { of: "threads()" });
	const { host, project, mcp } = options;
	if (typeof host?.journal !== "object")
		throw new HoldfastTypeError(
			"invalid_option",
			"The option `host` must be a host, such as the return value of `sqliteHost()` or `memoryHost()`.",
		);
	if (typeof project !== "object" || project === null)
		throw new HoldfastTypeError(
			"invalid_option",
			"The option `project` must be a project, such as `loadProject()` returns.",
		);
	readDuration("keepDeltasMs", options.keepDeltasMs, 0, { most: Number.POSITIVE_INFINITY });
	checkLimits(options.config);
	requireMcp(mcp, "current" in project ? project.current : project);
}

function checkLimits(config: AnswerLimits = {}): void {
	checkOptions(config, limitNames, { of: "`config` of threads()" });
	readDuration("config.silenceMs", config.silenceMs, 1, { most: Number.POSITIVE_INFINITY });
	if ((config.maxAnswerCharacters ?? 1) > 0) return;
	throw new HoldfastTypeError(
		"invalid_option",
		`The option \`config.maxAnswerCharacters\` is ${String(config.maxAnswerCharacters)}. It must be a number above 0, or Infinity.`,
		{ data: { option: "config.maxAnswerCharacters" } },
	);
}

/** Whether a variable stays in a thread, according to a definition of its project. */
export function isScoped(index: ProjectIndex, { agentId }: ThreadRecord, name: string): boolean {
	const { project } = index;
	const declared = [...project.tools.values(), ...project.prompts.values()].flatMap(
		({ definition }) => definition.variables ?? [],
	);
	return (
		project.agents.has(agentId) &&
		declared.some((variable) => variable.name === name && variable.scoped === true)
	);
}
