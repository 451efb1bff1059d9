// Sub-agents that wait, as seen from the run that waits with them: what they wait for, whether it has arrived, and how an
// answer reaches its run (keeps I4). Every session stores its own waits; the sessions above it hold copies.
import { HoldfastError } from "@holdfast/upp";
import { ChildWaits, type ShownChild } from "../engine/index.ts";
import {
	answerFacts,
	asChild,
	dueFacts,
	entriesBack,
	type NestedCall,
	type PendingToolCall,
	type SessionState,
	type ToolAnswer,
	type WaitingChild,
} from "../facts/index.ts";
import { answer, readState, type SessionTable, waitingAnswer } from "../sessions/index.ts";
import type { FollowedTask } from "./read-task.ts";
import { readTaskKey, taskPrefix } from "./task-key.ts";

/** Returns the sessions of a sub-agent; undefined if the agent no longer has it. */
type TableOf = (subagent: string) => SessionTable | undefined;

/** A delegation: the call, and the agent that it delegates to. */
interface Delegation {
	readonly agent: string;
	readonly toolCallId: string;
}

/** How many entries back an earlier answer is searched for. */
const recentEntries = 1_000;

/** Returns how a call waits whose work is in a waiting session; undefined if that session does not wait. */
export async function childWaits(
	table: SessionTable,
	{ storeKey, runId }: FollowedTask,
	delegation: Delegation,
	end: () => Promise<void>,
): Promise<ChildWaits | undefined> {
	const { run, seq } = await readState(table.queue(storeKey));
	if (run?.status !== "waiting") return undefined;
	const { agent } = delegation;
	// Work queued behind other work waits for that work, whose own call shows the wait.
	const waits = run.runId === runId ? asChild(run, delegation) : { calls: [] };
	return new ChildWaits({ agent, storeKey, seq, ...waits }, end);
}

/** Returns the waits of the run that does the work while it is in progress; undefined if it has none. */
export async function shownBy(
	table: SessionTable,
	{ storeKey, runId }: FollowedTask,
	delegation: Delegation,
): Promise<ShownChild | undefined> {
	const { run, seq } = await readState(table.queue(storeKey));
	if (run?.status !== "running" || run.runId !== runId) return undefined;
	const shown = asChild(run, delegation);
	return shown.calls.length === 0 ? undefined : { agent: delegation.agent, storeKey, seq, ...shown };
}

/** Whether a sub-agent, at any depth, has progressed or must continue now. */
export async function haveNews(tableOf: TableOf, state: SessionState): Promise<boolean> {
	for (const child of state.run?.children ?? []) if (await hasNews(tableOf, child)) return true;
	return false;
}

async function hasNews(tableOf: TableOf, { agent, storeKey, seq }: WaitingChild): Promise<boolean> {
	const table = tableOf(agent);
	// The call must get its result without the sub-agent.
	if (table === undefined) return true;
	if ((await table.journal.head(storeKey))?.seq !== seq) return true;
	const state = await readState(table.queue(storeKey));
	const { run } = state;
	if (run === undefined || run.status !== "waiting") return true;
	const { clock } = table.agent.engine.ports;
	if (dueFacts(run, clock.now()).length > 0) return true;
	return (await table.agent.children?.hasNews(state)) ?? false;
}

/** A sub-agent's waiting work, and the run under which callers know it. */
export interface WaitingWork {
	readonly child: WaitingChild;
	readonly runId: string;
}

/** Returns a session's background work that waits or shows waiting calls. Its calls are identified by their task ids. */
export async function waitingTasks(
	parentKey: string,
	tables: ReadonlyMap<string, () => SessionTable>,
): Promise<readonly WaitingWork[]> {
	const waiting: WaitingWork[] = [];
	for (const [agent, tableOf] of tables) {
		const table = tableOf();
		const prefix = taskPrefix(parentKey, agent);
		for (const { key: storeKey } of await table.journal.list({ state: "open", prefix })) {
			const { run, seq } = await readState(table.queue(storeKey));
			const task = readTaskKey(storeKey);
			if (task === undefined || (run?.status !== "waiting" && run?.status !== "running")) continue;
			const { toolCallId = "" } = run.started.parent ?? {};
			const { calls, ...waits } = asChild(run, { agent, toolCallId: task.taskId });
			if (run.status === "running" && calls.length === 0) continue;
			const shown = calls.map((call) => ({
				...call,
				path: [{ agent, toolCallId }, ...call.path.slice(1)],
			}));
			const child = { callId: toolCallId, agent, storeKey, seq, calls: shown, ...waits };
			waiting.push({ child, runId: task.runId });
		}
	}
	return waiting;
}

