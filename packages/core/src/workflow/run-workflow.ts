// The decider of workflows: reads the input, runs the code, undoes steps after a failure, and records the result.
import { HoldfastError } from "@holdfast/upp";
import type { AgentOptions } from "../agent/index.ts";
import { commit, type Run, saidAtTheEnd } from "../engine/index.ts";
import { type Fact, finalOutputTag, outputTopic } from "../facts/index.ts";
import type { Branch } from "../replayer/index.ts";
import { formatIssues } from "../schema/index.ts";
import type { DecidingStrategy } from "../strategies/index.ts";
import { plainJson, type ValidatedInput } from "../tools/index.ts";
import { messageEvent, readEvent, readInput } from "./event-message.ts";
import { type CarriedOut, Execution, type KeptInProcess } from "./execution.ts";
import { Flow } from "./flow.ts";
import type { FlowCall } from "./flow-call.ts";
import { notStored } from "./flow-checks.ts";
import type { ModelWorks } from "./model-work.ts";
import { SuspendedCodes } from "./suspended-code.ts";
import { asCode } from "./unrecorded.ts";
import { evolveWorkflow, newState, stateOf, type WorkflowState } from "./workflow-notes.ts";

/** Validates a value; undefined if any value is valid. */
export type Check = ((value: unknown) => ValidatedInput | Promise<ValidatedInput>) | undefined;

/** The parts of a workflow that its runs use. */
export interface WorkflowCode {
	readonly name: string;
	run(flow: Flow, input: unknown): unknown;
	readonly input: Check;
	readonly output: Check;
	/** Prices of models. */
	readonly prices: AgentOptions["prices"];
}

/** Returns the strategy of an agent whose runs are runs of the workflow. */
export function workflowStrategy(workflow: WorkflowCode, works: ModelWorks): Partial<DecidingStrategy> {
	const kept = { suspended: new SuspendedCodes(), works, seen: new Set<string>() };
	return {
		name: workflow.name,
		decide: () => ({ kind: "finish" }),
		initial: () => newState,
		events: {
			isEvent: (text) => readEvent(text).name !== messageEvent,
			check: checkEvent,
		},
		...(workflow.input === undefined
			? {}
			: {
					async checkInput(text) {
						await readChecked(text, workflow);
					},
				}),
		evolve: (own, entry) => evolveWorkflow(own as WorkflowState, entry),
		code: (run) => runCode(run, workflow, kept),
	};
}

/** How many events are kept for code that does not wait for them yet. */
const keptEvents = 1_000;

function checkEvent(text: string, own: unknown): void {
	const { name } = readEvent(text);
	if (own === undefined) throw notRunning(name);
	const { kept } = own as Partial<WorkflowState>;
	if (kept !== undefined && kept >= keptEvents) throw tooManyEvents(name);
}

async function runCode(run: Run, workflow: WorkflowCode, kept: KeptInProcess): Promise<void> {
	const { runId, sessionKey, caller } = run;
	const { name, prices } = workflow;
	const about = {
		runId,
		sessionKey,
		caller,
		prices,
		async checkInput(given: unknown) {
			const found = await checked(name, workflow.input, given);
			if (!found.ok) throw invalidInput(name, found.message);
		},
	};
	const running = { name, warn: run.agent.warn, seen: kept.seen };
	refuseSteps(run, name);
	let carried: CarriedOut;
	do {
		const input = await readChecked(stateOf(run).input ?? "", workflow);
		const code = async (main: Branch<FlowCall>): Promise<unknown> => {
			const flow = new Flow(main, about);
			try {
				return await asCode(running, async () => workflow.run(flow, input));
			} catch (error) {
				const failed = await flow.undo();
				throw failed.length === 0 ? error : undoFailed(error, failed);
			}
		};
		carried = await new Execution(run, code, kept).carryOut();
	} while (carried.kind === "continues");
	const { value: result } = carried;
	// The process may have died between the result and the end of the run.
	if (stateOf(run).hasEnded) return;
	const value = await outputOf(result, workflow);
	const answer = value === undefined ? { ok: true } : { ok: true, value };
	const decided: Fact = { kind: "decision", step: 0, topic: outputTopic, answer };
	const text = typeof value === "string" ? value : JSON.stringify(value);
	await commit(
		run,
		value === undefined ? [decided] : [saidAtTheEnd(run, text as string, finalOutputTag), decided],
	);
}

