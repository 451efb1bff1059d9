// The agent in the form that its sessions use: with the tools and hooks of its plugins, once they are set up.
import { HoldfastTypeError } from "@holdfast/upp";
import { type EngineAgent, isAwaitedBy, modelWaitDefaults, waitFor, withinCall } from "../engine/index.ts";
import type { Mutable } from "../facts/index.ts";
import type {
	FileStore,
	Host,
	Journal,
	MaybePromise,
	SessionData,
	SessionKeys,
	SessionStore,
	ValueStore,
} from "../host/index.ts";
import { awaitedHost, memoryHost, memoryValues, systemWarn } from "../host/index.ts";
import type { OutputSchema } from "../output/index.ts";
import {
	AgentPolicy,
	admitWaitingOf,
	askModel,
	checkPlugins,
	type Interceptor,
	type PluginSet,
	type PolicyAgent,
	type PolicyFiles,
	policyFiles,
	policyValues,
	setupPlugins,
} from "../policy/index.ts";
import type { SessionAgent, SessionHome, TurnRequest } from "../sessions/index.ts";
import { awaitsOwnSetup } from "../sessions/index.ts";
import { isDecider } from "../strategies/index.ts";
import { type BindTool, delegatingAgent, type Subagent, workOf } from "../subagents/index.ts";
import type { AnyTool } from "../tools/index.ts";
import { journalOfStore, valuesOfStore } from "./foreign-host.ts";
import { hasOwnTools } from "./llm-instance.ts";
import { type AgentOptions, resolveAgent } from "./options.ts";
import { withSections } from "./system-option.ts";

/**
 * Without a limit, a run that kills its process each time would take down every worker in turn, and the sessions of
 * others with them. Five crashes rule out coincidence, and are few enough to stop soon.
 */
const defaultRestarts = 5;

/** The options of a turn that may replace the agent's own. */
export type TurnOptions = Pick<
	AgentOptions,
	"model" | "execution" | "system" | "instructions" | "tools" | "params" | "config" | "maxSteps" | "prices"
>;

/**
 * Returns the options that replace the agent's in a session's turns, or undefined for none. Called before each turn and
 * each resume, so a change takes effect with the next one. The same object means the same agent, so cache and reuse it.
 */
export type AgentFor = (turn: TurnRequest) => MaybePromise<TurnOptions | undefined>;

/** The parts of an agent that has sessions. */
export interface SessionAgentParts {
	/** The agent in the form that its policy sees. */
	readonly agent: PolicyAgent;
	readonly options: AgentOptions;
	readonly engine: EngineAgent;
	readonly subagents?: readonly Subagent[];
	readonly agentFor?: AgentFor | undefined;
	readonly keys: SessionKeys;
	readonly home?: SessionHome | undefined;
	/** The data of the parent's store, for the sessions of a sub-agent without its own store. */
	readonly data?: SessionData | undefined;
}

const noTools: readonly AnyTool[] = [];

/** What plugins contribute to the agent itself. */
type PluginParts = Pick<PluginSet, "tools" | "callTools" | "instructions">;
const noParts: PluginParts = { tools: noTools, callTools: noTools, instructions: [] };

/**
 * Starts setting up the plugins; sessions wait for it before their first turn.
 * @throws HoldfastError `invalid_option` if `plugins` is not a list of plugins.
 */
