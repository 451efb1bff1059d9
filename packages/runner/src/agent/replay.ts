// Replays a recorded run: with the agent's loop and rules, while models and tools return what they returned then.
import { inMemoryClient, type MemoryClient } from "@holdfast/memory";
import type {
	AgentConfig,
	AgentResult,
	AuditSink,
	EventStore,
	PolicyEngine,
	ResultError,
	RunnerEvent,
	RunnerSession,
	RunOptions,
} from "../contract/index.ts";
import { EventComparer, type RecordedRun, readRecordedRun } from "../events/index.ts";
import { runnerError } from "../loop/index.ts";
import type { ModelRouter } from "../models/index.ts";
import { memoryFailed } from "./engine-tools.ts";
import type { Recording } from "./resolved-agent.ts";

/** Rules that depend on nothing external, so they are evaluated again. */
const ownRules: ReadonlySet<string> = new Set([
	...["toolDenylist", "toolAllowlist", "safeByDefault", "allowNetwork", "allowShell"],
	...["requestRateLimit", "contentFilter", "sanitizers", "registry"],
]);

/**
 * Creates an agent from a recording and runs it. Rejects with `REPLAY_DIVERGED`, and with the errors of reading the
 * record.
 */
export async function replayRun(
	config: AgentConfig,
	store: EventStore,
	runId: string,
	make: (config: AgentConfig, recording: Recording) => { createSession(options: RunOptions): RunnerSession },
): Promise<AgentResult> {
	const record = await readRecordedRun(store, runId);
	const comparer = new EventComparer(record.events);
	let session: RunnerSession | undefined;
	const emit = (event: RunnerEvent): void => {
		if (!comparer.take(event)) session?.abort();
	};
	const { begin } = record;
	const expected = (): Expected => (comparer.expected ?? {}) as Expected;
	const memoryClient = await recordedMemory(record, expected);
	const agent = make(replayConfig(config, record, { emit, expected, memoryClient }), recordingOf(record));
	session = agent.createSession({
		...(begin === undefined ? {} : { task: begin.task, seed: begin.seed }),
		...(begin?.deterministic === undefined ? {} : { deterministic: begin.deterministic }),
		...(begin?.maxSteps === undefined ? {} : { maxSteps: begin.maxSteps }),
		...(begin?.contextKey === undefined ? {} : { contextKey: begin.contextKey }),
	});
	const result = await session.run();
	const difference = comparer.end();
	if (difference !== undefined) throw difference;
	return result;
}

/** Returns the agent's configuration without anything that accesses external resources. */
function replayConfig(
	config: AgentConfig,
	record: RecordedRun,
	{
		emit,
		expected,
		memoryClient,
	}: {
		readonly emit: (event: RunnerEvent) => void;
		readonly expected: () => Expected;
		readonly memoryClient: MemoryClient;
	},
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
	const safety = {
		...rules,
		...(policyEngine === undefined ? {} : { policyEngine: { check: recordedPolicy(record, expected) } }),
		...(auditSink === undefined ? {} : { auditSink: recordedSink(record, expected) }),
	};
	return { ...kept, memoryClient, eventBus: { emit }, safety };
}

/** The next recorded event of policy or memory. */
interface Expected {
	readonly type?: RunnerEvent["type"];
	readonly data?: {
		readonly step?: number;
		readonly code?: string;
		readonly message?: string;
		readonly error?: ResultError;
		readonly info?: { readonly code?: string };
		readonly messages?: unknown;
		readonly isChanged?: boolean;
	};
}

/** Returns the recorded decision of the policy engine. */
function recordedPolicy(
	{ verdicts, planned, written, unwritten }: RecordedRun,
	expected: () => Expected,
): PolicyEngine["check"] {
	return ({ point }) => {
		const { type, data: { step = 0, error, messages, isChanged } = {} } = expected();
		if (point === "model-prompt") {
			if (isChanged === true) return { action: "modify", rule: "recorded", subject: messages };
			if (type === "model.start" || error === undefined) return { action: "allow" };
			return { action: "block", rule: "recorded", code: error.code as string, reason: error.message };
		}
		if (point === "memory-write") {
			if (written.has(step)) return { action: "modify", rule: "recorded", subject: written.get(step) };
			return unwritten.has(step) ? { action: "allow" } : { action: "drop", rule: "recorded" };
		}
		const verdict = verdicts.get(step);
		if (verdict === undefined || ownRules.has(verdict.rule)) return { action: "allow" };
		const { action, rule, code, message: reason } = verdict;
		if (action === "modified")
			return point === "tool-input"
				? { action: "modify", rule, subject: planned.get(step)?.input }
				: { action: "allow" };
		return action === "ask" ? { action, rule, reason } : { action: "block", rule, code, reason };
	};
}

/** Fails at the points at which the sink failed in the recording. */
function recordedSink({ verdicts, unreflected }: RecordedRun, expected: () => Expected): AuditSink {
	return {
		write() {
			const { data: { step = 0, error } = {} } = expected();
			for (const failure of [error, verdicts.get(step), unreflected.get(step)])
				if (failure?.code === "AUDIT_WRITE_FAILED") throw runnerError(failure);
		},
	};
}

async function recordedMemory({ begin }: RecordedRun, expected: () => Expected): Promise<MemoryClient> {
	const memory = inMemoryClient();
	const { contextKey, error } = begin ?? {};
	if (contextKey !== undefined)
		for (const entry of begin?.memory ?? []) await memory.append(contextKey, entry);
	return {
		...memory,
		read: (...given) => (error === undefined ? memory.read(...given) : Promise.reject(runnerError(error))),
		append(...given) {
			const { type, data } = expected();
			if (type !== "error" || data?.code !== "MEMORY_FAILED") return memory.append(...given);
			const failure = new Error(data.message?.slice(memoryFailed.length));
			return Promise.reject(Object.assign(failure, data.info));
		},
	};
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
