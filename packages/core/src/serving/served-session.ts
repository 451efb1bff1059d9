// One session of document 3 on a keyed session: its agent is made of what the session keeps, and an execution is a turn
// that begins at once or answers to the calls of one that waits (keeps I1: there is no loop here).
import { HoldfastError } from "@holdfast/upp";
import { Agent, type AgentOptions, modelIdOf } from "../agent/index.ts";
import { afterEntry, type Watcher } from "../facts/index.ts";
import type { Host, SessionValues } from "../host/index.ts";
import { sessionPlace } from "../host/index.ts";
import type { AgentRun, Session } from "../sessions/index.ts";
import { type EngineTool, normaliseTools } from "../tools/index.ts";
import type { ClientContext, ClientOptions, ExecuteInput } from "./execute-request.ts";
import { type Accepted, AcceptedBefore, SeenRequests } from "./seen-requests.ts";
import { boundTools } from "./session-tools.ts";
import { SessionView } from "./session-view.ts";
import {
	forgetValues,
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
	readonly #requests: SeenRequests;
	#stored: StoredSession;
	#agent: Agent | undefined;
	/** The model that was given by itself. */
	#model: AgentOptions["model"];
	/** Executions are accepted one after the other. */
	#accepting: Promise<unknown> = Promise.resolve();
	/** How many are at it. */
	#users = 0;
	/** Which session of its id it is in the journal: a removed one may have been made anew. */
	#incarnation: string | undefined;
	/** Why nothing is begun here any more. */
	#over: (() => HoldfastError) | undefined;

	constructor(parts: ServingParts, tenant: string | undefined, id: string, stored: StoredSession) {
		this.#parts = parts;
		this.tenant = tenant;
		this.id = id;
		this.#stored = stored;
		this.#place = sessionPlace(tenant, id);
		this.#requests = new SeenRequests(parts.host, this.#place);
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

	/** Whether it is there still: another server, or the upkeep of the store, may have removed it. */
	async stands(): Promise<boolean> {
		const head = await this.#parts.host.journal.head(this.#place);
		this.#incarnation ??= head?.incarnation; // it may begin in the journal later than it was made
		return head?.incarnation === this.#incarnation && (await this.#kept()) !== undefined;
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
			idempotencyKey === undefined ? undefined : await this.#requests.of(idempotencyKey, input, options);
		const before = request && (await this.#requests.found(request, input));
		if (before !== undefined) return before;
		await this.#readOptions();
		const [stored, standing] = [this.#stored, this.#model];
		const chosen = { ...stored, ...options };
		await this.#use(chosen, model ?? standing);
		try {
			await this.#keepOptions(stored);
			const session = await this.#open();
			const { runId = this.#ports.ids() } = request ?? {};
			const beforeBegin = async (): Promise<void> => {
				if (!(await this.stands())) throw sessionNotFound();
				const begun = request && (await this.#requests.found(request, input));
				if (begun !== undefined) throw new AcceptedBefore(begun);
			};
			const run =
				input.kind === "message"
					? await session.start(input.input, { runId, beforeBegin, watcher })
					: await session.answer(input.answers, { watcher });
			void run.result(); // it waits for nobody
			return { run, runId: run.runId, after: afterEntry(run.from ?? 0), attached: false };
		} catch (error) {
			// Its options apply to nothing.
			await this.#use(stored, standing);
			await this.#keepOptions(chosen);
			if (error instanceof AcceptedBefore) return error.accepted;
			const elsewhere = request && (await this.#requests.refused(request, input));
			if (elsewhere !== undefined) return elsewhere;
			throw error;
		}
	}

	/** Ends the run that is under way or waits; false when there is none. */
	stop(): Promise<boolean> {
		return this.#using(async () => (await this.#open()).stop());
	}

	/** Ends what it does and removes all that is kept of it; nothing is begun here any more. */
	delete(): Promise<void> {
		return this.#using(async () => {
			const session = await this.#open();
			this.#over = sessionNotFound;
			try {
				await this.#remove(session);
			} catch (error) {
				this.#over = undefined;
				throw error;
			}
		});
	}

	async #remove(session: Session): Promise<void> {
		await session.delete();
		await forgetValues(this.#parts.host, this.#place);
	}

	/** Goes on with what a dead process left, and sees to the deadlines of calls. */
	resume(): Promise<AgentRun | null> {
		return this.#using(async () => {
			await this.#readOptions();
			return (await this.#open()).resume();
		});
	}

	/** Suspends the run under way, to be gone on with elsewhere. Nothing is begun here any more. */
	async close(): Promise<void> {
		this.#over ??= shuttingDown;
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
		if ((sameOptions(next, this.#stored) && model === this.#model) || this.isBusy) return;
		const chosen = await this.#makeAgent(next, model);
		if (this.isBusy) return;
		await this.#agent?.close();
		this.#agent = chosen;
		this.#model = model;
		this.#stored = next;
		await this.view.refresh();
		// A run that waits has its deadlines watched by the agent that is there.
		if (this.view.status === "awaiting_tool_execution") await this.resume();
	}

	/** Uses the options that are kept: another server may have changed them. */
	async #readOptions(): Promise<void> {
		const kept = await this.#kept();
		if (kept !== undefined) await this.#use(kept, this.#model);
	}

	/** Keeps the options in use where those of `before` are kept. */
	async #keepOptions(before: StoredSession): Promise<void> {
		if (sameOptions(before, this.#stored)) return;
		const kept = await this.#kept();
		if (kept !== undefined && sameOptions(kept, before)) await this.#values.set("session", this.#stored);
	}

	async #kept(): Promise<StoredSession | undefined> {
		return (await this.#values.get("session")) as StoredSession | undefined;
	}

	async #open(): Promise<Session> {
		if (this.#over !== undefined) throw this.#over();
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

function sameOptions(one: StoredSession, other: StoredSession): boolean {
	return optionNames.every((name) => one[name] === other[name]);
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

/** There is no such session, or none any more. */
export function sessionNotFound(): HoldfastError {
	return new HoldfastError("session_not_found", "Session not found");
}

/** A name that nothing is served under. */
export function unknownModel(name: string): HoldfastError {
	return new HoldfastError("unknown_model", `There is no model ${JSON.stringify(name.slice(0, 100))} here.`);
}

function toolNameConflict(name: string): HoldfastError {
	return new HoldfastError(
		"tool_name_conflict",
		`There is a tool "${name}" already. Give the other one another name.`,
	);
}
