/** The sessions of an editor: each is a session of the database, with the agent and the folder it was created with. */
import { isAbsolute } from "node:path";
import {
	type AgentContext,
	type CancelNotification,
	type ForkSessionRequest,
	type ForkSessionResponse,
	type InitializeResponse,
	type ListSessionsRequest,
	type ListSessionsResponse,
	type LoadSessionRequest,
	type NewSessionRequest,
	type NewSessionResponse,
	PROTOCOL_VERSION,
	type PromptRequest,
	type PromptResponse,
	RequestError,
	type ResumeSessionRequest,
	type SetSessionConfigOptionRequest,
	type SetSessionConfigOptionResponse,
	type SetSessionModeRequest,
} from "@agentclientprotocol/sdk/unstable";
import { type Host, isHoldfastError } from "holdfast";
import type { SessionHead } from "holdfast/host";
import { type CommandIo, oneLine, sessionKeyFor } from "../terminal/index.ts";
import {
	describeError,
	isOwnKey,
	keepSettings,
	openAgent,
	prepare,
	readSettings,
	refuseServed,
	type Setup,
	titleOf,
	UsageError,
} from "../work/index.ts";
import { connectEditorServers } from "./editor-mcp.ts";
import { EditorSession, longestTitle } from "./editor-session.ts";
import type { AcpCommand } from "./index.ts";
import { messageOf } from "./prompt-content.ts";
import { chosenOption, isMode, type Offered } from "./session-options.ts";

/** Sessions in one answer to `session/list`. */
const pageSize = 50;

interface Parts {
	readonly command: AcpCommand;
	readonly host: Host;
	readonly io: CommandIo;
	readonly version: string;
}

type Opened = Pick<NewSessionRequest, "cwd" | "mcpServers">;

export class EditorSessions {
	readonly #parts: Parts;
	readonly #open = new Map<string, EditorSession>();

	constructor(parts: Parts) {
		this.#parts = parts;
	}

