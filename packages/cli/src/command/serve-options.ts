/** The settings of `holdfast serve`, from options or from the environment. */

import type { ClientField } from "@holdfast/server";
import { UsageError } from "../work/index.ts";

/** The address and the clients of a server. */
export interface ServeOptions {
	/** Path of a module that exports an agent; undefined for the built-in assistant. */
	readonly agent: string | undefined;
	/** Path of a file that exports models by name; undefined for the models that the agent's module exports. */
	readonly models: string | undefined;
	readonly port: number;
	readonly host: string;
	/** Allowed origins. */
	readonly cors: readonly string[];
	/** Tenants by API key; undefined if no key is required. */
	readonly apiKeys: Readonly<Record<string, string>> | undefined;
	readonly allowUnauthenticated: boolean;
	/** Whether to serve the inspector at `/`. Never without a key on an address that other machines can reach. */
	readonly inspector: boolean;
	/** The header in which a proxy identifies the caller. */
	readonly peerHeader: string | undefined;
	/** Open streams per tenant; undefined for the server's default. */
	readonly maxStreams: number | "unlimited" | undefined;
	/** Fields that clients may set in addition to their input. */
	readonly clientsMaySet: readonly ClientField[];
	/** Set if clients define the sessions that they open. */
	readonly clients: "bring-context" | undefined;
	/** Milliseconds that runs in flight get to finish after a signal. */
	readonly drain: number;
}

/** The options as given. */
export type GivenServeOptions = Partial<
	Record<"agent" | "models" | "port" | "host" | "peer-header" | "max-streams" | "clients", string>
> &
	Partial<Record<"cors" | "api-key" | "clients-may-set", readonly string[]>> &
	Partial<Record<"allow-unauthenticated" | "no-inspector", boolean>>;

/**
 * Parses the options.
 * @throws UsageError if one is invalid.
 */
export function readServeOptions(
	given: GivenServeOptions,
	environment: Readonly<Record<string, string | undefined>>,
): Omit<ServeOptions, "drain"> {
	const clients = readClients(given.clients ?? (environment.HOLDFAST_CLIENTS || undefined));
	const clientsMaySet = readFields(given["clients-may-set"] ?? listed(environment.HOLDFAST_CLIENTS_MAY_SET));
	if (clients !== undefined && clientsMaySet.length > 0)
		throw new UsageError(
			"The option --clients bring-context lets clients set every field. Omit --clients-may-set.",
		);
	return {
		agent: given.agent ?? (environment.HOLDFAST_AGENT || undefined),
		models: given.models ?? (environment.HOLDFAST_MODELS || undefined),
		port: readPort(given.port ?? (environment.HOLDFAST_PORT || "4280")),
		host: given.host ?? (environment.HOLDFAST_HOST || "127.0.0.1"),
		cors: given.cors ?? listed(environment.HOLDFAST_CORS),
		apiKeys: readKeys(given["api-key"] ?? listed(environment.HOLDFAST_API_KEYS)),
		allowUnauthenticated: given["allow-unauthenticated"] === true,
		inspector: given["no-inspector"] !== true,
		peerHeader: given["peer-header"] ?? (environment.HOLDFAST_PEER_HEADER || undefined),
		maxStreams: readMaxStreams(given["max-streams"] ?? (environment.HOLDFAST_MAX_STREAMS || undefined)),
		clientsMaySet,
		clients,
	};
}

function listed(text: string | undefined): readonly string[] {
	return (text ?? "")
		.split(",")
		.map((each) => each.trim())
		.filter((each) => each !== "");
}

function readPort(text: string): number {
	const port = Number(text);
	if (/^\d{1,5}$/.test(text) && port < 65_536) return port;
	throw new UsageError(`The port is "${text}". Give a number from 0 to 65535; 0 selects a free one.`);
}

function readMaxStreams(text: string | undefined): ServeOptions["maxStreams"] {
	if (text === undefined || text === "unlimited") return text;
	if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
	throw new UsageError(
		`The option --max-streams takes a number of streams or "unlimited"; "${text}" is neither.`,
	);
}

const fields: readonly ClientField[] = ["prompt", "history", "tools", "model", "options"];

function readFields(texts: readonly string[]): readonly ClientField[] {
	const unknown = texts.find((text) => !(fields as readonly string[]).includes(text));
	if (unknown === undefined) return texts as readonly ClientField[];
	throw new UsageError(
		`The option --clients-may-set takes ${fields.join(", ")}; "${unknown}" is not one of them.`,
	);
}

/** @throws UsageError if fields of clients are given for a project. */
export function checkProjectClients({ clients, clientsMaySet }: Omit<ServeOptions, "drain">): void {
	const option = clients === undefined ? "--clients-may-set" : "--clients";
	if (clients !== undefined || clientsMaySet.length > 0)
		throw new UsageError(
			`The option ${option} is not for projects: clients of a project cannot set fields. Omit it, or mount \`threadRoutes({ clientsMaySet })\` in your own server.`,
		);
}

function readClients(text: string | undefined): ServeOptions["clients"] {
	if (text === undefined || text === "bring-context") return text;
	throw new UsageError(`The option --clients takes "bring-context"; "${text}" is something else.`);
}

/** Parses keys: `KEY` belongs to the tenant "default", `TENANT=KEY` to another. */
function readKeys(texts: readonly string[]): Readonly<Record<string, string>> | undefined {
	if (texts.length === 0) return undefined;
	return Object.fromEntries(
		texts.map((text) => {
			const [, tenant = "default", key = ""] = /^(?:([\w.-]+)=)?(.*)$/.exec(text) ?? [];
			// Never repeat the key: this message may end up in a log.
			if (key.length < 8 || /\s/.test(key))
				throw new UsageError(
					"An API key is at least 8 characters without spaces: --api-key KEY, or --api-key TENANT=KEY.",
				);
			return [key, tenant];
		}),
	);
}
