// The record of a skill that a session has loaded, so that a run continues with the text it started with.
import type { SessionValues } from "holdfast/plugins";
import { hashOf } from "../hash-of.ts";
import { textOf } from "./folder-skill.ts";
import type { Skill } from "./skill.ts";
import { skillChanged, skillFileNotFound } from "./skill-error.ts";

/** A skill as a session loaded it. */
export interface PinnedSkill {
	/** The SHA-256 of its `SKILL.md`. */
	readonly hash: string;
	/** The run that loaded it. */
	readonly runId: string;
	/** The call that loaded it. */
	readonly toolCallId: string;
	/** The text that the model received. */
	readonly shown: string;
	/** The SHA-256 of each further file, by path. */
	readonly files: Readonly<Record<string, string>>;
	readonly allowedTools?: readonly string[];
}

const prefix = "skill:";

/** Returns a skill as the session loaded it; undefined if it has not. */
export async function pinOf(values: SessionValues, skill: string): Promise<PinnedSkill | undefined> {
	return (await values.get(prefix + skill)) as PinnedSkill | undefined;
}

/** Loads a skill for a run: as the run loaded it before, or as its source has it. Rejects with `skill_changed`. */
export async function loadPinned(
	values: SessionValues,
	skill: Skill,
	{ runId, toolCallId }: { readonly runId: string; readonly toolCallId: string },
): Promise<PinnedSkill> {
	const known = await pinOf(values, skill.name);
	if (known?.runId === runId) return known;
	if ((await hashOf(await skill.readText())) !== skill.hash)
		throw skillChanged(
			skill.name,
			"The SKILL.md",
			"The agent was set up with another version. Continue without this skill; a new agent uses the new text.",
		);
	const files: Record<string, string> = {};
	for (const path of skill.files) files[path] = await hashOf(await skill.readFile(path));
	const pin: PinnedSkill = {
		hash: skill.hash,
		runId,
		toolCallId,
		shown: shownSkill(skill, known),
		files,
		...(skill.allowedTools && { allowedTools: skill.allowedTools }),
	};
	await values.set(prefix + skill.name, pin);
	return pin;
}

/** Returns a file as text. Rejects with `skill_changed` if it is not what it was when the session loaded the skill. */
export async function readPinned(pin: PinnedSkill, skill: Skill, path: string): Promise<string> {
	const bytes = await skill.readFile(path);
	if (!Object.hasOwn(pin.files, path)) throw skillFileNotFound(skill.name, path);
	if ((await hashOf(bytes)) !== pin.files[path])
		throw skillChanged(
			skill.name,
			`The file ${JSON.stringify(path)}`,
			"The session loaded another version of the skill. Continue without the file; a later turn can load the skill again.",
		);
	const text = textOf(bytes);
	if (text === undefined) throw skillFileNotFound(skill.name, path);
	return text;
}

/** Copies the loaded skills of a session to its fork, if the fork's history contains them. */
export async function copyPins(
	from: SessionValues,
	to: SessionValues,
	calls: ReadonlySet<string>,
): Promise<void> {
	for (const { name, value } of await from.list()) {
		const { toolCallId } = value as PinnedSkill;
		if (name.startsWith(prefix) && calls.has(toolCallId)) await to.set(name, value);
	}
}

function shownSkill(
	{ name, hash, body, files, allowedTools }: Skill,
	before: PinnedSkill | undefined,
): string {
	const changed =
		before === undefined || before.hash === hash ? "" : " It has changed since this session loaded it.";
	const lines = [`[Skill ${name}, sha256 ${hash.slice(0, 16)}.${changed}]`, body.trim()];
	if (files.length > 0)
		lines.push(
			`[Files, to be read with read_skill_file; scripts cannot be run:\n${files.map((path) => `- ${path}`).join("\n")}]`,
		);
	if (allowedTools !== undefined)
		lines.push(`[While you use this skill, it allows these tools: ${allowedTools.join(", ")}.]`);
	return lines.join("\n\n");
}
