// A process dies before and after each of its writes, and another one finishes what it has begun: held against the thread that
// was left alone.
import type { Host } from "holdfast";
import { expect, test } from "vitest";
import { z } from "zod";
import { defineAgent, defineModel, definePrompt, defineTool } from "../define/index.ts";
import type { Message, Project, PromptDefinition, ProviderRequest } from "../types/index.ts";
import type { Threads } from "./index.ts";
import { type MortalStore, mortalStore } from "./mortal-host.fixture.ts";
import { projectOf, type Reply, scripted, start } from "./threads.fixture.ts";

const call = (name: string, args: unknown = {}, id = name): Reply => ({ calls: [{ name, args, id }] });
const who = ({ messages }: Pick<ProviderRequest, "messages">): string =>
	/You are (?<name>\w+)/.exec(String(messages[0]?.content))?.groups?.name ?? "";
/** How many results the one who is asked has seen. */
const results = ({ messages }: Pick<ProviderRequest, "messages">): number =>
	messages.filter(({ role }) => role === "tool").length;

/** A project whose models say what follows from what they see, and the effects of its tools by call. */
interface World {
	readonly project: Project;
	readonly effects: Map<string, number>;
}

type Answer = (request: ProviderRequest) => Reply | string;

function world(
	agent: Partial<Parameters<typeof defineAgent>[0]>,
	tools: PromptDefinition["tools"],
	answers: Readonly<Record<string, Answer>>,
): World {
	const effects = new Map<string, number>();
	const note = defineTool({
		description: "Has an effect.",
		args: z.object({ key: z.string() }),
		execute: async (state, { key }) => {
			effects.set(key, (effects.get(key) ?? 0) + 1);
			await state.setValue(key, true);
			return { status: "success", result: `noted ${key}` };
		},
	});
	const provider = scripted((request) => {
		const answer = answers[who(request)];
		if (answer === undefined) throw new Error(`Nobody is ${who(request)}.`);
		return answer(request);
	});
	const prompt = (name: string, callables: PromptDefinition["tools"]): PromptDefinition =>
		definePrompt({
			name,
			toolDescription: "x",
			prompt: `You are ${name}.`,
			model: "main",
			includePastTools: true,
			tools: callables ?? [],
		}) as PromptDefinition;
	const project = projectOf({
		agents: [
			defineAgent({ name: "main", sideA: { prompt: "alice" }, ...agent } as Parameters<
				typeof defineAgent
			>[0]),
			defineAgent({
				name: "worker",
				exposeAsTool: true,
				toolDescription: "Works.",
				sideA: { prompt: "carol" },
			}),
		],
		prompts: [prompt("alice", tools), prompt("bob", ["note"]), prompt("carol", ["note"])],
		models: [defineModel({ name: "main", provider: provider.factory, model: "m" })],
		tools: { note },
	});
	return { project, effects };
}

const scenarios: Readonly<Record<string, () => World>> = {
	"an agent with tools": () =>
		world({}, ["note"], {
			alice: (request) =>
				[
					call("note", { key: "one" }, "c1"),
					{
						text: "Two more.",
						calls: [
							{ name: "note", args: { key: "two" }, id: "c2" },
							{ name: "note", args: { key: "three" }, id: "c3" },
						],
					},
				][results(request) === 0 ? 0 : results(request) === 1 ? 1 : 2] ?? "All noted.",
		}),
	"two sides": () =>
		world({ type: "dual_ai", sideB: { prompt: "bob" }, maxSessionTurns: 3 }, ["note"], {
			alice: (request) =>
				results(request) === 0 ? call("note", { key: "one" }, "c1") : `A after ${request.messages.length}`,
			bob: (request) =>
				results(request) === 0 ? call("note", { key: "two" }, "c2") : `B after ${request.messages.length}`,
		}),
	"a child that is waited for": () =>
		world({}, [{ name: "worker", initUserMessageProperty: "task" }, "note"], {
			alice: (request) =>
				results(request) === 0
					? call("worker", { task: "Dig." }, "w1")
					: results(request) === 1
						? call("note", { key: "two" }, "c2")
						: "Dug and noted.",
			carol: (request) => (results(request) === 0 ? call("note", { key: "one" }, "c1") : "A hole."),
		}),
	"a child that reports": () =>
		world({}, [{ name: "worker", resumable: { receives_messages: "side_a" } }], {
			alice: (request) =>
				results(request) === 0
					? call("subagent_create", { name: "Digger", message: "Dig." }, "w1")
					: request.messages.some(({ content }) => String(content).includes("A hole."))
						? "I heard."
						: "Waiting.",
			carol: () => "A hole.",
		}),
	"an agent that takes over": () =>
		world({}, ["worker"], {
			alice: () => call("worker", {}, "h1"),
			carol: (request) => (results(request) < 2 ? call("note", { key: "one" }, "c1") : "I am here."),
		}),
};

