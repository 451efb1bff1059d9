// Accepts the option `host` in every form, recognises the form by its members, and converts it into the one kind of host
// that agents use.

import { HoldfastTypeError, isThenable } from "@holdfast/upp";
import type { ExecutionHost } from "../execution-host/index.ts";
import {
	type ExecutionCapabilities,
	type Host,
	memoryHost,
	memoryValues,
	type SessionStore,
} from "../host/index.ts";
import { storeHost } from "./foreign-host.ts";

/**
 * A bare session store as a host. It keeps sessions, but has no leases and receives no changes from other processes.
 * Without one, sessions are kept in memory.
 */
export interface SessionStoreHost {
	/** Where sessions are stored. Default: in memory. */
	readonly sessionStore?: SessionStore | undefined;
	/** Default: background work ends with the process. */
	readonly capabilities?: ExecutionCapabilities | undefined;
}

/** The forms of `host` other than a built-in host. */
export type AgentHost = SessionStoreHost | ExecutionHost;

/** Creates a host from an `ExecutionHost`: an object with `capabilities`, `scheduler` and `store`. */
export type ExecutionHostAdapter = (given: Readonly<Record<string, unknown>>) => Host;

const ofStoreHost: ReadonlySet<string> = new Set(["capabilities", "sessionStore"]);
const executionParts = ["capabilities", "scheduler", "store"] as const;
const storeMethods = ["load", "commit", "delete"] as const;
const journalMethods = ["acquire", "submit", "read", "head", "list", "watch", "delete", "close"] as const;

/**
 * Returns the host for the given option: a built-in host unchanged, `{sessionStore}` with a journal over it, an
 * `ExecutionHost` converted by `adapt`.
 * @throws HoldfastError `invalid_option` naming the field that is missing, invalid, or conflicts with another.
 */
export function resolveHost(given: unknown, adapt?: ExecutionHostAdapter): Host {
	if (typeof given === "string")
		throw new HoldfastTypeError(
			"invalid_option",
			`The option \`host\` is text. For a database file give \`sqliteHost(${JSON.stringify(given)})\` from "holdfast/sqlite".`,
		);
	if (typeof given === "function")
		throw new HoldfastTypeError(
			"invalid_option",
			`The option \`host\` is a function. If it makes a host, call it: \`${given.name || "sqliteHost"}(...)\`.`,
		);
	if (typeof given !== "object" || given === null)
		throw new HoldfastTypeError(
			"invalid_option",
			"The option `host` must be an object: a host, or `{ sessionStore }`.",
		);
	if (isThenable(given))
		throw new HoldfastTypeError("invalid_option", "The option `host` is a promise. Await it first.");
	const host = given as Readonly<Record<string, unknown>>;
	if (isStoreHost(host)) return resolveStoreHost(host as SessionStoreHost);
	// A built-in host may also be an execution host, with its sessions in its own journal.
	const isOurs = host.journal !== undefined && (host.store === undefined || host.execution !== undefined);
	const execution = executionParts.filter((part) => host[part] !== undefined && !isOurs);
	const kinds = [
		...(host.sessionStore === undefined ? [] : ["sessionStore"]),
		...(host.journal === undefined ? [] : ["journal"]),
		...execution.slice(0, 1),
	];
	if (kinds.length > 1) {
		throw new HoldfastTypeError(
			"invalid_option",
			`The option \`host\` has both \`host.${kinds[0]}\` and \`host.${kinds[1]}\`: give one. ` +
				"A host that has a store keeps its sessions in it.",
		);
	}
	switch (kinds[0]) {
		case "sessionStore":
			checkMethods("host.sessionStore", host.sessionStore, storeMethods);
			return storeHost(host.sessionStore as SessionStore);
		case "journal":
			checkMethods("host.journal", host.journal, journalMethods);
			checkMethods("host", host, ["close"]);
			return host.values === undefined ? { ...(given as Host), values: memoryValues() } : (given as Host);
		case undefined:
			throw new HoldfastTypeError(
				"invalid_option",
				"The option `host` has no `host.sessionStore`, and is not a host of another kind: " +
					"give `{ sessionStore }`, or the return value of `sqliteHost()` or `memoryHost()`.",
			);
	}
	const missing = executionParts.find((part) => typeof host[part] !== "object" || host[part] === null);
	if (missing !== undefined)
		throw new HoldfastTypeError(
			"invalid_option",
			`The option \`host\` needs \`host.${missing}\`, an object.`,
		);
	if (adapt === undefined)
		throw new HoldfastTypeError(
			"invalid_option",
			"The option `host` has `host.store`, an execution store, which is not supported here.",
		);
	return adapt(host);
}

/** Removes an empty host, which means the default. */
export function withoutEmptyHost<Options extends { readonly host?: unknown }>(options: Options): Options {
	const { host, ...others } = options;
	const isEmpty =
		typeof host === "object" &&
		host !== null &&
		!isThenable(host) &&
		isStoreHost(host as Readonly<Record<string, unknown>>) &&
		Object.values(host).every((part) => part === undefined);
	return isEmpty ? (others as Options) : options;
}

function isStoreHost(host: Readonly<Record<string, unknown>>): boolean {
	const isOther = host.journal !== undefined || host.store !== undefined || host.scheduler !== undefined;
	return !isOther && Object.keys(host).every((name) => ofStoreHost.has(name));
}

function resolveStoreHost({ sessionStore, capabilities }: SessionStoreHost): Host {
	if (capabilities !== undefined && (typeof capabilities !== "object" || capabilities === null))
		throw new HoldfastTypeError("invalid_option", "The option `host.capabilities` must be an object.");
	if (sessionStore !== undefined) checkMethods("host.sessionStore", sessionStore, storeMethods);
	const host = sessionStore === undefined ? memoryHost() : storeHost(sessionStore);
	if (capabilities === undefined) return host;
	// Most agents need only the journal, so the other ports are created on first access.
	return Object.create(host, { capabilities: { value: capabilities, enumerable: true } }) as Host;
}

function checkMethods(name: string, value: unknown, methods: readonly string[]): void {
	if (typeof value !== "object" || value === null)
		throw new HoldfastTypeError(
			"invalid_option",
			`The option \`${name}\` must be an object with ${listed(methods)}.`,
		);
	const missing = methods.find((method) => typeof (value as Record<string, unknown>)[method] !== "function");
	if (missing !== undefined)
		throw new HoldfastTypeError("invalid_option", `The option \`${name}.${missing}\` must be a function.`);
}

function listed(methods: readonly string[]): string {
	return methods.map((method) => `\`${method}\``).join(", ");
}
