// Runs a workflow to its end in a test, in memory and with a clock that skips waits. The test supplies answers and
// events, and can choose where a worker dies.
import { checkOptions, HoldfastError, optionNames } from "@holdfast/upp";
import type { PendingToolCall } from "holdfast";
import type { ErrorData } from "holdfast/host";
import type { Workflow } from "holdfast/workflow";
import { type ManualTime, manualTime } from "../time/index.ts";
import { DyingStore } from "./dying-store.ts";

/** The append at which the first worker dies. */
export interface WorkflowCrash {
	/** Number of the append, from 1. `WorkflowTestResult.appends` is how many an undisturbed run makes. */
	readonly at: number;
	/** Whether the worker dies before or after the append. */
	readonly when: "before" | "after";
}

/** Options of `runWorkflow`. */
export interface RunWorkflowOptions {
	/**
	 * Answers a call that waits: true or false for an approval, otherwise the result. Undefined leaves it waiting.
	 * Default: none.
	 */
	readonly answer?: (call: PendingToolCall) => unknown;
	/** Events that are sent in this order, each when the workflow only waits. Default: none. */
	readonly events?: readonly { readonly event: string; readonly payload?: unknown }[];
	/** Kills the first worker; another one continues. Default: no crash. */
	readonly crash?: WorkflowCrash;
}

const names = optionNames<RunWorkflowOptions>({ answer: true, events: true, crash: true });

/** How a workflow ended in a test. */
export interface WorkflowTestResult<Output = unknown> {
	/** How the run ended. */
	readonly outcome: "completed" | "error" | "aborted" | "killed";
	/** The result of the workflow; present if the run completed. */
	readonly output?: Output;
	/** Why the run failed. */
	readonly error?: ErrorData;
	/** How much time passed for the workflow, in milliseconds. Waits are skipped. */
	readonly elapsedMs: number;
	/** How often the workers appended to the journal. */
	readonly appends: number;
}

/** Milliseconds of the real clock without progress after which the time of the workflow passes. */
const quietMs = 100;

/**
 * Runs a workflow in memory until it ends. While it only waits, calls are answered, then events are sent, then its time
 * passes at once. While a step works, time passes only if nothing happens for 100 milliseconds.
 *
 * Rejects with `workflow_waits` if the workflow waits for something that the options do not give, and with
 * `invalid_option`.
 * @example
 * ```ts
 * import { runWorkflow } from "@holdfast/testing";
 * import { workflow } from "holdfast/workflow";
 *
 * const trial = workflow({ name: "trial" }, async (flow) => {
 * 	await flow.sleep("30 days");
 * 	const reply = await flow.event("reply", { timeout: "7 days" });
 * 	return (await flow.approve("extend")) ? "extended" : reply;
 * });
 * const { output, elapsedMs } = await runWorkflow(trial, undefined, { answer: () => true });
 * console.log(output, elapsedMs / 86_400_000); // extended 37
 * ```
 */
export async function runWorkflow<Input, Output>(
	workflow: Workflow<Input, Output>,
	input: Input,
	options: RunWorkflowOptions = {},
): Promise<WorkflowTestResult<Output>> {
	checkOptions(options, names, { of: "runWorkflow()" });
	const time = manualTime();
	const store = new DyingStore(time.ports.clock);
	const events = [...(options.events ?? [])];
	const start = time.ports.clock.now();
	let isSent = false;
	for (const crash of options.crash === undefined ? [undefined] : [options.crash, undefined]) {
		const worker = store.worker(crash);
		const life = new AbortController();
		const own = workflow.withOptions({ host: worker.host, ports: time.ports });
		const session = own.session("test");
		const ended = await Promise.race([
			worker.died,
			drive(
				own,
				time,
				{ ...options, events, signal: life.signal },
				() => store.journal.head("test")?.seq,
				async () => {
					if (isSent && store.journal.head("test")?.seq !== undefined)
						await session.session.resume().then((run) => run?.detach());
					else await session.send(input, { dedupeKey: "once" });
					isSent = true;
				},
			),
		]);
		isSent = true;
		life.abort();
		if (ended === "died") continue;
		await own.close();
		const elapsedMs = time.ports.clock.now() - start;
		return { ...(ended as Ended<Output>), elapsedMs, appends: store.appends };
	}
	throw new Error("the second worker does not die");
}

type Ended<Output> = Pick<WorkflowTestResult<Output>, "outcome" | "output" | "error">;

async function drive<Input, Output>(
	workflow: Workflow<Input, Output>,
	time: ManualTime,
	options: RunWorkflowOptions & {
		readonly events: { readonly event: string; readonly payload?: unknown }[];
		/** Aborted when the worker has died. */
		readonly signal: AbortSignal;
	},
	lastSeq: () => number | undefined,
	begin: () => Promise<void>,
): Promise<Ended<Output>> {
	const { session } = workflow.session("test");
	let quiet = 0;
	const every = 5;
	const ticks = setInterval(() => {
		quiet += every;
		// Timers that are due at once; and the next one, if the workflow works and does not progress.
		const next = Math.min(...Array.from(time.timers, ({ at }) => at));
		const left = Math.max(0, next - time.ports.clock.now());
		if (left === 0 || (quiet >= quietMs && Number.isFinite(left))) time.pass(left);
	}, every);
	const { signal } = options;
	signal.addEventListener("abort", () => clearInterval(ticks));
	try {
		await begin();
		for await (const { event } of session.follow({ until: "never", signal })) {
			quiet = 0;
			if (event.type === "run_end") {
				const { outcome, output, error } = event;
				return {
					outcome,
					...(output === undefined ? {} : { output: output as Output }),
					...(error === undefined ? {} : { error }),
				};
			}
			// A worker that takes over also reads the waits before its time.
			if (event.type !== "waiting" || event.seq !== lastSeq()) continue;
			await endWait(workflow, time, options, event.wait?.until);
		}
		throw new Error("the worker died");
	} finally {
		clearInterval(ticks);
	}
}

/** Supplies the event or answer that the workflow waits for. */
async function endWait<Input, Output>(
	workflow: Workflow<Input, Output>,
	time: ManualTime,
	{ answer, events }: Parameters<typeof drive>[2],
	until: number | undefined,
): Promise<void> {
	const { session } = workflow.session("test");
	const pending = await session.pending();
	const answers = pending.flatMap((call) => {
		const given = answer?.(call);
		const { toolCallId, awaits } = call;
		if (given === undefined) return [];
		return [awaits === "approval" ? { toolCallId, approved: given === true } : { toolCallId, output: given }];
	});
	if (answers.length > 0) {
		(await session.answer(answers)).detach();
		return;
	}
	const [next] = events;
	if (next !== undefined) {
		// The worker may die before it reports that the event is accepted. Another one sends the event again.
		const dedupeKey = `event ${events.length}`;
		await workflow
			.session("test")
			.signal(next.event, next.payload, { dedupeKey })
			.catch((error: { readonly code?: unknown }) => {
				if (error.code !== "duplicate_input") throw error;
			});
		events.shift();
		return;
	}
	if (until !== undefined) {
		time.pass(Math.max(0, until - time.ports.clock.now()));
		return;
	}
	const calls = pending.map(({ toolName, arguments: input }) => `${toolName} ${JSON.stringify(input)}`);
	throw new HoldfastError(
		"workflow_waits",
		`The workflow ${JSON.stringify(workflow.name)} waits for an event${calls.length === 0 ? "" : ` and for an answer to ${calls.join(", ")}`}. Give it in \`events\` or \`answer\`.`,
	);
}
