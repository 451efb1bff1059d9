// Names of tools that models accept: letters, digits, `_` and `-`, at most 64, and unique.
import { createHash } from "node:crypto";

/** A tool and its server. */
export interface NamedTool {
	readonly server: string;
	readonly name: string;
}

const longest = 64;

/**
 * Returns a name for each tool, in the same order. If two tools would have the same name, both are prefixed with their
 * server's: a server that is added later cannot replace another one's tool.
 */
export function nameTools(
	tools: readonly NamedTool[],
	{
		prefix = "clash",
		reserved = [],
	}: { readonly prefix?: "clash" | "always"; readonly reserved?: readonly string[] },
): readonly string[] {
	const taken = new Set(reserved);
	const plain = tools.map(({ name }) => fit(name, name));
	const often = countOf(plain);
	const wanted = tools.map(({ server, name }, index) => {
		const own = plain[index] as string;
		const clashes = prefix === "always" || taken.has(own) || often.get(own) !== 1;
		return clashes ? fit(`${server}_${name}`, `${server}/${name}`) : own;
	});
	// Prefixed names may clash too: `a` with `b_c`, and `a_b` with `c`.
	const oftenWanted = countOf(wanted);
	return wanted.map((name, index) => {
		if (oftenWanted.get(name) === 1 && !taken.has(name)) return name;
		const { server, name: own } = tools[index] as NamedTool;
		return hashed(name, `${server}/${own}`);
	});
}

function fit(name: string, whole: string): string {
	const plain = name.replace(/[^a-zA-Z0-9_-]/g, "_");
	const starts = /^[a-zA-Z_]/.test(plain) ? plain : `_${plain}`;
	return starts.length <= longest ? starts : hashed(starts, whole);
}

function hashed(name: string, whole: string): string {
	const hash = createHash("sha256").update(whole).digest("hex").slice(0, 8);
	return `${name.slice(0, longest - hash.length - 1)}_${hash}`;
}

function countOf(names: readonly string[]): ReadonlyMap<string, number> {
	const counts = new Map<string, number>();
	for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
	return counts;
}
