// An index of a project for its threads: agents, and the callables of each prompt. It is built once, because a loaded
// project never changes.
import { HoldfastError, type RetryPolicy } from "holdfast";
import type { Entry as JournalEntry } from "holdfast/host";
import { z } from "zod";
import type {
	AgentDefinition,
	ItemKind,
	NamespaceContext,
	Project,
	ProjectItem,
	PromptDefinition,
	PromptToolConfig,
	SubagentToolConfig,
	ToolArgs,
	ToolDefinition,
} from "../types/index.ts";
import type { Callable, ResumableAgent } from "./callable.ts";
import { agentIsGone } from "./decider.ts";
import { evolveFlow, type Flow, type FlowRules } from "./flow.ts";
import { type GivenMcp, mcpCallables, mcpProblems } from "./mcp-tools.ts";

interface Callables {
	readonly all: readonly Callable[];
	readonly byName: ReadonlyMap<string, Callable>;
}

/** The schema of a callable without arguments. */
const noArguments = { type: "object", properties: {} } as const;

/** The names of the tools that create sub-agents and send them messages. */
const lifecycleTools = { create: "subagent_create", message: "subagent_message" } as const;

type Entry = NonNullable<PromptDefinition["tools"]>[number];
type Env = Readonly<Record<string, string>>;

export class ProjectIndex implements FlowRules {
	readonly project: Project;
	readonly stepCap: number;
	readonly #mcp: GivenMcp | undefined;
	readonly #callables = new WeakMap<object, Callables>();
	readonly #envs = new Map<string, readonly Env[]>();
	#callNames: ReadonlyMap<string, RetryPolicy> | undefined;
	/** The last step of a fold: its start, its entry, and its result. */
	#evolved: { readonly from: Flow; readonly entry: JournalEntry; readonly flow: Flow } | undefined;

	constructor(project: Project, stepCap: number, mcp?: GivenMcp) {
		this.project = project;
		this.stepCap = stepCap;
		this.#mcp = mcp;
	}

	/**
	 * Returns the flow of an execution after one more entry. The decider and the executor fold each entry in turn: from
	 * the same start it is folded only once.
	 */
	flowAfter(from: Flow, entry: JournalEntry): Flow {
		const known = this.#evolved;
		if (known?.entry === entry && known.from === from) return known.flow;
		const flow = evolveFlow(this, from, entry);
		this.#evolved = { from, entry, flow };
		return flow;
	}

	agent(name: string): AgentDefinition | undefined {
		return this.project.agents.get(name)?.definition;
	}

	/** Returns an agent by its qualified name. @throws HoldfastError `agent_not_found`. */
	agentItem(name: string): ProjectItem<"agent"> {
		const item = this.project.agents.get(name);
		if (item === undefined) throw agentIsGone(name);
		return item;
	}

	/** Returns the prompt of the acting side. @throws HoldfastError `item_not_found`, `agent_not_found`. */
	promptOf({ agent, side }: Pick<Flow, "agent" | "side">): ProjectItem<"prompt"> {
		const { definition, namespace } = this.agentItem(agent);
		const config = side === "a" ? definition.sideA : definition.sideB;
		return this.item(namespace, "prompt", config?.prompt ?? "");
	}

	/** Returns an item that code of a namespace can name. @throws HoldfastError `item_not_found`. */
	item<Kind extends ItemKind>(namespace: NamespaceContext, kind: Kind, name: string): ProjectItem<Kind> {
		const found = this.project.visible(namespace, kind, name);
		if (found !== undefined) return found;
		throw new HoldfastError(
			"item_not_found",
			`There is no ${kind} ${JSON.stringify(name)} here. Use the name of one that exists in the project and is visible here.`,
			{ data: { kind, name } },
		);
	}

	/** Returns the callables of a prompt, whether or not they are offered now. */
	callables(prompt: ProjectItem<"prompt">): readonly Callable[] {
		return this.#callablesOf(prompt).all;
	}

	/** Returns the callable of a prompt with a name. */
	callable(prompt: ProjectItem<"prompt">, name: string): Callable | undefined {
		return this.#callablesOf(prompt).byName.get(name);
	}

