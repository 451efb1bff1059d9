// Inspects the sessions of a service (keeps I9): every key that it reads belongs to the owner, or to a sub-agent of one
// of the owner's sessions.
import { HoldfastError, type Host } from "holdfast";
import { type ExecuteSession, readInput } from "holdfast/execute";
import { childPrefix, readBounded, readChildStoreKey, type SessionHead, watchAll } from "holdfast/host";
import type { Plugin } from "holdfast/plugins";
import { invalidInput, sessionNotFound } from "./client-errors.ts";
import type { InspectedChild, InspectedHead, SessionInspection } from "./inspection.ts";
import type { ServedCaller } from "./served-key.ts";
import { readServedKey, readSessionKey, type SessionOwner, servedKey } from "./served-key.ts";

/** The parts of the service that it needs. */
export interface InspectedService {
	readonly host: Host;
	/** Names of the registered models; undefined if they cannot be listed. */
	readonly models: readonly string[] | undefined;
	/** The plugins of the agent. */
	readonly plugins: readonly Plugin[];
	/** Returns the owner under which the service keeps the sessions. */
	ownerOf(owner: string | SessionOwner): SessionOwner;
	callerOf(caller: string | ServedCaller): ServedCaller;
	session(owner: string | SessionOwner, sessionId: string): ExecuteSession;
	/** Rejects with `session_not_found`. */
	found(owner: string | SessionOwner, sessionId: string): Promise<ExecuteSession>;
	/** Runs a request unless the service closes. */
	answer<T>(session: ExecuteSession, sessionId: string, act: () => Promise<T>): Promise<T>;
	/** Fires when the given signal does, and when the service closes. */
	until(signal: AbortSignal): { readonly signal: AbortSignal; readonly over: () => void };
}

const mostHeads = 1_000;
const mostEntries = 1_000;
/** Characters of stored entries after which a page ends. */
const pageCharacters = 4_000_000;
const mostChildren = 500;
const mostForks = 500;
/** How many changes are combined into one answer. */
const mostChanges = 500;

