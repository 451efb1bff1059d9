// Which destinations are allowed: every public address, and the listed private ones.
import { HoldfastError } from "@holdfast/upp";
import ipaddr from "ipaddr.js";
import { type Address, isPublic, readAddress } from "./public-address.ts";

/** A listed private destination. */
interface Allowed {
	readonly name?: string;
	readonly network?: readonly [Address, number];
	/** Default: all ports. */
	readonly port?: number;
}

/** The addresses that a list of private destinations allows. */
export interface Destinations {
	/** @throws HoldfastError `SSRF_BLOCKED` if the name itself is internal. */
	checkName(url: URL): void;
	/** @throws HoldfastError `SSRF_BLOCKED` if the address is neither public nor listed. */
	checkAddress(url: URL, address: string): void;
}

/** @throws HoldfastError `DESTINATION_INVALID`. */
export function destinations(allowPrivate: readonly string[]): Destinations {
	const allowed = allowPrivate.map(readAllowed);
	const named = (url: URL): boolean => {
		const name = nameOf(url);
		return allowed.some((entry) => entry.name === name && portFits(entry, url));
	};
	return {
		checkName(url) {
			const name = nameOf(url);
			const isLocal = name === "localhost" || name.endsWith(".localhost");
			if (isLocal && !named(url)) throw blocked(url, name);
		},
		checkAddress(url, text) {
			const address = readAddress(text);
			if (address !== undefined && isPublic(address)) return;
			const listed =
				address !== undefined &&
				(named(url) || allowed.some((entry) => contains(entry, address) && portFits(entry, url)));
			if (!listed) throw blocked(url, text);
		},
	};
}

/** Returns the host for comparison: without the brackets of IPv6 and trailing dots. */
export function hostOf(url: URL): string {
	const host = url.hostname.startsWith("[") ? url.hostname.slice(1, -1) : url.hostname;
	let end = host.length;
	while (end > 0 && host[end - 1] === ".") end--;
	return host.slice(0, end);
}

function nameOf(url: URL): string {
	return hostOf(url).toLowerCase();
}

function portFits({ port }: Allowed, url: URL): boolean {
	return port === undefined || port === Number(url.port || (url.protocol === "https:" ? 443 : 80));
}

function contains({ network }: Allowed, address: Address): boolean {
	if (network === undefined || network[0].kind() !== address.kind()) return false;
	// The kinds match, which the library's types cannot express.
	return (address as ipaddr.IPv4).match(network[0] as ipaddr.IPv4, network[1]);
}

function readAllowed(entry: string): Allowed {
	const invalid = new HoldfastError(
		"DESTINATION_INVALID",
		`${JSON.stringify(entry)} is not a destination. Give an address, a range such as "10.0.0.0/8", or a host name; an address or a name may end with ":port".`,
	);
	if (typeof entry !== "string" || entry.length > 300) throw invalid;
	if (entry.includes("/")) {
		if (!ipaddr.isValidCIDR(entry)) throw invalid;
		return { network: ipaddr.parseCIDR(entry) };
	}
	const plain = readAddress(entry);
	if (plain !== undefined) return { network: whole(plain) };
	const { host = "", port } =
		/^(?<host>\[[^\]]+\]|[^:@?#\\\s]+)(?::(?<port>\d{1,5}))?$/.exec(entry)?.groups ?? {};
	const url = URL.parse(`http://${host}/`);
	if (host === "" || url === null) throw invalid;
	const address = readAddress(hostOf(url));
	const at = port === undefined ? {} : { port: Number(port) };
	return { ...(address === undefined ? { name: nameOf(url) } : { network: whole(address) }), ...at };
}

function whole(address: Address): readonly [Address, number] {
	return [address, address.kind() === "ipv4" ? 32 : 128];
}

function blocked(url: URL, found: string): HoldfastError {
	const where = found === hostOf(url) ? found : `${url.host} (${found})`;
	return new HoldfastError(
		"SSRF_BLOCKED",
		`${where} is not a public address. List it in \`allowPrivate\` to allow it.`,
	);
}