	#callablesOf(prompt: ProjectItem<"prompt">): Callables {
		const known = this.#callables.get(prompt);
		if (known !== undefined) return known;
		const listed = (prompt.definition.tools ?? []).flatMap((entry) =>
			this.#callable(prompt.namespace, entry),
		);
		const agents = listed.filter((each) => each.kind === "agent" && isResumable(each.config)) as Extract<
			Callable,
			{ kind: "agent" }
		>[];
		const once = listed.filter((each) => !agents.includes(each as (typeof agents)[number]));
		const all = agents.length === 0 ? once : [...once, ...lifecycle(agents)];
		// If two have the same name, the first counts.
		const made = { all, byName: new Map(all.map((each) => [each.name, each] as const).reverse()) };
		this.#callables.set(prompt, made);
		return made;
	}

	/** Returns the environments of an agent's definitions: its own, its prompts', and those of their callables. */
	envsOf(name: string): readonly Env[] {
		const known = this.#envs.get(name);
		if (known !== undefined) return known;
		const envs: (Env | undefined)[] = [];
		const seen = new Set<unknown>();
		const visit = (prompt: ProjectItem<"prompt"> | undefined): void => {
			if (prompt === undefined || seen.has(prompt)) return;
			seen.add(prompt);
			envs.push(prompt.definition.env);
			for (const callable of this.callables(prompt)) {
				if (callable.kind === "tool") envs.push(callable.config.env);
				if (callable.kind === "prompt") visit(callable.item);
			}
		};
		const agent = this.project.agents.get(name);
		envs.push(agent?.definition.env);
		for (const side of [agent?.definition.sideA, agent?.definition.sideB])
			if (agent !== undefined && side !== undefined)
				visit(this.project.visible(agent.namespace, "prompt", side.prompt));
		const made = envs.filter((env) => env !== undefined);
		this.#envs.set(name, made);
		return made;
	}

	/** Returns a tool that code of a namespace may queue or invoke. */
	tool(namespace: NamespaceContext, name: string): Extract<Callable, { kind: "tool" }> | undefined {
		const item = this.project.visible(namespace, "tool", name);
		return item === undefined ? undefined : toolCallable(item, { name });
	}

	/** Explains which tools of MCP servers that prompts name are not offered, and why. */
	mcpProblems(): readonly string[] {
		return mcpProblems(this.#mcp, this.project).map(({ message }) => message);
	}

	/** Returns every callable name in the project, and how its calls may be retried after a crash. */
	callNames(): ReadonlyMap<string, RetryPolicy> {
		this.#callNames ??= this.#allCallNames();
		return this.#callNames;
	}

	/** Whether a callable of the project has this name. */
	isCallName(name: string): boolean {
		return this.callNames().has(name);
	}

	#allCallNames(): ReadonlyMap<string, RetryPolicy> {
		const names = new Map<string, RetryPolicy>();
		for (const { localName, name } of this.project.tools.values())
			for (const each of [localName, name]) names.set(callName(each), "manual-recovery");
		for (const prompt of this.project.prompts.values())
			for (const callable of this.callables(prompt)) names.set(callable.name, afterCrash(callable));
		return names;
	}

	#callable(namespace: NamespaceContext, entry: Entry): Callable[] {
		const config = typeof entry === "string" ? { name: entry } : entry;
		const { name } = config;
		if (name.startsWith("mcp:")) return mcpCallables(this.#mcp, config);
		if (name.startsWith("provider:"))
			return [
				{
					kind: "provider",
					name: name.slice("provider:".length),
					description: "",
					parameters: noArguments,
					config,
				},
			];
		const tool = this.project.visible(namespace, "tool", name);
		if (tool !== undefined) return [toolCallable(tool, config)];
		const prompt = this.project.visible(namespace, "prompt", name);
		if (prompt !== undefined) {
			const { toolDescription: description, requiredSchema } = prompt.definition;
			const parameters = requiredSchema === undefined ? messageArguments : schemaOf(requiredSchema);
			return [{ kind: "prompt", name: callName(name), description, parameters, item: prompt, config }];
		}
		const agent = this.project.visible(namespace, "agent", name);
		return agent === undefined ? [] : [this.#agentCallable(agent, config, typeof entry === "string")];
	}

	#agentCallable(item: ProjectItem<"agent">, config: SubagentToolConfig, isPlain: boolean): Callable {
		const { definition } = item;
		const name = callName(config.name);
		const description = definition.toolDescription ?? definition.description ?? "";
		const isHuman = definition.type !== "dual_ai";
		if (isPlain && isHuman) return { kind: "handoff", name, description, parameters: messageArguments, item };
		return { kind: "agent", name, description, parameters: this.#taskArguments(item, config), item, config };
	}

	/** Returns the arguments of a sub-agent: those of its first prompt, plus the ones that the configuration names. */
	#taskArguments(item: ProjectItem<"agent">, config: SubagentToolConfig): Record<string, unknown> {
		const { sideA } = item.definition;
		const prompt = this.project.visible(item.namespace, "prompt", sideA.prompt);
		const schema = prompt?.definition.requiredSchema;
		const base = (schema === undefined ? { type: "object" } : schemaOf(schema)) as {
			properties?: Record<string, unknown>;
			required?: string[];
		};
		const message = config.initUserMessageProperty ?? (schema === undefined ? "message" : undefined);
		const text = { type: "string" };
		const named: Record<string, unknown> = {};
		if (message !== undefined) named[message] = { ...text, description: "The task." };
		if (config.initAgentNameProperty !== undefined)
			named[config.initAgentNameProperty] = { ...text, description: "A display name." };
		if (config.initAttachmentsProperty !== undefined)
			named[config.initAttachmentsProperty] = {
				type: "array",
				items: text,
				description: "Paths of files to pass on.",
			};
		const properties = { ...named, ...base.properties };
		const required =
			message === undefined ? base.required : [...new Set([message, ...(base.required ?? [])])];
		return { ...base, type: "object", properties, ...(required === undefined ? {} : { required }) };
	}
}

