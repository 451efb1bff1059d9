import { expect, test } from "vitest";
import { isCurrent, skillUses } from "./all-skills-model.ts";

const skill = (name: string, hash: string) => ({ name, hash, description: `Does ${name}.`, files: [] });
const load = (name: string, sessionId: string, hash: string, at: number) => ({
	name,
	sessionId,
	hash,
	at,
	seq: at,
});

test("skills are listed with the sessions that loaded them, and those that the agent no longer has", () => {
	const refunds = skill("refunds", "aa11");
	const loads = [
		load("refunds", "ann", "aa", 5),
		load("gone", "bob", "cc", 4),
		load("refunds", "bob", "bb", 3),
		load("refunds", "ann", "bb", 2),
	];
	expect(skillUses([refunds, skill("idle", "dd22")], loads)).toEqual([
		{ name: "refunds", skill: refunds, sessions: 2, outdated: 1, lastAt: 5 },
		{
			name: "idle",
			skill: expect.objectContaining({ hash: "dd22" }),
			sessions: 0,
			outdated: 0,
			lastAt: undefined,
		},
		{ name: "gone", skill: undefined, sessions: 1, outdated: 1, lastAt: 4 },
	]);
	expect([isCurrent(refunds, "aa"), isCurrent(refunds, "ab"), isCurrent(undefined, "aa")]).toEqual([
		true,
		false,
		false,
	]);
});
