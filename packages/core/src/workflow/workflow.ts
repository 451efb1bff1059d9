// workflow(): a function of the user's as an agent whose sessions survive crashes (keeps I1).
import { checkOptions, HoldfastTypeError, optionNames } from "@holdfast/upp";
import { type Agent, type AgentOptions, agent } from "../agent/index.ts";
import type { OutputOf, OutputSchema } from "../output/index.ts";
import type { AgentRun, RecoverOptions, SuperviseOptions } from "../sessions/index.ts";
import { readToolInput, type ToolSet } from "../tools/index.ts";
import { builtInTools } from "./built-in-tools.ts";
import type { Flow } from "./flow.ts";
import { type ModelWorks, modelCalls } from "./model-work.ts";
import { noModel } from "./no-model.ts";
import { type Check, workflowStrategy } from "./run-workflow.ts";
import { WorkflowSession } from "./workflow-session.ts";

/** Options of a workflow. Options without a description here work as in an agent. */
export interface WorkflowOptions<
	Input extends OutputSchema = OutputSchema,
	Output extends OutputSchema = OutputSchema,
> extends Pick<
		AgentOptions,
		| "description"
		| "tools"
		| "subagents"
		| "host"
		| "namespace"
		| "middleware"
		| "prices"
		| "maxRestarts"
		| "onAgentChange"
		| "onWarning"
		| "ports"
	> {
	/** Names the workflow in the journal, in events and in errors. */
	readonly name: string;
	/**
	 * Version of the code. If it differs from the one that an open run last worked with, the change is recorded, and
	 * `onAgentChange` applies. Default: none.
	 */
	readonly version?: string | number;
	/** Schema of the input. Default: any JSON value. */
	readonly input?: Input;
	/** Schema of the result. Default: any JSON value. */
	readonly output?: Output;
	/** The workflows that the code runs with `flow.child()` and `flow.spawn()`. Default: none. */
	readonly workflows?: readonly Pick<Workflow, "name" | "agent">[];
}

const names = optionNames<WorkflowOptions>({
	name: "text",
	version: true,
	input: true,
	output: true,
	description: "text",
	tools: true,
	subagents: true,
	workflows: true,
	prices: true,
	host: true,
	namespace: "text",
	middleware: true,
	maxRestarts: true,
	onAgentChange: true,
	onWarning: "function",
	ports: "object",
});

const replaceable = optionNames<Pick<WorkflowOptions, "host" | "ports">>({ host: "object", ports: "object" });

/**
 * A durable function. Its runs work in sessions like those of an agent: they survive the death of their process at any
 * instant, and any process with the same host and code continues them.
 */
export class Workflow<Input = unknown, Output = unknown> {
	/** The name of the workflow. */
	readonly name: string;
	/** The workflow as an agent, for everything that takes one: servers, execution hosts, the inspector. */
	readonly agent: Agent;
	readonly #given: readonly [WorkflowOptions, (flow: Flow, input: never) => unknown];

	/** @internal */
	constructor(options: WorkflowOptions, run: (flow: Flow, input: never) => unknown) {
		this.#given = [options, run];
		const { name, version, input, output, tools = [], workflows, subagents, ...others } = options;
		const works: ModelWorks = new Map();
		this.name = name;
		const code = {
			name,
			run: run as (flow: Flow, input: unknown) => unknown,
			input: checkOf(input, "input"),
			output: checkOf(output, "output"),
			prices: options.prices,
		};
		const execution = workflowStrategy(code, works) as AgentOptions["execution"];
		// The fingerprint of a run contains the instructions, so a change of the version is a change of the agent.
		const instructions = version === undefined ? {} : { instructions: `${name}@${version}` };
		const children = agentsOf(workflows, subagents);
		this.agent = agent({
			// Workflows that run as children need a description.
			description: `Runs the workflow ${name}.`,
			...others,
			...(children === undefined ? {} : { subagents: children }),
			name,
			model: noModel(),
			tools: withBuiltIn(tools, works),
			execution,
			...instructions,
		} as AgentOptions) as Agent;
	}

	/**
	 * Returns a handle of the session with this key. A session has one open run at a time.
	 * @throws HoldfastError `invalid_argument` if the key is not a non-empty string.
	 */
	session(key: string): WorkflowSession<Input, Output> {
		return new WorkflowSession(this.agent.session(key));
	}

	/**
	 * Returns the same workflow, and its child workflows, with another host or other ports, for example for a test.
	 * @throws HoldfastError `invalid_option` for an option that cannot be replaced.
	 */
	withOptions(options: Pick<WorkflowOptions, "host" | "ports">): Workflow<Input, Output> {
		checkOptions(options, replaceable, { of: "withOptions()" });
		const [given, run] = this.#given;
		const { workflows } = given;
		const children = (workflows as readonly Workflow[] | undefined)?.map((each) => each.withOptions(options));
		const all = { ...given, ...options, ...(children === undefined ? {} : { workflows: children }) };
		return new Workflow<Input, Output>(all, run);
	}