	capabilities(): InitializeResponse {
		return {
			protocolVersion: PROTOCOL_VERSION,
			agentInfo: { name: "holdfast", title: "Holdfast", version: this.#parts.version },
			agentCapabilities: {
				loadSession: true,
				mcpCapabilities: { http: true },
				promptCapabilities: { image: true, embeddedContext: true },
				sessionCapabilities: { list: {}, resume: {}, fork: {}, close: {}, delete: {} },
			},
			authMethods: [],
		};
	}

	async create(params: NewSessionRequest, client: AgentContext): Promise<NewSessionResponse> {
		const sessionId = sessionKeyFor("acp");
		const session = await this.#openSession(sessionId, params, client);
		await session.start();
		return { sessionId, ...session.options };
	}

	async load({ sessionId, ...params }: LoadSessionRequest, client: AgentContext): Promise<Offered> {
		const session = await this.#known(sessionId, params, client);
		await session.replay();
		await session.start();
		return session.options;
	}

	async resume(params: ResumeSessionRequest, client: AgentContext): Promise<Offered> {
		const { sessionId, cwd, mcpServers = [] } = params;
		const session = await this.#known(sessionId, { cwd, mcpServers }, client);
		await session.start();
		return session.options;
	}

	/** Opens a copy of a session, up to the end of its last run. */
	async fork(params: ForkSessionRequest, client: AgentContext): Promise<ForkSessionResponse> {
		const { sessionId: from, cwd, mcpServers = [] } = params;
		const wasOpen = this.#open.has(from);
		const original = await this.#known(from, { cwd, mcpServers: [] }, client);
		const sessionId = sessionKeyFor("acp fork");
		try {
			await coded(() => original.fork(sessionId));
		} finally {
			if (!wasOpen) {
				this.#open.delete(from);
				await original.leave();
			}
		}
		const session = await this.#openSession(sessionId, { cwd, mcpServers }, client);
		await session.start();
		return { sessionId, ...session.options };
	}

	async setMode({ sessionId, modeId }: SetSessionModeRequest): Promise<object> {
		const session = this.#opened(sessionId);
		const { availableModes = [] } = session.options.modes ?? {};
		if (!isMode(modeId) || availableModes.every(({ id }) => id !== modeId))
			throw RequestError.invalidParams({ modeId }, "This session does not offer this mode.");
		await session.set({ mode: modeId });
		return {};
	}

	async setOption(params: SetSessionConfigOptionRequest): Promise<SetSessionConfigOptionResponse> {
		const { sessionId, configId, value } = params;
		const session = this.#opened(sessionId);
		await coded(() => session.set(chosenOption(session.options, configId, value)));
		return { configOptions: session.options.configOptions ?? [] };
	}

	async prompt({ sessionId, prompt }: PromptRequest): Promise<PromptResponse> {
		const session = this.#opened(sessionId);
		const message = messageOf(prompt);
		return coded(() => session.prompt(message));
	}

	async cancel({ sessionId }: CancelNotification): Promise<void> {
		await this.#open.get(sessionId)?.cancel();
	}

	async close({ sessionId }: { readonly sessionId: string }): Promise<void> {
		const session = this.#opened(sessionId);
		this.#open.delete(sessionId);
		await session.close();
	}

	async delete({ sessionId }: { readonly sessionId: string }, client: AgentContext): Promise<void> {
		const dir = readSettings(this.#parts.command.db, sessionId)?.dir ?? this.#parts.io.folder;
		const session =
			this.#open.get(sessionId) ?? (await this.#known(sessionId, { cwd: dir, mcpServers: [] }, client));
		this.#open.delete(sessionId);
		await coded(() => session.delete());
	}

	/** Lists the sessions of this agent, the most recently changed first. */
	async list({ cwd, cursor }: ListSessionsRequest): Promise<ListSessionsResponse> {
		const { command, host, io } = this.#parts;
		const heads = (await host.journal.list()).filter(({ key, seq }) => isOwnKey(key) && seq > 0);
		heads.sort((one, other) => other.updatedAt - one.updatedAt || (one.key < other.key ? -1 : 1));
		const from = cursor == null ? 0 : heads.findIndex((head) => cursorOf(head) === cursor) + 1;
		if (cursor != null && from === 0)
			throw RequestError.invalidParams(
				{ cursor },
				"The session at this position has changed. List the sessions again.",
			);
		const sessions: ListSessionsResponse["sessions"] = [];
		for (const head of heads.slice(from)) {
			const settings = readSettings(command.db, head.key);
			const dir = settings?.dir ?? io.folder;
			if (settings?.agent !== command.agent || (cwd != null && dir !== cwd)) continue;
			sessions.push({
				sessionId: head.key,
				cwd: dir,
				title: oneLine(await titleOf(host, head.key), longestTitle) || null,
				updatedAt: new Date(head.updatedAt).toISOString(),
			});
			if (sessions.length === pageSize) return { sessions, nextCursor: cursorOf(head) };
		}
		return { sessions };
	}

	/** Suspends all runs and closes all agents. */
	async leave(): Promise<void> {
		const all = [...this.#open.values()];
		this.#open.clear();
		await Promise.all(all.map((session) => session.leave()));
	}

	#opened(sessionId: string): EditorSession {
		const session = this.#open.get(sessionId);
		if (session !== undefined) return session;
		throw RequestError.invalidParams(
			{ sessionId },
			`The session ${sessionId} is not open. Create or load it first.`,
		);
	}

	/** Opens a session of the database, or returns it if it is open. */
	async #known(sessionId: string, params: Opened, client: AgentContext): Promise<EditorSession> {
		const { host, command } = this.#parts;
		if ((await host.journal.head(sessionId)) === undefined || !isOwnKey(sessionId))
			throw RequestError.resourceNotFound(sessionId);
		if (readSettings(command.db, sessionId)?.agent !== command.agent)
			throw RequestError.invalidParams(
				{ sessionId },
				"This session belongs to another agent. Start holdfast acp with its --agent.",
			);
		return this.#open.get(sessionId) ?? this.#openSession(sessionId, params, client);
	}

	async #openSession(key: string, params: Opened, client: AgentContext): Promise<EditorSession> {
		return coded(async () => {
			const { host, io } = this.#parts;
			const { db } = this.#parts.command;
			if (!isAbsolute(params.cwd))
				throw RequestError.invalidParams({ cwd: params.cwd }, "The folder must be an absolute path.");
			await refuseServed(host, key);
			const setup = this.#setupOf(key, params.cwd);
			const servers = await connectEditorServers(params.mcpServers, params.cwd);
			const onNotice = (notice: string): void => void this.#parts.io.stderr.write(`${notice}\n`);
			const parts = { tools: servers?.tools(), onNotice };
			const open = await openAgent(setup, () => host, parts).catch(async (error: unknown) => {
				await servers?.close();
				throw error;
			});
			if (open.host !== host) {
				await open.agent.close();
				await servers?.close();
				throw new UsageError(`The agent of ${setup.agent} sets its own host. Remove it, and pass --db.`);
			}
			const session = new EditorSession({ client, open, setup, servers, db, environment: io.environment });
			keepSettings(db, setup);
			this.#open.set(key, session);
			return session;
		});
	}

	#setupOf(key: string, cwd: string): Setup {
		const { command, io } = this.#parts;
		const dir = command.agent === undefined ? (command.dir ?? cwd) : undefined;
		return prepare({ ...command, dir }, key, { ...io, folder: cwd });
	}
}

function cursorOf({ key, updatedAt }: SessionHead): string {
	return `${updatedAt}:${key}`;
}

/** Turns an error that a user can do something about into an error of the protocol. */
async function coded<Result>(work: () => Promise<Result>): Promise<Result> {
	try {
		return await work();
	} catch (error) {
		if (error instanceof RequestError) throw error;
		if (error instanceof UsageError) throw RequestError.invalidParams(undefined, error.message);
		const code = isHoldfastError(error) ? error.code : "failed";
		throw new RequestError(-32_603, describeError(error), { code });
	}
}
