// The handle of a durable conversation. Handles are cheap: all handles of one key share one actor.

import { checkOptions, HoldfastTypeError, optionNames, UserMessage } from "@holdfast/upp";
import { type Caller, readCaller } from "../caller/index.ts";
import type { AgentEvent, MessageEdit, PendingToolCall, RunEvent, ToolAnswer } from "../facts/index.ts";
import { acceptInput, type SendInput, saidBy } from "../facts/index.ts";
import { type FollowedEvent, type FollowOptions, followStoreKey } from "../following/index.ts";
import type { MaybePromise } from "../host/index.ts";
import { isReservedKey } from "../policy/index.ts";
import type { AgentState } from "../state/index.ts";
import type { AgentRun } from "./agent-run.ts";
import { edit } from "./edit-session.ts";
import { type ForkOptions, forkPoint } from "./fork-session.ts";
import * as outside from "./outside-requests.ts";
import { kill, remove } from "./remove-session.ts";
import { checkInput, isEvent } from "./run-events.ts";
import type { SessionQueue } from "./session-queue.ts";
import type { StartOptions } from "./session-requests.ts";
import * as requests from "./session-requests.ts";
import type { SessionTable } from "./session-table.ts";

const answerNames = optionNames<Pick<StartOptions, "watcher">>({ watcher: "object" });
const forkNames = optionNames<ForkOptions>({ at: true });

const sendNames = optionNames<Pick<StartOptions, "runId" | "messageId" | "caller" | "dedupeKey">>({
	runId: "text",
	messageId: "text",
	caller: true,
	dedupeKey: "text",
});
const steerNames = optionNames<Pick<StartOptions, "messageId" | "caller" | "dedupeKey">>({
	messageId: "text",
	caller: true,
	dedupeKey: "text",
});
const startNames = optionNames<StartOptions>({
	runId: "text",
	messageId: "text",
	caller: true,
	dedupeKey: "text",
	beforeBegin: "function",
	watcher: "object",
	insteadOf: "text",
	values: true,
});
const insteadInSessions = {
	id: "Write `messageId`, or `runId`.",
	insteadOf: "A message is replaced by `start(input, { insteadOf })`.",
	output: "`output` is an option of the agent; `execute()` takes one for each message.",
	signal: "Call `interrupt()` of the run or of the session.",
	abortSignal: "Call `interrupt()` of the run or of the session.",
	tools: "`tools` is an option of the agent; `execute()` takes them for each message.",
	metadata: "Write `caller`.",
};

/**
 * A durable conversation under a key. Accepted inputs survive the death of the process. A run that was cut off continues
 * from its last committed fact.
 */
export class Session<Event = AgentEvent, Output = unknown, Watched = RunEvent> {
	/** The key under which the agent stores the session. */
	readonly key: string;
	readonly #table: SessionTable;
	#known: SessionQueue | undefined;

	/** @internal */
	constructor(table: SessionTable, key: string) {
		if (typeof key !== "string" || key === "")
			throw new HoldfastTypeError("invalid_argument", "session(key) takes a non-empty string.");
		if (isReservedKey(key))
			throw new HoldfastTypeError(
				"invalid_argument",
				"This key has the form of a call's or a sub-agent's key, so no session can have it. Use a key that does not begin with NUL.",
			);
		this.#table = table;
		this.key = key;
	}