/** What each has come to, whoever is killed on the way. */
const said: Readonly<Record<string, RegExp>> = {
	"an agent with tools":
		/^tool c1: noted one\n[\s\S]*^tool c2: noted two\ntool c3: noted three\nassistant: All noted\.$/m,
	"two sides":
		/^tool c1: noted one\nassistant: A after \d+\n[\s\S]*^tool c2: noted two\nassistant: B after \d+/m,
	"a child that is waited for":
		/^tool w1: A hole\.\n[\s\S]*^tool c2: noted two\nassistant: Dug and noted\.$/m,
	"a child that reports": /^user: The sub-agent "Digger" \(id\) finished:\nA hole\.$/m,
	"an agent that takes over": /^worker with 0\n[\s\S]*^tool c1: noted one\nassistant: I am here\.$/m,
};

/** What a thread and its sub-agents have come to; ids and times aside, and with every interrupted call marked as one. */
async function outcome(threads: Threads, threadId: string): Promise<readonly string[]> {
	const state = await threads.get(threadId);
	const { messages = [] } = (await state?.getMessages({ limit: 1_000, includeSilent: true })) ?? {};
	const own = messages.map((message) => lineOf(message).replace(/\(\S+\)/, "(id)"));
	const children = await Promise.all(
		(state?.children ?? []).map(({ reference }) => outcome(threads, reference)),
	);
	return [
		`${state?.agentId} with ${state?.children.length}`,
		...own,
		...children.flat().map((line) => `  ${line}`),
	];
}

function lineOf({ role, content, tool_calls, tool_call_id }: Message): string {
	const calls = (JSON.parse(tool_calls ?? "[]") as { id: string }[]).map(({ id }) => `<${id}>`).join("");
	if (role !== "tool") return `${role}: ${content ?? ""}${calls}`;
	const said = /^The call was interrupted/.test(content ?? "") ? "interrupted" : (content ?? "");
	return `${role} ${tool_call_id}: ${said.replace(/"reference":"[^"]+"/, '"reference":"id"')}`;
}

/** Whether every session of the host is over. */
async function isOver({ journal }: Host): Promise<boolean> {
	return (await journal.list()).every(({ openRunId, waiting }) => openRunId === undefined && waiting === 0);
}

/** Lets the rest of the process have its turn. */
const turned = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const threadId = "thread-1";

async function prepare(store: MortalStore, project: Project): Promise<void> {
	const { threads } = start(project, { host: store.process() });
	await threads.createThread({ agentId: "main", id: threadId });
	await threads.close();
}

/** Another process finishes the thread; who has no answer says it again. */
async function finish(store: MortalStore, project: Project): Promise<Threads> {
	const host = store.process();
	const { threads } = start(project, { host });
	const { total = 0 } = (await (await threads.get(threadId))?.getMessages()) ?? {};
	if (total === 0) await threads.queueMessage(threadId, { content: "Go" });
	for (let looks = 0; looks < 500 && !(await isOver(host)); looks++) {
		for await (const run of threads.recover()) void run.result();
		await threads.quiet();
		await turned();
	}
	expect(await isOver(host)).toBe(true);
	return threads;
}

test.each(Object.keys(scenarios))(
	"%s: killed at each write, it finishes with every message once and no effect twice [SA-124] [SA-135] [SA-136]",
	async (name) => {
		const make = scenarios[name] as () => World;
		const alone = make();
		const store = mortalStore();
		await prepare(store, alone.project);
		const host = store.process();
		const { threads } = start(alone.project, { host });
		await threads.queueMessage(threadId, { content: "Go" });
		await threads.quiet();
		const expected = await outcome(threads, threadId);
		expect([...alone.effects.values()].every((count) => count === 1)).toBe(true);
		expect(expected.join("\n")).toMatch(said[name] as RegExp);
		expect(host.writes).toBeGreaterThan(5);
		await threads.close();
		const interrupted = new Set<string>();
		for (let write = 1; write <= host.writes; write++)
			for (const moment of ["before", "after"] as const) {
				const { project, effects } = make();
				const world = mortalStore();
				await prepare(world, project);
				const mortal = world.process({ write, moment });
				const dying = start(project, { host: mortal }).threads;
				const survives = async (): Promise<void> => {
					await dying.queueMessage(threadId, { content: "Go" });
					while (!mortal.isDead && !(await isOver(mortal))) {
						await dying.quiet();
						await turned();
					}
					if (mortal.isDead) return;
					await dying.close();
				};
				// Where two threads act at once, the number of writes differs from time to time.
				await Promise.race([mortal.died, survives()]);
				const found = await finish(world, project);
				const lines = await outcome(found, threadId);
				for (const [at, line] of lines.entries())
					if (line.endsWith(": interrupted")) interrupted.add(expected[at] ?? "");
				// A report may come before or after what the parent says meanwhile.
				const plain = (each: readonly string[]): readonly string[] =>
					name === "a child that reports"
						? [...each].filter((line) => !/Waiting|I heard/.test(line)).sort()
						: each;
				const same = plain(expected).map((line, at) =>
					plain(lines)[at]?.endsWith(": interrupted") ? plain(lines)[at] : line,
				);
				expect(plain(lines), `${moment} write ${write}`).toEqual(same);
				for (const [key, count] of effects)
					expect([key, count], `${moment} write ${write}`).toEqual([key, 1]);
				await found.close();
			}
		if (alone.effects.size > 0) expect(interrupted.size).toBeGreaterThan(0);
	},
);
