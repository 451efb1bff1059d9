// Every place where the public API takes options, with a call that gives it one more. The call fails for nothing else.
import { a2aServer, remoteAgent } from "@holdfast/a2a";
import { createClient } from "@holdfast/client";
import { HoldfastChatTransport } from "@holdfast/client/ai-sdk";
import { edgeService, objectHost } from "@holdfast/cloudflare";
import {
	agentsMd,
	largeResults,
	loadSkills,
	parseSkill,
	readAgentsMd,
	searchable,
	skills,
} from "@holdfast/context";
import { inspector } from "@holdfast/inspector";
import { connectMcp } from "@holdfast/mcp";
import { mcpServer } from "@holdfast/mcp/server";
import { inMemoryClient, inMemoryClients } from "@holdfast/memory";
import { postgresClients } from "@holdfast/memory/postgres";
import { redisClients } from "@holdfast/memory/redis";
import { sqliteClients } from "@holdfast/memory/sqlite";
import { observe } from "@holdfast/otel";
import { outbound } from "@holdfast/outbound";
import { postgresHost } from "@holdfast/postgres";
import * as upkeep from "@holdfast/postgres/upkeep";
import { createRedactor } from "@holdfast/redaction";
import * as runner from "@holdfast/runner";
import * as runnerCompat from "@holdfast/runner/compat";
import * as connectors from "@holdfast/runner/connectors";
import { compareReports, evaluate, judge } from "@holdfast/runner/evaluation";
import { stubClient } from "@holdfast/runner/harness";
import { databasePromptStore, memoryPromptStore } from "@holdfast/runner/prompts";
import { writePolicy } from "@holdfast/runner/safety";
import { createSandbox } from "@holdfast/sandbox";
import { codeMode, codeModeWithSnippets } from "@holdfast/sandbox/code-mode";
import { createHandler, createServer, listen, sessionService } from "@holdfast/server";
import { fileCheckpoints, MemorySessionStore, storeJournal } from "@holdfast/stores";
import { scriptedModel } from "@holdfast/testing";
import * as threads from "@holdfast/threads";
import { boundFetch, createProvider, exponentialBackoff, llm, Thread } from "@holdfast/upp";
import * as holdfast from "holdfast";
import { Agent, AgentState, agent, memoryHost } from "holdfast";
import * as checkpoint from "holdfast/checkpoint";
import { createLlm, injectToolContext } from "holdfast/compat";
import { loop, plan, react } from "holdfast/execution";
import { createInMemoryExecutionHost, journalExecution } from "holdfast/execution-host";
import { foldHistory, memoryJournal, watchAll } from "holdfast/host";
import * as middleware from "holdfast/middleware";
import { compaction, memory } from "holdfast/plugins";
import { sqlHost } from "holdfast/sql";
import { sqliteCheckpoints, sqliteHost, sqliteJournal } from "holdfast/sqlite";
import { workflow } from "holdfast/workflow";
import {
	answering,
	cardOf,
	newFile,
	newSession,
	objectStorage,
	pool,
	prepared,
	project,
	projectFolder,
	sqlConnection,
	usedSession,
	waitingSession,
} from "./given.fixture.ts";

/** The model of every call here: it must never be asked. */
export const model: ReturnType<typeof scriptedModel> = scriptedModel(() => "Nothing.");

type Options = Readonly<Record<string, never>>;
type Call = (more: Options) => unknown;

const state = AgentState.initial();
const host = memoryHost();
const clerk = agent({ model, host });
const served = () => sessionService({ host, agent: { model } });
const service = served();
const url = "http://localhost:1";
const parameters = { type: "object", properties: {} } as const;
const named = { name: "one", description: "One." };
const config = { id: "a", taskPrompt: "Work.", tools: [], modelProviders: [stubClient([])], maxSteps: 3 };
const own = (): runner.RunnerAgent => new runner.RunnerAgent(config);
let services = 0;
const owned = () => new threads.Threads({ host, project });
const ownThread = await prepared(async () => {
	const all = owned();
	const { threadId: id } = await all.createThread({ agentId: "a" });
	return { all, id };
});
const used = await prepared(usedSession);
const waiting = await prepared(waitingSession);
const client = () => createClient({ url, fetch: answering });

