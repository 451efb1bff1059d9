// Records the calls of a workflow's code before they are performed (keeps I3). If the store refuses a call because of its
// size, the call is recorded without its content and with that error, which the code receives. The others are performed.
import { type HoldfastError, messageOf } from "@holdfast/upp";
import { type CodeRound, commit, isTooLarge, type Run } from "../engine/index.ts";
import type { Fact } from "../facts/index.ts";
import type { NewCall } from "../replayer/index.ts";
import type { FlowCall } from "./flow-call.ts";
import { idInRun, noteOf, stateOf, toolCallIdOf, valueNote } from "./workflow-notes.ts";

type Call = NewCall<FlowCall>;

/** Records calls, and starts those of tools. Returns the calls that are to be performed. */
export async function recordCalls(
	run: Run,
	round: CodeRound,
	calls: readonly Call[],
): Promise<readonly Call[]> {
	try {
		await record(run, round, calls);
		return calls;
	} catch (error) {
		if (!isTooLarge(error)) throw error;
		if (calls.length === 1) return await refused(run, calls[0] as Call, error);
	}
	const recorded: Call[] = [];
	for (const call of calls) recorded.push(...(await recordCalls(run, round, [call])));
	return recorded;
}

/** Records that the store refused the call because of its size. */
export async function refused(run: Run, { id, does }: Call, error: unknown): Promise<readonly []> {
	const { code } = error as HoldfastError;
	const message = `The call ${JSON.stringify(id)} (${does}) was not made, because its content is too large for the store: ${messageOf(error)} Write large data to a file, and pass where it is.`;
	await commit(run, [
		noteOf.called({ id, does }),
		noteOf.settled({ id, error: { code, message, retryable: false } }),
	]);
	return [];
}

async function record(run: Run, round: CodeRound, calls: readonly Call[]): Promise<void> {
	const { clock, ids } = run.agent.ports;
	const now = clock.now();
	const ports = { now: () => now, uuid: () => ids.uuid() };
	const facts = calls.map(({ id, does, input }): Fact => {
		if (input.kind === "value") return valueNote(id, does, input.topic, input.value(ports));
		if (input.kind === "cancel") return noteOf.cancelled({ id, of: input.of });
		if (input.kind !== "wait") return noteOf.called({ id, does });
		const until = input.until(now);
		return noteOf.called({
			id,
			does,
			...(until === undefined ? {} : { until }),
			...(input.event === undefined ? {} : { event: input.event }),
		});
	});
	const state = stateOf(run);
	const toolCalls = calls.flatMap(({ id, input }) => {
		if (input.kind !== "tool") return [];
		const toolCallId = toolCallIdOf(run.runId, state, id);
		return [{ toolCallId, toolName: input.toolName, arguments: input.arguments(idInRun(state, id)) }];
	});
	if (toolCalls.length > 0) await round.add(toolCalls, facts);
	else await commit(run, facts);
}
