/**
 * A conversation with an agent: the user's messages become turns, steers and answers; events go to the transcript. It
 * draws nothing, so every kind of screen can use it.
 *
 * idle ── say ──▶ working ── a call waits for approval ──▶ asking ── answered ──▶ working
 *   ▲               │ say: steers it; interrupt: ends it          │ interrupt: ends the run
 *   └── it ended ───┴──────────────────────────────────────────────┘
 * Any of them ── leave ──▶ left: runs in flight are suspended, waiting calls keep waiting.
 */

import type { Agent, AgentRun, Host, RunEvent, RunResult, Session } from "holdfast";
import { afterEntry } from "holdfast/execute";
import { effectLines, type Renderer, stopNote } from "../render/index.ts";
import { oneLine } from "../terminal/index.ts";
import { agentsFiles } from "../tools/index.ts";
import {
	type ApprovalRule,
	Approvals,
	assistantsFolder,
	type Decide,
	type Decision,
	describeError,
	type OpenAgent,
	openAgent,
	type Setup,
	writeSettings,
} from "../work/index.ts";
import { askToApprove, decisionNote } from "./approval-question.ts";
import type { Question, Transcript } from "./chat-transcript.ts";
import { withFiles } from "./mentions.ts";
import { withSessions } from "./pickers.ts";
import { RunView } from "./run-view.ts";
import { Spending, spendingOf } from "./spending.ts";

/** Earlier messages shown when a session is opened. */
const SHOWN_PAST = 6;

/** The parts of a conversation. */
export interface ConversationParts {
	readonly host: Host;
	/** Absolute path of the database, next to which settings are stored. */
	readonly db: string;
	readonly setup: Setup;
	readonly transcript: Transcript;
	/** Whether every call may run without approval. */
	readonly yes: boolean;
}

export class Conversation {
	readonly transcript: Transcript;
	readonly #parts: ConversationParts;
	#open: OpenAgent;
	#setup: Setup;
	#session: Session;
	#approvals: Approvals;
	#spending = new Spending();
	#run: AgentRun | undefined;
	/** Runs that started while another one was shown. */
	#next: AgentRun[] = [];
	#answer: ((text: string | undefined) => void) | undefined;
	#isLeft = false;
	/** The run being followed that waits for its model or a time. */
	#waiting: string | undefined;
	/** Seq of the last wait that was shown. */
	#waitedAt = 0;
	/** Fires when the conversation is left. */
	readonly #leaving = new AbortController();
	/** Set while the asking run is being ended: it gets no further questions. */
	#isStopping = false;
	/** Settles when no work is in flight. */
	#working: Promise<void> = Promise.resolve();

	private constructor(parts: ConversationParts, open: OpenAgent) {
		this.#parts = parts;
		this.transcript = parts.transcript;
		this.#open = open;
		this.#setup = parts.setup;
		this.#session = open.agent.session(parts.setup.key);
		this.#approvals = this.#makeApprovals();
	}

	/** Opens a session with its history. */
	static async open(parts: ConversationParts): Promise<Conversation> {
		const conversation = new Conversation(parts, await openAgent(parts.setup, () => parts.host));
		await conversation.#begin("another conversation");
		return conversation;
	}

	get setup(): Setup {
		return this.#setup;
	}

	get host(): Host {
		return this.#open.host;
	}

	get agent(): Agent {
		return this.#open.agent;
	}

	get session(): Session {
		return this.#session;
	}

	/** The rules by which calls are approved, until another session is opened. */
	get rules(): readonly ApprovalRule[] {
		return this.#approvals.rules;
	}

	/** Calls that the rule covers require approval again. */
	revoke(rule: ApprovalRule): void {
		this.#approvals.revoke(rule);
	}

	get spending(): Spending {
		return this.#spending;
	}

	get isBusy(): boolean {
		return this.transcript.live.status !== "idle";
	}

