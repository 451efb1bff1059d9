// The skills of the agent with the sessions that have loaded them.
import type { ShownSkillLoad } from "../wire/index.ts";

/** A skill as the agent has it now. */
export interface AgentSkill {
	readonly name: string;
	readonly description: string;
	/** The SHA-256 of its text. */
	readonly hash: string;
	readonly files: readonly string[];
	/** Absent if it allows all tools. */
	readonly allowedTools?: readonly string[];
}

/** A skill with its use. */
export interface SkillUse {
	readonly name: string;
	/** Undefined if the agent no longer has it. */
	readonly skill: AgentSkill | undefined;
	/** How many sessions have loaded it, and how many of them an earlier version last. */
	readonly sessions: number;
	readonly outdated: number;
	/** When it was last loaded. */
	readonly lastAt: number | undefined;
}

/** Whether a session loaded the text that the agent has now. Loads have the beginning of the hash. */
export function isCurrent(skill: AgentSkill | undefined, hash: string): boolean {
	return skill?.hash.startsWith(hash) === true;
}

/** Returns the agent's skills in their order, then those that only sessions have. `loads` are the latest first. */
export function skillUses(
	skills: readonly AgentSkill[],
	loads: readonly ShownSkillLoad[],
): readonly SkillUse[] {
	const named = new Map<string, AgentSkill | undefined>(skills.map((skill) => [skill.name, skill]));
	for (const { name } of loads) if (!named.has(name)) named.set(name, undefined);
	return [...named].map(([name, skill]) => {
		const own = loads.filter((load) => load.name === name);
		/** The hash that each session loaded last. */
		const last = new Map<string, string>();
		for (const { sessionId, hash } of own) if (!last.has(sessionId)) last.set(sessionId, hash);
		const outdated = [...last.values()].filter((hash) => !isCurrent(skill, hash)).length;
		return { name, skill, sessions: last.size, outdated, lastAt: own[0]?.at };
	});
}