	/**
	 * Accepts a turn. Resolves once it is durable. Turns of one session run one after the other, in order.
	 *
	 * Rejects with `invalid_input` if the input has an unknown shape, `invalid_caller`, `duplicate_input`, `inbox_full`
	 * while about 1,000 inputs wait, `session_killed`, `journal_failed`, `disk_full`, `agent_closed`.
	 */
	async send(
		input: SendInput,
		options: Pick<StartOptions, "runId" | "messageId" | "caller" | "dedupeKey"> = {},
	): Promise<AgentRun<Event, Output, Watched>> {
		checkOptions(options, sendNames, { of: "send()", instead: insteadInSessions });
		const { messageId, caller, dedupeKey } = options;
		const accepted = saidBy(acceptInput(input, messageId), readBy(caller), dedupeKey);
		return typed(
			requests.send(this.#queue(), accepted, { ...options, messageId: messageId ?? givenId(input) }),
		);
	}

	/**
	 * Like `send`, but starts the turn at once or rejects.
	 *
	 * Rejects with `invalid_input` if the input has an unknown shape, `session_busy` while a run is in progress,
	 * `pending_tool_calls` while one waits for answers, `unknown_message` if the message to replace is not in the
	 * history, `duplicate_input`.
	 */
	async start(input: SendInput, options: StartOptions = {}): Promise<AgentRun<Event, Output, Watched>> {
		checkOptions(options, startNames, { of: "start()", instead: insteadInSessions });
		const { insteadOf, messageId = insteadOf, caller, dedupeKey } = options;
		const said = saidBy(acceptInput(input, messageId), readBy(caller), dedupeKey);
		return typed(requests.start(this.#queue(), said, { ...options, messageId: messageId ?? givenId(input) }));
	}

	/**
	 * Like `send`, with ids chosen earlier: all calls with the same `runId` are one turn. Returns null if it was accepted
	 * before and has ended or belongs to another process. @internal
	 */
	async deliver(
		input: SendInput,
		{ runId, messageId, caller }: { readonly runId: string } & Pick<StartOptions, "messageId" | "caller">,
	): Promise<AgentRun | null> {
		const said = saidBy(acceptInput(input, messageId), readBy(caller));
		return requests.deliver(this.#queue(), runId, said, runId);
	}

	/**
	 * Sends a message to the active run. It enters the conversation at the next boundary, and if the turn would end
	 * there, it takes another step instead. Resolves on acceptance with that run. It works like `send` if no run is
	 * active. It also does if you pass a `caller` and the run is for another one, because the run's tools act for its
	 * own requester.
	 *
	 * Rejects like `send()`.
	 */
	async steer(
		input: SendInput,
		options: Pick<StartOptions, "messageId" | "caller" | "dedupeKey"> = {},
	): Promise<AgentRun<Event, Output, Watched>> {
		checkOptions(options, steerNames, { of: "steer()", instead: insteadInSessions });
		const { messageId, caller, dedupeKey } = options;
		const said = saidBy(acceptInput(input, messageId), readBy(caller), dedupeKey);
		return typed(requests.steer(this.#queue(), said, { messageId: messageId ?? givenId(input) }));
	}

	/**
	 * Changes the history from outside any run: adds a message at its end, replaces the message with its id, or removes
	 * one. Resolves once the change is durable. It starts no run: a run in progress applies the change at its next
	 * boundary, between two steps; otherwise the next run applies it before its own input. Until then it waits in the
	 * inbox (`Input` of the kind `edit`). A call and its result stay together: if a change removes one of them, the other
	 * is removed too.
	 *
	 * Rejects with `invalid_input` if an added message has calls or results, `duplicate_message` if the history, or a change
	 * that waits, already has a message with its id, `inbox_full` while about 1,000 inputs wait,
	 * `session_killed`, `journal_failed`, `disk_full`, `agent_closed`.
	 */
	async edit(change: MessageEdit): Promise<void> {
		return edit(this.#queue(), change);
	}

	/**
	 * Shows the model something for the rest of the active turn, or for the next turn if the session is idle. It is never
	 * recorded and starts no turn.
	 */
	async overlay(input: SendInput): Promise<void> {
		this.#queue().actor.overlay(acceptInput(input));
	}

	/**
	 * Continues a run that a crash or suspension left open, or begins accepted turns that never started; returns null if
	 * there is neither. Tool calls that were in progress follow their `retryPolicy`.
	 *
	 * Rejects with `session_held` while another living worker works on the session, and with `run_parked` if the run is
	 * parked.
	 */
	async resume(): Promise<AgentRun<Event, Output, Watched> | null> {
		return typed(requests.resume(this.#queue()));
	}

	/**
	 * Answers tool calls that wait for an outside answer: results of remote tools, and approvals. The run continues when
	 * all of them are answered; until then, it stores the answers and waits for the others. Answers are accepted or
	 * refused as a whole.
	 *
	 * Calls that `pending()` lists while others still run are answered the same way: the current run accepts the answers.
	 * If another process drives it, the answers are durable when this resolves, and the result of the run has
	 * `lease_lost`: the run continues there.
	 *
	 * Rejects with `no_pending_tool_calls`, `session_busy`, `unknown_tool_call_id`, `tool_call_settled`,
	 * `duplicate_tool_result`, `tool_result_conflict`, `tool_result_expired`, `invalid_input`, `invalid_caller` for `by`.
	 */
	async answer(
		answers: readonly ToolAnswer[],
		options: Pick<StartOptions, "watcher"> = {},
	): Promise<AgentRun<Event, Output, Watched>> {
		checkOptions(options, answerNames, { of: "answer()", instead: insteadInSessions });
		return typed(outside.answer(this.#queue(), answers, options.watcher));
	}

	/**
	 * Returns the tool calls that wait for an outside answer, including those of background tasks, which have a `taskId`.
	 */
	async pending(): Promise<readonly PendingToolCall[]> {
		return outside.pending(this.#queue());
	}

	/** Returns only the calls with a `taskId`, without reading the session's own state. @internal */
	async pendingInBackground(): Promise<readonly PendingToolCall[]> {
		return outside.inBackground(this.#queue());
	}

	/**
	 * Ends the active, waiting or parked run. Resolves with true when its end is recorded, and with false without such
	 * a run. Queued turns still run.
	 */
	async stop(): Promise<boolean> {
		return outside.stop(this.#queue());
	}

	/**
	 * Like `resume`, but also resumes a parked run. The count of its crashes restarts at zero.
	 *
	 * Rejects with `session_held` while another live worker has the session.
	 */
	async release(): Promise<AgentRun<Event, Output, Watched> | null> {
		return typed(requests.resume(this.#queue(), "released"));
	}

	/** Ends the active run, even if it waits. Queued turns still run. Does nothing if the session is idle. */
	interrupt(): void {
		outside.interrupt(this.#queue());
	}

	/**
	 * Ends the active and the queued runs in every process, even if a model or tool never settles. Committed entries
	 * stay. Do not use this handle afterwards; `agent.session(key)` returns a new one.
	 *
	 * Rejects with the store's error if the end could not be recorded; the work in this process is still stopped.
	 */
	async kill(): Promise<void> {
		return kill(this.#table, this.#queue());
	}

	/**
	 * Creates a session under a new key that begins with this session's settled entries, up to the end of the last run
	 * that ended or up to `at`. Both continue independently; the fork remains if you delete this session. Waiting inputs,
	 * and child sessions are not copied. A plugin's data for the session is copied only by its `session.fork`.
	 *
	 * Rejects with `session_exists` if the key is taken, `fork_unsettled` if a run is open at that entry or no run has
	 * ended yet, `run_not_found`, or `invalid_argument` for a key that is not a non-empty string.
	 */
	async fork(key: string, options: ForkOptions = {}): Promise<Session<Event, Output, Watched>> {
		checkOptions(options, forkNames, { of: "fork()" });
		if (typeof key !== "string" || key === "")
			throw new HoldfastTypeError("invalid_argument", "fork(key) takes a non-empty string.");
		const table = this.#table;
		table.agent.setup?.check();
		const fork = new Session<Event, Output, Watched>(table, key);
		const from = table.storeKeyOf(this.key);
		const seq = await table.queue(this.key).ask("fork", () => forkPoint(table.journal, from, options));
		await table.journal.fork(from, table.storeKeyOf(key), seq);
		await table.agent.setup?.over();
		await table.agent.policy?.forked(this.key, key, async () => (await fork.state()).messages);
		return fork;
	}

	/** Kills the session and removes it and its child sessions from the store. Unknown keys are ignored. */
	async delete(): Promise<void> {
		return remove(this.#table, this.#queue());
	}

	/**
	 * Follows the events of the session, each with an id, regardless of the worker that owns it: from any position on,
	 * past events first, then live ones. Runs never wait for followers.
	 *
	 * Rejects with `invalid_event_id`, `events_expired` if the events after the id are no longer stored.
	 *
	 * @example
	 * import { Agent } from "holdfast";
	 * import { scriptedModel } from "@holdfast/testing";
	 *
	 * const session = new Agent({ model: scriptedModel(["Good morning."]) }).session("ticket-7");
	 * const run = await session.send("Hello");
	 * void run.result();
	 * for await (const { id, event } of session.follow({ until: "complete" })) console.log(id, event.type);
	 */
	follow(options?: FollowOptions): AsyncIterableIterator<FollowedEvent<Watched>> {
		const { journal } = this.#table;
		const events: AsyncIterableIterator<unknown> = followStoreKey(
			journal,
			this.#table.storeKeyOf(this.key),
			this.key,
			options,
		);
		return events as AsyncIterableIterator<FollowedEvent<Watched>>;
	}

	/** Returns the conversation as committed so far. */
	async state(): Promise<AgentState> {
		return (await requests.readState(this.#queue())).agent;
	}

	/** Whether the input is an event, which never begins a run. @internal */
	takesAsEvent(input: SendInput): boolean {
		return isEvent(this.#queue().actor, acceptInput(input));
	}

	/** Rejects if no run can begin with the input. `send` and `start` check it themselves. @internal */
	async checkInput(input: SendInput): Promise<void> {
		await checkInput(this.#queue().actor, acceptInput(input));
	}

	/** A handle stays with the session that it was first used for, even after that session is killed. */
	#queue(): SessionQueue {
		this.#table.agent.setup?.check();
		if (this.#known === undefined || this.#known.isRetired) this.#known = this.#table.queue(this.key);
		return this.#known;
	}
}

/** Returns the id that a caller gave its message. */
function givenId(input: SendInput): string | undefined {
	return input instanceof UserMessage ? input.id : undefined;
}

/** The agent's types only exist at compile time; at run time every run is alike. */
function typed<Run extends AgentRun<unknown, unknown, unknown> | null>(
	run: MaybePromise<AgentRun | null>,
): MaybePromise<Run> {
	return run as MaybePromise<unknown> as MaybePromise<Run>;
}

function readBy(caller: Caller | undefined): Caller | undefined {
	return caller === undefined ? undefined : readCaller(caller);
}
