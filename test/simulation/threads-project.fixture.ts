// The project of a world of threads: agents that do what a plan says, and tools, hooks and effects that leave marks. What a model
// says follows from what it sees, so whoever asks again after a kill gets the same.
import {
	defineAgent,
	defineEffect,
	defineHook,
	defineModel,
	definePrompt,
	defineTool,
	type Project,
	type ProviderRequest,
	type ThreadState,
} from "@holdfast/threads";
import { z } from "zod";

/** A call as a plan has it. */
export interface PlannedCall {
	readonly name:
		| "note"
		| "save"
		| "later"
		| "digger"
		| "scout"
		| "subagent_create"
		| "subagent_message"
		| "closer";
	/** What it is about; no other call has the same. */
	readonly subject: string;
}

/** The calls of each step, of the first agent and of whoever works for it. */
export interface Plan {
	readonly main: readonly (readonly PlannedCall[])[];
	readonly worker: readonly (readonly ("note" | "save" | "later")[])[];
}

/** What the world does with what happens in a project. */
export interface ProjectWorld {
	readonly plan: Plan;
	/** Milliseconds after which the effect of a subject is due. */
	delayOf(subject: string): number;
	/** Resolves when the schedule says so; never for a process that is dead. */
	pass(label: string): Promise<void>;
	/** A tool begins. */
	begins(tool: string, subject: string, threadId: string): void;
	/** A tool or an effect has done what it does. */
	did(what: "note" | "save" | "effect", subject: string): void;
	wrong(problem: string): void;
}

/** The mark that a hook leaves on what is said. */
export const heard = " (heard)";
/** The mark that a hook leaves on results. */
export const checked = " (checked)";
/** What a file of a subject says. */
export const bytesOf = (subject: string): string => `what was found at ${subject}`;
interface Call {
	readonly id: string;
	readonly name: string;
	readonly arguments: Record<string, unknown>;
}

/** The calls of the next step, or undefined. */
function nextCalls({ plan }: ProjectWorld, { messages }: ProviderRequest): readonly Call[] | undefined {
	const asked = messages.flatMap((message) =>
		message.role === "assistant" ? (message.toolCalls ?? []).map(({ id }) => id) : [],
	);
	const answered = messages.flatMap((message) => (message.role === "tool" ? [message.toolCallId] : []));
	const step = new Set(asked.map((id) => id.split("-")[0])).size;
	const task = messages
		.map(({ content }) => /^Task (?<task>\S+)/.exec(String(content))?.groups?.task)
		.find(Boolean);
	if (asked.join() !== answered.join() || new Set(asked).size !== asked.length)
		return [{ id: "wrong", name: "calls", arguments: { asked, answered } }];
	const calls: readonly PlannedCall[] | undefined =
		task === undefined
			? plan.main[step]
			: plan.worker[step]?.map((name, at) => ({ name, subject: `${task}/${step}.${at}` }));
	return calls?.map(({ name, subject }, at) => {
		const text = `Task ${subject}`;
		const args: Record<PlannedCall["name"], Record<string, unknown>> = {
			note: { subject },
			save: { subject },
			later: { subject },
			closer: {},
			digger: { task: text },
			scout: { task: text },
			subagent_create: { name: subject, message: text },
			subagent_message: { reference: referenceIn(messages) ?? "", message: `More ${subject}` },
		};
		return { id: `c${step}-${at}`, name, arguments: args[name] };
	});
}

/** The sub-agent that takes messages, as a result named it. */
function referenceIn(messages: ProviderRequest["messages"]): string | undefined {
	for (const { role, content } of messages) {
		const found = role === "tool" ? /"reference":"(?<id>[^"]+)","name"/.exec(String(content)) : null;
		if (found !== null) return found.groups?.id;
	}
	return undefined;
}

