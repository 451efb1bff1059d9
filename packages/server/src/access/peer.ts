// The identity of a peer: its address, or for IPv6 its network, because an IPv6 peer can use any number of addresses in
// it.

/** Returns the name under which an address is counted; undefined for no address. */
export function peerName(address: string | undefined): string | undefined {
	// An address may have brackets or a port as proxies write it, a zone, or be IPv4 inside IPv6.
	const [, bracketed, plain] = /^\s*(?:\[([^\]]*)\].*|([^\s%]*).*)$/s.exec(address ?? "") ?? [];
	const bare = (bracketed ?? plain ?? "").replace(/%.*$/, "").toLowerCase();
	const [, version4] = /^(?:.*:)?(\d+\.\d+\.\d+\.\d+)(?::\d+)?$/.exec(bare) ?? [];
	if (version4 !== undefined) return version4;
	if (!bare.includes(":")) return bare.slice(0, 64) || undefined;
	const [head = "", tail] = bare.split("::");
	const groups = (text = ""): string[] => (text === "" ? [] : text.split(":"));
	const missing = tail === undefined ? 0 : Math.max(0, 8 - groups(head).length - groups(tail).length);
	const all = [...groups(head), ...Array<string>(missing).fill("0"), ...groups(tail)];
	return all
		.slice(0, 4)
		.map((group) => group.replace(/^0+(?=.)/, "").slice(0, 4))
		.join(":");
}

/** Returns the address that the nearest proxy saw: the one it appended to the header. */
export function addressInHeader(headers: Headers, name: string): string | undefined {
	return headers.get(name)?.split(",").at(-1)?.trim() || undefined;
}
