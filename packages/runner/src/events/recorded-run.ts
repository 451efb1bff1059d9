// A run in the form that its events recorded: the results of its models and tools, so that it can be replayed without
// either.
import { HoldfastError } from "@holdfast/upp";
import type {
	BeginAnswer,
	CallAnswer,
	EventStore,
	ResultError,
	RoutedCall,
	RunnerEvent,
	RunnerStep,
	StepVerdict,
	StoredEvent,
} from "../contract/index.ts";

/** A model's answer to one call, with the text pieces and failures that occurred during it, in order. */
export interface RecordedCall {
	readonly routed: RoutedCall;
	readonly heard: readonly ({ readonly text: string } | { readonly error: ResultError })[];
}

/** A run that was recorded completely. */
export interface RecordedRun {
	readonly events: readonly StoredEvent[];
	readonly begin: BeginAnswer | undefined;
	/** In the order in which they were made. */
	readonly calls: readonly RecordedCall[];
	/** By iteration; a string if the call did not run. */
	readonly answers: ReadonlyMap<number, CallAnswer | string>;
	readonly verdicts: ReadonlyMap<number, StepVerdict>;
	/** Steps after policy, by iteration. */
	readonly planned: ReadonlyMap<number, RunnerStep>;
	/** The written results, by iteration. */
	readonly written: ReadonlyMap<number, unknown>;
	/** Iterations whose result policy allowed to be written, but the memory rejected. */
	readonly unwritten: ReadonlySet<number>;
	/** The errors of failed reflections, by iteration. */
	readonly unreflected: ReadonlyMap<number, ResultError>;
}

/**
 * Reads a record.
 *
 * Rejects with `RUN_NOT_FOUND`; with `RECORD_INCOMPLETE` if an event could not be appended or the run was resumed; with
 * `RECORD_ALTERED` if an event differs from the one appended.
 */
export async function readRecordedRun(store: EventStore, runId: string): Promise<RecordedRun> {
	const events = await store.read(runId);
	const incomplete = (): HoldfastError =>
		new HoldfastError(
			"RECORD_INCOMPLETE",
			`The record of the run ${runId} is incomplete. It cannot be replayed.`,
		);
	if ((await store.isIncomplete?.(runId)) === true) throw incomplete();
	if (events.length === 0) throw new HoldfastError("RUN_NOT_FOUND", `The run ${runId} has no record.`);
	if (events.at(-1)?.type !== "run.end") throw incomplete();
	if (events.some(({ type }) => type === "run.resume")) throw incomplete();
	const verified = await store.verify(runId);
	if (!verified.ok) {
		const message = `The record of the run ${runId} was altered at event ${verified.seq}.`;
		throw new HoldfastError("RECORD_ALTERED", message, { data: { seq: verified.seq } });
	}
	return recordedRun(events);
}

function recordedRun(events: readonly StoredEvent[]): RecordedRun {
	const calls: RecordedCall[] = [];
	const answers = new Map<number, CallAnswer | string>();
	const verdicts = new Map<number, StepVerdict>();
	const planned = new Map<number, RunnerStep>();
	const written = new Map<number, unknown>();
	const unwritten = new Set<number>();
	const unreflected = new Map<number, ResultError>();
	let begin: BeginAnswer | undefined;
	let reflected: number | undefined;
	let heard: RecordedCall["heard"][number][] = [];
	for (const { type, data } of events as readonly (RunnerEvent & { data: Record<string, never> })[]) {
		if (type === "run.begin") begin = data as never;
		else if (type === "model.start") heard = [];
		else if (type === "model.tokens") heard.push({ text: data.text as never });
		else if (type === "error") {
			heard.push({ error: data as never });
			if (reflected !== undefined && data.code === "MEMORY_FAILED") unwritten.add(reflected);
		} else if (type === "step.start") reflected = undefined;
		else if (type === "model.end") {
			calls.push({ routed: data.routed as never, heard });
			heard = [];
		} else if (type === "policy") verdicts.set(data.step as never, data as never);
		else if (type === "tool.result") answers.set(data.step as never, (data.answer ?? data.output) as never);
		else if (type === "plan") planned.set(data.step as never, data.planned as never);
		else if (type === "reflect") {
			reflected = data.step;
			if (data.error !== undefined) unreflected.set(data.step as never, data.error as never);
		}
		// Before the reflection, they are writes of the tool itself.
		else if (type === "memory" && data.step === reflected) written.set(data.step as never, data.value);
	}
	return { events, begin, calls, answers, verdicts, planned, written, unwritten, unreflected };
}
