// Sub-agents: separate threads that another thread creates and runs. A call takes effect once, even if it is started
// again: the child's id, its messages and its runs are derived from the call (keeps I3).
import type { ToolContext } from "holdfast";
import type { ProjectItem, SubagentRegistryEntry, ThreadState, ToolResult } from "../types/index.ts";
import type { Callable, ResumableAgent } from "./callable.ts";
import { copyFiles, missingFile } from "./child-files.ts";
import { deliver, failure, waitFor } from "./child-runs.ts";
import { attachmentsOf } from "./flow.ts";
import { afterSubagentCreated } from "./hooks.ts";
import type { LiveRun } from "./live-run.ts";
import type { EnvironmentPart } from "./parts.ts";
import { isResumable } from "./project-index.ts";
import type { ParentLink, ThreadRecord } from "./records.ts";
import type { ThreadSystem } from "./system.ts";

type AgentCallable = Extract<Callable, { kind: "agent" }>;

/** Whether a callable is offered now. */
export function isOffered(
	system: ThreadSystem,
	live: LiveRun,
	callable: Callable,
	env: Pick<EnvironmentPart, "find">,
): Callable | undefined | Promise<Callable | undefined> {
	return isAlwaysOffered(callable) ? callable : isAgentOffered(system, live, callable, env);
}

/** Whether a callable is offered unconditionally. */
export function isAlwaysOffered({ kind }: Callable): boolean {
	return kind !== "agent" && kind !== "create" && kind !== "message";
}

async function isAgentOffered(
	system: ThreadSystem,
	live: LiveRun,
	callable: Callable,
	env: Pick<EnvironmentPart, "find">,
): Promise<Callable | undefined> {
	if (callable.kind === "agent") return (await isOn(callable.config.optional, env)) ? callable : undefined;
	if (callable.kind !== "create" && callable.kind !== "message") return callable;
	const on: ResumableAgent[] = [];
	for (const each of callable.agents) if (await isOn(each.config.optional, env)) on.push(each);
	if (on.length === 0) return undefined;
	if (callable.kind === "message") return callable;
	const counted = on.filter(({ config }) => limitOf(config) !== undefined);
	const children = counted.length === 0 ? [] : await system.records.childrenOf(live.threadId);
	const free = on.filter((each) => !isFull(each, children));
	if (free.length === callable.agents.length) return callable;
	if (free.length === 0) return undefined;
	const names = free.map(({ config }) => config.name);
	const { properties, ...schema } = callable.parameters as { properties: Record<string, object> };
	const agent = { ...properties.agent, enum: names };
	return { ...callable, parameters: { ...schema, properties: { ...properties, agent } }, agents: free };
}

async function isOn(name: string | undefined, env: Pick<EnvironmentPart, "find">): Promise<boolean> {
	if (name === undefined) return true;
	return /^(?:true|1|yes)$/i.test((await env.find(name))?.value ?? "");
}

function limitOf({ resumable }: AgentCallable["config"]): number | undefined {
	return typeof resumable === "object" ? resumable.maxInstances : undefined;
}

function isFull({ item, config }: ResumableAgent, children: readonly ThreadRecord[]): boolean {
	const limit = limitOf(config);
	if (limit === undefined) return false;
	return children.filter((each) => each.agentId === item.name && each.terminated === null).length >= limit;
}

/** The parameters of a new sub-agent. */
interface NewChild {
	readonly id: string;
	readonly item: ProjectItem<"agent">;
	readonly config: AgentCallable["config"];
	readonly name: string | undefined;
	readonly spawnGroupId?: string;
}

async function createChild(
	system: ThreadSystem,
	live: LiveRun,
	{ id, item, config, name, spawnGroupId }: NewChild,
): Promise<ThreadRecord> {
	const parent = await system.records.get(live.threadId);
	live.hasChildren = true;
	const resumable = isResumable(config);
	const { receives_messages, parentCommunication = "implicit" } =
		typeof config.resumable === "object" ? config.resumable : {};
	// By default, the parent does not wait for a sub-agent that accepts further messages.
	const blocking = config.blocking ?? !resumable;
	const { title, description, toolDescription } = item.definition;
	const link: ParentLink = {
		threadId: live.threadId,
		name: config.name,
		...(title === undefined ? {} : { title }),
		description: description ?? toolDescription ?? "",
		resumable,
		blocking,
		...(spawnGroupId === undefined ? {} : { spawnGroupId }),
		communication: parentCommunication,
		to: receives_messages === "side_b" ? "b" : "a",
		reports: !blocking && parentCommunication === "implicit",
	};
	const record = await system.create(
		{
			id,
			agentId: item.name,
			userId: parent?.userId ?? null,
			...(parent?.tenant === undefined ? {} : { tenant: parent.tenant }),
			createdAt: system.now(),
			tags: [],
			terminated: null,
			parent: link,
			...(name === undefined ? {} : { name }),
			isReady: false,
		},
		{ parent: live },
	);
	return record;
}

