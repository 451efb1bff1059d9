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
import type { AgentRun, PendingToolCall, RunEvent, RunResult, Session } from "holdfast";
import { afterEntry } from "holdfast/execute";
import { stopNote } from "../render/index.ts";
import { assistantsFolder, describeError, type OpenAgent, type Setup } from "../work/index.ts";
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

/** How a run left this process. */
type End = Pick<RunResult, "runId" | "outcome" | "error" | "stopReason" | "wait">;

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
	/** Settles when no work is in flight. */
	#working: Promise<unknown> = Promise.resolve();
	#run: AgentRun | undefined;
	/** Seq of the last wait. */
	#waitedAt = 0;

	constructor({ client, open, setup, servers }: EditorSessionParts) {
		const dir = assistantsFolder(setup);
		this.#client = client;
		this.#open = open;
		this.#servers = servers;
		this.#key = setup.key;
		this.#session = open.agent.session(setup.key);
		this.#updates = new SessionUpdates(dir);
		this.#permissions = new Permissions({ client, sessionId: setup.key, dir });
	}

	/** Sends the history. */
	async replay(): Promise<void> {
		const { messages } = await this.#session.state();
		await this.#tellAll(this.#updates.ofHistory(messages));
	}

	/** Continues an unfinished run, without waiting for it. */
	async continue(): Promise<void> {
		const head = await this.#open.host.journal.head(this.#key);
		if (head?.openRunId === undefined) return;
		if (head.parked === true)
			return this.#tell(
				notice("warning", `The last run is parked. To continue it, run holdfast release ${this.#key}.`),
			);
		const { openRunId, seq } = head;
		this.#waitedAt = seq;
		void this.#work(async () => {
			const pending = await this.#session.pending();
			if (pending.length > 0) return this.#settle({ runId: openRunId, outcome: "waiting" });
			const run = await this.#session.resume();
			return run === null ? this.#afterWait(openRunId) : this.#follow(run);
		}).catch((error: unknown) => this.#tell(notice("warning", describeError(error))));
	}

	/**
	 * Runs a turn, after the work in flight.
	 * @throws RequestError if the run fails.
	 */
	async prompt(message: UserMessage): Promise<PromptResponse> {
		const end = await this.#work(async () => this.#follow(await this.#session.send(message)));
		return { stopReason: reasonOf(end) };
	}

	/** Ends the run in flight, including one that waits. */
	async cancel(): Promise<void> {
		this.#cancelling.abort();
		this.#run?.interrupt();
		if (this.#run === undefined) await this.#session.stop();
	}

	/** Suspends the run in flight, and closes the agent and its servers. */
	async leave(): Promise<void> {
		this.#leaving.abort();
		this.#cancelling.abort();
		this.#run?.suspend();
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

	#work<Result>(work: () => Promise<Result>): Promise<Result> {
		const done = this.#working.then(() => {
			this.#cancelling = new AbortController();
			return work();
		});
		this.#working = done.then(
			() => {},
			() => {},
		);
		return done;
	}

	/** Follows a run, and those that continue it, until its turn ends. */
	async #follow(run: AgentRun): Promise<End> {
		const end = await this.#show(run);
		return end.outcome === "waiting" ? this.#settle(end) : end;
	}

	/** Asks about the calls that wait, one by one, and follows the run as it continues. */
	async #settle(last: End): Promise<End> {
		let end = last;
		while (end.outcome === "waiting") {
			const calls = await this.#session.pending();
			const call = calls.find(({ awaits }) => awaits === "approval");
			if (call === undefined) return this.#withoutApprovals(end, calls);
			await this.#tellAll(this.#updates.announce(call));
			const answer = await this.#permissions.ask(call, this.#cancelling.signal);
			if (answer === undefined) return this.#unanswered(end);
			const approved = "approved" in answer && answer.approved;
			await this.#tellAll(this.#updates.answered(call, approved ? "in_progress" : "failed"));
			end = await this.#show(await this.#session.answer([answer]));
			if (approved) await this.#tellAll(this.#updates.answered(call, "completed"));
		}
		return end;
	}

	/** The run waits for a time, its model, a message or a result from elsewhere. */
	async #withoutApprovals(end: End, calls: readonly PendingToolCall[]): Promise<End> {
		if (calls.length === 0 && end.wait?.until !== undefined) return this.#afterWait(end.runId);
		const what = calls.length === 0 ? "a message" : calls.map(({ toolName }) => toolName).join(", ");
		await this.#tell(notice("warning", `The agent waits for ${what}, which this editor cannot give.`));
		return end;
	}

	/** The editor cancelled the turn, or it left and the call keeps waiting. */
	async #unanswered(end: End): Promise<End> {
		if (this.#leaving.signal.aborted) return end;
		await this.#session.stop();
		return { ...end, outcome: "aborted" };
	}

	/** Follows a run that continues, in any process, after it waited for its model or a time. */
	async #afterWait(runId: string): Promise<End> {
		const { signal } = this.#leaving;
		let last: RunEvent | undefined;
		const from = { after: afterEntry(this.#waitedAt), until: "complete", signal } as const;
		for await (const { event } of this.#session.follow(from)) {
			await this.#event(event);
			last = event;
		}
		if (last?.type === "run_end") return last;
		return last?.type === "waiting"
			? this.#settle({ runId, outcome: "waiting" })
			: { runId, outcome: "suspended" };
	}

	async #show(run: AgentRun): Promise<End> {
		this.#run = run;
		if (this.#leaving.signal.aborted) run.suspend();
		for await (const event of run.watch()) await this.#event(event);
		const end = await run.result();
		this.#run = undefined;
		return end;
	}

	async #event(event: RunEvent): Promise<void> {
		if (event.type === "waiting") this.#waitedAt = event.seq;
		if (event.type === "run_end" && event.outcome === "completed") {
			const note = stopNote(event.stopReason);
			if (note !== undefined) await this.#tell(notice("warning", note));
		}
		await this.#tellAll(this.#updates.ofEvent(event));
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
function reasonOf({ outcome, error, stopReason }: End): PromptResponse["stopReason"] {
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
