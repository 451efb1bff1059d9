// One session of document 3 on a keyed session: its agent is made of what the session keeps, and an execution is a turn
// that begins at once or answers to the calls of one that waits (keeps I1: there is no loop here).
import { HoldfastError } from "@holdfast/upp";
import { Agent } from "../agent/agent.ts";
import { type AgentOptions, modelIdOf } from "../agent/options.ts";
import type { Watcher } from "../engine/index.ts";
import { entriesBehind } from "../journal/entries-behind.ts";
import type { Entry, Host } from "../journal/index.ts";
import type { SessionValues } from "../plugins/index.ts";
import type { AgentRun, Session } from "../sessions/index.ts";
import { sessionPlace } from "../sessions/session-key.ts";
import { type EngineTool, normaliseTools } from "../tools/index.ts";
import { behindEntry } from "./event-id.ts";
import type { ClientContext, ClientOptions, ExecuteInput } from "./execute-request.ts";
import { boundTools } from "./session-tools.ts";
import { SessionView } from "./session-view.ts";
import {
	type SeenRequest,
	type StoredSession,
	type StoredTool,
	seed,
	seeded,
	servedValues,
} from "./stored-session.ts";

/** What a session is served with. */
export interface ServingParts {
	readonly host: Host;
	/** Model, system prompt and tools of every session, and whatever else its agents are made with. */
	readonly agent: AgentOptions;
	/** The model of a name; undefined for one that may not be used. */
	model(name: string): AgentOptions["model"] | Promise<AgentOptions["model"]>;
	/** Tools that are kept with the session, as they are given now: by name they have their functions and options again. */
	readonly bound?: ReadonlyMap<string, EngineTool>;
}

/** An execution that was accepted. */
export interface Accepted {
	readonly run: AgentRun | undefined;
	readonly runId: string;
	/** Events behind this id are those of the execution. */
	readonly after: string;
	/** Whether it was accepted before, under the same idempotency key. */
	readonly attached: boolean;
}

/** How an execution is asked for. */
export interface ExecuteSettings {
	readonly options?: ClientOptions;
	/** The model from now on, by itself and not by its name. */
	readonly model?: AgentOptions["model"];
	readonly idempotencyKey?: string | undefined;
	readonly watcher?: Watcher | undefined;
}

const optionNames = ["model", "temperature", "maxTokens"] as const;

export class ServedSession {
	readonly tenant: string | undefined;
	readonly id: string;
	readonly view: SessionView;
	readonly #parts: ServingParts;
	readonly #place: string;
	#stored: StoredSession;
	#agent: Agent | undefined;
	/** The model that was given by itself. */
	#model: AgentOptions["model"];
	/** Executions are accepted one after the other. */
	#accepting: Promise<unknown> = Promise.resolve();
	/** How many are at it. */
	#users = 0;
	#isClosed = false;

