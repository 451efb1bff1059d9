import { expect, test } from "vitest";
import { addressInHeader, peerName } from "./peer.ts";

test("a peer is its IPv4 address, in any notation", () => {
	for (const address of [
		"192.0.2.7",
		"::ffff:192.0.2.7",
		"192.0.2.7:8080",
		"[::ffff:192.0.2.7]:443",
		" 192.0.2.7 ",
	])
		expect([address, peerName(address)]).toEqual([address, "192.0.2.7"]);
});

test("peers of one IPv6 network are one peer, and peers of two networks are two", () => {
	for (const address of [
		"2001:db8:0:7::1",
		"2001:0DB8:0000:0007:ffff:ffff:ffff:ffff",
		"[2001:db8:0:7::2]:443",
		"2001:db8::7:0:0:0:9",
		"2001:db8:0:7::3%eth0",
	])
		expect([address, peerName(address)]).toEqual([address, "2001:db8:0:7"]);
	expect(peerName("2001:db8:0:8::1")).toBe("2001:db8:0:8");
	expect(peerName("::1")).toBe("0:0:0:0");
});

test("an invalid address becomes a short name, and a missing one is anonymous", () => {
	expect(peerName("unknown")).toBe("unknown");
	expect(peerName("x".repeat(1_000))).toHaveLength(64);
	expect(peerName(`${"y".repeat(1_000)}:${"z".repeat(1_000)}`)?.length).toBeLessThan(64);
	expect([peerName(undefined), peerName(""), peerName("  ")]).toEqual([undefined, undefined, undefined]);
});

test("of several proxies the nearest is trusted", () => {
	const headers = new Headers({ "x-forwarded-for": "203.0.113.1, 198.51.100.2" });
	expect(addressInHeader(headers, "X-Forwarded-For")).toBe("198.51.100.2");
	expect(addressInHeader(headers, "X-Real-IP")).toBeUndefined();
});
