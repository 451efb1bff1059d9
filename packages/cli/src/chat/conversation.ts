/**
 * A conversation with an agent: the user's messages become turns, steers and answers; events go to the transcript. It
 * draws nothing, so every kind of screen can use it.
 *
 * idle ── say ──▶ working ── a call waits for approval ──▶ asking ── answered ──▶ working
 *   ▲               │ say: steers it; interrupt: ends it          │ interrupt: ends the run
 *   └── it ended ───┴──────────────────────────────────────────────┘
 * Any of them ── leave ──▶ left: runs in flight are suspended, waiting calls keep waiting.
 */

import type { Agent, AgentRun, Host, PendingToolCall, RunEvent, Session, ToolAnswer } from "holdfast";
import { oneLine } from "../terminal/index.ts";
import {
	assistantsFolder,
	describeError,
	followedIn,
	keepSettings,
	type OpenAgent,
	openAgent,
	type Place,
	type RunEnd,
	SessionReader,
	type Setup,
} from "../work/index.ts";
import { Asking } from "./asking.ts";
import { attach } from "./attach.ts";
import { noticesIn, type Transcript } from "./chat-transcript.ts";
import type { ChosenImages } from "./images.ts";
import { runOwnCommand } from "./own-command.ts";
import { QueuedMessages, type UnsentMessage } from "./queued-messages.ts";
import { endPlan, noteElsewhere, noteEnd, RunView, showPast } from "./run-view.ts";
import { Spending, spendingOf } from "./spending.ts";

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
	/** The images that the user dropped on the terminal or pasted from the clipboard. */
	readonly chosenImages: ChosenImages = new Map();
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
	#reader: SessionReader;
	#view: RunView | undefined;
	/** Runs that started while another one was shown. */
	#next: { readonly run: AgentRun; readonly text: string }[] = [];
	#isLeft = false;
	/** The user's messages to the agent; those that wait can be taken back. */
	#messages: QueuedMessages;
	/** How much work of this conversation is in flight. */
	#inFlight = 0;
	/** Settles when no work is in flight. */
	#working: Promise<void> = Promise.resolve();

	private constructor(parts: ConversationParts, open: OpenAgent) {
		this.#parts = parts;
		this.transcript = parts.transcript;
		this.#open = open;
		this.#setup = parts.setup;
		this.#session = open.agent.session(parts.setup.key);
		this.#asking = this.#makeAsking();
		this.#reader = this.#makeReader();
		this.#messages = this.#makeMessages();
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
		const message = this.#messages.message(text, this.#takeAsides());
		this.#work(async () => {
			keepSettings(this.#parts.db, this.#setup);
			await this.#turn(message);
		});
	}

	/** Runs a command of the user; the next message contains its output. The current run must have ended. */
	async runCommand(command: string): Promise<void> {
		const { transcript } = this;
		const ending = new AbortController();
		this.#command = ending;
		this.#work(async () => {
			const parts = { setup: this.#setup, asking: this.#asking, transcript, signal: ending.signal };
			const aside = await runOwnCommand(command, parts).finally(() => {
				this.#command = undefined;
				this.#asking.allow();
			});
			if (aside !== undefined) this.#asides = [...this.#asides, aside];
		});
	}

	/** Ends the current run. */
	interrupt(): void {
		if (this.#command !== undefined) this.#command.abort();
		else void this.#try(async () => void (await this.#reader.interrupt()));
		if (this.#asking.isOpen || this.#command !== undefined) this.#asking.refuse();
	}

	/**
	 * Switches to another session or model. The current run must have ended.
	 * @throws UsageError if the agent cannot be created; nothing changes then.
	 */
	async change(setup: Setup, to: "same conversation" | "another conversation"): Promise<void> {
		const open = await openAgent(setup, () => this.#parts.host, noticesIn(this.transcript));
		await this.#reader.leave();
		await this.#open.agent.close();
		this.#open = open;
		this.#setup = setup;
		this.#session = open.agent.session(setup.key);
		// A fork keeps the rules, and the changes that can be undone.
		if (to === "another conversation") this.#asking = this.#makeAsking();
		this.#reader = this.#makeReader();
		this.#messages = this.#makeMessages();
		await this.#begin(to);
	}

	/** Suspends the current run and closes the agent. Calling it twice is harmless. */
	async leave(): Promise<void> {
		if (this.#isLeft) return;
		this.#isLeft = true;
		this.#asking.leave();
		this.#command?.abort();
		// They are the next turns when the session is continued.
		for (const message of this.#messages.takeAll())
			await this.#try(async () => {
				await this.#messages.send(message, (said, options) => this.#session.send(said, options));
			});
		await this.#reader.leave();
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
		const opened = await this.#reader.start();
		await this.#try(() => this.#messages.restore());
		if (opened.state === "nothing") return;
		if (to === "another conversation") showPast(this.transcript, (await this.#session.state()).messages);
		if (opened.state === "parked")
			this.transcript.note(
				`The last run is parked. To continue it, run holdfast release ${oneLine(this.#setup.key, 60)}.`,
				"warning",
			);
		else if (opened.state === "open run")
			this.#work(async () => this.#noteWait(await this.#reader.continueOpen(opened)));
		else {
			// Only calls of background tasks can wait.
			this.#inFlight++;
			const asked = this.#try(async () => void (await this.#reader.continueOpen(opened)));
			this.#working = asked.finally(() => this.#rest());
		}
	}

	/** Sends a message as a turn, and shows its run. */
	async #turn(message: UnsentMessage): Promise<void> {
		this.#asking.beginTurn();
		const run = await this.#messages.send(message, (said, options) =>
			this.#reader.enter(() => this.#session.send(said, options)),
		);
		if (run !== undefined) await this.#follow(run);
	}

	/** Queues a message to the current run. If it works here, the user can take the message back until `#deliver`. */
	async #steer(text: string): Promise<void> {
		this.transcript.set({ queued: [...this.transcript.live.queued, text] });
		const message = this.#messages.message(text, this.#takeAsides());
		const waits = this.#reader.place === "here" || this.#messages.isWaiting;
		await (waits ? this.#messages.add(message) : this.#sendNow(message));
	}

	/** Takes the last queued message back; undefined if the run has received all of them. */
	recall(): string | undefined {
		const last = this.#messages.recall();
		this.#asides = [...(last?.asides ?? []), ...this.#asides];
		return last?.text;
	}

	/** Sends the queued messages: the run receives them before its next step. */
	#deliver(): void {
		for (const message of this.#messages.takeAll()) void this.#try(() => this.#sendNow(message));
	}

	async #sendNow(message: UnsentMessage): Promise<void> {
		const run = await this.#messages.send(message, (said, options) =>
			this.#reader.enter(() => this.#session.steer(said, options)),
		);
		if (run === undefined) return;
		// It is already shown.
		if (run.runId === this.#reader.runId) return void run.result();
		// The run ended before it received the message, so the message becomes a separate turn.
		this.#next.push({ run, text: message.text });
		if (!this.isBusy) this.#work(async () => {});
	}

	/** Shows a run and those that continue it. */
	async #follow(run: AgentRun): Promise<void> {
		this.#noteWait(await this.#reader.follow(run));
	}

	#noteWait(end: RunEnd | undefined): void {
		if (end?.outcome === "waiting" && end.wait !== undefined && !this.#isLeft)
			this.transcript.note("The agent is waiting for a message. Send one to continue.", "warning");
	}

	#makeReader(): SessionReader {
		return new SessionReader({
			session: this.#session,
			host: this.#open.host,
			key: this.#setup.key,
			began: (place) => this.#began(place),
			event: (event) => this.#event(event),
			ended: (end) => this.#ended(end),
			answer: (calls, signal) => this.#answer(calls, signal),
			answered: (call) => {
				if (call?.taskId !== undefined)
					this.transcript.note(`The task ${call.taskId} continues in the background.`, "quiet");
			},
			waits: () => this.#work(async () => this.#noteWait(await this.#reader.settle())),
			failed: (error) => this.transcript.note(describeError(error), "warning"),
		});
	}

	#began(place: Place): void {
		this.#view?.end();
		this.#view = new RunView(this.transcript, place);
		if (this.#isLeft) return;
		this.transcript.set({ status: "working", elsewhere: "" });
		// The run may be that of a process that died.
		if (place === "here") void this.#try(() => this.#messages.restore());
	}

	#event(event: RunEvent): void {
		this.#view?.event(event);
		this.#spending.event(event);
		if (event.type === "message") this.showFooter();
		const isBetween = event.type === "message" && (event.message.toolCalls ?? []).length > 0;
		if (isBetween || event.type === "tool_end") this.#deliver();
	}

	#ended(end: RunEnd): void {
		this.#view?.end();
		this.#view = undefined;
		if (this.#isLeft) return;
		noteEnd(this.transcript, end);
		if (this.#inFlight === 0) this.#work(async () => {});
	}

	/** Asks about the waiting calls; undefined if none of them is answered here. */
	async #answer(calls: readonly PendingToolCall[], elsewhere: AbortSignal): Promise<ToolAnswer | undefined> {
		const refuse = (): void => this.#asking.refuse();
		elsewhere.addEventListener("abort", refuse, { once: true });
		const answer = await this.#asking.approvals.next(calls);
		elsewhere.removeEventListener("abort", refuse);
		const isRefused = this.#asking.allow();
		if (answer === undefined && !isRefused && !this.#isLeft) noteElsewhere(this.transcript, calls);
		else this.transcript.set({ status: "working" });
		return answer;
	}

	/** Does work, one after the other, and shows that the conversation is busy. */
	#work(work: () => Promise<void>): void {
		this.#inFlight++;
		this.transcript.set({ status: "working" });
		this.#working = this.#try(work).finally(() => this.#rest());
	}

	/** Handles the idle state, and messages since the last run. */
	async #rest(): Promise<void> {
		await this.#messages.settled();
		const next = this.#next.shift();
		if (next !== undefined) {
			// Its first events may have come before it was watched.
			if (this.#messages.hide(next.text)) this.transcript.add({ kind: "user", text: next.text });
			await this.#try(() => this.#follow(next.run));
			return this.#rest();
		}
		const unsent = this.#isLeft ? undefined : this.#messages.takeFirst();
		if (unsent !== undefined) {
			this.transcript.add({ kind: "user", text: unsent.text });
			await this.#try(() => this.#turn(unsent));
			return this.#rest();
		}
		this.#inFlight--;
		if (this.#inFlight > 0 || this.#reader.runId !== undefined) return;
		endPlan(this.transcript);
		this.transcript.set({ status: "idle" });
	}

	#takeAsides(): readonly string[] {
		const asides = this.#asides;
		this.#asides = [];
		return asides;
	}

	#makeMessages(): QueuedMessages {
		return new QueuedMessages({
			transcript: this.transcript,
			host: this.#open.host,
			key: this.#setup.key,
			attach: (text, asides) => attach(text, asides, this),
		});
	}

	#makeAsking(): Asking {
		const { transcript, yes } = this.#parts;
		return new Asking({ transcript, dir: assistantsFolder(this.#setup), yes });
	}

	/** Shows the session, the model and the usage in the bottom line. */
	showFooter(): void {
		const { key } = this.#setup;
		const used = [this.#spending.text, this.#spending.context(this.#setup.model.contextWindow)];
		const footer = [oneLine(key, 40), oneLine(shortName(this.#open.modelName), 30), ...used].join(" · ");
		this.transcript.set({ footer });
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
