// The agent in the form that its sessions use: with the tools and hooks of its plugins, once they are set up.
import { HoldfastTypeError } from "@holdfast/upp";
import { type EngineAgent, isAwaitedBy, modelWaitDefaults, waitFor, withinCall } from "../engine/index.ts";
import type { Mutable } from "../facts/index.ts";
import type { Journal, MaybePromise, SessionKeys, SessionStore } from "../host/index.ts";
import {
	awaitedHost,
	memoryJournal,
	memoryValues,
	readChildStoreKey,
	systemWarn,
	type ValueStore,
} from "../host/index.ts";
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
	setupPlugins,
	withCallValues,
} from "../policy/index.ts";
import type { SessionAgent, SessionHome, TurnRequest } from "../sessions/index.ts";
import { awaitsOwnSetup } from "../sessions/index.ts";
import { isDecider } from "../strategies/index.ts";
import { type BindTool, delegatingAgent, type Subagent, workOf } from "../subagents/index.ts";
import type { AnyTool } from "../tools/index.ts";
import { journalOfStore, valuesOfStore } from "./foreign-host.ts";
import { hasOwnTools } from "./llm-instance.ts";
import { type AgentOptions, resolveAgent } from "./options.ts";

/**
 * Without a limit, a run that kills its process each time would take down every worker in turn, and the sessions of
 * others with them. Five crashes are more than bad luck, and few enough to stop soon.
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
}

const noTools: readonly AnyTool[] = [];

/** What plugins contribute to the agent itself. */
type PluginParts = Pick<PluginSet, "tools" | "callTools" | "instructions">;
const noParts: PluginParts = { tools: noTools, callTools: noTools, instructions: [] };

/**
 * Starts setting up the plugins; sessions wait for it before their first turn.
 * @throws HoldfastError `invalid_option` if `plugins` is not a list of plugins.
 */
export function sessionAgentOf({
	agent: agentItself,
	options,
	engine,
	subagents = [],
	agentFor,
	keys,
	home,
}: SessionAgentParts): SessionAgent {
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
			system: [...(system === undefined ? [] : [system]), ...sections].join("\n\n"),
			tools,
		};
	};
	const engineWith = (tools: readonly AnyTool[], given?: TurnOptions, bind?: BindTool): EngineAgent => {
		const all = { ...options, ...given };
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
	const tools = hasOwnTools(options.model) ? "own-tools" : "engine-tools";
	const valuesOf = (store: unknown): ValueStore =>
		withCallValues(valuesBeside(options, keys, store as SessionStore | undefined));
	const policyWith = (values: ValueStore, set?: PluginSet, files?: PolicyFiles): AgentPolicy =>
		new AgentPolicy({ agent: agentItself, middleware, plugins: set, tools, values, files });
	const agent: Mutable<SessionAgent> = {
		engine,
		policy: middleware.length === 0 || plugins.length > 0 ? undefined : policyWith(valuesOf(undefined)),
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
	if (plugins.length === 0) return agent;
	let values: ValueStore | undefined;
	let files: PolicyFiles | undefined;
	let begun: { readonly set: Promise<PluginSet>; readonly ready: Promise<void> } | undefined;
	// Starts when the agent is first used: an agent that only lends its options to others sets nothing up.
	const setUp = (): NonNullable<typeof begun> => {
		if (begun !== undefined) return begun;
		// A call started during setup belongs to the setup. The agent waits for it, so it must not wait for the agent.
		const set = withinCall(agent, () =>
			setupPlugins(plugins, {
				ask: askModel(engine),
				values: (store) => (values = valuesOf(store)),
				files: (store) => (files = filesBeside(options, keys, store)),
			}),
		);
		const ready = set.then((made) => {
			checkTogether(made, options);
			agent.policy = policyWith(values ?? memoryValues(), made, files);
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
	if (options.host === undefined) {
		const workerId = engine.ports.ids.uuid();
		let known: Promise<Journal> | undefined;
		const journal = async (): Promise<Journal> => {
			const { set, ready } = setUp();
			await ready;
			const { sessionStore } = await set;
			return sessionStore === undefined
				? memoryJournal({ workerId })
				: journalOfStore(sessionStore as SessionStore, workerId);
		};
		agent.host = awaitedHost(workerId, () => waitFor(agent, () => (known ??= journal()), awaitsOwnSetup));
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

/** @throws HoldfastError `invalid_option` if plugins contribute what the options exclude. */
function checkTogether(
	{ sessionStore, tools, instructions }: PluginSet,
	{ host, model }: AgentOptions,
): void {
	if (sessionStore !== undefined && host !== undefined) {
		throw new HoldfastTypeError(
			"invalid_option",
			"A plugin gives a session store, and the option `host` is given too: `host.sessionStore` or the plugin, not both.",
		);
	}
	if ((tools.length > 0 || instructions.length > 0) && hasOwnTools(model)) {
		throw new HoldfastTypeError(
			"invalid_option",
			"A plugin gives tools or instructions, and the option `model` is a function or an instance, which has instructions and tools of its own.",
		);
	}
}

/** Returns values that are stored with the sessions. */
function valuesBeside(
	{ host }: AgentOptions,
	keys: SessionKeys,
	given: SessionStore | undefined,
): ValueStore {
	const store = given ?? (host !== undefined && "sessionStore" in host ? host.sessionStore : undefined);
	const own = host !== undefined && "values" in host ? host.values : undefined;
	const values = own ?? (store === undefined ? memoryValues() : valuesOfStore(store));
	return {
		values: (key, owner) => values.values(storeKeyIn(keys, key), owner),
		deleteSession: (key) =>
			values.goWithSession === true ? undefined : values.deleteSession(storeKeyIn(keys, key)),
	};
}

/** Returns the files of plugins, which are stored with the sessions. */
function filesBeside({ host }: AgentOptions, keys: SessionKeys, store: unknown): PolicyFiles {
	const files = host !== undefined && "files" in host ? host.files : undefined;
	if (files !== undefined) return policyFiles({ of: (key, owner) => files.of(storeKeyIn(keys, key), owner) });
	return policyFiles(host === undefined && store === undefined ? "memory" : "none");
}

/** A child session's key is its store key: with any other, what is stored would outlive the session. */
function storeKeyIn({ storeKeyOf }: SessionKeys, key: string): string {
	return readChildStoreKey(key) === undefined ? storeKeyOf(key) : key;
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
