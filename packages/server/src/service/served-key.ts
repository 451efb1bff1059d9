// The keys of served sessions: in the journal, for those who look after a store, and as the one agent of a service knows
// them. A session is one of a tenant, and no tenant's key is another's (keeps I9).
import { readStoreKey, type SessionKeys, storeKeyOf } from "holdfast/execute";

/** The key in the journal of a tenant's session. */
export function servedKey(tenant: string, sessionId: string): string {
	return storeKeyOf(tenant, sessionId);
}

/** The tenant and session of a key of the journal; undefined for a key without tenant. */
export function readServedKey(
	key: string,
): { readonly tenant: string; readonly sessionId: string } | undefined {
	const { key: sessionId, namespace } = readStoreKey(key);
	return namespace === undefined ? undefined : { tenant: namespace, sessionId };
}

/** What tools and plugins know a tenant's session by: `tenant/sessionId`, where the tenant's own `%` and `/` are escaped. */
export function sessionKeyOf(tenant: string, sessionId: string): string {
	const escaped = tenant.replaceAll("%", "%25").replaceAll("/", "%2F").replaceAll("\u0000", "%00");
	return `${escaped}/${sessionId}`;
}

/** What a session key is made of: a tool finds in it whom it works for. */
export function readSessionKey(sessionKey: string): { readonly tenant: string; readonly sessionId: string } {
	const end = sessionKey.indexOf("/");
	const tenant = sessionKey.slice(0, Math.max(0, end));
	return {
		tenant: tenant.replaceAll("%00", "\u0000").replaceAll("%2F", "/").replaceAll("%25", "%"),
		sessionId: sessionKey.slice(end + 1),
	};
}

/** All tenants' sessions, and nobody else's. */
export const servedKeys: SessionKeys = {
	storeKeyOf(sessionKey) {
		const { tenant, sessionId } = readSessionKey(sessionKey);
		return servedKey(tenant, sessionId);
	},
	keyOf(storeKey) {
		const found = readServedKey(storeKey);
		return found && sessionKeyOf(found.tenant, found.sessionId);
	},
};
