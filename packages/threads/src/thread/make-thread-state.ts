// Assembles a thread as its tools, hooks, effects and endpoints see it: its parts in one object.
import { UserMessage } from "@holdfast/upp";
import { HoldfastError } from "holdfast";
import type {
	ItemKind,
	NamespaceContext,
	QueueMessageInput,
	SubagentRegistryEntry,
	ThreadState,
	ToolResult,
} from "../types/index.ts";
import { askSession } from "./ask-session.ts";
import { runTool } from "./execute-call.ts";
import { executionState } from "./execution-state.ts";
import type { HookScope } from "./hooks.ts";
import type { LiveRun } from "./live-run.ts";
import { type Control, plainData, withData } from "./message-data.ts";
import {
	deleteMessage,
	getMessage,
	getMessages,
	injectMessage,
	queueMessage,
	type Speaking,
	updateMessage,
} from "./messages.ts";
import { threadNotFound } from "./not-found.ts";
import type { ThreadRecord } from "./records.ts";
import { registryEntry } from "./subagents.ts";
import type { ThreadSystem } from "./system.ts";

/** The execution and the tool for which a thread's state is created. */
export interface StateScope {
	/** The execution that the state belongs to. */
	readonly live?: LiveRun | undefined;
	/** The running tool. */
	readonly tool?: {
		readonly namespace: NamespaceContext;
		readonly uses: readonly string[] | undefined;
		readonly env: Readonly<Record<string, string>> | undefined;
	};
}

/** The function that runs code for a thread. */
export type RunCode = ThreadState["runCode"];

