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
} from "@agentclientprotocol/sdk/unstable";
import type { McpServers } from "@holdfast/mcp";
import { UserMessage } from "@holdfast/upp";
import type { PendingToolCall, RunEvent, Session, ToolAnswer } from "holdfast";
import { stopNote } from "../render/index.ts";
import { oneLine } from "../terminal/index.ts";
import {
	assistantsFolder,
	chatSummaryOf,
	chooseModel,
	describeError,
	keepChatSummary,
	keepSettings,
	type OpenAgent,
	openAgent,
	type Place,
	type RunEnd,
	SessionReader,
	type Setup,
	takesImages,
	titleOf,
} from "../work/index.ts";
import { Permissions } from "./permission.ts";
import { availableCommands, commandOf } from "./session-commands.ts";
import { type Mode, type Offered, offeredOptions } from "./session-options.ts";
import { notice, SessionUpdates } from "./session-updates.ts";

/** Maximum number of characters of a session's title. */
export const longestTitle = 80;

/** The parts of a session that an editor has open. */
export interface EditorSessionParts {
	readonly client: AgentContext;
	readonly open: OpenAgent;
	readonly setup: Setup;
	/** Absolute path of the database, next to which settings are stored. */
	readonly db: string;
	readonly environment: Readonly<Record<string, string | undefined>>;
	/** The MCP servers that the editor named. */
	readonly servers: McpServers | undefined;
}

export class EditorSession {
	readonly #parts: EditorSessionParts;
	readonly #key: string;
	readonly #updates: SessionUpdates;
	readonly #permissions: Permissions;
	#open: OpenAgent;
	#setup: Setup;
	#session: Session;
	#reader: SessionReader;
	#isStarted = false;
	#mode: Mode = "ask";
	/** The title that the editor has. */
	#title = "";
	/** The setup with another model, from the next prompt on. */
	#next: Setup | undefined;
	/** Fires when the editor leaves the session. */
	readonly #leaving = new AbortController();
	/** Fires when the editor cancels the work in flight. */
	#cancelling = new AbortController();
	/** Whether the editor left a question of the current work without an answer, which ended the run. */
	#isUnanswered = false;
	/** Settles when no work is in flight. */
	#working: Promise<unknown> = Promise.resolve();

	constructor(parts: EditorSessionParts) {
		const { client, open, setup } = parts;
		const dir = assistantsFolder(setup);
		this.#parts = parts;
		this.#open = open;
		this.#setup = setup;
		this.#key = setup.key;
		this.#session = open.agent.session(setup.key);
		this.#updates = new SessionUpdates(dir);
		this.#permissions = new Permissions({ client, sessionId: setup.key, dir, mode: () => this.#mode });
		this.#reader = this.#makeReader();
	}