	constructor(parts: ServingParts, tenant: string | undefined, id: string, stored: StoredSession) {
		this.#parts = parts;
		this.tenant = tenant;
		this.id = id;
		this.#stored = stored;
		this.#place = sessionPlace(tenant, id);
		this.view = new SessionView(parts.host.journal, this.#place, () => seeded(parts.host, this.#place));
	}

	/** A session that is kept; undefined when there is none. */
	static async load(
		parts: ServingParts,
		tenant: string | undefined,
		id: string,
	): Promise<ServedSession | undefined> {
		const stored = await servedValues(parts.host, sessionPlace(tenant, id)).get("session");
		return stored === undefined ? undefined : new ServedSession(parts, tenant, id, stored as StoredSession);
	}

	/**
	 * A new session with this context.
	 *
	 * Rejects with `tool_name_conflict`, `invalid_input`.
	 */
	static async create(
		parts: ServingParts,
		tenant: string | undefined,
		id: string,
		context: Pick<ClientContext, "systemPrompt" | "messages"> & { readonly tools: readonly StoredTool[] },
		model?: AgentOptions["model"],
	): Promise<ServedSession> {
		const { systemPrompt, messages, tools } = context;
		const own = normaliseTools(parts.agent.tools);
		const taken = tools.find((tool, index) => {
			const isDouble = tools.findIndex(({ name }) => name === tool.name) !== index;
			return isDouble || (tool.kind === "remote" && own.has(tool.name));
		});
		if (taken !== undefined) throw toolNameConflict(taken.name);
		const stored: StoredSession = { tools, ...(systemPrompt === undefined ? {} : { systemPrompt }) };
		const served = new ServedSession(parts, tenant, id, stored);
		served.#model = model;
		await served.#open(); // what cannot be an agent is refused before anything is kept
		const { ids, clock } = served.#ports;
		await seed(parts.host, served.#place, messages, { runId: ids(), at: clock() });
		await served.#values.set("session", stored);
		return served;
	}

	get #values(): SessionValues {
		return servedValues(this.#parts.host, this.#place);
	}

	get #ports(): { ids(): string; clock(): number } {
		const { ids, clock } = this.#parts.agent.ports ?? {};
		return {
			ids: () => ids?.uuid() ?? globalThis.crypto.randomUUID(),
			clock: () => clock?.now() ?? Date.now(),
		};
	}

	/** The model that answered last, else the one that will. */
	get model(): string {
		return this.view.model ?? this.#stored.model ?? modelIdOf(this.#parts.agent.model) ?? "";
	}

	/**
	 * Accepts an execution: it is durable when this resolves.
	 *
	 * Rejects with `session_busy`, `pending_tool_calls`, `no_pending_tool_calls` and the other codes of
	 * `session.start()` and `session.answer()`, `unknown_model`, `idempotency_key_reused`.
	 */
	execute(input: ExecuteInput, settings: ExecuteSettings = {}): Promise<Accepted> {
		return this.#inTurn(() => this.#execute(input, settings));
	}

	/**
	 * Goes on with what a dead process left, to its end; nothing happens where somebody works on the session.
	 *
	 * Rejects with `run_parked`.
	 */
	goOn(): Promise<void> {
		return this.#inTurn(async () => {
			await this.view.refresh();
			if (this.view.status !== "running" || this.isBusy) return;
			const run = await this.resume().catch((error) => {
				if ((error as { code?: unknown }).code !== "session_held") throw error;
			});
			await run?.result();
		});
	}

	/** Whether a run is under way here. */
	get isBusy(): boolean {
		return this.#agent?.session(this.id).isBusy() === true;
	}

	/** Whether nothing would be missed here: nobody is at it, no run is under way, and no deadline is seen to. */
	get isAtRest(): boolean {
		return this.#users === 0 && this.#agent?.session(this.id).isAtRest() !== false;
	}

	/** Settles when no run is under way here any more: it has ended, waits, or was suspended. */
	async quiet(): Promise<void> {
		await this.#agent?.session(this.id).quiet();
	}

	#inTurn<T>(act: () => Promise<T>): Promise<T> {
		const done = this.#using(() => this.#accepting.then(act));
		this.#accepting = done.catch(() => {});
		return done;
	}

	async #using<T>(act: () => Promise<T>): Promise<T> {
		this.#users++;
		try {
			return await act();
		} finally {
			this.#users--;
		}
	}

	async #execute(input: ExecuteInput, settings: ExecuteSettings): Promise<Accepted> {
		const { options = {}, model, idempotencyKey, watcher } = settings;
		const request =
			idempotencyKey === undefined ? undefined : await this.#request(idempotencyKey, input, options);
		const before = request && (await this.#found(request, input));
		if (before !== undefined) return before;
		const [stored, standing] = [this.#stored, this.#model];
		await this.#use({ ...this.#stored, ...options }, model ?? this.#model);
		try {
			const session = await this.#open();
			const { runId = this.#ports.ids(), from } = request ?? {};
			const run =
				input.kind === "message"
					? await session.start(input.input, { runId, unlessBegunBehind: from, watcher })
					: await session.answer(input.answers, { watcher });
			void run.result(); // it waits for nobody
			return { run, runId: run.runId, after: behindEntry(run.from ?? 0), attached: false };
		} catch (error) {
			// Its options apply to nothing.
			await this.#use(stored, standing);
			if (request === undefined) throw error;
			// Another server may have accepted the same request meanwhile.
			const elsewhere = request.runId === undefined ? undefined : await this.#found(request, input);
			if (elsewhere !== undefined) return elsewhere;
			// What was refused may be answered otherwise.
			if (request.runId === undefined) await this.#values.delete(requestName(idempotencyKey));
			throw error;
		}
	}

	/**
	 * What is kept of a request under its key. The same message is the same run, whichever server it reaches: the id of
	 * its run is made of both. Rejects with `idempotency_key_reused`.
	 */
	async #request(idempotencyKey: string, input: ExecuteInput, options: ClientOptions): Promise<SeenRequest> {
		// Before the look: where another keeps it meanwhile, what it comes to lies behind.
		const { seq: from = 0 } = (await this.#parts.host.journal.head(this.#place)) ?? {};
		const body = await digest(JSON.stringify([input, options]));
		const name = requestName(idempotencyKey);
		const seen = (await this.#values.get(name)) as SeenRequest | undefined;
		if (seen?.body === body) return seen;
		// A message that was refused came to nothing, and its key may be used again.
		if (seen !== undefined && (seen.runId === undefined || (await this.#found(seen, input)) !== undefined))
			throw idempotencyKeyReused();
		const runId = uuidOf(await digest(JSON.stringify([this.#place, idempotencyKey, body])));
		const request: SeenRequest = { body, from, ...(input.kind === "message" ? { runId } : {}) };
		await this.#values.set(name, request);
		return request;
	}

	/** The execution of a request that was seen before, if it came to one. */
	async #found({ from, runId }: SeenRequest, input: ExecuteInput): Promise<Accepted | undefined> {
		const answers = input.kind === "answers" ? input.answers : [];
		const answered = new Set(answers.map(({ toolCallId }) => toolCallId));
		const isOfAnswer = ({ fact }: Entry): boolean =>
			(fact.kind === "tool.settled" && answered.has(fact.callId)) ||
			(fact.kind === "decision" && answered.has((fact.answer as { callId?: string } | null)?.callId ?? ""));
		let resumed: Entry | undefined;
		for await (const entry of entriesBehind(this.#parts.host.journal, this.#place, from)) {
			if (entry.fact.kind === "run.started" && entry.runId === runId) return attachedTo(entry);
			if (entry.fact.kind === "run.resumed") resumed = entry;
			if (resumed !== undefined && isOfAnswer(entry)) return attachedTo(resumed);
		}
		return undefined;
	}

	/** Ends the run that is under way or waits; false when there is none. */
	stop(): Promise<boolean> {
		return this.#using(async () => (await this.#open()).stop());
	}

	/** Goes on with what a dead process left, and sees to the deadlines of calls. */
	resume(): Promise<AgentRun | null> {
		return this.#using(async () => (await this.#open()).resume());
	}

	/** Suspends the run under way, to be gone on with elsewhere. Nothing is begun here any more. */
	async close(): Promise<void> {
		this.#isClosed = true;
		await this.#agent?.close();
	}

	/** Gives up what it holds; whoever uses it again takes it anew. */
	async rest(): Promise<void> {
		const agent = this.#agent;
		this.#agent = undefined;
		// A lease that cannot be given up now is no worse than one that was kept.
		await agent?.close().catch(() => {});
	}

	/** Options of an execution apply from it on. A run under way goes on with the agent it has. */
	async #use(next: StoredSession, model: AgentOptions["model"]): Promise<void> {
		const isNew = optionNames.some((name) => next[name] !== this.#stored[name]);
		if ((!isNew && model === this.#model) || this.isBusy) return;
		const chosen = await this.#makeAgent(next, model);
		if (this.isBusy) return;
		await this.#agent?.close();
		this.#agent = chosen;
		this.#model = model;
		this.#stored = next;
		if (isNew) await this.#values.set("session", next);
		await this.view.refresh();
		// A run that waits has its deadlines watched by the agent that is there.
		if (this.view.status === "awaiting_tool_execution") await this.resume();
	}

	async #open(): Promise<Session> {
		if (this.#isClosed) throw shuttingDown();
		this.#agent ??= await this.#makeAgent(this.#stored, this.#model);
		return this.#agent.session(this.id);
	}

	async #makeAgent(stored: StoredSession, given: AgentOptions["model"]): Promise<Agent> {
		const { agent, host, bound } = this.#parts;
		const { systemPrompt, tools, model: name, temperature, maxTokens } = stored;
		const model = given ?? (name === undefined ? agent.model : await this.#parts.model(name));
		if (model === undefined) throw name === undefined ? modelMissing() : unknownModel(name);
		const params = {
			...agent.params,
			...(temperature === undefined ? {} : { temperature }),
			...(maxTokens === undefined ? {} : { maxOutputTokens: maxTokens }),
		};
		const { instructions: _, ...options } = agent;
		return new Agent({
			...options,
			model,
			host,
			...(this.tenant === undefined ? {} : { namespace: this.tenant }),
			system: systemPrompt ?? agent.system ?? agent.instructions,
			tools: boundTools(tools, agent.tools, bound),
			...(Object.keys(params).length === 0 ? {} : { params }),
		});
	}
}

function attachedTo({ seq, runId }: Entry): Accepted {
	return { run: undefined, runId, after: behindEntry(seq - 1), attached: true };
}

function requestName(idempotencyKey: string | undefined): string {
	return `request:${idempotencyKey}`;
}

/** A UUID (version 8) of the first 16 bytes of a digest. */
function uuidOf(hex: string): string {
	return [
		hex.slice(0, 8),
		hex.slice(8, 12),
		`8${hex.slice(13, 16)}`,
		`8${hex.slice(17, 20)}`,
		hex.slice(20, 32),
	].join("-");
}

/** What tells requests apart, in place of the requests themselves. */
async function digest(text: string): Promise<string> {
	const hash = await globalThis.crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
	return [...new Uint8Array(hash)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

function modelMissing(): HoldfastError {
	return new HoldfastError(
		"model_missing",
		"The session has no model. Give `model` with it, or with the execution.",
	);
}

/** The server ends, and begins nothing more. */
export function shuttingDown(): HoldfastError {
	return new HoldfastError("shutting_down", "The server is shutting down. Send the request again.", {
		retryable: true,
	});
}

/** A name that nothing is served under. */
export function unknownModel(name: string): HoldfastError {
	return new HoldfastError("unknown_model", `There is no model ${JSON.stringify(name.slice(0, 100))} here.`);
}

function idempotencyKeyReused(): HoldfastError {
	return new HoldfastError(
		"idempotency_key_reused",
		"This idempotency key was sent with another request before. Take a new key for each request.",
	);
}

function toolNameConflict(name: string): HoldfastError {
	return new HoldfastError(
		"tool_name_conflict",
		`There is a tool "${name}" already. Give the other one another name.`,
	);
}
