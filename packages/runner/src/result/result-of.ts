// The result of a run: a projection of its journal, redacted for display, but not in the answer itself.
import type { Redactor } from "@holdfast/redaction";
import type {
	ActionResult,
	AgentResult,
	ModelCall,
	ResultError,
	RunnerEvent,
	RunTokenUsage,
} from "../contract/index.ts";
import type { Progress } from "../loop/index.ts";
import { shownInput } from "./shown-input.ts";

/** The parts of a result that are not in the journal. */
export interface ResultExtras {
	readonly redactor: Redactor;
	readonly sessionId: string;
	/** Called only once, on first access. */
	readonly eventStream?: () => readonly RunnerEvent[] | string;
	/** Warnings of hooks and stores, in addition to those of the run. */
	readonly warnings: readonly string[];
	readonly logToolInputs: "redacted" | "exclude" | "raw";
}

/** Returns the result of an ended run. */
export function resultOf(progress: Progress, extras: ResultExtras): AgentResult {
	const { redactor, sessionId, eventStream } = extras;
	const success = progress.outcome === "completed";
	const value = progress.result?.value;
	const calls = progress.calls.toArray();
	const cost = costOf(calls);
	const { begin } = progress;
	const { attachments, repeated } = attachmentsOf(progress);
	const warnings = [...progress.warnings.toArray(), ...repeated, ...extras.warnings].map((text) =>
		redactor.redact(text),
	);
	const traces = progress.traces.toArray().map((text) => redactor.redact(text));
	const started = new Date(progress.startedAt).toISOString();
	const finished = progress.finishedAt ?? progress.startedAt;
	const shown = (action: ActionResult): unknown => {
		const { input, ...rest } = action;
		const given = input === undefined ? undefined : shownInput(input, redactor, extras.logToolInputs);
		return { ...redactor.redact(rest), ...(given === undefined ? {} : { input: given }) };
	};
	const result = plain({
		id: progress.runId,
		sessionId,
		success,
		...(success && value !== undefined ? { result: value } : {}),
		...(success && typeof value === "string" ? { summary: value } : {}),
		...(success ? {} : { error: redactor.redact(failureOf(progress)) }),
		startedAt: started,
		finishedAt: new Date(finished).toISOString(),
		steps: progress.steps,
		actions: later,
		modelCalls: calls.map((call) => redactor.redact(call)),
		tokenUsage: usageOf(calls),
		...(cost === undefined ? {} : { costEstimate: cost }),
		...(eventStream === undefined ? {} : { eventStream: later }),
		memoryDeltas: later,
		provenance: {
			templates: unique(progress.templates.toArray(), ({ id, version }) => `${id}\n${version}`),
			models: unique(
				calls.flatMap(({ model }) => (model === undefined ? [] : [model])),
				(model) => model,
			),
		},
		...(warnings.length + traces.length === 0
			? {}
			: {
					diagnostics: {
						...(warnings.length === 0 ? {} : { warnings }),
						...(traces.length === 0 ? {} : { traces }),
					},
				}),
		...(progress.outcome === "aborted" || progress.outcome === "killed" ? { aborted: true } : {}),
		...(progress.retries.attempts === 0 ? {} : { retryInfo: redactor.redact(progress.retries) }),
		...(begin?.deterministic === true ? { seed: begin.seed, deterministic: true } : {}),
		metrics: { durationMs: finished - progress.startedAt, toolLatencyMs: latencyOf(progress) },
		...(Object.keys(attachments).length === 0 ? {} : { attachments }),
	});
	// Masks registered secrets in every part of the result.
	return withLate(redactor.maskSecrets(result), {
		actions: () => redactor.maskSecrets(plain(progress.actions.toArray().map(shown))),
		memoryDeltas: () =>
			redactor.maskSecrets(plain(progress.changes.toArray().map((change) => redactor.redact(change)))),
		...(eventStream === undefined ? {} : { eventStream: () => redactor.maskSecrets(eventStream()) }),
	});
}

/** A placeholder for a value that is computed on first access. */
const later: readonly never[] = [];

/** Lists that grow with the steps are created on first access: redacting and copying them costs more than the steps. */
function withLate(result: AgentResult, late: Readonly<Record<string, () => unknown>>): AgentResult {
	for (const [name, make] of Object.entries(late)) {
		const define = (descriptor: PropertyDescriptor): void =>
			void Object.defineProperty(result, name, { ...descriptor, enumerable: true, configurable: true });
		const keep = (value: unknown): unknown => {
			define({ value, writable: true });
			return value;
		};
		define({ get: () => keep(make()), set: keep });
	}
	return result;
}

/** Returns the value after a JSON round trip. */
function plain<Data>(data: Data): Data {
	return JSON.parse(JSON.stringify(data));
}

function failureOf({ outcome, failure }: Progress): ResultError {
	if (outcome === "aborted" || outcome === "killed")
		return { code: "ABORTED", message: "The run was aborted." };
	return { code: "RUN_FAILED", message: "The run failed.", ...failure };
}

/** Returns the last result of each call name, with a warning if a name occurs twice. */
function attachmentsOf(progress: Progress): {
	readonly attachments: Readonly<Record<string, string>>;
	readonly repeated: readonly string[];
} {
	const texts = new Map<string, string>();
	const repeated: string[] = [];
	for (const given of progress.attachments)
		for (const [name, text] of Object.entries(given)) {
			if (texts.has(name)) repeated.push(`The attachment "${name}" was added twice; the later one is kept.`);
			texts.set(name, text);
		}
	return { attachments: Object.fromEntries(texts), repeated };
}

/** Returns the milliseconds by tool. */
function latencyOf(progress: Progress): Readonly<Record<string, number>> {
	const sums = new Map<string, number>();
	for (const [toolId, milliseconds] of progress.latency)
		sums.set(toolId, (sums.get(toolId) ?? 0) + milliseconds);
	return Object.fromEntries(sums);
}

function usageOf(calls: readonly ModelCall[]): RunTokenUsage {
	let [inputTokens, outputTokens, estimated] = [0, 0, false];
	for (const call of calls) {
		inputTokens += call.inputTokens ?? 0;
		outputTokens += call.outputTokens ?? 0;
		estimated ||= call.estimated === true;
	}
	return {
		inputTokens,
		outputTokens,
		totalTokens: inputTokens + outputTokens,
		...(estimated ? { estimated: true } : {}),
	};
}

/** Undefined if any called provider has no price. */
function costOf(calls: readonly ModelCall[]): number | undefined {
	let sum = 0;
	for (const { cost } of calls) {
		if (cost === undefined) return undefined;
		sum += cost;
	}
	return sum;
}

function unique<T>(items: readonly T[], keyOf: (item: T) => string): T[] {
	return [...new Map(items.map((item) => [keyOf(item), item])).values()];
}