export function sessionAgentOf(parts: SessionAgentParts): SessionAgent {
	const { agent: agentItself, options, engine, subagents = [], agentFor, keys, home } = parts;
	const {
		plugins = [],
		namespace,
		maxRestarts = defaultRestarts,
		onAgentChange = "continue",
		unread = "continue",
		modelWait,
		onWarning = systemWarn,
	} = options;
	const { id } = agentItself;
	const middleware = [...policyOf(options), ...(options.middleware ?? [])];
	checkPlugins(plugins);
	let ofPlugins: PluginParts = noParts;
	const optionsWith = (tools: readonly AnyTool[], given?: TurnOptions): AgentOptions => {
		const all = { ...options, ...given };
		const { instructions: sections } = ofPlugins;
		if (sections.length === 0) return { ...all, tools };
		const { instructions, system = instructions, ...others } = all;
		return {
			...others,
			system: withSections(system, sections),
			tools,
		};
	};
	const engineWith = (tools: readonly AnyTool[], given?: TurnOptions, bind?: BindTool): EngineAgent => {
		const all = { ...options, ...given };
		checkContributions(ofPlugins, all);
		const own = [...toolList(all.tools), ...ofPlugins.tools];
		const bound = bind === undefined ? own : own.map((tool) => bind(tool, all));
		return resolveAgent(id, optionsWith([...bound, ...tools], given));
	};
	/** Calls have no sub-agents, and only those tools of plugins that need no session. */
	const engineOfCalls = (output: unknown): EngineAgent => {
		const all = optionsWith([...toolList(options.tools), ...ofPlugins.callTools]);
		if (output === undefined) return resolveAgent(id, all);
		const { structure: _, ...own } = all;
		return resolveAgent(id, { ...own, output: output as OutputSchema });
	};
	const policyWith = (values: ValueStore, set?: PluginSet, files?: PolicyFiles): AgentPolicy =>
		new AgentPolicy({ agent: agentItself, middleware, plugins: set, values, files, keys });
	const agent: Mutable<SessionAgent> = {
		engine,
		policy:
			middleware.length === 0 || plugins.length > 0
				? undefined
				: policyWith(policyValues(valuesOf(parts.data ?? home?.data), keys)),
		admitWaiting: admitWaitingOf(middleware),
		setup: undefined,
		namespace,
		keys,
		restarts: { maxRestarts, onAgentChange },
		home,
		unread,
		modelWait: typeof modelWait === "object" ? { ...modelWaitDefaults, ...modelWait } : modelWait,
		warn: onWarning,
	};
	if (agentFor !== undefined) agent.resolve = resolved(agentFor, engineWith, () => agent.setup === undefined);
	const delegates =
		subagents.length > 0 || toolList(options.tools).some((tool) => workOf(tool) !== undefined);
	if (delegates)
		agent.inTable = (table) =>
			delegatingAgent(agent, subagents, table, (more, bind) => engineWith(more, undefined, bind));
	const keepsData = plugins.length > 0 || middleware.length > 0;
	if (keepsData && home === undefined && parts.data === undefined)
		agent.inStore = (ofParent) => sessionAgentOf({ ...parts, data: ofParent });
	if (plugins.length === 0) return agent;
	const workerId = engine.ports.ids.uuid();
	let memory: Host | undefined;
	let data = parts.data ?? home?.data;
	/** Where plugins store data: with the sessions. Without a host, a plugin may have provided their store. */
	const place = (store: unknown): void => {
		if (data !== undefined) return;
		if (store === undefined) memory = memoryHost({ workerId });
		data = memory ?? { values: valuesOfStore(store as SessionStore) };
	};
	const placed = (): SessionData => data as SessionData;
	const values = policyValues(() => placed().values, keys);
	const files = policyFiles(() => placed().files, keys);
	let begun: { readonly set: Promise<PluginSet>; readonly ready: Promise<void> } | undefined;
	// Starts when the agent is first used: an agent whose options are only reused by others sets nothing up.
	const setUp = (): NonNullable<typeof begun> => {
		if (begun !== undefined) return begun;
		// A call started during setup belongs to the setup. The agent waits for it, so it must not wait for the agent.
		const set = withinCall(agent, () =>
			setupPlugins(plugins, {
				ask: askModel(engine),
				values(store) {
					place(store);
					return values;
				},
				files: () => files,
			}),
		);
		const ready = set.then((made) => {
			checkStore(made, options);
			checkContributions(made, options);
			agent.policy = policyWith(values, made, files);
			ofPlugins = made;
			if (made.tools.length > 0 || made.instructions.length > 0) agent.engine = engineWith([]);
			if (made.callTools.length > 0 || made.instructions.length > 0) {
				const ofCalls = engineOfCalls(undefined);
				agent.engineOfCalls = (output) => (output === undefined ? ofCalls : engineOfCalls(output));
			}
			agent.setup = undefined;
		});
		begun = { set, ready };
		return begun;
	};
	if (options.host === undefined && parts.data === undefined) {
		let known: Promise<Journal> | undefined;
		const journal = async (): Promise<Journal> => {
			const { set, ready } = setUp();
			await ready;
			const { sessionStore } = await set;
			return memory?.journal ?? journalOfStore(sessionStore as SessionStore, workerId);
		};
		const host = awaitedHost(workerId, () => waitFor(agent, () => (known ??= journal()), awaitsOwnSetup));
		const { capabilities, close } = host;
		agent.host = {
			journal: host.journal,
			...(capabilities === undefined ? {} : { capabilities }),
			close,
			// It is known at that point, because the session is always read before its data.
			get values() {
				return placed().values;
			},
			get files() {
				return placed().files as FileStore;
			},
		};
	}
	agent.setup = {
		over: () => waitFor(agent, () => setUp().ready, awaitsOwnSetup),
		check() {
			if (isAwaitedBy(agent)) throw awaitsOwnSetup();
		},
	};
	return agent;
}