/** Makes the project of one process. */
export function projectIn(world: ProjectWorld): Project {
	const { pass, begins, did } = world;
	const about = z.object({ subject: z.string() });
	const tool = (
		name: "note" | "save" | "later",
		run: (state: ThreadState, subject: string) => Promise<void>,
	) =>
		defineTool({
			description: name,
			args: about,
			execute: async (state, { subject }) => {
				begins(name, subject, state.threadId);
				await pass(`${name} works on ${subject}`);
				await run(state, subject);
				return { status: "success", result: `${name} of ${subject}` };
			},
		});
	const tools = {
		note: tool("note", async (state, subject) => {
			did("note", `${state.threadId} ${subject}`);
			await state.setValue(`note ${subject}`, subject);
		}),
		save: tool("save", async (state, subject) => {
			did("save", `${state.threadId} ${subject}`);
			await state.writeFile(`/found/${subject}.txt`, bytesOf(subject), "text/x-found");
		}),
		later: tool("later", async (state, subject) => {
			await state.scheduleEffect("remember", { subject }, world.delayOf(subject));
		}),
	};
	const remember = defineEffect("Remembers.", about, async (state, { subject }) => {
		await pass(`the effect of ${subject} works`);
		did("effect", `${state.threadId} ${subject}`);
		await state.setValue(`effect ${subject}`, subject);
	});
	const hooks = [
		defineHook({
			hook: "after_thread_created",
			id: "born",
			execute: (state) => state.setValue("born", true),
		}),
		defineHook({
			hook: "after_subagent_created",
			id: "parented",
			execute: (state, child) => state.setValue(`child ${child.threadId}`, true),
		}),
		defineHook({
			hook: "before_create_message",
			id: "hear",
			execute: async (_, message) =>
				typeof message.content === "string" && message.content !== ""
					? { ...message, content: message.content + heard }
					: message,
		}),
		defineHook({
			hook: "before_store_tool_result",
			id: "check",
			execute: async (_, __, result) => {
				const { error } = result;
				if (error !== undefined) return { ...result, error: `${error}${checked}` };
				return { ...result, result: `${result.result ?? ""}${checked}` };
			},
		}),
	];
	const everywhere = hooks.map(({ id }) => id);
	const own = ["note", "save", "later"];
	const prompt = (name: string, more: readonly unknown[] = []) =>
		definePrompt({
			name,
			toolDescription: name,
			prompt: `You are ${name}.`,
			model: "main",
			includePastTools: true,
			parallelToolCalls: true,
			tools: [...own, ...more] as never,
		});
	const agent = (name: string, promptName: string) =>
		defineAgent({
			name,
			toolDescription: name,
			exposeAsTool: true,
			sideA: { prompt: promptName },
			hooks: everywhere,
		});
	const model = defineModel({
		name: "main",
		model: "m",
		provider: () => ({
			name: "planned",
			specificationVersion: "1",
			generate: () => Promise.reject(new Error("Threads stream.")),
			async *stream(request) {
				const calls = nextCalls(world, request);
				if (calls?.[0]?.id === "wrong")
					world.wrong(`a model was shown ${JSON.stringify(calls[0].arguments)}`);
				await pass(`the model answers ${request.messages.length} messages`);
				if (calls === undefined) yield { type: "content-delta", delta: "Done." };
				for (const { id, name, arguments: args } of calls ?? []) {
					yield { type: "tool-call-start", id, name };
					yield { type: "tool-call-done", id, arguments: args };
				}
				const usage = { promptTokens: 1, completionTokens: 1, totalTokens: 2 };
				yield { type: "finish", finishReason: calls === undefined ? "stop" : "tool_calls", usage };
			},
		}),
	});
	return valueProject({
		agent: Object.fromEntries(
			["main", "closer"]
				.map((name) => [name, agent(name, `say ${name}`)])
				.concat(["digger", "scout", "helper"].map((name) => [name, agent(name, "work")])),
		),
		prompt: {
			"say main": prompt("say main", [
				{ name: "digger", initUserMessageProperty: "task" },
				{ name: "scout", initUserMessageProperty: "task", blocking: false },
				{ name: "helper", resumable: { receives_messages: "side_a", parentCommunication: "explicit" } },
				"closer",
			]),
			"say closer": prompt("say closer"),
			work: prompt("work"),
		},
		model: { main: model },
		tool: tools,
		hook: Object.fromEntries(hooks.map((hook) => [hook.id, hook])),
		effect: { remember },
		provider: {},
	});
}

/** A project of definitions, without files. */
export function valueProject(
	definitions: Readonly<Record<string, Readonly<Record<string, unknown>>>>,
): Project {
	const maps = Object.fromEntries(
		Object.entries(definitions).map(([kind, named]) => [
			kind,
			new Map(
				Object.entries(named).map(([name, definition]) => [
					name,
					{
						kind,
						name,
						localName: name,
						packageId: null,
						namespace: { type: "global" },
						isEntry: true,
						file: `/project/agents/${kind}s/${name}.ts`,
						definition,
					},
				]),
			),
		]),
	);
	return {
		directory: "/project",
		version: "1",
		agents: maps.agent,
		prompts: maps.prompt,
		tools: maps.tool,
		models: maps.model,
		hooks: maps.hook,
		effects: maps.effect,
		providers: maps.provider,
		endpoints: [],
		warnings: [],
		visible: (_: unknown, kind: string, name: string) => maps[kind]?.get(name),
		names: (_: unknown, kind: string) => [...(maps[kind]?.keys() ?? [])].sort(),
	} as unknown as Project;
}
