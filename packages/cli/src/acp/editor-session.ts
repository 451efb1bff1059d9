/**
 * A session that an editor has open: prompts become turns, approvals become requests for permission, and the editor
 * receives everything that the runs do.
 *
 * idle ── prompt, or an unfinished run is continued ──▶ working ── a call waits for approval ──▶ asking ──▶ working
 *   ▲                                                     │ cancel: ends the run                    │ cancel: ends the run
 *   └── it ended ─────────────────────────────────────────┴─────────────────────────────────────────┘
 * Any of them ── leave ──▶ left: runs in flight are suspended, waiting calls keep waiting.
 */
import {
	type AgentContext,
	type PromptResponse,
	RequestError,
	type SessionUpdate,
} from "@agentclientprotocol/sdk";
import type { McpServers } from "@holdfast/mcp";
import type { UserMessage } from "@holdfast/upp";
import type { PendingToolCall, RunEvent, Session, ToolAnswer } from "holdfast";
import { stopNote } from "../render/index.ts";
import {
	assistantsFolder,
	describeError,
	type OpenAgent,
	type Place,
	type RunEnd,
	SessionReader,
	type Setup,
} from "../work/index.ts";
import { Permissions } from "./permission.ts";
import { notice, SessionUpdates } from "./session-updates.ts";

/** The parts of a session that an editor has open. */
export interface EditorSessionParts {
	readonly client: AgentContext;
	readonly open: OpenAgent;
	readonly setup: Setup;
	/** The MCP servers that the editor named. */
	readonly servers: McpServers | undefined;
}

export class EditorSession {
	readonly #client: AgentContext;
	readonly #open: OpenAgent;
	readonly #servers: McpServers | undefined;
	readonly #key: string;
	readonly #session: Session;
	readonly #updates: SessionUpdates;
	readonly #permissions: Permissions;
	/** Fires when the editor leaves the session. */
	readonly #leaving = new AbortController();
	/** Fires when the editor cancels the work in flight. */
	#cancelling = new AbortController();
	/** Whether the editor left a question of the current work without an answer, which ended the run. */
	#isUnanswered = false;
	/** Settles when no work is in flight. */
	#working: Promise<unknown> = Promise.resolve();
	readonly #reader: SessionReader;
	#isStarted = false;