	/** Continues the runs that dead processes left: see `Agent.recover`. Resolves when they have ended or wait. */
	async recover(options?: RecoverOptions): Promise<void> {
		for await (const run of this.agent.recover(options)) await (run as AgentRun).result();
	}

	/**
	 * Continues runs in the background until the workflow is closed: those that dead processes left, and those whose
	 * waits have ended.
	 *
	 * Rejects with `agent_closed` after `close()`, and with `invalid_option`.
	 */
	supervise(options?: SuperviseOptions): Promise<void> {
		return this.agent.supervise(options);
	}

	/** Suspends the open runs, so that another process can continue them, and closes the host if it made the host. */
	close(...options: Parameters<Agent["close"]>): Promise<void> {
		return this.agent.close(...options);
	}
}

/**
 * Creates a workflow from an asynchronous function. Everything that must happen once is a call to `flow`; the rest is
 * plain JavaScript: loops, `Promise.all`, `Promise.race`, `try` and `catch`.
 *
 * @throws HoldfastError `invalid_option` for a missing name or an unknown option; `invalid_argument` without a function;
 * `invalid_schema`, `schema_not_convertible` for a schema.
 * @example
 * ```ts
 * import { workflow } from "holdfast/workflow";
 *
 * const greet = workflow({ name: "greet" }, async (flow, { name }: { name: string }) => {
 * 	const greeting = await flow.step("compose", () => `Hello, ${name}!`);
 * 	await flow.sleep("10 milliseconds");
 * 	return { greeting };
 * });
 * const run = await greet.session("user-42").send({ name: "Ada" });
 * const { output } = await run.result();
 * console.log(output?.greeting); // Hello, Ada!
 * await greet.close();
 * ```
 */
export function workflow<
	const InputSchema extends OutputSchema = OutputSchema,
	const ResultSchema extends OutputSchema = OutputSchema,
	Input = OutputOf<InputSchema>,
	Result = OutputOf<ResultSchema>,
>(
	options: WorkflowOptions<InputSchema, ResultSchema>,
	run: (flow: Flow, input: Input) => Promise<Result> | Result,
): Workflow<Input, Result> {
	if (typeof options !== "object" || options === null)
		throw new HoldfastTypeError("invalid_option", "workflow() takes an object of options.");
	checkOptions(options, names, { of: "workflow()" });
	const { name, version } = options;
	if (typeof name !== "string" || name === "")
		throw new HoldfastTypeError(
			"invalid_option",
			"The option `name` of workflow() must be a non-empty string.",
		);
	if (version !== undefined && typeof version !== "string" && !Number.isFinite(version))
		throw new HoldfastTypeError(
			"invalid_option",
			"The option `version` of workflow() must be text or a finite number.",
		);
	if (typeof run !== "function")
		throw new HoldfastTypeError("invalid_argument", "workflow(options, run) takes a function as `run`.");
	return new Workflow<Input, Result>(options, run as never);
}

/** Tools from a record get its names. */
function withBuiltIn(tools: ToolSet, works: ModelWorks): ToolSet {
	const own = Array.isArray(tools) ? tools : Object.entries(tools).map(([name, tool]) => ({ ...tool, name }));
	return [...own, ...builtInTools, modelCalls(works)] as ToolSet;
}

/** Returns the agents of children and sub-agents; undefined without any. */
function agentsOf(
	workflows: WorkflowOptions["workflows"],
	subagents: AgentOptions["subagents"],
): AgentOptions["subagents"] {
	if (workflows === undefined) return subagents;
	if (!Array.isArray(workflows) || !workflows.every((each) => each instanceof Workflow))
		throw new HoldfastTypeError(
			"invalid_option",
			"The option `workflows` of workflow() must be an array of workflows.",
		);
	return [...(subagents ?? []), ...workflows.map((each) => each.agent)] as AgentOptions["subagents"];
}

/** @throws HoldfastError `invalid_option` naming the option; `invalid_schema`, `schema_not_convertible`. */
function checkOf(schema: OutputSchema | undefined, option: "input" | "output"): Check {
	if (schema === undefined) return undefined;
	if ((typeof schema !== "object" && typeof schema !== "function") || schema === null)
		throw new HoldfastTypeError(
			"invalid_option",
			`The option \`${option}\` of workflow() must be JSON Schema, or a Standard Schema such as zod's.`,
		);
	return readToolInput({ inputSchema: schema } as never, "workflow").validate;
}