/** A sub-agent call is identified by its call id and takes effect once; a tool call cannot be repeated safely. */
function afterCrash(callable: Callable): RetryPolicy {
	if (callable.kind === "mcp") return callable.tool.retryPolicy ?? "manual-recovery";
	return ["tool", "prompt", "provider"].includes(callable.kind) ? "manual-recovery" : "idempotent";
}

/** Whether an agent's instances accept further messages. */
export function isResumable({ resumable }: SubagentToolConfig): boolean {
	return resumable !== undefined && resumable !== false;
}

/** Converts a name to one that a model may call. */
export function callName(name: string): string {
	return name.replaceAll(/[^A-Za-z0-9_-]/g, "_").slice(0, 64);
}

const messageArguments = {
	type: "object",
	properties: { message: { type: "string", description: "The task, with everything needed to do it." } },
} as const;

function toolCallable(
	item: ProjectItem<"tool">,
	config: PromptToolConfig,
): Extract<Callable, { kind: "tool" }> {
	const { description, args } = item.definition as ToolDefinition;
	return {
		kind: "tool",
		name: callName(config.name),
		description,
		parameters: args === null ? noArguments : schemaOf(args),
		item,
		config,
	};
}

function lifecycle(agents: readonly ResumableAgent[]): Callable[] {
	const known = agents.map(({ item, config }) => {
		const { toolDescription, description, title } = item.definition;
		return `- ${config.name}: ${toolDescription ?? description ?? title ?? ""}`;
	});
	const text = (description: string) => ({ type: "string", description });
	const attachments = {
		type: "array",
		items: { type: "string" },
		description: "Paths of files to pass on.",
	};
	return [
		{
			kind: "create",
			name: lifecycleTools.create,
			description: `Creates a sub-agent that can be sent further messages. Agents:\n${known.join("\n")}`,
			parameters: {
				type: "object",
				properties: {
					agent: {
						type: "string",
						enum: agents.map(({ config }) => config.name),
						description: "Which agent.",
					},
					name: text("A display name, not empty."),
					message: text("The first message."),
					attachments,
				},
				required: ["name"],
			},
			agents,
		},
		{
			kind: "message",
			name: lifecycleTools.message,
			description: "Sends a message to a sub-agent that was created before.",
			parameters: {
				type: "object",
				properties: { reference: text("Which sub-agent."), message: text("The message."), attachments },
				required: ["reference", "message"],
			},
			agents,
		},
	];
}

const schemas = new WeakMap<ToolArgs, Record<string, unknown>>();

/** Converts a schema to the form of models and providers. */
function schemaOf(schema: ToolArgs): Record<string, unknown> {
	const known = schemas.get(schema);
	if (known !== undefined) return known;
	const { $schema: _, ...made } = z.toJSONSchema(schema as never, { io: "input" }) as Record<string, unknown>;
	schemas.set(schema, made);
	return made;
}