/** Returns those calls in the form that callers see. */
export function pendingOf({ child, runId }: WaitingWork): readonly PendingToolCall[] {
	const { taskId } = readTaskKey(child.storeKey) ?? {};
	return child.calls.map(({ id, toolName, arguments: input, awaits, deadline, mayEdit, path }) => ({
		runId,
		toolCallId: id,
		toolName,
		arguments: input,
		awaits,
		...(deadline === undefined ? {} : { deadline }),
		...(mayEdit === undefined ? {} : { mayEdit }),
		...(taskId === undefined ? {} : { taskId }),
		path,
	}));
}

/** Answers for calls of one session. */
interface Delivery {
	readonly table: SessionTable;
	readonly storeKey: string;
	readonly answers: ToolAnswer[];
	/** The calls' ids in the session that was asked, by the calls' own ids. */
	readonly ids: Map<string, string>;
}

/**
 * Delivers answers to the sub-agents whose calls wait, each to the session of its call. All answers are checked before
 * any is accepted; `check` checks those for the asking session itself.
 */
export async function answerChildren(
	tableOf: TableOf,
	waiting: readonly WaitingWork[],
	answers: readonly ToolAnswer[],
	check: () => void,
): Promise<readonly WaitingWork[]> {
	const { deliveries, answered } = await deliveriesOf(tableOf, waiting, answers);
	const open: Delivery[] = [];
	for (const delivery of deliveries) {
		const taken = await withIds(delivery, () => look(delivery));
		if (taken === "open") open.push(delivery);
	}
	check();
	for (const delivery of open) {
		const { table, storeKey } = delivery;
		const run = await withIds(delivery, () => answer(table.queue(storeKey), delivery.answers, undefined));
		// The parent's run follows it.
		run.detach();
	}
	return [...answered];
}

/** Rejects if one of these calls already has a different answer. Accepts nothing. */
export async function refuseAnswered(
	tableOf: TableOf,
	waiting: readonly WaitingWork[],
	answers: readonly ToolAnswer[],
): Promise<void> {
	const { deliveries } = await deliveriesOf(tableOf, waiting, answers);
	for (const delivery of deliveries)
		await withIds(delivery, () => refuseSettled(delivery)).catch((error: unknown) => {
			if ((error as { code?: unknown }).code === "tool_call_settled") throw error;
		});
}

/** Returns the answers after the policy of each sub-agent has admitted those for its own calls. */
export async function admitAnswers(
	tableOf: TableOf,
	waiting: readonly WaitingWork[],
	answers: readonly ToolAnswer[],
): Promise<readonly ToolAnswer[]> {
	const { deliveries } = await deliveriesOf(tableOf, waiting, answers);
	const runIds = new Map(answers.map(({ toolCallId, runId }) => [toolCallId, runId]));
	const admitted: ToolAnswer[] = [];
	for (const { table, answers: theirs, ids } of deliveries)
		for (const answer of theirs) {
			const toolCallId = ids.get(answer.toolCallId) ?? answer.toolCallId;
			const runId = runIds.get(toolCallId);
			const given = { ...waitingAnswer(table.agent, answer), toolCallId };
			admitted.push(runId === undefined ? given : { ...given, runId });
		}
	return admitted;
}

async function refuseSettled({ table, storeKey, answers }: Delivery): Promise<void> {
	const state = await readState(table.queue(storeKey));
	for (const each of answers)
		if (state.run !== undefined && !(await isOnRecord(table, storeKey, each)))
			answerFacts(state, [each], table.agent.engine.ports.clock.now());
}

/** Returns which answers go to which session, and the work that accepts them. */
async function deliveriesOf(
	tableOf: TableOf,
	waiting: readonly WaitingWork[],
	answers: readonly ToolAnswer[],
): Promise<{ readonly deliveries: Iterable<Delivery>; readonly answered: ReadonlySet<WaitingWork> }> {
	const deliveries = new Map<string, Delivery>();
	const answered = new Set<WaitingWork>();
	const works = new Map(
		waiting.flatMap((work) => work.child.calls.map(({ id }) => [id, work] as const)).reverse(),
	);
	for (const given of answers) {
		const { runId, ...rest } = given;
		const work = works.get(given.toolCallId);
		if (work === undefined) throw refusedOf(given, "the run does not wait for a call with that id");
		if (runId !== undefined && runId !== work.runId)
			throw refusedOf(given, "it is meant for a different run than the one that waits");
		answered.add(work);
		await route(deliveries, tableOf, work.child, given.toolCallId, rest);
	}
	return { deliveries: deliveries.values(), answered };
}

