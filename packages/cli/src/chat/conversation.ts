/**
 * A conversation with an agent: the user's messages become turns, steers and answers; events go to the transcript. It
 * draws nothing, so every kind of screen can use it.
 *
 * idle ── say ──▶ working ── a call waits for approval ──▶ asking ── answered ──▶ working
 *   ▲               │ say: steers it; interrupt: ends it          │ interrupt: ends the run
 *   └── it ended ───┴──────────────────────────────────────────────┘
 * Any of them ── leave ──▶ left: runs in flight are suspended, waiting calls keep waiting.
 */

import type { UserMessage } from "@holdfast/upp";
import type { Agent, AgentRun, Host, RunEvent, RunResult, Session } from "holdfast";
import { afterEntry } from "holdfast/execute";
import { oneLine } from "../terminal/index.ts";
import {
	assistantsFolder,
	describeError,
	followedIn,
	keepSettings,
	type OpenAgent,
	openAgent,
	type Setup,
} from "../work/index.ts";
import { Asking } from "./asking.ts";
import { attach } from "./attach.ts";
import { noticesIn, type Transcript } from "./chat-transcript.ts";
import { runOwnCommand } from "./own-command.ts";
import { endPlan, noteEnd, RunView } from "./run-view.ts";
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
	/** Absolute paths of the images that the user dropped on the terminal or pasted from the clipboard. */
	readonly chosenImages: Set<string> = new Set();
	readonly #parts: ConversationParts;
	#open: OpenAgent;
	#setup: Setup;
	#session: Session;
	#asking: Asking;
	/** Ends the user's own command. */
	#command: AbortController | undefined;
	/** What the user's own commands printed since the last message. */
	#asides: readonly string[] = [];
	#spending = new Spending();
	#run: AgentRun | undefined;
	/** Runs that started while another one was shown. */
	#next: AgentRun[] = [];
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
		this.#asking = this.#makeAsking();
	}

	/** Opens a session with its history. */
	static async open(parts: ConversationParts): Promise<Conversation> {
		const conversation = new Conversation(
			parts,
			await openAgent(parts.setup, () => parts.host, noticesIn(parts.transcript)),
		);
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

	get asking(): Asking {
		return this.#asking;
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
		if (this.#asking.isOpen) {
			this.#asking.answer(text);
			return;
		}
		if (this.transcript.live.status === "working") return this.#try(() => this.#steer(text));
		this.transcript.add({ kind: "user", text });
		this.transcript.set({ status: "working" });
		this.#working = this.#try(async () => {
			keepSettings(this.#parts.db, this.#setup);
			this.#asking.beginTurn();
			await this.#follow(await this.#session.send(await this.#attached(text)));
		}).finally(() => this.#rest());
	}

	/** Runs a command of the user; the next message contains its output. The current run must have ended. */
	async runCommand(command: string): Promise<void> {
		const { transcript } = this;
		const ending = new AbortController();
		this.#command = ending;
		transcript.set({ status: "working" });
		this.#working = this.#try(async () => {
			const parts = { setup: this.#setup, asking: this.#asking, transcript, signal: ending.signal };
			const aside = await runOwnCommand(command, parts);
			if (aside !== undefined) this.#asides = [...this.#asides, aside];
		}).finally(() => {
			this.#command = undefined;
			this.#asking.allow();
			return this.#rest();
		});
	}

	/** Ends the current run. */
	interrupt(): void {
		if (this.#waiting !== undefined) this.#session.interrupt();
		else if (this.#command !== undefined) {
			this.#command.abort();
			this.#asking.refuse();
		} else if (!this.#asking.isOpen) this.#run?.interrupt();
		else {
			this.#isStopping = true;
			this.#asking.refuse();
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
		const open = await openAgent(setup, () => this.#parts.host, noticesIn(this.transcript));
		await this.#open.agent.close();
		this.#open = open;
		this.#setup = setup;
		this.#session = open.agent.session(setup.key);
		// A fork keeps the rules, and the changes that can be undone.
		if (to === "another conversation") this.#asking = this.#makeAsking();
		await this.#begin(to);
	}

	/** Suspends the current run and closes the agent. Calling it twice is harmless. */
	async leave(): Promise<void> {
		if (this.#isLeft) return;
		this.#isLeft = true;
		this.#leaving.abort();
		this.#asking.leave();
		this.#command?.abort();
		this.#run?.suspend();
		await this.settled();
		await this.#open.agent.close();
	}

	/** Shows the history, and continues open work. */
	async #begin(to: "same conversation" | "another conversation"): Promise<void> {
		this.#spending = await spendingOf(this.host, this.#setup.key).catch(() => new Spending());
		this.showFooter();
		const guides = this.#setup.agent === undefined ? await followedIn(this.#setup.dir) : [];
		if (to === "same conversation" && guides.length > 0)
			this.transcript.note(`Following ${guides.join(", ")}.`, "quiet");
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
		const run = await this.#session.steer(await this.#attached(text));
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
			const answer = await this.#asking.approvals.next(calls);
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
			this.#asking.allow();
			return;
		}
		this.#noteElsewhere(calls.filter(({ awaits }) => awaits === "result"));
		if (calls.length === 0 && last?.outcome === "waiting" && last.wait?.until !== undefined)
			await this.#afterWait(last.runId);
		else if (last?.wait !== undefined)
			this.transcript.note("The agent is waiting for a message. Send one to continue.", "warning");
	}

	#noteElsewhere(calls: RunResult["pending"] & object): void {
		const names = calls.map(({ toolName }) => oneLine(toolName, 60)).join(", ");
		const elsewhere =
			names === "" ? "" : `${names} waits for its result, which comes from outside this chat.`;
		if (elsewhere !== "") this.transcript.note(elsewhere, "warning");
		this.transcript.set({ elsewhere });
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
			if (event.type === "message") this.showFooter();
			end = event;
		}
		view.end();
		this.#waiting = undefined;
		if (this.#isLeft) return;
		if (end?.type === "run_end") noteEnd(this.transcript, end);
		const pending = await this.#session.pending();
		if (pending.length > 0) await this.#settle(pending);
	}

	async #show(run: AgentRun): Promise<RunResult> {
		this.#run = run;
		if (this.#isLeft) run.suspend();
		const view = new RunView(this.transcript);
		for await (const event of run.watch()) {
			view.event(event);
			this.#spending.event(event);
			if (event.type === "message") this.showFooter();
			if (event.type === "waiting") this.#waitedAt = event.seq;
		}
		const result = await run.result();
		this.#run = undefined;
		view.end();
		if (!this.#isLeft) noteEnd(this.transcript, result);
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
		endPlan(this.transcript);
		this.transcript.set({ status: "idle" });
	}

	#attached(message: string): Promise<string | UserMessage> {
		const asides = this.#asides;
		this.#asides = [];
		return attach(message, asides, this);
	}

	#makeAsking(): Asking {
		const { transcript, yes } = this.#parts;
		return new Asking({ transcript, dir: assistantsFolder(this.#setup), yes });
	}

	/** Shows the session, the model and the usage in the bottom line. */
	showFooter(): void {
		const { key } = this.#setup;
		const used = [this.#spending.text, this.#spending.context(this.#setup.model.contextWindow)];
		this.transcript.set({
			footer: [oneLine(key, 40), oneLine(shortName(this.#open.modelName), 30), ...used].join(" · "),
		});
	}

	async #try(work: () => Promise<void>): Promise<void> {
		try {
			await work();
		} catch (error) {
			this.transcript.note(describeError(error), "warning");
		}
	}
}

/** A model without its provider and address, which leave no room for the usage. */
function shortName(model: string): string {
	return model.replace(/^[a-z-]+:(?=.)/, "").replace(/(?<=.)@https?:.*$/, "");
}
