// Limits the size of a schema (keeps I7). Schemas come from servers and clients as well as from authors, and compiling
// one is synchronous, so its size is checked first. Objects that are referenced repeatedly, or cyclically, are counted
// once.
import { malformed } from "./check.ts";

/** Members and elements of all objects and lists. */
const mostMembers = 100_000;
const mostCharacters = 4_000_000;
const mostLevels = 500;

/** @throws HoldfastError `invalid_schema` */
export function checkSize(schema: object): void {
	let [members, characters] = [0, 0];
	const seen = new Set<unknown>([schema]);
	let level: object[] = [schema];
	for (let depth = 0; level.length > 0; depth++) {
		if (depth > mostLevels) throw malformed([], `it has more than ${mostLevels} levels`);
		const below: object[] = [];
		for (const one of level) {
			for (const key of Object.keys(one)) {
				const member = (one as Record<string, unknown>)[key];
				characters += key.length + (typeof member === "string" ? member.length : 0);
				if (++members > mostMembers)
					throw malformed([], `it has more than ${mostMembers} members and elements`);
				if (characters > mostCharacters) throw malformed([], `it has more than ${mostCharacters} characters`);
				if (typeof member !== "object" || member === null || seen.has(member)) continue;
				seen.add(member);
				below.push(member);
			}
		}
		level = below;
	}
}
