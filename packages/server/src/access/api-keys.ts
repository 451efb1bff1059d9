// API keys by tenant. Keys are kept as digests only, and every comparison looks at all of them for the same time, so
// neither memory nor timing tells a key.
import { HoldfastError } from "holdfast";

/** Finds the tenant of a request by its key. */
export type Authenticate = (
	request: Request,
) => { readonly tenant: string } | undefined | Promise<{ readonly tenant: string } | undefined>;

interface KnownKey {
	readonly digest: Promise<Uint8Array>;
	readonly tenant: string;
}

/**
 * Authenticates by `Authorization: Bearer KEY` or `X-API-Key: KEY`.
 * @throws HoldfastError `invalid_option` for a key or a tenant that is empty or has spaces.
 */
export function authenticateByKey(keys: Readonly<Record<string, string>>): Authenticate {
	const known: readonly KnownKey[] = Object.entries(keys).map(([key, tenant]) => {
		if (!/^[\x21-\x7e]+$/.test(key) || typeof tenant !== "string" || tenant === "")
			throw new HoldfastError(
				"invalid_option",
				"`apiKeys` maps keys to tenants: a key is visible ASCII without spaces, a tenant is not empty.",
			);
		return { digest: digestOf(key), tenant };
	});
	return async ({ headers }) => {
		const key = keyOf(headers);
		if (key === undefined) return undefined;
		const digest = await digestOf(key);
		let tenant: string | undefined;
		for (const candidate of known) {
			if (isSame(await candidate.digest, digest)) tenant = candidate.tenant;
		}
		return tenant === undefined ? undefined : { tenant };
	};
}

function keyOf(headers: Headers): string | undefined {
	const [, bearer] = /^Bearer +(\S+)$/i.exec(headers.get("authorization") ?? "") ?? [];
	return bearer ?? headers.get("x-api-key") ?? undefined;
}

async function digestOf(key: string): Promise<Uint8Array> {
	return new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(key)));
}

function isSame(left: Uint8Array, right: Uint8Array): boolean {
	let difference = left.length ^ right.length;
	for (let at = 0; at < left.length; at++) difference |= (left[at] as number) ^ (right[at] ?? 0);
	return difference === 0;
}
