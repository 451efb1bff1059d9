// Identifies callers: by their keys, or by a hook. Keys are stored as digests only, and every comparison takes the same
// time over all of them, so neither memory nor timing reveals a key.
import { HoldfastError } from "holdfast";
import type { ServedCaller } from "../service/index.ts";

/** Returns the caller of a request; undefined refuses the request. */
export type Authenticate = (request: Request) => ServedCaller | undefined | Promise<ServedCaller | undefined>;

/** Checks the credentials of requests. */
export interface Authenticator {
	/**
	 * Returns a digest of the request's credentials. Undefined if it has none, which cannot be a guess; empty if only the
	 * hook knows which part of the request it checks.
	 */
	readonly shownIn: (headers: Headers) => Promise<string | undefined>;
	/** Returns the caller of a request with these credentials. */
	readonly callerOf: (request: Request, shown: string) => ReturnType<Authenticate>;
}

interface KnownKey {
	readonly digest: Promise<string>;
	readonly tenant: string;
}

/**
 * Authenticates by `Authorization: Bearer KEY` or `X-API-Key: KEY`.
 * @throws HoldfastError `invalid_option` for a key or a tenant that is empty or has spaces.
 */
export function authenticateByKey(keys: Readonly<Record<string, string>>): Authenticator {
	const known: readonly KnownKey[] = Object.entries(keys).map(([key, tenant]) => {
		if (!/^[\x21-\x7e]+$/.test(key) || typeof tenant !== "string" || tenant === "")
			throw new HoldfastError(
				"invalid_option",
				"`apiKeys` maps keys to tenants: a key must be visible ASCII without spaces, a tenant a non-empty string.",
			);
		return { digest: digestOf(key), tenant };
	});
	return {
		async shownIn(headers) {
			const key = keyOf(headers);
			return key === undefined ? undefined : digestOf(key);
		},
		async callerOf(_, shown) {
			let tenant: string | undefined;
			for (const candidate of known) {
				if (isSame(await candidate.digest, shown)) tenant = candidate.tenant;
			}
			return tenant === undefined ? undefined : { tenant };
		},
	};
}

/** Authenticates with a hook. */
export function authenticateByHook(hook: Authenticate): Authenticator {
	return {
		async shownIn(headers) {
			const shown = ["authorization", "x-api-key", "cookie"].map((name) => headers.get(name));
			return shown.every((value) => value === null) ? "" : digestOf(JSON.stringify(shown));
		},
		callerOf: (request) => hook(request),
	};
}

function keyOf(headers: Headers): string | undefined {
	const [, bearer] = /^Bearer +(\S+)$/i.exec(headers.get("authorization") ?? "") ?? [];
	return bearer ?? headers.get("x-api-key") ?? undefined;
}

async function digestOf(text: string): Promise<string> {
	const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
	return [...digest].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Compares digests: the time it takes does not reveal where they differ. */
function isSame(left: string, right: string): boolean {
	let difference = left.length ^ right.length;
	for (let at = 0; at < left.length; at++) difference |= left.charCodeAt(at) ^ right.charCodeAt(at);
	return difference === 0;
}
