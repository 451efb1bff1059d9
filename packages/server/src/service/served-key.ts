// The keys of served sessions: in the journal, for operators of a store, and for the single agent of a service. A session
// belongs to a tenant or to one user of a tenant, and keys of different owners never collide (keeps I9).
import { readStoreKey, type SessionKeys, storeKeyOf } from "holdfast/execute";

/** The owner of a session. */
export interface SessionOwner {
	/** Sessions of different tenants are separate. */
	readonly tenant: string;
	/** Absent if a session belongs to the tenant and not to one user. */
	readonly user?: string;
}

/** The caller: the result of `authenticate` for a request. */
export interface ServedCaller extends SessionOwner {
	/** Further data about the user, as JSON of at most 16 KiB. Recorded with each run, so it must not contain tokens. */
	readonly claims?: Readonly<Record<string, unknown>>;
}

const ofUser = "\u0000user\u0000";
const ofTenant = "\u0000tenant\u0000";

/** Returns the journal key of a session of a tenant, or of one of its users. */
export function servedKey(owner: string | SessionOwner, sessionId: string): string {
	return storeKeyOf(namespaceOf(typeof owner === "string" ? { tenant: owner } : owner), sessionId);
}

/** Returns the owner and the id of the session with a journal key; undefined for a key of no served session. */
export function readServedKey(key: string): (SessionOwner & { readonly sessionId: string }) | undefined {
	const { key: sessionId, namespace } = readStoreKey(key);
	return namespace === undefined ? undefined : { ...ownerOf(namespace), sessionId };
}

/**
 * Returns the key of a session for tools and plugins: `tenant/sessionId`, or `tenant%40user/sessionId`, with `%` and `/`
 * escaped in tenant and user.
 */
export function sessionKeyOf({ tenant, user }: SessionOwner, sessionId: string): string {
	return `${escaped(tenant)}${user === undefined ? "" : `%40${escaped(user)}`}/${sessionId}`;
}

/** Returns the parts of a session key: a tool uses it to find out for which caller it runs. */
export function readSessionKey(sessionKey: string): SessionOwner & { readonly sessionId: string } {
	const end = sessionKey.indexOf("/");
	const [tenant = "", user] = sessionKey.slice(0, Math.max(0, end)).split("%40");
	return {
		tenant: unescaped(tenant),
		...(user === undefined ? {} : { user: unescaped(user) }),
		sessionId: sessionKey.slice(end + 1),
	};
}

/** Selects the sessions of all tenants, and no others. */
export const servedKeys: SessionKeys = {
	storeKeyOf(sessionKey) {
		const { sessionId, ...owner } = readSessionKey(sessionKey);
		return servedKey(owner, sessionId);
	},
	keyOf(storeKey) {
		const found = readServedKey(storeKey);
		return found && sessionKeyOf(found, found.sessionId);
	},
};

/** A tenant has its own namespace, even if its name looks like that of a user's namespace. */
function namespaceOf({ tenant, user }: SessionOwner): string {
	if (user !== undefined) return `${ofUser}${tenant.length}\u0000${tenant}${user}`;
	return tenant.startsWith("\u0000") ? ofTenant + tenant : tenant;
}

function ownerOf(namespace: string): SessionOwner {
	if (namespace.startsWith(ofTenant)) return { tenant: namespace.slice(ofTenant.length) };
	if (!namespace.startsWith(ofUser)) return { tenant: namespace };
	const at = namespace.indexOf("\u0000", ofUser.length);
	const end = at + 1 + Number(namespace.slice(ofUser.length, at));
	return { tenant: namespace.slice(at + 1, end), user: namespace.slice(end) };
}

function escaped(name: string): string {
	return name.replaceAll("%", "%25").replaceAll("/", "%2F").replaceAll("\u0000", "%00");
}

function unescaped(name: string): string {
	return name.replaceAll("%00", "\u0000").replaceAll("%2F", "/").replaceAll("%25", "%");
}