/** Returns the agents of turns. Each is created once per set of options and tools. */
function resolved(
	agentFor: AgentFor,
	engineWith: (tools: readonly AnyTool[], given: TurnOptions, bind?: BindTool) => EngineAgent,
	isSetUp: () => boolean,
): NonNullable<SessionAgent["resolve"]> {
	const made = new WeakMap<readonly AnyTool[], WeakMap<TurnOptions, EngineAgent>>();
	return async (turn, tools = noTools, bind?: BindTool) => {
		const given = await agentFor(turn);
		if (given === undefined) return undefined;
		const known = made.get(tools) ?? new WeakMap();
		const engine = known.get(given) ?? engineWith(tools, given, bind);
		// The agent includes contributions of plugins, so it is incomplete during setup.
		if (isSetUp()) made.set(tools, known.set(given, engine));
		return engine;
	};
}

/** @throws HoldfastError `invalid_option` if a plugin and the options define where sessions are stored. */
function checkStore({ sessionStore }: PluginSet, { host }: AgentOptions): void {
	if (sessionStore === undefined || host === undefined) return;
	throw new HoldfastTypeError(
		"invalid_option",
		"Both a plugin and the option `host` define where sessions are stored. Use one of them.",
	);
}

/** @throws HoldfastError `invalid_option` if plugins contribute what the model excludes. */
function checkContributions({ tools, instructions }: PluginParts, { model }: AgentOptions): void {
	if ((tools.length === 0 && instructions.length === 0) || !hasOwnTools(model)) return;
	throw new HoldfastTypeError(
		"invalid_option",
		"A plugin adds tools or instructions, but the option `model` is a function or an instance, which has its own.",
	);
}

/** Returns where middleware stores values of sessions. Without a host, that is in memory. */
function valuesOf(data: SessionData | undefined): () => ValueStore {
	if (data !== undefined) return () => data.values;
	let made: ValueStore | undefined;
	return () => {
		made ??= memoryValues();
		return made;
	};
}

/** Returns the tools as a list that others can be added to. Tools from a record get its names. */
function toolList(tools: AgentOptions["tools"]): readonly AnyTool[] {
	if (tools === undefined || Array.isArray(tools)) return tools ?? [];
	return Object.entries(tools).map(([name, tool]) => ({ ...tool, name }));
}

/** Returns the policy of the strategy if the engine drives it. */
function policyOf({ execution }: AgentOptions): readonly Interceptor[] {
	return execution !== undefined && isDecider(execution) ? (execution.policy ?? []) : [];
}