/** Creates `service.inspection`. */
export function inspectSessions(service: InspectedService): SessionInspection {
	const { host } = service;
	const { journal, changes } = host;
	/** Ends with the request, and when the service closes. Does not wait for a provider that ignores the signal. */
	const whileOpen = async <T>(given: AbortSignal, act: (open: AbortSignal) => Promise<T>): Promise<T> => {
		const { signal, over } = service.until(given);
		const left = new Promise<never>((_, reject) => {
			const leave = (): void =>
				reject(given.aborted ? given.reason : new HoldfastError("agent_closed", "The service has closed."));
			if (signal.aborted) leave();
			else signal.addEventListener("abort", leave, { once: true });
		});
		try {
			return await Promise.race([left, act(signal)]);
		} finally {
			over();
		}
	};
	const prefixOf = (owner: string | SessionOwner): string => servedKey(service.ownerOf(owner), "");

	return {
		...(service.models === undefined ? {} : { models: service.models }),
		async skills() {
			const lists = await Promise.all(service.plugins.map((plugin) => plugin.skills?.() ?? []));
			return lists.flat();
		},
		async heads(owner, { after, limit = mostHeads } = {}) {
			const prefix = prefixOf(owner);
			const heads = await journal.list({
				prefix,
				limit: Math.min(mostHeads, Math.max(1, limit)),
				...(after === undefined ? {} : { after: prefix + after }),
			});
			return heads.map((head) => inspected(readServedKey(head.key)?.sessionId ?? "", head));
		},
		async head(owner, sessionId) {
			const session = service.session(owner, sessionId);
			if (!(await session.exists())) return undefined;
			const head = await journal.head(session.storeKey);
			return head && inspected(sessionId, head);
		},
		async entries(owner, sessionId, { after = 0, limit = mostEntries, child } = {}) {
			const { storeKey } = await service.found(owner, sessionId);
			const key = child === undefined ? storeKey : childOf(storeKey, child);
			const most = Math.min(mostEntries, Math.max(1, limit));
			return readBounded(journal, key, { after, limit: most, characters: pageCharacters });
		},
		async children(owner, sessionId) {
			const { storeKey } = await service.found(owner, sessionId);
			return childrenOf(journal, storeKey);
		},
		async backgroundCalls(owner, sessionId) {
			return (await service.found(owner, sessionId)).backgroundCalls();
		},
		async origin(owner, sessionId) {
			const origin = await (await service.found(owner, sessionId)).origin();
			return origin && { sessionId: readSessionKey(origin.key).sessionId, seq: origin.seq };
		},
		async forks(owner, sessionId) {
			const forks = [];
			for (const { key, seq } of await (await service.found(owner, sessionId)).forks()) {
				if (forks.length >= mostForks) break;
				const { sessionId: fork } = readSessionKey(key);
				if (await service.session(owner, fork).exists()) forks.push({ sessionId: fork, seq });
			}
			return forks;
		},
		async agent(caller, sessionId) {
			return (await service.found(caller, sessionId)).agent(service.callerOf(caller));
		},
		async trial(caller, sessionId) {
			const { info, ask, call } = await (await service.found(caller, sessionId)).trial(
				service.callerOf(caller),
			);
			return {
				info,
				ask: ({ signal, ...request }) => whileOpen(signal, (open) => ask({ ...request, signal: open })),
				call: (name, input, signal) => whileOpen(signal, (open) => call(name, input, open)),
			};
		},
		async fork(caller, sessionId, { to, ...how }) {
			const session = await service.found(caller, sessionId);
			const target = service.session(caller, to);
			// Either of the two may be what an error is about.
			const { seq } = await service.answer(target, to, () =>
				service.answer(session, sessionId, () =>
					session.fork(target, { ...how, caller: service.callerOf(caller) }),
				),
			);
			return { seq };
		},
		async release(owner, sessionId) {
			const session = await service.found(owner, sessionId);
			const before = await journal.head(session.storeKey);
			const run = await service.answer(session, sessionId, () => session.release());
			// A run that was in progress here needed no release.
			return { released: run !== null && before?.holder?.alive !== true };
		},
		async steer(caller, sessionId, given) {
			const input = readInput(given);
			if (input.kind === "answers") throw invalidInput("input", "must be a message of the user");
			const session = await service.found(caller, sessionId);
			const steered = await service.answer(session, sessionId, () =>
				session.steer(input.input, { caller: service.callerOf(caller) }),
			);
			return { sessionId, ...steered };
		},
		...(changes === undefined
			? {}
			: {
					async changes(owner, { after, signal: given }) {
						const prefix = prefixOf(owner);
						const { signal, over } = service.until(given);
						const gathered = { changed: new Set<string>(), deleted: new Set<string>() };
						let position = after ?? (await changes.position());
						try {
							for await (const change of watchAll(changes, { after: position, signal })) {
								position = change.position;
								const root = rootOf(change.key);
								const sessionId = root.startsWith(prefix) ? root.slice(prefix.length) : undefined;
								if (sessionId !== undefined) {
									const isGone = change.kind === "deleted" && root === change.key;
									gathered[isGone ? "deleted" : "changed"].add(sessionId);
									gathered[isGone ? "changed" : "deleted"].delete(sessionId);
								}
								const count = gathered.changed.size + gathered.deleted.size;
								if (count >= mostChanges) break;
								// This page contains everything committed so far.
								if (count > 0 && position >= (await changes.position())) break;
							}
						} finally {
							over();
						}
						return { position, changed: [...gathered.changed], deleted: [...gathered.deleted] };
					},
				}),
	};
}

function inspected(sessionId: string, head: SessionHead): InspectedHead {
	const { incarnation, seq, createdAt, updatedAt, openRunId, parked, holder, waiting } = head;
	return {
		sessionId,
		incarnation,
		seq,
		createdAt,
		updatedAt,
		...(openRunId === undefined ? {} : { openRunId }),
		...(parked === undefined ? {} : { parked }),
		...(openRunId === undefined || holder === undefined ? {} : { isHeld: holder.alive }),
		waiting,
	};
}

/** Returns the root session of a child session. */
function rootOf(storeKey: string): string {
	let key = storeKey;
	for (let child = readChildStoreKey(key); child !== undefined; child = readChildStoreKey(key))
		key = child.parentStoreKey;
	return key;
}

/** Returns the key of a child by its name. */
function childOf(storeKey: string, child: string): string {
	let key: string;
	try {
		key = decodeURIComponent(child);
	} catch {
		throw sessionNotFound();
	}
	if (key !== storeKey && rootOf(key) === storeKey) return key;
	throw sessionNotFound();
}

async function childrenOf(journal: Host["journal"], storeKey: string): Promise<readonly InspectedChild[]> {
	const found: InspectedChild[] = [];
	const parents = [storeKey];
	for (const parent of parents) {
		if (found.length >= mostChildren) break;
		const heads = await journal.list({ prefix: childPrefix(parent), limit: mostChildren - found.length });
		for (const head of heads) {
			const { subagent = "" } = readChildStoreKey(head.key) ?? {};
			const { sessionId: _, ...rest } = inspected("", head);
			const of = parent === storeKey ? {} : { parent: encodeURIComponent(parent) };
			found.push({ ...rest, ...of, child: encodeURIComponent(head.key), subagent });
			parents.push(head.key);
		}
	}
	return found;
}
