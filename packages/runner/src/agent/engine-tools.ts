// Declares the tools of an agent for the engine: each call is recorded before it starts, and its result is plain data.
// After a crash, an idempotent tool is called again under the same key; for any other tool the outcome is unknown.

import { messageOf } from "@holdfast/upp";
import type { AnyTool, ToolContext } from "holdfast";
import { tool as engineTool } from "holdfast";
import type { MaybePromise } from "holdfast/host";
import {
	type CallAnswer,
	executorTool,
	type MemoryChange,
	memoryTool,
	type PlannedWrite,
	type ResultError,
	type RunnerStep,
	type RunnerTool,
} from "../contract/index.ts";
import { shownInput } from "../result/index.ts";
import { runTool } from "../tools/index.ts";
import type { LiveRuns, OpenRun } from "./live-runs.ts";
import type { ResolvedAgent } from "./resolved-agent.ts";
import { watchedStores } from "./session-memory.ts";

/** The arguments that the loop passes to a tool. */
interface StepArguments {
	readonly step: RunnerStep;
	readonly iteration: number;
	/** The rule that requires a person's approval of the call. */
	readonly ask?: string;
}

const anyObject = { type: "object" } as const;
/** The prefix of a failed write's message. */
export const memoryFailed = "Writing to memory failed: ";

/** Returns the engine's tools of an agent: one for each of its own, and those of the loop. */
export function engineTools(agent: ResolvedAgent, live: LiveRuns): readonly AnyTool[] {
	// The person's decision is recorded.
	const needsApproval = ({ ask }: Partial<StepArguments>): boolean =>
		ask !== undefined && agent.recording === undefined;
	const own = agent.tools.list().map((definition) => {
		const { id, description = id, idempotent } = definition;
		return engineTool({
			name: id,
			description,
			parameters: anyObject,
			retryPolicy: idempotent === true ? "idempotent" : "manual-recovery",
			needsApproval,
			run: (given: unknown, context: ToolContext) =>
				callTool(agent, live, given as StepArguments, context, definition),
		});
	});
	const executing = engineTool({
		name: executorTool,
		description: "Carries out a step.",
		parameters: anyObject,
		needsApproval,
		run: (given: unknown, context: ToolContext) =>
			callTool(agent, live, given as StepArguments, context, undefined),
	});
	const remembering = engineTool({
		name: memoryTool,
		description: "Writes to memory.",
		parameters: anyObject,
		retryPolicy: "idempotent",
		run: (given: unknown, context: ToolContext) =>
			remember(
				agent,
				live.get(context.runId, context.sessionKey),
				(given as { writes: PlannedWrite[] }).writes,
			),
	});
	return [...own, remembering, ...(agent.config.toolExecutor === undefined ? [] : [executing])];
}

function callTool(
	agent: ResolvedAgent,
	live: LiveRuns,
	{ step, iteration }: StepArguments,
	{ runId, sessionKey, signal, idempotencyKey }: ToolContext,
	definition: RunnerTool | undefined,
): MaybePromise<CallAnswer> {
	const { config, safety, ports, redactor, flags } = agent;
	const run = live.get(runId, sessionKey);
	const identity = { agentId: config.id, sessionId: run.sessionId };
	const { memory, database, changes } = watchedStores(
		() => run.memory,
		config.databaseClient,
		agent,
		identity,
		idempotencyKey,
	);
	const context = {
		...identity,
		rng: run.random(`call ${iteration}`),
		clock: run.clock,
		step: iteration,
		idempotencyKey,
		allowDbWrites: flags.allowDbWrites,
		...(database === undefined ? {} : { database }),
	};
	const toolId = step.toolId as string;
	const called = (attempt: number): void => {
		run.events.emit("tool.call", { step: iteration, toolId, attempt, input: step.input });
		if (config.onToolCall === undefined) return;
		const shown = shownInput(step.input, redactor, flags.logToolInputs);
		run.events.guarded("onToolCall", () => config.onToolCall?.(toolId, shown));
	};
	if (agent.recording !== undefined)
		return recorded(agent.recording.answer(iteration), called, (error) => run.failed(error));
	const executed: RunnerTool = definition ?? {
		id: toolId,
		run: () => undefined,
		timeoutMs: Number.POSITIVE_INFINITY,
	};
	const { toolExecutor } = config;
	return runTool({
		tool: toolExecutor === undefined ? executed : byExecutor(executed, step),
		input: step.input,
		context,
		signal,
		memory,
		changes,
		retry: config.retry ?? {},
		timers: ports.timers,
		refuses: (attempt) => (attempt === 1 ? undefined : refusal(() => safety.checkAttempt(toolId, identity))),
		called,
		failed: (error) => run.failed(error),
		track: (work) => run.track(work),
	});

	function byExecutor(tool: RunnerTool, planned: RunnerStep): RunnerTool {
		return {
			...tool,
			async run(input, given) {
				const result = await toolExecutor?.execute({ ...planned, input }, given);
				const { ok = true, output, error, meta } = result ?? {};
				const said = error === undefined ? {} : { code: error.code, message: error.message };
				return { ok, ...(output === undefined ? {} : { output }), meta: { ...meta, ...said } };
			},
		};
	}
}

/** Returns the recorded result of a call, with the events of its attempts. Throws if the call did not run. */
function recorded(
	answer: CallAnswer | string | undefined,
	called: (attempt: number) => void,
	failed: (error: ResultError) => void,
): CallAnswer {
	if (typeof answer === "string") throw new Error(answer);
	if (answer === undefined) {
		called(1);
		const error: ResultError = { code: "REPLAY_DIVERGED", message: "The record does not contain this call." };
		return { ok: false, error, latency: 0, attempts: 1, failures: [error], changes: [] };
	}
	for (let attempt = 1; attempt <= answer.attempts; attempt++) {
		called(attempt);
		const failure = answer.failures[attempt - 1];
		if (failure !== undefined) failed(failure);
	}
	for (const failure of answer.failures.slice(answer.attempts)) failed(failure);
	if (answer.attempts === 0 && answer.failures.length === 0 && answer.error !== undefined)
		failed(answer.error);
	return answer;
}

async function refusal(check: () => unknown): Promise<ResultError | undefined> {
	try {
		await check();
		return undefined;
	} catch (error) {
		const { code, message } = error as { code?: string; message: string };
		return { code: code ?? "POLICY_ERROR", message };
	}
}

/** Writes the memory changes of a reflection; they passed policy with the decision. */
async function remember(
	agent: ResolvedAgent,
	run: OpenRun,
	writes: readonly PlannedWrite[],
): Promise<CallAnswer> {
	const began = agent.ports.clock.now();
	const changes: MemoryChange[] = [];
	const about = (): Pick<CallAnswer, "latency" | "attempts" | "changes"> => ({
		latency: Math.max(0, agent.ports.clock.now() - began),
		attempts: 1,
		changes,
	});
	try {
		for (const { key, id, entry } of writes) {
			await run.memory.append(key, entry, { id });
			changes.push({ store: "memory", operation: "append", key, value: entry });
		}
		return { ok: true, ...about(), failures: [] };
	} catch (thrown) {
		const cause = (thrown as { code?: unknown } | null | undefined)?.code;
		const error: ResultError = {
			code: "MEMORY_FAILED",
			message: `${memoryFailed}${messageOf(thrown)}`,
			...(typeof cause === "string" ? { info: { code: cause } } : {}),
		};
		run.failed(error);
		return { ok: false, error, ...about(), failures: [error] };
	}
}
