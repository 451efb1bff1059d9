// A `createSession` session on top of a keyed session. An execution is a turn that starts at once, or answers to the calls
// of a waiting run. The initial context and the options are stored with the journal, and read before each turn.
import type { Caller } from "../caller/index.ts";
import { afterEntry, type SendInput, sessionExists, type ToolAnswer } from "../facts/index.ts";
import type { SessionValues } from "../host/index.ts";
import type { AgentRun, Session } from "../sessions/index.ts";
import { sessionNotFound } from "./execute-errors.ts";
import type { PendingSessionCall } from "./execute-event.ts";
import type { ShownError } from "./execute-projection.ts";
import type { ExecuteSettings, Execution, SessionContext } from "./execute-settings.ts";
import { backgroundCall } from "./pending-call.ts";
import type { ChosenOptions, ExecuteInput } from "./read-input.ts";
import { seed, seeded } from "./seed-history.ts";
import type { ForkSettings, SessionAgentInfo, SessionOrigin } from "./session-fork.ts";
import {
	deleteSetup,
	firstSetup,
	hasSetup,
	readSetup,
	type SessionSetup,
	sameOptions,
	setupValues,
} from "./session-setup.ts";
import { type SessionTrial, sessionTrial } from "./session-trial.ts";
import { SessionView } from "./session-view.ts";
import type { SharedParts } from "./shared-parts.ts";

const forkName = "fork "; // a fork is stored under this prefix and its key

/** A session of `ExecuteSessions`. */
export class ExecuteSession {
	/** Its key, without the prefix of the store. */
	readonly key: string;
	/** Its key in the journal. */
	readonly storeKey: string;
	readonly #parts: SharedParts;

	/** @internal */
	constructor(parts: SharedParts, key: string, storeKey: string) {
		this.#parts = parts;
		this.key = key;
		this.storeKey = storeKey;
	}

