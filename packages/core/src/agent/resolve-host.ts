// What may be given as `host`, told apart by its members and turned into the one kind of host that agents use.

import { type Host, memoryValues, type SessionStore } from "../host/index.ts";
import { storeHost } from "./foreign-host.ts";

/** A bare session store as a host: it keeps sessions, and has neither leases nor news of other processes. */
export interface SessionStoreHost {
	readonly sessionStore: SessionStore;
}

/** Makes a host of an `ExecutionHost`: an object with `capabilities`, `scheduler` and `store`. */
export type ExecutionHostAdapter = (given: Readonly<Record<string, unknown>>) => Host;

const executionParts = ["capabilities", "scheduler", "store"] as const;
const storeMethods = ["load", "commit", "delete"] as const;
const journalMethods = ["acquire", "submit", "read", "head", "list", "watch", "delete", "close"] as const;

/**
 * The host that an agent uses for what it was given: a host of ours as it is, `{sessionStore}` with a journal over it,
 * an `ExecutionHost` by `adapt`.
 * @throws TypeError naming the field that is missing, wrong, or does not go with another.
 * @see keyed sessions "Session storage and portability"
 */
export function resolveHost(given: unknown, adapt?: ExecutionHostAdapter): Host {
	if (typeof given === "string")
		throw new TypeError(
			`The option \`host\` is text. For a database file give \`sqliteHost(${JSON.stringify(given)})\` from "holdfast/sqlite".`,
		);
	if (typeof given !== "object" || given === null)
		throw new TypeError("The option `host` must be an object: a host, or `{ sessionStore }`.");
	const host = given as Readonly<Record<string, unknown>>;
	// A host of ours may be an execution host, too, with its sessions in its own journal.
	const isOurs = host.journal !== undefined && (host.store === undefined || host.execution !== undefined);
	const execution = executionParts.filter((part) => host[part] !== undefined && !isOurs);
	const kinds = [
		...(host.sessionStore === undefined ? [] : ["sessionStore"]),
		...(host.journal === undefined ? [] : ["journal"]),
		...execution.slice(0, 1),
	];
	if (kinds.length > 1) {
		throw new TypeError(
			`The option \`host\` has both \`host.${kinds[0]}\` and \`host.${kinds[1]}\`: give one. ` +
				"A host with a store of its own keeps its sessions there.",
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
			throw new TypeError(
				"The option `host` has no `host.sessionStore`, and is no host of another kind: " +
					"give `{ sessionStore }`, or what `sqliteHost()` or `memoryHost()` made.",
			);
	}
	const missing = executionParts.find((part) => typeof host[part] !== "object" || host[part] === null);
	if (missing !== undefined) throw new TypeError(`The option \`host\` needs \`host.${missing}\`, an object.`);
	if (adapt === undefined)
		throw new TypeError(
			"The option `host` has `host.store`, an execution store, which is not supported here.",
		);
	return adapt(host);
}

function checkMethods(name: string, value: unknown, methods: readonly string[]): void {
	if (typeof value !== "object" || value === null)
		throw new TypeError(`The option \`${name}\` must be an object with ${listed(methods)}.`);
	const missing = methods.find((method) => typeof (value as Record<string, unknown>)[method] !== "function");
	if (missing !== undefined) throw new TypeError(`The option \`${name}.${missing}\` must be a function.`);
}

function listed(methods: readonly string[]): string {
	return methods.map((method) => `\`${method}\``).join(", ");
}