/** The first of a generator, which runs nothing before. */
const begun = (generator: AsyncIterator<unknown>) => generator.next();

/** By package or entry; the names are those of the list. */
export const places: Readonly<Record<string, Call>> = {
	"a2a remoteAgent(options)": (more) => remoteAgent({ url, ...named, fetch: cardOf(url), ...more } as never),
	"a2a a2aServer(options)": (more) => a2aServer({ service, ...named, url, ...more } as never),
	"client createClient(options)": (more) => createClient({ url, ...more }),
	"client Client.execute(request)": (more) => client().execute({ input: "Hello", ...more }),
	"client Client.sessions(page)": (more) => client().sessions(more),
	"client Client.watch(options)": (more) => begun(client().watch("s", more)[Symbol.asyncIterator]()),
	"client/ai-sdk new HoldfastChatTransport(options)": (more) => new HoldfastChatTransport({ url, ...more }),
	"context agentsMd(options)": (more) => agentsMd({ folder: ".", ...more }),
	"context readAgentsMd(options)": (more) => readAgentsMd({ folder: ".", ...more }),
	"context searchable(options)": (more) => searchable([], more),
	"cloudflare edgeService(options)": (more) => edgeService(more as never),
	"cloudflare objectHost(options)": (more) => objectHost(objectStorage() as never, more),
	"context largeResults(options)": (more) => largeResults(more),
	"context loadSkills(options)": (more) => loadSkills({ sources: [async () => []], ...more }),
	"context skills(options)": (more) => skills({ sources: [async () => []], ...more }),
	"context parseSkill(options)": (more) => parseSkill("---\nname: a\ndescription: A.\n---\n", more),
	"holdfast new Agent(options)": (more) => new Agent({ model, ...more }),
	"holdfast Agent.create(options)": (more) => Agent.create({ model, ...more }),
	"holdfast agent(options)": (more) => agent({ model, ...more }),
	"holdfast Agent.generate(options)": (more) => clerk.generate("Hello", state, more),
	"holdfast Agent.stream(options)": (more) => clerk.stream("Hello", state, more),
	"holdfast Agent.ask(options)": (more) => clerk.ask("Hello", state, more),
	"holdfast Agent.query(options)": (more) => clerk.query("Hello", more),
	"holdfast Agent.recover(options)": (more) => clerk.recover(more),
	"holdfast Agent.supervise(options)": (more) => clerk.supervise(more),
	"holdfast Agent.work(options)": (more) => begun(clerk.work(more)),
	"holdfast Agent.close(options)": (more) => agent({ model }).close(more),
	"holdfast Session.send(options)": (more) => newSession().send("Hello", more),
	"holdfast Session.start(options)": (more) => newSession().start("Hello", more),
	"holdfast Session.steer(options)": (more) => newSession().steer("Hello", more),
	"holdfast Session.answer(options)": (more) =>
		waiting().then(({ session, answers }) => session.answer(answers, more)),
	"holdfast Session.fork(options)": (more) =>
		used().then((session) => session.fork(`of ${session.key}`, more)),
	"holdfast Session.follow(options)": (more) => newSession().follow(more),
	"holdfast/compat createLlm(options)": (more) => createLlm({ model, ...more }),
	"holdfast createSubAgentTool(options)": (more) =>
		holdfast.createSubAgentTool({ agent: clerk, ...named, parameters, ...more }),
	"holdfast createSession(context)": (more) => holdfast.createSession("s", more, { model }),
	"holdfast createSession(options)": (more) => holdfast.createSession("s", {}, { model, ...more }),
	"holdfast execute(options)": (more) =>
		holdfast.execute(holdfast.createSession("s", {}, { model }), "Hello", more),
	"holdfast followAll(options)": (more) => begun(holdfast.followAll(host as never, more)),
	"holdfast followSession(options)": (more) => holdfast.followSession(host, "s", more),
	"holdfast/host watchAll(options)": (more) => begun(watchAll(host.changes as never, more)),
	"holdfast memoryHost(options)": (more) => memoryHost(more),
	"holdfast/host foldHistory(options)": (more) => foldHistory(host.journal, "s", { before: 0, ...more }),
	"holdfast tool(declaration)": (more) =>
		holdfast.tool({ ...named, parameters, run: () => 1, ...more } as never),
	"holdfast/compat injectToolContext(options)": (more) =>
		injectToolContext([], { agent: clerk, state } as never, more),
	"holdfast/checkpoint fileCheckpoints(options)": (more) => checkpoint.fileCheckpoints({ dir: "x", ...more }),
	"holdfast/execution-host createInMemoryExecutionHost(options)": (more) => createInMemoryExecutionHost(more),
	"holdfast/execution loop(options)": (more) => loop(more),
	"holdfast/execution plan(options)": (more) => plan(more),
	"holdfast/execution react(options)": (more) => react(more),
	"holdfast/execution-host journalExecution(options)": (more) =>
		journalExecution({ journal: host.journal, records: {}, runs: {}, ...more } as never),
	"holdfast/host memoryJournal(options)": (more) => memoryJournal(more),
	"holdfast/middleware budget(options)": (more) => middleware.budget({ maxTokens: 1, ...more }),
	"holdfast/middleware logging(options)": (more) => middleware.logging(more),
	"holdfast/middleware pruneToolOutputs(options)": (more) => middleware.pruneToolOutputs(more),
	"holdfast/middleware retry(options)": (more) => middleware.retry(model, more),
	"holdfast/middleware slidingWindow(max)": (more) => middleware.slidingWindow({ max: 3, ...more }),
	"holdfast/middleware summarise(options)": (more) => middleware.summarise({ model, ...more } as never),
	"holdfast/middleware summarize(options)": (more) => middleware.summarize({ model, ...more } as never),
	"holdfast/workflow Workflow.recover(options)": (more) =>
		workflow({ name: "x" }, async () => {}).recover(more),
	"holdfast/workflow Workflow.supervise(options)": (more) =>
		workflow({ name: "x" }, async () => {}).supervise(more),
	"holdfast/workflow Workflow.withOptions(options)": (more) =>
		workflow({ name: "x" }, async () => {}).withOptions(more),
	"holdfast/workflow workflow(options)": (more) => workflow({ name: "x", ...more }, async () => {}),
	"holdfast/plugins compaction(options)": (more) => compaction({ model, ...more } as never),
	"holdfast/plugins memory(options)": (more) => memory(more),
	"holdfast/sqlite sqliteCheckpoints(options)": (more) =>
		sqliteCheckpoints({ path: newFile(), ...more } as never),
	"holdfast/sqlite sqliteJournal(options)": (more) => sqliteJournal({ path: newFile(), ...more }),
	"holdfast/sqlite sqliteHost(options)": (more) => sqliteHost({ path: newFile(), ...more }),
	"holdfast/sql sqlHost(options)": (more) =>
		sqlHost({ name: "x", connection: sqlConnection(), ...more } as never),
	"inspector inspector(options)": (more) => inspector(more),
	"mcp connectMcp(options)": (more) => connectMcp({}, more),
	"mcp/server mcpServer(options)": (more) => mcpServer({ service, tools: {}, ...more } as never),
	"memory inMemoryClient(options)": (more) => inMemoryClient(more),
	"memory inMemoryClients(options)": (more) => inMemoryClients(more),
	"memory/sqlite sqliteClients(options)": (more) =>
		sqliteClients({ file: "/dev/null/m.db", unencrypted: true, ...more }),
	"memory/redis redisClients(options)": (more) =>
		redisClients({ command: async () => null, unencrypted: true, ...more } as never),
	"memory/postgres postgresClients(options)": (more) =>
		postgresClients({ pool, unencrypted: true, ...more } as never),
	"otel observe(options)": (more) => observe(host as never, more),
	"outbound outbound(options)": (more) => outbound(more as never),
	"postgres postgresHost(options)": (more) => postgresHost({ pool, ...more } as never),
	"postgres/upkeep livingWorkers(options)": (more) => upkeep.livingWorkers({ pool, ...more } as never),
	"postgres/upkeep moveOut(options)": (more) => upkeep.moveOut({ pool, ...more } as never, async () => {}),
	"postgres/upkeep readStore(options)": (more) =>
		upkeep.readStore({ pool, ...more } as never, async () => {}),
	"postgres/upkeep sessionRemover(options)": (more) => upkeep.sessionRemover({ pool, ...more } as never),
	"postgres/upkeep writeStore(options)": (more) => upkeep.writeStore({ pool, ...more } as never, {} as never),
	"postgres/upkeep writeStore(more)": (more) => upkeep.writeStore({ pool } as never, {} as never, more),
	"redaction createRedactor(options)": (more) => createRedactor(more),
	"redaction Redactor.redact(options)": (more) => createRedactor().redact("x", more),
	"redaction Redactor.stream(options)": (more) => createRedactor().stream(more),
	"runner new RunnerAgent(config)": (more) => new runner.RunnerAgent({ ...config, ...more } as never),
	"runner RunnerAgent.createSession(given)": (more) => own().createSession(more),
	"runner RunnerAgent.runOnce(options)": (more) => own().runOnce(more),
	"runner RunnerAgent.run(options)": (more) => own().run(more),
	"runner AgentService.get(config)": (more) =>
		runner.AgentService.get({ ...config, id: `a${++services}`, ...more } as never),
	"runner/compat new Agent(config)": (more) => new runnerCompat.Agent({ ...config, ...more } as never),
	"runner/compat Agent.createSession(given)": (more) => new runnerCompat.Agent(config).createSession(more),
	"runner/compat Agent.runOnce(options)": (more) => new runnerCompat.Agent(config).runOnce(more),
	"runner/compat Agent.run(options)": (more) => new runnerCompat.Agent(config).run(more),
	"runner planActReflect(options)": (more) =>
		runner.planActReflect({ modelProviders: [stubClient([])], ...more }),
	"runner readResult(options)": (more) => runner.readResult(host as never, "s", more),
	"runner databaseEventStore(options)": (more) => runner.databaseEventStore({} as never, "events", more),
	"runner fileEventStore(options)": (more) => runner.fileEventStore("x", more),
	"runner memoryEventStore(options)": (more) => runner.memoryEventStore(more),
	"runner modelPlanner(options)": (more) => runner.modelPlanner(more),
	"runner anthropicClient(given)": (more) => runner.anthropicClient({ apiKey: "k", model: "m", ...more }),
	"runner localClient(options)": (more) => runner.localClient({ baseUrl: url, model: "m", ...more }),
	"runner openaiClient(given)": (more) => runner.openaiClient({ apiKey: "k", model: "m", ...more }),
	"runner modelClient(options)": (more) => runner.modelClient(model as never, more),
	"runner/connectors httpConnector(options)": (more) => connectors.httpConnector(more),
	"runner/connectors kvConnector(options)": (more) => connectors.kvConnector(more),
	"runner/connectors postgresDriver(options)": (more) =>
		connectors.postgresDriver({ pool, ...more } as never),
	"runner/connectors shellConnector(options)": (more) => connectors.shellConnector({ root: ".", ...more }),
	"runner/connectors sqlConnector(options)": (more) =>
		connectors.sqlConnector({ driver: {}, ...more } as never),
	"runner/connectors sqliteDriver(options)": (more) =>
		connectors.sqliteDriver({ path: "/dev/null/x.db", ...more } as never),
	"runner/prompts databasePromptStore(given)": (more) => databasePromptStore({} as never, more),
	"runner/prompts memoryPromptStore(options)": (more) => memoryPromptStore(more),
	"runner/safety writePolicy(config)": (more) => writePolicy(more),
	"runner/harness stubClient(options)": (more) => stubClient([], more),
	"runner/evaluation evaluate(options)": (more) => evaluate([{ name: "a", agent: () => 1 }], more),
	"runner/evaluation compareReports(options)": (more) =>
		compareReports({ scenarios: [] } as never, { scenarios: [] } as never, more),
	"runner/evaluation judge(options)": (more) => judge({ client: {}, criteria: "c", ...more } as never),
	"sandbox/code-mode codeModeWithSnippets(options)": (more) =>
		codeModeWithSnippets({ tools: [{ name: "look", parameters: {}, run: () => 1 }], ...more } as never),
	"sandbox/code-mode codeMode(options)": (more) =>
		codeMode({ tools: [{ name: "look", parameters: {}, run: () => 1 }], ...more } as never),
	"sandbox createSandbox(options)": (more) => createSandbox(more),
	"sandbox Sandbox.runCode(options)": (more) => createSandbox().runCode("export default 1", more),
	"server createHandler(given)": (more) => createHandler({ service, ...more }),
	"server createServer(options)": (more) => createServer({ service, ...more }),
	"server listen(options)": (more) => listen({ service, ...more } as never),
	"server Server.listen(options)": (more) => createServer({ service }).listen(more),
	"server Server.close(options)": (more) => createServer({ service }).close(more),
	"server sessionService(options)": (more) => sessionService({ host, agent: { model }, ...more }),
	"server SessionService.recover(options)": (more) => served().recover(more),
	"server SessionService.supervise(options)": (more) => served().supervise(more),
	"server SessionService.work(options)": (more) => begun(served().work(more) as never),
	"server SessionService.close(options)": (more) => served().close(more),
	"stores fileCheckpoints(options)": (more) => fileCheckpoints({ dir: "x", ...more }),
	"stores storeJournal(options)": (more) => storeJournal(new MemorySessionStore(), more),
	"threads defineAgent(options)": (more) =>
		threads.defineAgent({ name: "a", sideA: { prompt: "p" }, ...more } as never),
	"threads defineHook(options)": (more) =>
		threads.defineHook({ hook: "filter_messages", id: "all", execute: () => [], ...more } as never),
	"threads defineModel(options)": (more) =>
		threads.defineModel({ name: "m", model: "m", provider: () => ({}), ...more } as never),
	"threads definePrompt(options)": (more) =>
		threads.definePrompt({ name: "p", toolDescription: "P.", prompt: "Be.", model: "m", ...more } as never),
	"threads defineTool(options)": (more) =>
		threads.defineTool({ description: "T.", execute: () => ({}), ...more } as never),
	"threads threadRoutes(options)": (more) => threads.threadRoutes({ threads: {}, ...more } as never),
	"threads watchProject(options)": (more) => threads.watchProject(projectFolder, more as never),
	"threads packAgents(options)": (more) =>
		threads.packAgents({ directory: projectFolder, agents: ["one"], out: newFile(), ...more } as never),
	"threads modelProvider(options)": (more) => threads.modelProvider(model as never, more),
	"threads providerModel(options)": (more) => threads.providerModel({} as never, "m", more),
	"threads new Threads(options)": (more) => new threads.Threads({ host, project, ...more } as never),
	"threads Threads.createThread(options)": (more) => owned().createThread({ agentId: "a", ...more }),
	"threads Threads.queueMessage(options)": (more) =>
		ownThread().then(({ all, id }) => all.queueMessage(id, { role: "user", content: "Hello" }, more)),
	"threads Threads.list(options)": (more) => owned().list(more),
	"threads Threads.update(change)": (more) => ownThread().then(({ all, id }) => all.update(id, more)),
	"threads Threads.recover(options)": (more) => owned().recover(more),
	"threads Threads.work(options)": (more) => begun(owned().work(more)),
	"threads Threads.supervise(options)": (more) => owned().supervise(more),
	"threads Threads.close(options)": (more) => owned().close(more),
	"threads threads(options)": (more) => threads.threads({ host, project, ...more } as never),
	"upp boundFetch(options)": (more) => boundFetch({ origins: [url], silenceMs: 1, maxBytes: 1, ...more }),
	"upp llm(options)": (more) => llm({ model, ...more } as never),
	"upp createProvider(options)": (more) => createProvider({ name: "p", ...more } as never),
	"upp exponentialBackoff(options)": (more) => exponentialBackoff(more),
	"upp new Thread(options)": (more) => new Thread([], more),
};
