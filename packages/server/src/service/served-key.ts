// The keys of served sessions: in the journal, for operators of a store, and for the one agent of a service. A session
// belongs to a tenant, or to one user of a tenant, and keys of different owners never collide (keeps I9).
import { readStoreKey, type SessionKeys, storeKeyOf } from "holdfast/execute";

/** Whose a session is. */
export interface SessionOwner {
	readonly tenant: string;
	/** Absent where a session is the tenant's, and not one user's. */
	readonly user?: string;
}

/** The caller: the result of `authenticate` for a request. */
export interface ServedCaller extends SessionOwner {
	/** Further data about the user, as JSON of at most 16 KiB. Recorded with each run, so it must not contain tokens. */
	readonly claims?: Readonly<Record<string, unknown>>;
}

const ofUser = "\u0000user\u0000";
const ofTenant = "\u0000tenant\u0000";

/** The key in the journal of a session of a tenant, or of one of its users. */
export function servedKey(owner: string | SessionOwner, sessionId: string): string {
	return storeKeyOf(namespaceOf(typeof owner === "string" ? { tenant: owner } : owner), sessionId);
}

/** Whose session has a key of the journal, and its id; undefined for a key that is no served session's. */
export function readServedKey(key: string): (SessionOwner & { readonly sessionId: string }) | undefined {
	const { key: sessionId, namespace } = readStoreKey(key);
	return namespace === undefined ? undefined : { ...ownerOf(namespace), sessionId };
}

/**
 * The key of a session for tools and plugins: `tenant/sessionId`, or `tenant%40user/sessionId`, where the `%` and `/` of
 * tenant and user are escaped.
 */
export function sessionKeyOf({ tenant, user }: SessionOwner, sessionId: string): string {
	return `${escaped(tenant)}${user === undefined ? "" : `%40${escaped(user)}`}/${sessionId}`;
}

/** The parts of a session key: a tool reads from it whom it works for. */
export function readSessionKey(sessionKey: string): SessionOwner & { readonly sessionId: string } {
	const end = sessionKey.indexOf("/");
	const [tenant = "", user] = sessionKey.slice(0, Math.max(0, end)).split("%40");
	return {
		tenant: unescaped(tenant),
		...(user === undefined ? {} : { user: unescaped(user) }),
		sessionId: sessionKey.slice(end + 1),
	};
}

/** The sessions of all tenants, and no others. */
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

/** A tenant is its own namespace, also where its name looks like that of a user's. */
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