/** Finds the session of a call by descending from each session to its child. */
async function route(
	deliveries: Map<string, Delivery>,
	tableOf: TableOf,
	first: WaitingChild,
	id: string,
	given: Omit<ToolAnswer, "runId">,
): Promise<void> {
	const call = first.calls.find((each) => each.id === id) as NestedCall;
	let child = first;
	let table = tableOf(child.agent);
	for (const { toolCallId } of call.path.slice(1)) {
		if (table === undefined) break;
		const above: SessionTable = table;
		const { run } = await readState(above.queue(child.storeKey));
		child = run?.children?.find(({ callId }) => callId === toolCallId) ?? child;
		table = above.agent.children?.tableOf(child.agent);
	}
	if (table === undefined)
		throw refusedOf({ toolCallId: id }, "its sub-agent is no longer part of the agent");
	const { storeKey } = child;
	const delivery: Delivery = deliveries.get(storeKey) ?? { table, storeKey, answers: [], ids: new Map() };
	deliveries.set(storeKey, delivery);
	delivery.answers.push({ ...given, toolCallId: call.callId } as ToolAnswer);
	delivery.ids.set(call.callId, id);
}

/** Returns whether a session accepts its answers. `taken`: it already has them. */
async function look({ table, storeKey, answers }: Delivery): Promise<"open" | "taken"> {
	const state = await readState(table.queue(storeKey));
	const isKnown = await Promise.all(answers.map((each) => isOnRecord(table, storeKey, each)));
	if (state.run?.status !== "waiting" && isKnown.every((known) => known)) return "taken";
	if (state.run === undefined) throw endedOf({ answers });
	answerFacts(state, answers, table.agent.engine.ports.clock.now());
	return "open";
}

/** Whether the session has already accepted the same answer. */
async function isOnRecord(table: SessionTable, storeKey: string, given: ToolAnswer): Promise<boolean> {
	const { journal } = table;
	const { seq } = (await journal.head(storeKey)) ?? { seq: 0 };
	for await (const { seq: at, fact } of entriesBack(journal, storeKey, seq)) {
		if (at <= seq - recentEntries || fact.kind === "run.started") return false;
		if (fact.kind === "decision" && fact.topic === "approval" && "approved" in given) {
			const { callId, approved } = fact.answer as { callId: string; approved: boolean };
			if (callId === given.toolCallId) return approved === given.approved;
		}
		if (fact.kind === "tool.settled" && fact.callId === given.toolCallId && "output" in given)
			return JSON.stringify(fact.result) === JSON.stringify(given.output);
	}
	return false;
}

/** Errors refer to calls by their ids in the session that was asked. */
async function withIds<T>(delivery: Delivery, work: () => Promise<T>): Promise<T> {
	try {
		return await work();
	} catch (thrown) {
		// If its parent has ended the work in the meantime, the session that was asked was not killed.
		const isEnded = (thrown as { code?: unknown }).code === "session_killed";
		const error = isEnded ? endedOf(delivery) : thrown;
		if (!(error instanceof HoldfastError)) throw error;
		const { toolCallId } = (error.data ?? {}) as { toolCallId?: string };
		const id = toolCallId === undefined ? undefined : delivery.ids.get(toolCallId);
		if (id === undefined) throw error;
		const message = error.message.replace(JSON.stringify(toolCallId), () => JSON.stringify(id));
		throw new HoldfastError(error.code, message, { cause: error, data: { toolCallId: id } });
	}
}

function endedOf({ answers: [first] }: Pick<Delivery, "answers">): HoldfastError {
	return refusedOf(first as ToolAnswer, "its run has ended");
}

function refusedOf({ toolCallId }: Pick<ToolAnswer, "toolCallId">, why: string): HoldfastError {
	return new HoldfastError(
		"unknown_tool_call_id",
		`The answer for the call ${JSON.stringify(toolCallId)} was refused: ${why}.`,
		{ data: { toolCallId } },
	);
}