	/** Values stored with the session. */
	get values(): SessionValues {
		return setupValues(this.#parts.host, this.storeKey);
	}

	/** Whether a run is in progress in this process. */
	get isBusy(): boolean {
		return this.#parts.keyed().isBusy(this.key);
	}

	/** Returns the initial context and options; undefined if the session does not exist. */
	setup(): Promise<SessionSetup | undefined> {
		return readSetup(this.#parts.host, this.storeKey);
	}

	/** Whether the session exists, even if its setup is damaged. */
	exists(): Promise<boolean> {
		return hasSetup(this.#parts.host, this.storeKey);
	}

	/**
	 * Accepts an execution in several steps, such as creating the session and beginning its run: one after the other, in
	 * call order. The run continues by itself, and its requests enter the session's queue.
	 */
	inTurn<T>(accept: () => Promise<T>): Promise<T> {
		const { accepting } = this.#parts;
		const { key } = this;
		const before = accepting.get(key);
		const accepted = before === undefined ? accept() : before.then(accept);
		const over = accepted
			.catch(() => {})
			.then(() => {
				if (accepting.get(key) === over) accepting.delete(key);
			});
		accepting.set(key, over);
		return accepted;
	}

	/** Returns the session according to its journal. `shown` converts a run's error, by default unchanged. */
	view(shown?: ShownError): SessionView {
		const { host } = this.#parts;
		return new SessionView(host.journal, this.storeKey, () => seeded(host, this.storeKey), shown);
	}

	/**
	 * Creates the session. `model` is the model of its first execution, `caller` the creator. Rejects with
	 * `tool_name_conflict`, `invalid_input`, `session_exists`, and the errors of its tools.
	 */
	async create(
		context: SessionContext,
		{ model, caller }: Pick<ExecuteSettings, "model" | "caller"> = {},
	): Promise<SessionSetup> {
		const setup = await this.#checked(context, { model, caller });
		const { host, newId, now } = this.#parts;
		await seed(host, this.storeKey, context.messages, { runId: newId(), at: now() });
		await this.values.set("session", setup);
		return setup;
	}

	/**
	 * Returns the setup of a session with that context if the first execution can create the session in one commit.
	 * Returns undefined if that takes a separate commit; call `create` then.
	 *
	 * Rejects like `create`, except for `session_exists`, which the execution checks.
	 */
	async draft(
		context: SessionContext,
		{ options = {}, caller }: Pick<ExecuteSettings, "options" | "caller"> = {},
	): Promise<SessionSetup | undefined> {
		if (this.#parts.host.values.comeWithAppend !== true || context.messages.length > 0) return undefined;
		return { ...(await this.#checked(context, { options, caller })), ...options };
	}

	/** Rejects with `invalid_input` if no execution can begin with the input. `execute` checks it itself. */
	async checkInput(input: ExecuteInput): Promise<void> {
		if (input.kind === "answers") return;
		await this.#using((session) => session.checkInput(input.input));
	}

	/**
	 * Accepts an execution, durable when this resolves. Executions of one session are accepted one after the other.
	 *
	 * Rejects with `session_not_found`, `session_exists`, `session_busy`, `pending_tool_calls`, `no_pending_tool_calls`
	 * and the other codes of `session.answer()`, `unknown_model`, `unknown_message`, `duplicate_input`.
	 */
	async execute(input: ExecuteInput, settings: ExecuteSettings = {}): Promise<Execution> {
		const withdraw = await this.#choose(settings);
		try {
			const run = await this.#begin(input, settings);
			void run.events().return?.(); // the run waits for no consumer and buffers no events: watchers receive them
			// Only background work continues: the session has no events of it.
			if (run.sessionKey !== this.key) {
				void run.result();
				const { seq = 0 } = (await this.#parts.host.journal.head(this.storeKey)) ?? {};
				return { run, after: afterEntry(seq), over: Promise.resolve(), inBackground: true };
			}
			return { run, after: afterEntry(run.from ?? 0), over: run.result() };
		} catch (error) {
			const { code } = error as { code?: unknown };
			// The first message with this key has the same options.
			if (code !== "duplicate_input") await withdraw();
			throw code === "session_killed" ? sessionNotFound() : error;
		}
	}

	/**
	 * Accepts a message to be executed after the current run and all messages accepted earlier. The message is durable
	 * when this resolves. The events after `after` are those that precede the execution and, once it has begun, its own.
	 *
	 * Rejects with `session_not_found`, `unknown_model`, `duplicate_input`.
	 */
	async enqueue(
		input: SendInput,
		settings: Pick<ExecuteSettings, "options" | "runId" | "messageId" | "caller" | "dedupeKey"> = {},
	): Promise<{ readonly runId: string; readonly after: string; readonly enters?: string }> {
		const { runId = this.#parts.newId(), messageId, caller, dedupeKey } = settings;
		const { seq = 0 } = (await this.#parts.host.journal.head(this.storeKey)) ?? {};
		return this.#using(async (session) => {
			// An event enters the open run under the id of its message.
			const enters = session.takesAsEvent(input) ? (messageId ?? runId) : undefined;
			if (enters === undefined) await session.checkInput(input);
			await this.#keep(settings.options ?? {}, caller);
			const run = await session.send(input, { runId, messageId: enters ?? messageId, caller, dedupeKey });
			if (enters !== undefined) return { runId: run.runId, after: afterEntry(seq), enters };
			void run.events().return?.(); // its handle is unused
			void run.result();
			return { runId, after: afterEntry(seq) };
		});
	}

	/**
	 * Sends a message to the current run, durable when this resolves. If that run is for another caller, the message
	 * becomes a turn of its own after it. The events after `after` are those that follow.
	 *
	 * Rejects with `session_not_found`, `duplicate_input`.
	 */
	async steer(
		input: SendInput,
		{ messageId, caller, dedupeKey }: Pick<ExecuteSettings, "messageId" | "caller" | "dedupeKey"> = {},
	): Promise<{ readonly runId: string; readonly after: string }> {
		await this.#mustBe();
		const { seq = 0 } = (await this.#parts.host.journal.head(this.storeKey)) ?? {};
		const run = await this.#using((session) => session.steer(input, { messageId, caller, dedupeKey }));
		void run.result(); // the run waits for no consumer
		return { runId: run.runId, after: afterEntry(seq) };
	}

	/**
	 * Creates a session under another key, which begins with this session's settled history and has its stored setup,
	 * except for what you override. Both continue independently.
	 *
	 * Rejects with `session_not_found`, `session_exists`, `fork_unsettled`, `run_not_found`, `unknown_model`.
	 */
	async fork(
		to: ExecuteSession,
		{ at, options = {}, systemPrompt, caller }: ForkSettings = {},
	): Promise<SessionOrigin> {
		const kept = await this.#mustBe();
		const setup = { ...kept, ...options, ...(systemPrompt === undefined ? {} : { systemPrompt }) };
		const { agents, host, keyed, setups } = this.#parts;
		const own = await this.#parts.agentOf(this.key, caller);
		await agents.of(setup, { own }); // an invalid agent is refused before anything is copied
		if ((await to.setup()) !== undefined) throw sessionExists(to.key);
		if (at !== 0) {
			// Plugins look at the fork before its setup is stored.
			setups.set(to.key, setup);
			try {
				await keyed()
					.session(this.key)
					.fork(to.key, at === undefined ? {} : { at });
			} finally {
				setups.forget(to.key);
			}
		}
		keyed().unused(this.key);
		const { seq = 0 } = (await host.journal.head(to.storeKey)) ?? {};
		const history = at === 0 ? undefined : await this.values.get("history");
		if (history !== undefined) await to.values.set("history", history);
		const origin: SessionOrigin = { key: this.key, seq };
		await to.values.set("origin", origin);
		await this.values.set(forkName + to.key, { key: to.key, seq });
		// Must be last: from here on the session exists.
		await to.values.set("session", setup);
		return origin;
	}

	/** Returns the session that this one was forked from; undefined if it is not a fork. */
	origin(): Promise<SessionOrigin | undefined> {
		return this.values.get("origin") as Promise<SessionOrigin | undefined>;
	}

	/** Returns the forks of the session, including deleted ones. */
	async forks(): Promise<readonly SessionOrigin[]> {
		const links = (await this.values.list()).filter(({ name }) => name.startsWith(forkName));
		return links.map((each) => each.value as SessionOrigin);
	}

	/** Returns the agent of the next turn. Rejects with `session_not_found`, `unknown_model`. */
	async agent(caller?: Caller): Promise<SessionAgentInfo> {
		return (await this.trial(caller)).info;
	}

	/** Returns the agent of the next turn, to be tried without a run. Rejects as `agent` does. */
	async trial(caller?: Caller): Promise<SessionTrial> {
		const { agents, setups, newId } = this.#parts;
		const own = await this.#parts.agentOf(this.key, caller);
		const model = setups.modelOf(this.key);
		const setup = await this.#mustBe();
		const options = await agents.of(setup, { model, own });
		const engine = await this.#parts.keyed().agentOfTurn(this.key, caller);
		return sessionTrial({ agents, setup, model, own, options, engine, caller, newId });
	}

	/** Resumes the run, even a parked one; null if there is nothing to resume. Rejects with `session_held`. */
	async release(): Promise<AgentRun | null> {
		const run = await this.#using((session) => session.release());
		run?.detach(); // Its handle is unused, or that of a run in progress.
		return run;
	}

	/** Returns the waiting calls of the session's background tasks; none once the sessions are closed. */
	async backgroundCalls(): Promise<readonly PendingSessionCall[]> {
		if (this.#parts.isClosed()) return [];
		return (await this.#using((session) => session.pendingInBackground())).flatMap(backgroundCall);
	}

	/** Resumes what a dead process left, and watches the deadlines of calls; null if there is nothing to resume. */
	resume(): Promise<AgentRun | null> {
		return this.#parts.keyed().session(this.key).resume();
	}

	/** Ends the running or waiting run; returns false without one. */
	stop(): Promise<boolean> {
		return this.#using((session) => session.stop());
	}

	/** Ends the session's work and deletes all of its data. */
	async delete(): Promise<void> {
		await this.#parts.keyed().session(this.key).delete();
		await deleteSetup(this.#parts.host, this.storeKey);
	}

	/** Uses the session, which leaves memory afterwards if it has no work. */
	async #using<T>(work: (session: Session) => Promise<T>): Promise<T> {
		const keyed = this.#parts.keyed();
		try {
			return await work(keyed.session(this.key));
		} finally {
			keyed.unused(this.key);
		}
	}

	/** Returns the setup of a session with that context. Refuses an invalid agent, and requests after the end. */
	async #checked(
		{ systemPrompt, tools }: SessionContext,
		{ options, model, caller }: Pick<ExecuteSettings, "options" | "model" | "caller">,
	): Promise<SessionSetup> {
		const { agents, keyed } = this.#parts;
		const own = await this.#parts.agentOf(this.key, caller);
		agents.checkNames(tools, own);
		const setup: SessionSetup = { tools, ...(systemPrompt === undefined ? {} : { systemPrompt }) };
		await agents.of({ ...setup, ...options }, { model, own });
		keyed();
		return setup;
	}

	/** Begins the turn or resumes the waiting run, with the setup that is stored now. */
	async #begin(input: ExecuteInput, settings: ExecuteSettings): Promise<AgentRun> {
		const { key } = this;
		const { setups, newId } = this.#parts;
		const keyed = this.#parts.keyed();
		const { watcher, runId = newId(), setup, isNew, messageId, insteadOf, caller, dedupeKey } = settings;
		try {
			if (input.kind === "answers") {
				setups.set(key, await this.#mustBe());
				return await keyed.session(key).answer(decidedBy(input.answers, caller), { watcher });
			}
			const kept = setup ?? (await this.#mustBe());
			setups.set(key, kept);
			const beforeBegin = async (): Promise<void> => {
				// From here on nothing else begins in the session: its stored setup is that of the turn.
				setups.set(key, await this.#mustBe());
			};
			return await keyed.session(key).start(input.input, {
				runId,
				...(isNew === true ? { values: firstSetup(kept) } : { beforeBegin }),
				watcher,
				messageId,
				insteadOf,
				caller,
				dedupeKey,
			});
		} finally {
			setups.forget(key);
			keyed.unused(key);
		}
	}

	/** Stores options for later turns. */
	async #keep(options: ChosenOptions, caller: Caller | undefined): Promise<void> {
		const kept = await this.#mustBe();
		if (Object.keys(options).length === 0) return;
		const chosen = { ...kept, ...options };
		const own = await this.#parts.agentOf(this.key, caller);
		await this.#parts.agents.of(chosen, { model: this.#parts.setups.modelOf(this.key), own });
		if (!sameOptions(kept, chosen)) await this.values.set("session", chosen);
	}

	/** Stores an execution's options, which apply from it on. Returns a function that reverts them. */
	async #choose({ options = {}, model, caller, isNew }: ExecuteSettings): Promise<() => Promise<void>> {
		if (isNew === true) return async () => {}; // the session is created with them
		const { agents, setups } = this.#parts;
		const given = setups.modelOf(this.key);
		const before = Object.keys(options).length === 0 ? undefined : await this.#mustBe();
		// A run in progress keeps its own options, and refuses this execution.
		if ((before === undefined && model === undefined) || this.isBusy) return async () => {};
		if (before !== undefined) {
			const own = await this.#parts.agentOf(this.key, caller);
			await agents.of({ ...before, ...options }, { model: model ?? given, own });
		}
		if (model !== undefined) setups.setModel(this.key, model);
		const withdrawModel = (): void => setups.setModel(this.key, given);
		// Another server may have changed the options in the meantime.
		const kept = before && (await this.setup());
		const chosen = kept && { ...kept, ...options };
		if (kept === undefined || chosen === undefined || sameOptions(kept, chosen))
			return async () => withdrawModel();
		await this.values.set("session", chosen);
		return async () => {
			withdrawModel();
			const now = await this.setup();
			if (now !== undefined && sameOptions(now, chosen)) await this.values.set("session", kept);
		};
	}

	/** Returns the stored setup. Rejects with `session_not_found` if another process has deleted the session. */
	async #mustBe(): Promise<SessionSetup> {
		const setup = await this.setup();
		if (setup === undefined) throw sessionNotFound();
		return setup;
	}
}

/** Adds the decider's name to approvals. */
function decidedBy(answers: readonly ToolAnswer[], caller: Caller | undefined): readonly ToolAnswer[] {
	if (caller === undefined) return answers;
	return answers.map((answer) => ("approved" in answer ? { ...answer, by: caller } : answer));
}