	/** Settles when no work is in flight. */
	async settled(): Promise<void> {
		for (let seen: Promise<void> | undefined; seen !== this.#working; ) {
			seen = this.#working;
			await seen;
		}
	}

	/** Sends a text: it starts a turn, steers the current one, or answers the pending question. Never rejects. */
	async say(text: string): Promise<void> {
		if (this.#answer !== undefined) {
			this.#answer(text);
			return;
		}
		if (this.transcript.live.status === "working") return this.#try(() => this.#steer(text));
		this.transcript.add({ kind: "user", text });
		this.transcript.set({ status: "working" });
		this.#working = this.#try(async () => {
			this.#keepSettings();
			await this.#follow(await this.#session.send(await this.#withFiles(text)));
		}).finally(() => this.#rest());
	}

	/** Ends the current run. */
	interrupt(): void {
		if (this.#waiting !== undefined) this.#session.interrupt();
		else if (this.#answer === undefined) this.#run?.interrupt();
		else {
			this.#isStopping = true;
			this.#answer(undefined);
			void this.#try(async () => {
				if (await this.#session.stop()) this.transcript.note("Interrupted.", "warning");
			});
		}
	}

	/**
	 * Switches to another session or model. The current run must have ended.
	 * @throws UsageError if the agent cannot be created; nothing changes then.
	 */
	async change(setup: Setup, to: "same conversation" | "another conversation"): Promise<void> {
		const open = await openAgent(setup, () => this.#parts.host);
		await this.#open.agent.close();
		this.#open = open;
		this.#setup = setup;
		this.#session = open.agent.session(setup.key);
		this.#approvals = this.#makeApprovals();
		await this.#begin(to);
	}

	/** Suspends the current run and closes the agent. Calling it twice is harmless. */
	async leave(): Promise<void> {
		if (this.#isLeft) return;
		this.#isLeft = true;
		this.#leaving.abort();
		this.#approvals.interrupt();
		this.#answer?.(undefined);
		this.#run?.suspend();
		await this.settled();
		await this.#open.agent.close();
	}

	/** Shows the history, and continues open work. */
	async #begin(to: "same conversation" | "another conversation"): Promise<void> {
		this.#spending = await spendingOf(this.host, this.#setup.key).catch(() => new Spending());
		this.#showFooter();
		const guides = this.#setup.agent === undefined ? agentsFiles(this.#setup.dir) : [];
		if (to === "same conversation" && guides.length > 0)
			this.transcript.note(`Following ${guides.map(({ path }) => path).join(", ")}.`, "quiet");
		const head = await this.host.journal.head(this.#setup.key);
		if (head === undefined || (head.seq === 0 && head.waiting === 0)) return;
		if (to === "another conversation") await this.#showPast();
		if (head.openRunId === undefined) {
			this.#working = this.#try(() => this.#settleBackground()).finally(() => this.#rest());
			return;
		}
		if (head.parked === true) {
			this.transcript.note("The last run is parked. To continue it, run holdfast release KEY.", "warning");
			return;
		}
		this.transcript.set({ status: "working" });
		this.#working = this.#try(() => this.#continue()).finally(() => this.#rest());
	}

	async #continue(): Promise<void> {
		const pending = await this.#session.pending();
		if (pending.length > 0) return this.#settle(pending);
		const run = await this.#session.resume();
		if (run !== null) return this.#follow(run);
		const { seq = 0, openRunId } = (await this.host.journal.head(this.#setup.key)) ?? {};
		if (openRunId === undefined) return;
		this.#waitedAt = seq;
		await this.#afterWait(openRunId);
	}

	async #showPast(): Promise<void> {
		const { messages } = await this.#session.state();
		const past = messages.filter(({ type, text }) => type !== "tool_result" && text !== "");
		if (past.length > SHOWN_PAST)
			this.transcript.note(`… ${past.length - SHOWN_PAST} earlier messages`, "quiet");
		for (const { type, text } of past.slice(-SHOWN_PAST))
			this.transcript.add({ kind: type === "user" ? "user" : "answer", text });
	}

	async #steer(text: string): Promise<void> {
		this.transcript.set({ queued: [...this.transcript.live.queued, text] });
		const run = await this.#session.steer(await this.#withFiles(text));
		if (run.runId === this.#run?.runId) return;
		if (run.runId === this.#waiting) {
			this.transcript.set({ queued: [] });
			void run.result(); // It is already being followed.
			return;
		}
		// The run ended before it received the message, so the message becomes a separate turn.
		this.#next.push(run);
		if (this.isBusy) return;
		this.transcript.set({ status: "working" });
		this.#working = this.#try(async () => {}).finally(() => this.#rest());
	}

	/** Shows a run and those that follow it until no work is left. */
	async #follow(run: AgentRun): Promise<void> {
		const result = await this.#show(run);
		if (result.outcome === "waiting") await this.#settle(await this.#session.pending(), result);
		else if (!this.#isLeft) await this.#settleBackground();
	}

	/** Asks about waiting calls of background tasks. */
	async #settleBackground(): Promise<void> {
		const pending = await this.#session.pending();
		if (pending.length > 0) await this.#settle(pending);
	}

	async #settle(pending: RunResult["pending"] & object, result?: RunResult): Promise<void> {
		let calls = pending;
		let last = result;
		while (calls.length > 0 && !this.#isLeft) {
			const answer = await this.#approvals.next(calls);
			if (answer === undefined) break;
			this.transcript.set({ status: "working" });
			const run = await this.#session.answer([answer]);
			const { taskId } = calls.find(({ toolCallId }) => toolCallId === answer.toolCallId) ?? {};
			if (taskId === undefined) last = await this.#show(run);
			else {
				void run.result(); // It continues by itself.
				this.transcript.note(`The task ${taskId} continues in the background.`, "quiet");
			}
			calls = await this.#session.pending();
		}
		if (this.#isStopping) {
			this.#isStopping = false;
			return;
		}
		const elsewhere = calls.filter(({ awaits }) => awaits === "result");
		if (elsewhere.length > 0)
			this.transcript.note(
				`Waiting for ${elsewhere.map(({ toolName }) => oneLine(toolName, 60)).join(", ")}, which is answered outside this chat.`,
				"warning",
			);
		if (calls.length === 0 && last?.outcome === "waiting" && last.wait?.until !== undefined)
			await this.#afterWait(last.runId);
		else if (last?.wait !== undefined)
			this.transcript.note("The agent is waiting for a message. Send one to continue.", "warning");
	}

	/** Shows a run that continues, in any process, after waiting for its model or a time. */
	async #afterWait(runId: string): Promise<void> {
		this.#waiting = runId;
		const view = new RunView(this.transcript);
		const { signal } = this.#leaving;
		let end: RunEvent | undefined;
		for await (const { event } of this.#session.follow({
			after: afterEntry(this.#waitedAt),
			until: "complete",
			signal,
		})) {
			view.event(event);
			this.#spending.event(event);
			if (event.type === "message") this.#showFooter();
			end = event;
		}
		view.end();
		this.#waiting = undefined;
		if (this.#isLeft) return;
		if (end?.type === "run_end") this.#noteEnd(end);
		const pending = await this.#session.pending();
		if (pending.length > 0) await this.#settle(pending);
	}

	#noteEnd({ outcome, error, stopReason }: Pick<RunResult, "outcome" | "error" | "stopReason">): void {
		const stopped = outcome === "completed" ? stopNote(stopReason) : undefined;
		if (stopped !== undefined) this.transcript.note(stopped, "warning");
		if (outcome === "aborted" || outcome === "killed") this.transcript.note("Interrupted.", "warning");
		if (outcome === "suspended" && !this.#isLeft)
			this.transcript.note("The run was suspended. You can resume it.", "warning");
		if (outcome === "error")
			this.transcript.note(`${error?.message ?? "It failed."} (${error?.code ?? "run_failed"})`, "warning");
	}

	async #show(run: AgentRun): Promise<RunResult> {
		this.#run = run;
		if (this.#isLeft) run.suspend();
		const view = new RunView(this.transcript);
		for await (const event of run.watch()) {
			view.event(event);
			this.#spending.event(event);
			if (event.type === "message") this.#showFooter();
			if (event.type === "waiting") this.#waitedAt = event.seq;
		}
		const result = await run.result();
		this.#run = undefined;
		view.end();
		this.#noteEnd(result);
		return result;
	}

	/** Handles the idle state, including messages that arrived since the last run. */
	async #rest(): Promise<void> {
		const unheard = this.transcript.live.queued.map((text) => ({ kind: "user" as const, text }));
		this.transcript.set({ queued: [] });
		this.transcript.add(...unheard);
		const next = this.#next.shift();
		if (next !== undefined) {
			await this.#try(() => this.#follow(next));
			return this.#rest();
		}
		this.transcript.set({ status: "idle" });
	}

	async #withFiles(said: string): Promise<string> {
		if (this.#setup.agent !== undefined) return said;
		const { text: whole, files, problems } = await withFiles(said, this.#setup.dir);
		if (files.length > 0)
			this.transcript.note(`Read ${files.map((path) => oneLine(path, 80)).join(", ")}`, "quiet");
		for (const problem of problems) this.transcript.note(oneLine(problem, 300), "warning");
		const { text, keys } = await withSessions(whole, this);
		if (keys.length > 0)
			this.transcript.note(`Read the sessions ${keys.map((key) => oneLine(key, 80)).join(", ")}`, "quiet");
		return text;
	}

	#makeApprovals(): Approvals {
		const say = (text: string): void => this.transcript.note(text, "warning");
		const renderer: Renderer = {
			begin() {},
			event() {},
			note: say,
			end() {},
			proposed: (proposal) => this.transcript.add({ kind: "change", lines: effectLines(proposal) }),
		};
		const options = { yes: this.#parts.yes, approve: [], deny: [], reason: undefined };
		const dir = assistantsFolder(this.#setup);
		return new Approvals({ dir, options, renderer, decide: (...call) => this.#decide(...call) });
	}

	async #decide(...[proposal, rule, signal]: Parameters<Decide>): Promise<Decision | undefined> {
		const ask = (question: Question): Promise<string | undefined> => this.#ask(question, signal);
		const say = (text: string): void => this.transcript.note(text, "warning");
		const decision = await askToApprove(proposal, rule, ask, say);
		const said = decision === undefined ? undefined : decisionNote(decision, rule);
		if (said !== undefined) this.transcript.note(`${said}: ${proposal.title}`, "quiet");
		return decision;
	}

	async #ask(question: Question, signal: AbortSignal): Promise<string | undefined> {
		if (signal.aborted || this.#isLeft || this.#isStopping) return undefined;
		const said = await new Promise<string | undefined>((resolve) => {
			this.#answer = resolve;
			this.transcript.set({ status: "asking", question });
		});
		this.#answer = undefined;
		this.transcript.set({ status: "working", question: undefined });
		return said;
	}

	#keepSettings(): void {
		const { key, dir, model, allowNetwork, allowWrite, agent } = this.#setup;
		const settings = { dir, model: model.name, allowNetwork, allowWrite };
		writeSettings(this.#parts.db, key, agent === undefined ? settings : { ...settings, agent });
	}

	#showFooter(): void {
		const { key } = this.#setup;
		this.transcript.set({ footer: `${oneLine(key, 40)} · ${this.#spending.text} · ${this.#open.modelName}` });
	}

	async #try(work: () => Promise<void>): Promise<void> {
		try {
			await work();
		} catch (error) {
			this.transcript.note(describeError(error), "warning");
		}
	}
}
