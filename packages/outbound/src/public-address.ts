// Which addresses are on the public internet. Everything reserved for other uses counts as private.
import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

/** An address for checks and comparison: an IPv4 address written as IPv6 counts as IPv4. */
export type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** The part of IPv6 from which public addresses are assigned. */
const globalUnicast = ipaddr.IPv6.parseCIDR("2000::/3");

/** Addresses in public ranges that reach the inside of a cloud. */
const inward: ReadonlySet<string> = new Set(["168.63.129.16"]);

/** Undefined if the text is not an address. */
export function readAddress(text: string): Address | undefined {
	return isIP(text) === 0 ? undefined : ipaddr.process(text);
}

/**
 * Whether an IP address is on the public internet: not loopback, private, link-local, carrier-shared, multicast, reserved
 * or unspecified. For an IPv4 address inside an IPv6 one (mapped, or behind NAT64) the IPv4 address counts; 6to4 and
 * Teredo are never public. Any other text is not public.
 *
 * @example
 * ```ts
 * import { isPublicAddress } from "@holdfast/outbound";
 * isPublicAddress("8.8.8.8"); // true
 * isPublicAddress("::ffff:10.0.0.1"); // false
 * ```
 */
export function isPublicAddress(address: string): boolean {
	const read = readAddress(address);
	return read !== undefined && isPublic(read);
}

export function isPublic(address: Address): boolean {
	if (address.kind() === "ipv4") return address.range() === "unicast" && !inward.has(address.toString());
	const six = address as ipaddr.IPv6;
	if (six.range() === "rfc6052") return isPublic(new ipaddr.IPv4(six.toByteArray().slice(12)));
	return six.range() === "unicast" && six.match(globalUnicast);
}
