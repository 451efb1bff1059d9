// Runs a decider in an execution context: the engine drives it with the context's model, tools and hooks.

import type { AgentStreamResult } from "../engine/index.ts";
import {
	type AgentStreamEvent,
	conclude,
	type Decider,
	drive,
	type EngineAgent,
	EventQueue,
	ephemeralRecorder,
	fairnessOf,
	foldOptions,
	joinDeltas,
	Run,
	streamLimits,
	uapProjection,
} from "../engine/index.ts";
import { initialSession, type Watcher } from "../facts/index.ts";
import { systemWarn } from "../host/index.ts";
import { normaliseTools, type ToolSet } from "../tools/index.ts";
import { boundHooks } from "./bound-hooks.ts";
import type { ExecutionContext, ExecutionResult } from "./execution-strategy.ts";
import { backingOf, type InstanceBacking } from "./instance-model.ts";

/** Runs a decider to its end. */
export function executeDecider(decider: Decider, context: ExecutionContext): Promise<ExecutionResult> {
	return start(decider, context, undefined).result;
}

/** Runs a decider and emits its events. */
export function streamDecider(decider: Decider, context: ExecutionContext): AgentStreamResult {
	const queue = new EventQueue<AgentStreamEvent>({ join: joinDeltas });
	const { run, result } = start(decider, context, {
		notify: uapProjection(context.agent.id, (event) => queue.push(event)),
	});
	result.then(
		() => queue.end(),
		(error) => queue.end(run.stopReason === undefined ? { error } : {}),
	);
	return { result, abort: () => run.stop("interrupt"), [Symbol.asyncIterator]: () => queue };
}

function start(
	decider: Decider,
	context: ExecutionContext,
	watcher: Watcher | undefined,
): { run: Run; result: Promise<ExecutionResult> } {
	const { input, state, signal } = context;
	const backing = backingOf(context.llm);
	const agent = engineAgentOf(decider, context, backing);
	const run = new Run({
		agent,
		runId: backing.ports.ids.uuid(),
		state: initialSession(state, foldOptions(agent).show),
		recorder: ephemeralRecorder(),
		asks: watcher === undefined ? "whole" : "streamed",
		...(watcher === undefined ? {} : { watchers: [watcher] }),
		...(backing.parentContext === undefined ? {} : { parentContext: backing.parentContext }),
	});
	const stop = (): void => run.stop("interrupt");
	if (signal?.aborted) stop();
	else signal?.addEventListener("abort", stop, { once: true });
	run.commit([
		{ kind: "run.started", runKind: "user-turn", agentId: context.agent.id, fingerprint: "" },
		{ kind: "input", inputId: input.id, placement: "turn", shape: "message", message: input },
	]);
	const result = drive(run)
		.then((outcome) => conclude(run, outcome))
		.finally(() => signal?.removeEventListener("abort", stop));
	return { run, result };
}

function engineAgentOf(decider: Decider, context: ExecutionContext, backing: InstanceBacking): EngineAgent {
	const { agent, tools = [], strategy = {} } = context;
	const { model, toolStrategy, ports } = backing;
	const byName = normaliseTools(tools.length > 0 ? (tools as ToolSet) : (backing.tools ?? []));
	// The strategy's caller gets the error itself, and may recover from it.
	const { onError: _, ...hooks } = boundHooks(strategy);
	return {
		id: agent.id,
		model: () => model,
		tools: byName,
		toolList: [...byName.values()],
		decider,
		hooks,
		toolStrategy,
		ports,
		warn: systemWarn,
		// A caller that runs a strategy directly sets its own limits.
		stepsAre: "limited",
		maxStreamed: streamLimits,
		fairness: fairnessOf(ports),
		fingerprint: () => "",
		toolContext: { parentModel: agent.model, parentConfig: agent.config },
	};
}