	constructor({ client, open, setup, servers }: EditorSessionParts) {
		const dir = assistantsFolder(setup);
		this.#client = client;
		this.#open = open;
		this.#servers = servers;
		this.#key = setup.key;
		this.#session = open.agent.session(setup.key);
		this.#updates = new SessionUpdates(dir);
		this.#permissions = new Permissions({ client, sessionId: setup.key, dir });
		this.#reader = new SessionReader({
			session: this.#session,
			host: open.host,
			key: setup.key,
			event: (event, place) => this.#event(event, place),
			answer: (calls, signal) => this.#answer(calls, signal),
			answered: (call, answer) => this.#answered(call, answer),
			ended: () => this.#tellAll(this.#updates.calls.continued()),
			waits: () => this.#continueWith(() => this.#reader.settle()),
			failed: (error) => void this.#tell(notice("warning", describeError(error))),
		});
	}

	/** Sends the history. */
	async replay(): Promise<void> {
		const { messages } = await this.#session.state();
		await this.#tellAll(this.#updates.ofHistory(messages));
	}

	/** Shows what happens from now on, and continues an unfinished run without waiting for it. Twice is harmless. */
	async start(): Promise<void> {
		if (this.#isStarted) return;
		this.#isStarted = true;
		const opened = await this.#reader.start();
		this.#continueWith(() => this.#reader.continueOpen(opened));
		if (opened.state !== "parked") return;
		const release = `To continue it, run holdfast release ${this.#key}.`;
		await this.#tell(notice("warning", `The last run is parked. ${release}`));
	}

	/**
	 * Runs a turn, after the work in flight.
	 * @throws RequestError if the run fails.
	 */
	async prompt(message: UserMessage): Promise<PromptResponse> {
		const end = await this.#work(async () =>
			this.#reader.follow(await this.#reader.enter(() => this.#session.send(message))),
		);
		return { stopReason: reasonOf(this.#isUnanswered ? { ...end, outcome: "aborted" } : end) };
	}

	/** Ends the run in flight, including one that waits. */
	async cancel(): Promise<void> {
		this.#cancelling.abort();
		await this.#reader.interrupt();
	}

	/** Suspends the run in flight, and closes the agent and its servers. */
	async leave(): Promise<void> {
		this.#leaving.abort();
		this.#cancelling.abort();
		await this.#reader.leave();
		await this.#working;
		await this.#open.agent.close();
		await this.#servers?.close();
	}

	/** Deletes the session. Runs in flight end. */
	async delete(): Promise<void> {
		await this.cancel();
		await this.#session.delete();
		await this.leave();
	}

	#continueWith(work: () => Promise<unknown>): void {
		void this.#work(work).catch((error: unknown) => this.#tell(notice("warning", describeError(error))));
	}

	#work<Result>(work: () => Promise<Result>): Promise<Result> {
		const done = this.#working.then(() => {
			this.#cancelling = new AbortController();
			this.#isUnanswered = false;
			return work();
		});
		this.#working = done.then(
			() => {},
			() => {},
		);
		return done;
	}

	/** Asks about a call that waits for approval; undefined if there is none, and if the editor gives no answer. */
	async #answer(calls: readonly PendingToolCall[], elsewhere: AbortSignal): Promise<ToolAnswer | undefined> {
		const call = calls.find(({ awaits }) => awaits === "approval");
		if (call === undefined) {
			const what = calls.map(({ toolName }) => toolName).join(", ");
			await this.#tell(notice("warning", `The agent waits for ${what}, which this editor cannot give.`));
			return undefined;
		}
		await this.#tellAll(this.#updates.calls.announce(call));
		const signal = AbortSignal.any([this.#cancelling.signal, elsewhere]);
		const answer = await this.#permissions.ask(call, signal);
		// The editor gave no answer, which ends the turn.
		this.#isUnanswered = answer === undefined && !elsewhere.aborted && !this.#leaving.signal.aborted;
		if (this.#isUnanswered) await this.#session.stop();
		return answer;
	}

	async #answered(call: PendingToolCall | undefined, answer: ToolAnswer): Promise<void> {
		const isApproved = "approved" in answer && answer.approved;
		if (call !== undefined) await this.#tellAll(this.#updates.calls.answered(call, isApproved));
	}

	async #event(event: RunEvent, place: Place): Promise<void> {
		if (event.type === "run_end" && event.outcome === "completed") {
			const note = stopNote(event.stopReason);
			if (note !== undefined) await this.#tell(notice("warning", note));
		}
		await this.#tellAll(this.#updates.ofEvent(event, place));
	}

	async #tellAll(updates: Iterable<SessionUpdate>): Promise<void> {
		for (const update of updates) await this.#tell(update);
	}

	/**
	 * Waits until the editor's stream has accepted it, so that a slow editor slows down the reading instead of filling
	 * the memory.
	 */
	async #tell(update: SessionUpdate): Promise<void> {
		if (this.#leaving.signal.aborted) return;
		await this.#client.notify("session/update", { sessionId: this.#key, update });
	}
}

/** @throws RequestError for a run that failed. */
function reasonOf({ outcome, error, stopReason }: RunEnd): PromptResponse["stopReason"] {
	switch (outcome) {
		case "completed":
			if (stopReason === "length") return "max_tokens";
			return stopReason === "content_filter" ? "refusal" : "end_turn";
		case "waiting":
			return "end_turn";
		case "error": {
			const { code = "run_failed", message = "The run failed." } = error ?? {};
			if (code === "max_steps_exceeded") return "max_turn_requests";
			throw new RequestError(-32_603, message, { code });
		}
		default:
			return "cancelled";
	}
}