	/** The options that the user can set, with their current values. */
	get options(): Offered {
		return offeredOptions(this.#next ?? this.#setup, this.#mode, this.#parts.environment);
	}

	/**
	 * Sets an option. Another model answers from the next prompt on.
	 * @throws UsageError for a model that cannot be used.
	 */
	async set(option: { readonly mode: Mode } | { readonly model: string }): Promise<void> {
		if ("mode" in option) {
			this.#mode = option.mode;
			await this.#tell({ sessionUpdate: "current_mode_update", currentModeId: option.mode });
		} else this.#next = { ...this.#setup, model: chooseModel(option.model, this.#parts.environment) };
		const { configOptions = [] } = this.options;
		await this.#tell({ sessionUpdate: "config_option_update", configOptions });
	}

	/** Copies the settled part of the session, with its summary and settings. */
	async fork(to: string): Promise<void> {
		const { host } = this.#open;
		await this.#session.fork(to);
		const summary = await chatSummaryOf(host, this.#key);
		if (summary !== undefined) await keepChatSummary(host, to, summary);
		keepSettings(this.#parts.db, { ...this.#setup, key: to });
	}

	/** Sends the history. */
	async replay(): Promise<void> {
		const { messages } = await this.#session.state();
		await this.#tellAll(this.#updates.ofHistory(messages));
	}

	/** Shows what happens from now on, and continues an unfinished run without waiting for it. Twice is harmless. */
	async start(): Promise<void> {
		await this.#tell({
			sessionUpdate: "available_commands_update",
			availableCommands: availableCommands(this.#setup),
		});
		if (this.#isStarted) return;
		this.#isStarted = true;
		const opened = await this.#reader.start();
		this.#continueWith(() => this.#reader.continueOpen(opened));
		if (opened.state !== "parked") return;
		const release = `To continue it, run holdfast release ${this.#key}.`;
		await this.#tell(notice("warning", `The last run is parked. ${release}`));
	}

	/**
	 * Runs a turn, or a command, after the work in flight.
	 * @throws RequestError if the run fails, and for images that the model does not accept.
	 */
	async prompt(message: UserMessage): Promise<PromptResponse> {
		const hasImages = message.content.some(({ type }) => type === "image");
		const model = this.#next?.model.reference ?? this.#open.agent.model;
		if (hasImages && !takesImages(model))
			throw RequestError.invalidParams(undefined, "The model does not accept images. Send text.");
		return this.#work(async () => {
			await this.#useNext();
			const command = commandOf(message, this.#setup);
			const outcome = (await command?.run(this.#open, this.#setup)) ?? { prompt: message };
			if ("text" in outcome) {
				const content = { type: "text" as const, text: outcome.text };
				await this.#tell({ sessionUpdate: "agent_message_chunk", content });
				return { stopReason: "end_turn" };
			}
			const said = typeof outcome.prompt === "string" ? new UserMessage(outcome.prompt) : outcome.prompt;
			const end = await this.#reader.follow(await this.#reader.enter(() => this.#session.send(said)));
			await this.#tellTitle();
			return { stopReason: reasonOf(this.#isUnanswered ? { ...end, outcome: "aborted" } : end) };
		});
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
		await this.#parts.servers?.close();
	}

	/** Releases the session. A run in flight here ends; one of another process continues. */
	async close(): Promise<void> {
		if (this.#reader.place !== "elsewhere") await this.cancel();
		await this.leave();
	}

	/** Deletes the session. Runs in flight end. */
	async delete(): Promise<void> {
		await this.cancel();
		await this.#session.delete();
		await this.leave();
	}

	/** Switches to the model that was set. */
	async #useNext(): Promise<void> {
		const next = this.#next;
		if (next === undefined) return;
		const { servers, db } = this.#parts;
		const open = await openAgent(next, () => this.#open.host, { tools: servers?.tools() });
		await this.#reader.leave();
		await this.#open.agent.close();
		this.#next = undefined;
		this.#open = open;
		this.#setup = next;
		this.#session = open.agent.session(this.#key);
		this.#reader = this.#makeReader();
		await this.#reader.start();
		keepSettings(db, next);
	}

	#makeReader(): SessionReader {
		return new SessionReader({
			session: this.#session,
			host: this.#open.host,
			key: this.#key,
			event: (event, place) => this.#event(event, place),
			answer: (calls, signal) => this.#answer(calls, signal),
			answered: (call, answer) => this.#answered(call, answer),
			ended: () => this.#tellAll(this.#updates.calls.continued()),
			waits: () => this.#continueWith(() => this.#reader.settle()),
			failed: (error) => void this.#tell(notice("warning", describeError(error))),
		});
	}

	/** The title is the first prompt. */
	async #tellTitle(): Promise<void> {
		if (this.#title !== "") return;
		this.#title = oneLine(await titleOf(this.#open.host, this.#key), longestTitle);
		if (this.#title !== "") await this.#tell({ sessionUpdate: "session_info_update", title: this.#title });
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
		const { contextWindow: size } = this.#setup.model;
		if (event.type !== "message" || size === undefined) return;
		const used = event.usage.inputTokens + event.usage.outputTokens;
		if (used > 0) await this.#tell({ sessionUpdate: "usage_update", used, size });
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
		await this.#parts.client.notify("session/update", { sessionId: this.#key, update });
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
