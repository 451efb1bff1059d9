// Where a served session stands in the journal, for those who look after a store.
import { readPlace, sessionPlace } from "../host/index.ts";

/** The key in the journal of a tenant's session. */
export function servedKey(tenant: string, sessionId: string): string {
	return sessionPlace(tenant, sessionId);
}

/** Whose session stands under a key of the journal; undefined for one that is no tenant's. */
export function readServedKey(
	key: string,
): { readonly tenant: string; readonly sessionId: string } | undefined {
	const { key: sessionId, namespace } = readPlace(key);
	return namespace === undefined ? undefined : { tenant: namespace, sessionId };
}
