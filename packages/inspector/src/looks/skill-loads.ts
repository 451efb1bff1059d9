// The skills that a session has loaded, folded from its entries in order (keeps I5 and I7).
import type { Entry } from "holdfast/host";
import type { SkillLoad } from "../wire/index.ts";

/** Maximum number of loads kept per session; the latest ones. */
const mostLoads = 200;

/**
 * Adds the loads of further entries.
 * @param open the tools of the calls that were open before.
 */
export function skillLoads(
	before: readonly SkillLoad[],
	open: ReadonlyMap<string, string>,
	entries: readonly Entry[],
): readonly SkillLoad[] {
	const loading = new Set([...open].flatMap(([callId, name]) => (name === "load_skill" ? [callId] : [])));
	const found: SkillLoad[] = [];
	for (const { fact, seq, at } of entries) {
		if (fact.kind === "tool.started" && fact.name === "load_skill") loading.add(fact.callId);
		if (fact.kind !== "tool.settled" || !loading.delete(fact.callId)) continue;
		if (fact.outcome !== "done" || typeof fact.result !== "string") continue;
		const [, name, hash] = /^\[Skill (.{1,200}), sha256 ([0-9a-f]{1,64})\./.exec(fact.result) ?? [];
		if (name !== undefined && hash !== undefined) found.push({ name, hash, seq, at });
	}
	return found.length === 0 ? before : [...before, ...found].slice(-mostLoads);
}
