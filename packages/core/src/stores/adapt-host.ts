// An execution host as agents use hosts: its sessions run on a journal over `store.sessions`, and its other ports keep
// the records beside it.

import type { ExecutionHost, RecordingHost } from "../execution-host/index.ts";
import type { Journal, SessionStore } from "../host/index.ts";
import { storeJournal } from "./journal/store-journal.ts";
import { storedValues } from "./stored-values.ts";

const methods = {
	runs: ["claim", "create", "get", "getByDedupeKey", "listByParentRunId", "update"],
	checkpoints: ["append", "latest"],
	events: ["append", "read"],
	notifications: [
		"enqueue",
		"getByIdempotencyKey",
		"claimByIdempotencyKey",
		"releaseByIdempotencyKey",
		"acknowledge",
	],
	sessions: ["load", "commit", "delete"],
} as const;

/** The agents of one process on one store share a journal, and with it what they know of each other. */
const journals = new WeakMap<SessionStore, Journal>();

/**
 * Makes a host of an execution host.
 * @throws TypeError naming the port or method that is missing.
 */
export function adaptExecutionHost(given: Readonly<Record<string, unknown>>): RecordingHost {
	const execution = checkExecutionHost(given);
	const { sessions } = execution.store;
	const journal = journals.get(sessions) ?? storeJournal(sessions);
	journals.set(sessions, journal);
	// Others may use the journal: it is not closed with an agent.
	const values = storedValues(sessions);
	return { journal, capabilities: execution.capabilities, values, execution, close: async () => {} };
}

/**
 * The given object, if it is a complete execution host.
 * @throws TypeError naming the port or method that is missing.
 */
function checkExecutionHost(given: Readonly<Record<string, unknown>>): ExecutionHost {
	const host = object("host", given);
	object("host.capabilities", host.capabilities);
	const scheduler = object("host.scheduler", host.scheduler);
	for (const method of ["enqueueRun", "resumeSession"]) checkMethod("host.scheduler", scheduler, method);
	const store = object("host.store", host.store);
	for (const [name, names] of Object.entries(methods)) {
		const port = object(`host.store.${name}`, store[name]);
		for (const method of names) checkMethod(`host.store.${name}`, port, method);
	}
	checkMethod("host.store", store, "transaction");
	return given as unknown as ExecutionHost;
}

function object(name: string, value: unknown): Readonly<Record<string, unknown>> {
	if (typeof value === "object" && value !== null) return value as Readonly<Record<string, unknown>>;
	throw new TypeError(`The option \`host\` needs \`${name}\`, an object.`);
}

function checkMethod(name: string, port: Readonly<Record<string, unknown>>, method: string): void {
	if (typeof port[method] !== "function")
		throw new TypeError(`The option \`host\` needs \`${name}.${method}\`, a function.`);
}
