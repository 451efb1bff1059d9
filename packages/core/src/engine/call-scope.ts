// Tracks the tool or hook call that the running code belongs to, and what such calls wait for. A call that waits for
// something that cannot finish before the call itself ends would wait forever, so it gets an error instead (keeps I8). On
// platforms without AsyncLocalStorage, nothing is tracked or refused.

/** Identifies what waits or is awaited in this process: a session by its name, or an object. */
export type ProcessKey = string | object;

/**
 * A tool or hook call, from the moment its function is called until it has settled. The session of `processKey` waits
 * for it.
 */
interface CallScope {
	readonly processKey: ProcessKey;
	isOver: boolean;
}

/** A call that waits for the session of a process key. */
interface Wait {
	readonly scope: CallScope;
	readonly to: ProcessKey;
}

interface Storage {
	run<T>(scope: CallScope, work: () => T): T;
	getStore(): CallScope | undefined;
	/** Clears all scopes until the next `run`. Not every platform has it. */
	disable?(): void;
}

const storage = makeStorage();
/** Before Node 24, tracking calls makes every promise of the process more expensive. */
const costsWhileUsed = majorOfNode() < 24;
/** The number of calls in progress. */
let underWay = 0;

/** Current waits, by the process key of the waiting call. */
const waits = new Map<ProcessKey, Set<Wait>>();

/**
 * Calls a user's function while the session of a process key waits for it. A run without a session inherits the scope of
 * its caller.
 */
export function withinCall<T>(processKey: ProcessKey | undefined, call: () => T): T {
	if (storage === undefined || processKey === undefined) return call();
	const scope: CallScope = { processKey, isOver: false };
	const over = (): void => {
		scope.isOver = true;
		if (--underWay === 0 && costsWhileUsed) storage.disable?.();
	};
	underWay++;
	let called: T;
	try {
		called = storage.run(scope, call);
	} catch (error) {
		over();
		throw error;
	}
	// A thenable that is not a promise may start its work when `then` is called, so `then` is not called twice.
	if (called instanceof Promise) called.then(over, over);
	else over();
	return called;
}

/**
 * Whether the running code and that session wait for each other: the call cannot end before the session continues, and
 * the session cannot continue before the call ends.
 */
export function isAwaitedBy(processKey: ProcessKey): boolean {
	const scope = scopeNow();
	return scope !== undefined && leads(processKey, scope.processKey, new Set());
}

/**
 * Waits for something in the session of a process key, and registers the wait for its duration. Rejects if the wait could
 * never end. A rejection that you do not await is not reported as unhandled.
 */
export function waitFor<T>(
	processKey: ProcessKey | undefined,
	what: () => Promise<T>,
	refusal: () => Error,
): Promise<T> {
	const scope = processKey === undefined ? undefined : scopeNow();
	if (scope === undefined || processKey === undefined) return what();
	if (leads(processKey, scope.processKey, new Set())) {
		const refused = Promise.reject(refusal());
		refused.catch(() => {});
		return refused;
	}
	const wait: Wait = { scope, to: processKey };
	const known = waits.get(scope.processKey) ?? new Set();
	waits.set(scope.processKey, known.add(wait));
	const over = (): void => {
		known.delete(wait);
		if (known.size === 0 && waits.get(scope.processKey) === known) waits.delete(scope.processKey);
	};
	const waiting = what();
	waiting.then(over, over);
	return waiting;
}

function scopeNow(): CallScope | undefined {
	const scope = storage?.getStore();
	return scope?.isOver === true ? undefined : scope;
}

/** Whether calls of one process key wait for the other, directly or through calls of further sessions. */
function leads(from: ProcessKey, to: ProcessKey, seen: Set<ProcessKey>): boolean {
	if (from === to) return true;
	if (seen.has(from)) return false;
	seen.add(from);
	for (const wait of waits.get(from) ?? []) if (!wait.scope.isOver && leads(wait.to, to, seen)) return true;
	return false;
}

function majorOfNode(): number {
	const { process } = globalThis as { process?: { versions?: { node?: string } } };
	return Number.parseInt(process?.versions?.node ?? "0", 10);
}

function makeStorage(): Storage | undefined {
	type Builtins = { process?: { getBuiltinModule?: (name: string) => unknown } };
	const hooks = (globalThis as Builtins).process?.getBuiltinModule?.("node:async_hooks") as
		| { AsyncLocalStorage: new () => Storage }
		| undefined;
	if (hooks === undefined) return undefined;
	const made = new hooks.AsyncLocalStorage();
	try {
		made.disable?.();
		return made;
	} catch {
		// In workerd the function exists but throws; disabling would save nothing there.
		return { run: (scope, call) => made.run(scope, call), getStore: () => made.getStore() };
	}
}