/** Runs the parent's hooks after the child's own have finished. */
export async function childCreated(live: LiveRun, child: () => Promise<ThreadState>): Promise<void> {
	await afterSubagentCreated(live.hookScope(), child);
}

/** Calls a sub-agent as a tool: waits for its result, or lets it run in the background. */
export async function callAgent(
	system: ThreadSystem,
	live: LiveRun,
	{ item, config }: AgentCallable,
	args: Record<string, unknown>,
	context: ToolContext,
): Promise<ToolResult> {
	const { initUserMessageProperty, initAgentNameProperty, initAttachmentsProperty } = config;
	const name = initAgentNameProperty === undefined ? undefined : textOf(args[initAgentNameProperty]);
	const files = initAttachmentsProperty === undefined ? [] : attachmentsOf(args[initAttachmentsProperty]);
	const missing = await missingFile(system, live.threadId, files);
	if (missing !== undefined) return failure(`The file ${JSON.stringify(missing)} to pass on does not exist.`);
	const id = childId(context);
	const record = await createChild(system, live, {
		id,
		item,
		config,
		name,
		spawnGroupId: `${live.runId}.${context.step}`,
	});
	const message = initUserMessageProperty === undefined ? args.message : args[initUserMessageProperty];
	const text = message === undefined ? JSON.stringify(args) : (textOf(message) ?? "");
	const runId = `${id}.1`;
	await deliver(system, record, {
		runId,
		text,
		files: await copyFiles(system, live.threadId, record, files),
	});
	if (record.parent?.blocking !== true)
		return { status: "success", result: JSON.stringify({ reference: id, status: "running" }) };
	return waitFor(system, live, record, runId, context.signal);
}

/** Creates a sub-agent that accepts further messages. */
export async function createAgent(
	system: ThreadSystem,
	live: LiveRun,
	{ agents }: Extract<Callable, { kind: "create" | "message" }>,
	args: Record<string, unknown>,
	context: ToolContext,
): Promise<ToolResult> {
	const name = typeof args.name === "string" ? args.name.trim() : "";
	if (name === "") return failure("A sub-agent needs a non-empty `name`.");
	const only = agents.length === 1 ? agents[0] : undefined;
	const chosen = args.agent === undefined ? only : agents.find(({ config }) => config.name === args.agent);
	if (chosen === undefined) {
		const known = agents.map(({ config }) => config.name).join(", ");
		return failure(`There is no sub-agent ${JSON.stringify(args.agent ?? null)}. Name one of: ${known}.`);
	}
	const id = childId(context);
	const children = await system.records.childrenOf(live.threadId);
	const isKnown = children.some((child) => child.id === id);
	if (!isKnown && isFull(chosen, children))
		return failure(
			`There are already ${limitOf(chosen.config)} instances of "${chosen.config.name}", which is the limit. Terminate one first.`,
		);
	const files = attachmentsOf(args.attachments);
	const missing = await missingFile(system, live.threadId, files);
	if (missing !== undefined) return failure(`The file ${JSON.stringify(missing)} to pass on does not exist.`);
	const { item, config } = chosen;
	const spawnGroupId = `${live.runId}.${context.step}`;
	const record = await createChild(system, live, { id, item, config, name, spawnGroupId });
	const given = args.message ?? args[config.initUserMessageProperty ?? "message"];
	const text = textOf(given);
	const runId = `${id}.1`;
	if (text !== undefined && text !== "") {
		const copied = await copyFiles(system, live.threadId, record, files);
		await deliver(system, record, { runId, text, files: copied });
		if (record.parent?.blocking === true) return waitFor(system, live, record, runId, context.signal);
	}
	const status = text === undefined || text === "" ? "idle" : "running";
	return { status: "success", result: JSON.stringify({ reference: id, name, status }) };
}

