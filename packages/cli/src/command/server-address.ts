/** The address of a running server. */
import { UsageError } from "../work/index.ts";

/** A server, and the key of its caller. */
export interface ServerAddress {
	/** Such as `http://localhost:3000`, without a path or with the path under which the server is served. */
	readonly url: string;
	readonly apiKey: string | undefined;
}

/** @throws UsageError for an address that is not one, or a key without a server. */
export function readServer(
	given: { readonly server?: string; readonly db?: string; readonly "api-key"?: readonly string[] },
	environment: Readonly<Record<string, string | undefined>>,
): ServerAddress | undefined {
	const { server, db, "api-key": [key, another] = [] } = given;
	if (server === undefined) {
		if (key !== undefined)
			throw new UsageError("--api-key is for a server: holdfast context KEY --server URL --api-key KEY.");
		return undefined;
	}
	if (db !== undefined)
		throw new UsageError("The session is on a server or in a database: omit --server or --db.");
	if (another !== undefined) throw new UsageError("A server takes one key: give --api-key once.");
	const url = URL.parse(server);
	if (url === null || !/^https?:$/.test(url.protocol))
		throw new UsageError(`--server takes an address such as http://localhost:3000, not "${server}".`);
	return { url: `${url.origin}${url.pathname}`, apiKey: key ?? (environment.HOLDFAST_API_KEY || undefined) };
}
