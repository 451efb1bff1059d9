// The session service of a server that was given an agent and no service. It uses the given host, otherwise the
// agent's, otherwise a database file of its own, so that sessions survive without any configuration.
import { HoldfastError, type Host } from "holdfast";
import { type SessionService, type SessionServiceOptions, sessionService } from "./service/index.ts";

/** The parts of a service. */
export interface ServedAgent extends Omit<SessionServiceOptions, "host"> {
	/**
	 * The host that stores the sessions. The caller closes it. Default: the agent's own `host`, otherwise one that the
	 * server creates over `db`.
	 */
	readonly host?: Host;
	/** Path of the SQLite file if no `host` is given. Default `.holdfast/holdfast.db` in the current folder. */
	readonly db?: string;
}

/** The names of the options. */
export const servedAgentOptions: Readonly<Record<keyof ServedAgent, true>> = {
	agent: true,
	models: true,
	agentFor: true,
	sessionsOf: true,
	shownError: true,
	clientsMaySet: true,
	clients: true,
	maxMessages: true,
	maxTools: true,
	maxSteps: true,
	remoteToolTimeoutMs: true,
	whileRunning: true,
	deltaFlushMs: true,
	recoverEveryMs: true,
	host: true,
	db: true,
};

/** A service, and a function that closes the resources it owns. */
export interface OwnService {
	readonly service: SessionService;
	readonly closeHost: () => Promise<void>;
}

/**
 * Creates the service.
 * @throws HoldfastError `invalid_option`, `conflicting_options`, and the errors that the host reports for its file.
 */
export async function makeService(all: ServedAgent): Promise<OwnService> {
	// The same object contains the server's own options.
	const own = Object.entries(all).filter(([name]) => Object.hasOwn(servedAgentOptions, name));
	const { host: given, db, ...options } = Object.fromEntries(own) as unknown as ServedAgent;
	if (options.agent === undefined)
		throw new HoldfastError(
			"invalid_option",
			"There is nothing to serve. Give `agent`, or a `service` that `sessionService()` returned.",
		);
	const host = given ?? hostOf(options.agent);
	if (host !== undefined && db !== undefined)
		throw new HoldfastError(
			"conflicting_options",
			given === undefined
				? "The agent has its own `host`, and `db` names another store. Give one."
				: "Both `host` and `db` define where sessions are stored. Give one.",
		);
	if (host !== undefined) return { service: sessionService({ ...options, host }), closeHost: async () => {} };
	// Loaded here: with a given host, nothing of Node's is needed.
	const { sqliteHost } = await import("holdfast/sqlite");
	const file = sqliteHost(db ?? ".holdfast/holdfast.db");
	try {
		return { service: sessionService({ ...options, host: file }), closeHost: () => file.close() };
	} catch (error) {
		await file.close();
		throw error;
	}
}

/** The agent's own host. */
function hostOf(agent: ServedAgent["agent"]): Host | undefined {
	const { host } = agent as { readonly host?: unknown };
	if (host === undefined) return undefined;
	if (typeof (host as Partial<Host> | null)?.journal === "object") return host as Host;
	throw new HoldfastError(
		"invalid_option",
		"The `host` of the agent cannot be served: it has no journal. Give the server a `host`, such as `sqliteHost(path)`.",
	);
}
