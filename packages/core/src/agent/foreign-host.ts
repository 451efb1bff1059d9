// Hosts over foreign stores: a bare session store, or an execution host with one. Their journal is in a separate package
// that is loaded on first use; programs without such a store never load it.
import { HoldfastError, HoldfastTypeError, uuid } from "@holdfast/upp";
import type { ExecutionHost, RecordingHost } from "../execution-host/index.ts";
import {
	awaitedHost,
	awaitedValues,
	type Host,
	type Journal,
	type SessionStore,
	type ValueStore,
} from "../host/index.ts";

/** The part of `@holdfast/stores` that is used here. */
interface StoresPackage {
	storeJournal(store: SessionStore, options: { readonly workerId: string }): Journal;
	storedValues(store: SessionStore): ValueStore;
}

const storesPackage = "@holdfast/stores";

/** A host with records recognises by this name that the journal has no leases. */
const journalName = "store";

const methods = {
	runs: ["claim", "create", "get", "getByDedupeKey", "listByParentRunId", "update"],
	checkpoints: ["append", "latest"],
	events: ["append", "read"],
	notifications: ["enqueue", "getByIdempotencyKey", "claimByIdempotencyKey", "releaseByIdempotencyKey"],
	sessions: ["load", "commit", "delete"],
} as const;

/** The agents of one process on one execution store share a journal, and with it their shared state. */
const shared = new WeakMap<SessionStore, Journal>();

/** Creates a host over a bare session store. Each host has its own journal, which is closed with it. */
export function storeHost(store: SessionStore): Host {
	const workerId = uuid();
	const known = once(() => journalOfStore(store, workerId));
	return awaitedHost(workerId, known, { name: journalName, values: valuesOfStore(store) });
}

/**
 * Creates a host from an execution host.
 * @throws HoldfastError `invalid_option` naming the missing port or method.
 */
export function adaptExecutionHost(given: Readonly<Record<string, unknown>>): RecordingHost {
	const execution = checkExecutionHost(given);
	const { sessions } = execution.store;
	const journal = shared.get(sessions) ?? storeHost(sessions).journal;
	shared.set(sessions, journal);
	// Other agents may use the journal, so closing one agent must not close it.
	const close = async (): Promise<void> => {};
	return { journal, capabilities: execution.capabilities, values: valuesOfStore(sessions), execution, close };
}

/** Returns values that are stored with the sessions of a store. */
export function valuesOfStore(store: SessionStore): ValueStore {
	return awaitedValues(once(async () => (await loadStores(storesPackage)).storedValues(store)));
}

/** Returns a journal over a session store. */
export async function journalOfStore(store: SessionStore, workerId: string): Promise<Journal> {
	return (await loadStores(storesPackage)).storeJournal(store, { workerId });
}

/**
 * The name is not a literal, so that bundlers do not look for an optional package. Webpack and Turbopack must leave the
 * import as it is, or it would fail in what they build.
 */
async function loadStores(packageName: string): Promise<StoresPackage> {
	try {
		return (await import(/* webpackIgnore: true */ /* turbopackIgnore: true */ packageName)) as StoresPackage;
	} catch (cause) {
		throw new HoldfastError(
			"stores_missing",
			`This host has a session store, which needs the package ${packageName}. It could not be loaded: run \`npm install ${packageName}\`.`,
			{ cause, data: { packageName } },
		);
	}
}

/** Creates the value once. After a failure, the next caller retries. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
	let made: Promise<T> | undefined;
	return () => {
		made ??= make().catch((error) => {
			made = undefined;
			throw error;
		});
		return made;
	};
}

/**
 * Returns the given object if it is a complete execution host.
 * @throws HoldfastError `invalid_option` naming the missing port or method.
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
	throw new HoldfastTypeError("invalid_option", `The option \`host\` needs \`${name}\`, an object.`);
}

function checkMethod(name: string, port: Readonly<Record<string, unknown>>, method: string): void {
	if (typeof port[method] !== "function")
		throw new HoldfastTypeError(
			"invalid_option",
			`The option \`host\` needs \`${name}.${method}\`, a function.`,
		);
}
