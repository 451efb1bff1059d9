// A recorded run, run again: the loop and the rules are those of the agent, models and tools give what they gave.
import { inMemoryClient, type MemoryClient } from "@holdfast/memory";
import type {
	AgentConfig,
	AgentResult,
	AgentSession,
	CallAnswer,
	EventStore,
	PolicyDecision,
	RunnerEvent,
	RunOptions,
} from "../contract/index.ts";
import { EventComparer, type RecordedRun, readRecordedRun } from "../events/index.ts";
import type { ModelRouter } from "../models/index.ts";

/** What models and tools of a replay give. */
export interface Recording {
	readonly router: ModelRouter;
	answer(iteration: number): CallAnswer | undefined;
}

/** Rules that need nobody outside: they are asked again. */
const ownRules: ReadonlySet<string> = new Set([
	...["toolDenylist", "toolAllowlist", "safeByDefault", "allowNetwork", "allowShell"],
	...["requestRateLimit", "contentFilter", "sanitizers", "registry"],
]);

/** Makes an agent of a recording and runs it. Rejects with `REPLAY_DIVERGED`, and with what reading the record does. */
export async function replayRun(
	config: AgentConfig,
	store: EventStore,
	runId: string,
	make: (config: AgentConfig, recording: Recording) => { createSession(options: RunOptions): AgentSession },
): Promise<AgentResult> {
	const record = await readRecordedRun(store, runId);
	const comparer = new EventComparer(record.events);
	let session: AgentSession | undefined;
	const emit = (event: RunnerEvent): void => {
		if (!comparer.take(event)) session?.abort();
	};
	const { begin } = record;
	const memoryClient = await recordedMemory(record);
	const agent = make(replayConfig(config, record, emit, memoryClient), recordingOf(record));
	session = agent.createSession({
		...(begin === undefined ? {} : { task: begin.task, seed: begin.seed }),
		...(begin?.maxSteps === undefined ? {} : { maxSteps: begin.maxSteps }),
		...(begin?.contextKey === undefined ? {} : { contextKey: begin.contextKey }),
	});
	const result = await session.run();
	const difference = comparer.end();
	if (difference !== undefined) throw difference;
	return result;
}

/** The agent's configuration without anything that reaches outside. */
function replayConfig(
	config: AgentConfig,
	record: RecordedRun,
	emit: (event: RunnerEvent) => void,
	memoryClient: MemoryClient,
): AgentConfig {
	const {
		eventStore,
		host,
		databaseClient,
		onStepStart,
		onModelTokens,
		onToolCall,
		onError,
		runner,
		...kept
	} = config;
	const { auditSink, policyEngine, ...rules } = config.safety ?? {};
	const replayed = policyEngine === undefined ? {} : { policyEngine: { check: recordedPolicy(record) } };
	return { ...kept, memoryClient, eventBus: { emit }, safety: { ...rules, ...replayed } };
}

/** What the policy engine said then. */
function recordedPolicy({ verdicts }: RecordedRun): (question: { point: string }) => PolicyDecision {
	let step = 0;
	return ({ point }) => {
		if (point === "planner-output") step++;
		const verdict = verdicts.get(step);
		if (point !== "planner-output" || verdict === undefined || ownRules.has(verdict.rule))
			return { action: "allow" };
		const { rule, code, message: reason } = verdict;
		return verdict.action === "ask"
			? { action: "ask", rule, reason }
			: { action: "block", rule, code, reason };
	};
}

async function recordedMemory({ begin, failure }: RecordedRun): Promise<MemoryClient> {
	const memory = inMemoryClient();
	if (begin?.contextKey !== undefined)
		for (const entry of begin.memory) await memory.append(begin.contextKey, entry);
	return failure === "MEMORY_FAILED"
		? { ...memory, append: () => Promise.reject(new Error("as recorded")) }
		: memory;
}

function recordingOf({ calls, answers }: RecordedRun): Recording {
	let next = 0;
	const router: ModelRouter = {
		size: 1,
		deterministic: true,
		async call(_, { onTokens, failed }) {
			const call = calls[next++];
			if (call === undefined) {
				const error = { code: "REPLAY_DIVERGED", message: "The record has no further call of a model." };
				return { calls: [], retries: 0, error };
			}
			for (const each of call.heard) {
				if ("text" in each) onTokens(each.text);
				else failed(each.error);
			}
			return call.routed;
		},
		start: async () => {},
		check: async () => [],
		close: async () => {},
	};
	return { router, answer: (iteration) => answers.get(iteration) };
}
