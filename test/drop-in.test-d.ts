// The types that a program written for the published package of document 1 imports, as it uses them.
import type { Tool, ToolCall } from "@holdfast/upp";
import { AgentState, agent, createSubAgentTool } from "holdfast";
import {
	type CheckpointData,
	type CheckpointStore,
	fileCheckpoints,
	type CheckpointStore as OwnStore,
} from "holdfast/checkpoint";
import {
	type AgentStateInterface,
	type ContextAwareToolRun,
	type ExecutionGroup,
	executeOrderedToolCalls,
	hasCallDependencies,
	hasToolDependencies,
	type InjectToolContextOptions,
	injectToolContext,
	isContextAwareTool,
	type OrderedToolCall,
	orderToolCalls,
	type SubAgentToolRun,
	type ToolDependencyOptions,
	type ToolExecutionContext,
	type ToolExecutionResult,
	type ToolExecutor,
	type ToolWithDependencies,
	withToolContext,
} from "holdfast/compat";
import type * as execution from "holdfast/execution";
import type { AgentRef, ExecutionPlan, PlanStepStatus } from "holdfast/execution";
import { ThreadTree } from "holdfast/thread-tree";
import type {
	CreateSubAgentToolOptions,
	OnSubagentEvent,
	SubagentEventBase,
	SubagentEventType,
} from "holdfast/types";
import { expectTypeOf, test } from "vitest";

declare const calls: ToolCall[];
declare const tools: Tool[];
declare const context: execution.ExecutionContext;

test("the helpers for ordering have the types of their documented use", () => {
	const groups: ExecutionGroup[] = orderToolCalls(calls, tools);
	const [first] = groups;
	const group: { calls: ToolCall[]; isBarrier: boolean } | undefined = first;
	const executor: ToolExecutor = (call: ToolCall, tool: Tool) => Promise.resolve([call, tool]);
	const results: Promise<ToolExecutionResult[]> = executeOrderedToolCalls(calls, tools, executor);
	const durations: Promise<[ToolCall, unknown, boolean, string | undefined, number][]> = results.then((all) =>
		all.map(({ call, result, isError, error, duration }) => [call, result, isError, error, duration]),
	);
	const booleans: boolean[] = [
		hasToolDependencies(tools),
		hasCallDependencies(calls),
		isContextAwareTool(tools[0] as Tool),
	];
	const ordered: OrderedToolCall = { toolCallId: "c", toolName: "t", arguments: {}, after: ["b"] };
	const options: ToolDependencyOptions = { sequential: true, dependsOn: ["a"] };
	const dependent: ToolWithDependencies = { ...(tools[0] as Tool), ...options };
	expectTypeOf([
		groups,
		group,
		executor,
		results,
		durations,
		booleans,
		ordered,
		options,
		dependent,
	]).toBeArray();
});

test("the helpers for context have the types of their documented use", () => {
	const onSubagentEvent: OnSubagentEvent = (event) => {
		const type: SubagentEventType = event.type;
		const base: SubagentEventBase = event;
		console.log(type, base.subagentId, base.subagentType, base.parentToolCallId);
		if (event.type === "subagent_start") console.log(event.prompt, event.timestamp);
		if (event.type === "subagent_event") console.log(event.innerEvent);
		if (event.type === "subagent_end")
			console.log(event.success, event.result, event.error, event.toolExecutions);
	};
	const injecting: InjectToolContextOptions = { onSubagentEvent };
	const injected: Tool[] = injectToolContext(tools, context, injecting);
	const plain: Tool[] = injectToolContext(tools, context);
	const aware: ContextAwareToolRun = async (params, given?: ToolExecutionContext) => [params, given?.agentId];
	const handled: Tool = withToolContext(tools[0] as Tool, async (params, given) => [
		params.a,
		given?.toolCallId,
	]);
	expectTypeOf([onSubagentEvent, injecting, injected, plain, aware, handled]).toBeArray();
});

test("tools of sub-agents have the types of their documented use", () => {
	const subAgent: CreateSubAgentToolOptions = {
		agent: agent({}),
		name: "explore",
		description: "Explores.",
		parameters: { type: "object" },
		buildPrompt: (params) => String(params.query),
		subagentType: "explorer",
		stream: false,
	};
	const subAgentTool: Tool = createSubAgentTool(subAgent);
	const run: SubAgentToolRun = createSubAgentTool(subAgent).run;
	expectTypeOf([subAgent, subAgentTool, run]).toBeArray();
});

test("thread trees have the types of their documented use", () => {
	const tree = new ThreadTree();
	const leaves: string[] = tree.getLeaves();
	const branches: Map<string, string | undefined> = tree.getBranches();
	tree.current.name = "main";
	expectTypeOf([tree, leaves, branches]).toBeArray();
});

test("agents, plans and states have the types of their documented use", () => {
	const reference: AgentRef = { id: "a", system: "Be brief." };
	const status: PlanStepStatus = "in_progress";
	const plan: ExecutionPlan = {
		steps: [{ id: "a", description: "A", dependsOn: [], status }],
		currentStepIndex: 0,
	};
	const state: AgentStateInterface = AgentState.initial();
	expectTypeOf([reference, status, plan, state]).toBeArray();
});

test("checkpoints have the types of their documented use", () => {
	const store: CheckpointStore & OwnStore = fileCheckpoints({ dir: "x" });
	const saved: Promise<void> = store.save("s", AgentState.initial().toJSON());
	const loaded: Promise<CheckpointData["metadata"] | null> = fileCheckpoints().loadMetadata("s");
	expectTypeOf([store, saved, loaded]).toBeArray();
});