/** Sends a message to an existing sub-agent. */
export async function messageAgent(
	system: ThreadSystem,
	live: LiveRun,
	args: Record<string, unknown>,
	context: ToolContext,
): Promise<ToolResult> {
	const reference = String(args.reference ?? "");
	const record = await system.records.get(reference);
	if (record?.parent?.threadId !== live.threadId || !record.parent.resumable)
		return failure(`There is no sub-agent ${JSON.stringify(reference)} that accepts messages.`);
	if (record.terminated !== null) return failure(`The sub-agent ${JSON.stringify(reference)} is terminated.`);
	const text = textOf(args.message) ?? "";
	if (text === "") return failure("A message needs text.");
	const files = attachmentsOf(args.attachments);
	const missing = await missingFile(system, live.threadId, files);
	if (missing !== undefined) return failure(`The file ${JSON.stringify(missing)} to pass on does not exist.`);
	const runId = `${childId(context)}.m`;
	const copied = await copyFiles(system, live.threadId, record, files);
	await deliver(system, record, { runId, text, files: copied });
	if (record.parent.blocking) return waitFor(system, live, record, runId, context.signal);
	return { status: "success", result: JSON.stringify({ reference, status: "running" }) };
}

/** Returns a child's id: the one of the call that created it. */
function childId({ idempotencyKey }: ToolContext): string {
	return idempotencyKey;
}

/** Starts the sub-agents that start automatically, once per thread, unless the prompt was activated before. */
export async function startImmediate(
	system: ThreadSystem,
	live: LiveRun,
	prompt: ProjectItem<"prompt">,
	env: EnvironmentPart,
): Promise<void> {
	live.activated.add(prompt.name);
	for (const listed of allAgents(live.index.callables(prompt))) {
		const { immediate, optional } = listed.config;
		if (immediate === undefined || immediate === false || !(await isOn(optional, env))) continue;
		const id = `${live.threadId}.${listed.config.name.replaceAll("/", "_")}`;
		const { nameEnv, descriptionEnv, scopedEnv = [] } = immediate === true ? {} : immediate;
		const envOf = async (name: string | undefined): Promise<string | undefined> =>
			name === undefined ? undefined : (await env.find(name))?.value;
		const name = await envOf(nameEnv);
		const { item } = listed;
		const config = { ...listed.config, blocking: false };
		const before = await system.records.get(id);
		const record = before ?? (await createChild(system, live, { id, item, config, name }));
		const own = system.parts.environment(system.place(record), {});
		if (before === undefined)
			for (const each of scopedEnv) {
				const found = await env.find(each);
				if (found !== undefined) await own.setEnv(each, found.value, { type: found.type });
			}
		if (record.terminated !== null) continue;
		const text = (await envOf(descriptionEnv)) ?? item.definition.toolDescription ?? "Begin.";
		await deliver(system, record, { runId: `${id}.1`, text, files: [] });
	}
}

function allAgents(callables: readonly Callable[]): readonly ResumableAgent[] {
	return callables.flatMap((each): readonly ResumableAgent[] =>
		each.kind === "agent" ? [each] : each.kind === "create" ? each.agents : [],
	);
}

/** Returns a parent's record of a sub-agent. */
export async function registryEntry(
	{ host, storeKeyOf }: Pick<ThreadSystem, "host" | "storeKeyOf">,
	{ id, parent, name, createdAt, status, terminated }: ThreadRecord,
): Promise<SubagentRegistryEntry> {
	const head = await host.journal.head(storeKeyOf(id));
	const isBusy = head?.openRunId !== undefined || (head?.waiting ?? 0) > 0;
	return {
		reference: id,
		name: parent?.name ?? "",
		...(parent?.title === undefined ? {} : { title: parent.title }),
		description: parent?.description ?? "",
		resumable: parent?.resumable === true,
		blocking: parent?.blocking === true,
		...(name === undefined ? {} : { threadName: name }),
		...(parent?.spawnGroupId === undefined ? {} : { spawnGroupId: parent.spawnGroupId }),
		createdAt,
		status: terminated !== null ? "terminated" : (status ?? (isBusy ? "running" : "idle")),
		parentCommunication: parent?.communication ?? "implicit",
	};
}

function textOf(value: unknown): string | undefined {
	if (value === undefined || value === null) return undefined;
	return typeof value === "string" ? value : JSON.stringify(value);
}