/** The code has no steps of an agent, so these stages would never be called. */
function refuseSteps({ interceptors: { stepBefore, stepAfter } }: Run, name: string): void {
	if ((stepBefore ?? stepAfter) === undefined) return;
	throw new HoldfastError(
		"invalid_option",
		`The \`middleware\` of the workflow ${JSON.stringify(name)} has a stage \`stepBefore\` or \`stepAfter\`, which has no effect: the code of a workflow has no steps of an agent. Remove it, or use it in the agents that the workflow calls.`,
	);
}

/** Reads the input of a run. Rejects with `invalid_input`. */
async function readChecked(text: string, { name, input: check }: WorkflowCode): Promise<unknown> {
	const { name: event } = readEvent(text);
	if (event !== messageEvent) throw notRunning(event);
	const given = readInput(text);
	const found = await checked(name, check, given);
	if (found.ok) return found.value;
	// Text that is also JSON, such as a number, may be meant as text.
	const asText = typeof given === "string" ? found : await checked(name, check, text);
	if (asText.ok) return asText.value;
	throw invalidInput(name, found.message);
}

/** Checks an input. Never rejects. */
async function checked(name: string, check: Check, input: unknown): Promise<ValidatedInput> {
	if (check === undefined) return { ok: true, value: input };
	const found = await check(input);
	return found.ok ? found : { ...found, message: `${name}: ${formatIssues(found.issues)}` };
}

/** Creates the error for an input that the schema refuses. */
function invalidInput(name: string, issues: string): HoldfastError {
	return new HoldfastError(
		"invalid_input",
		`The workflow ${JSON.stringify(name)} got an input that its schema \`input\` rejects. ${issues}`,
	);
}

async function outputOf(result: unknown, { name, output: check }: WorkflowCode): Promise<unknown> {
	const found = await check?.(result);
	if (found?.ok === false)
		throw new HoldfastError(
			"workflow_output_invalid",
			`The workflow ${JSON.stringify(name)} returned a value that its schema \`output\` rejects. ${formatIssues(found.issues)}`,
		);
	const value = found === undefined ? result : found.value;
	try {
		return value === undefined ? undefined : plainJson(value);
	} catch (error) {
		throw new HoldfastError(
			"unserialisable_value",
			`${notStored(`The result of the workflow ${JSON.stringify(name)}`, error)} Return plain data.`,
		);
	}
}

/** Creates the error for an event that no run can receive. */
function notRunning(event: string): HoldfastError {
	return new HoldfastError(
		"workflow_not_running",
		`The event ${JSON.stringify(event)} was sent to a session in which no run of the workflow is open. Start one with \`send(input)\`.`,
	);
}

function tooManyEvents(name: string): HoldfastError {
	return new HoldfastError(
		"workflow_events_full",
		`The event ${JSON.stringify(name)} was refused: the workflow has ${keptEvents} events that its code has not waited for. Wait for them with \`flow.event()\`, or send fewer.`,
	);
}

function undoFailed(error: unknown, steps: readonly string[]): HoldfastError {
	const { message } = error as { message?: unknown };
	return new HoldfastError(
		"undo_failed",
		`The workflow failed, and ${steps.map((name) => JSON.stringify(name)).join(", ")} could not be undone. The workflow failed because of: ${String(message ?? error)}`,
		{ cause: error, data: { steps } },
	);
}