/** Creates the object. */
export async function threadState(
	system: ThreadSystem,
	record: ThreadRecord,
	{ live, tool }: StateScope,
	runCode: RunCode,
): Promise<ThreadState> {
	const { id: threadId } = record;
	const index = live?.index ?? system.index;
	let known = record;
	let children: readonly SubagentRegistryEntry[] = [];
	const refresh = async (): Promise<void> => {
		if (live !== undefined && live.hasChildren === false) return;
		const records = await system.records.childrenOf(threadId);
		children = await Promise.all(records.map((each) => registryEntry(system, each)));
	};
	await refresh();
	const flow = (): HookScope["flow"] => live?.flow ?? { agent: known.agentId, side: "a" };
	const promptOf = () => {
		try {
			return index.promptOf(flow());
		} catch {
			return undefined;
		}
	};
	const namespace = (): NamespaceContext =>
		tool?.namespace ?? index.project.agents.get(flow().agent)?.namespace ?? { type: "global" };
	const place = system.place(record);
	const environment = () => {
		const prompt = promptOf()?.definition.env;
		return system.parts.environment(place, {
			agent: index.agent(flow().agent)?.env,
			prompt: tool?.env === undefined ? prompt : { ...prompt, ...tool.env },
		});
	};
	const effects = () => system.parts.effects(place, namespace());
	const files = lazily(() => system.parts.files(place));
	const scope: HookScope = live?.hookScope() ?? {
		index,
		get flow() {
			return flow();
		},
		threadId,
		log: system.log,
		state: () => threadState(system, known, { live, ...(tool === undefined ? {} : { tool }) }, runCode),
	};
	const speaking: Speaking = {
		system,
		threadId,
		scope,
		storeAttachments: (attachments) => files().storeAttachments(attachments),
	};
	const requireActive = async (): Promise<void> => {
		const now = await system.records.get(threadId);
		if (now === undefined) throw threadNotFound(threadId);
		if (now.terminated !== null) throw threadTerminated(threadId);
	};
	const load = async (kind: ItemKind, name: string): Promise<never> =>
		index.item(namespace(), kind, name).definition as never;
	const usable = (name: string) => {
		if (tool?.uses !== undefined && !tool.uses.includes(name))
			throw new HoldfastError(
				"tool_not_declared",
				`This tool does not declare that it uses ${JSON.stringify(name)}. Add it to \`uses\`.`,
				{ data: { name } },
			);
		const found = index.tool(namespace(), name);
		if (found !== undefined) return found;
		throw new HoldfastError("tool_not_found", `There is no tool ${JSON.stringify(name)} here.`, {
			data: { name },
		});
	};
	const ask = async (control: Control): Promise<void> => {
		await requireActive();
		await askControl(system, threadId, control);
	};
	const execution =
		live === undefined
			? null
			: executionState(live, ({ stop, turn }) => {
					const asked =
						turn === undefined ? ({ kind: "stop" } as const) : ({ kind: "turn", side: turn } as const);
					if (stop !== undefined || turn !== undefined) void ask(asked).catch(() => {});
				});
	const state: ThreadState = {
		threadId,
		get agentId() {
			return live?.flow.isBegun === true ? live.flow.agent : known.agentId;
		},
		userId: record.userId,
		createdAt: record.createdAt,
		get children() {
			return children;
		},
		get terminated() {
			return known.terminated;
		},
		context: live?.context ?? {},
		execution,

		getMessages: (options) => getMessages(system, threadId, options),
		getMessage: (id) => getMessage(system, threadId, id),
		async injectMessage(message) {
			await requireActive();
			return injectMessage(speaking, message);
		},
		async queueMessage(message) {
			await requireActive();
			await queueMessage(speaking, message);
		},
		updateMessage: (id, updates) => updateMessage(speaking, id, updates),
		deleteMessage: (id) => deleteMessage(speaking, id),

		loadModel: (name) => load("model", name),
		loadPrompt: (name) => load("prompt", name),
		loadAgent: (name) => load("agent", name),
		getPromptNames: async () => [...index.project.names(namespace(), "prompt")],
		getAgentNames: async () => [...index.project.names(namespace(), "agent")],
		getModelNames: async () => [...index.project.names(namespace(), "model")],
		async getChildThread(reference) {
			const child = await system.records.get(reference);
			return child?.parent?.threadId === threadId ? system.state(child) : null;
		},
		async getParentThread() {
			const parent = record.parent && (await system.records.get(record.parent.threadId));
			return parent === undefined ? null : system.state(parent);
		},

		env: (name) => environment().env(name),
		envType: (name) => environment().envType(name),
		setEnv: (name, value, options) => environment().setEnv(name, value, options),

		async notifyParent(message) {
			if (record.parent === undefined) return;
			const given: QueueMessageInput = typeof message === "string" ? { content: message } : message;
			const parent = await system.records.get(record.parent.threadId);
			if (parent === undefined || parent.terminated !== null) return;
			const above = await system.state(parent);
			const metadata = { ...given.metadata, subagent_event: "notify", subagent: threadId };
			await above.queueMessage({ ...given, silent: true, metadata });
		},
		async setStatus(status) {
			known = (await system.records.change(threadId, () => ({ status }))) ?? known;
			system.emit(threadId, "status", { status });
		},
		async queueTool(name, args = {}) {
			usable(name);
			await ask({ kind: "tool", name, args });
		},
		async invokeTool(name, args = {}): Promise<ToolResult> {
			return runTool({ system, live, threadId }, usable(name), args);
		},

		scheduleEffect: (name, args, delay) => effects().scheduleEffect(name, args, delay),
		getScheduledEffects: (name) => effects().getScheduledEffects(name),
		removeScheduledEffect: (id) => effects().removeScheduledEffect(id),
		emit: (event, data) => system.emit(threadId, event, data),

		getValue: (key) => system.parts.values(place).getValue(key),
		setValue: (key, value) => system.parts.values(place).setValue(key, value),

		writeFile: async (...given) => files().writeFile(...given),
		readFile: async (path) => files().readFile(path),
		readFileStream: async (path, options) => files().readFileStream(path, options),
		statFile: async (path) => files().statFile(path),
		readdirFile: async (path) => files().readdirFile(path),
		unlinkFile: async (path) => files().unlinkFile(path),
		mkdirFile: async (path) => files().mkdirFile(path),
		rmdirFile: async (path) => files().rmdirFile(path),
		getFileStats: async () => files().getFileStats(),
		grepFiles: async (pattern) => files().grepFiles(pattern),
		findFiles: async (pattern) => files().findFiles(pattern),
		getFileThumbnail: async (path) => files().getFileThumbnail(path),

		runCode,
		async terminate() {
			await system.terminate(threadId);
			known = (await system.records.get(threadId)) ?? known;
			await refresh();
		},
	};
	if (system.runtimeContext !== undefined) state._notPackableRuntimeContext = system.runtimeContext;
	return state;
}

/** Sends a request to a thread: an input like any other, which no model sees. */
export async function askControl(system: ThreadSystem, threadId: string, control: Control): Promise<void> {
	const message = new UserMessage("", {
		id: system.newId(),
		metadata: withData(plainData({ control, silent: true })),
	});
	const run = await askSession(system, threadId, (session) => session.steer(message));
	void run.result().catch(() => {});
}

function lazily<T>(make: () => T): () => T {
	let made: T | undefined;
	return () => {
		made ??= make();
		return made;
	};
}

/** Returns the error of a thread that accepts no more messages. */
function threadTerminated(threadId: string): HoldfastError {
	return new HoldfastError(
		"thread_terminated",
		`The thread ${JSON.stringify(threadId)} was terminated. Its messages can still be read; create another thread to continue.`,
		{ data: { threadId } },
	);
}
