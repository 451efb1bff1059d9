// The errors of a skill's text: each names the skill, the field and the remedy.
import { HoldfastError } from "@holdfast/upp";

/** The subject of an error about a skill. */
export interface SkillPlace {
	/** The skill's name, or its folder if it has no valid name. */
	readonly skill: string;
	/** The field of the front matter. */
	readonly field?: string;
}

/** Creates the error for a `SKILL.md` that does not follow the format. `why` is a sentence, `remedy` another. */
export function skillInvalid(place: SkillPlace, why: string, remedy: string): HoldfastError {
	return new HoldfastError("skill_invalid", `The skill "${place.skill}" ${why} ${remedy}`, {
		data: { ...place },
	});
}

/** Creates the error for a name that breaks the format's rules or does not match the skill's folder. */
export function skillNameInvalid(name: string, why: string, remedy: string): HoldfastError {
	return new HoldfastError("skill_name_invalid", `The skill name ${JSON.stringify(name)} ${why} ${remedy}`, {
		data: { skill: name },
	});
}

/** Creates the error for a text that exceeds a limit. */
export function skillTooLarge(skill: string, what: string, size: number, limit: number): HoldfastError {
	return new HoldfastError(
		"skill_too_large",
		`The skill "${skill}" has ${what} of size ${size}; the limit is ${limit}. Move details to files that the body refers to, or raise the limit.`,
		{ data: { skill, size, limit } },
	);
}

/** Creates the error for a file that leads out of the skill's folder. */
export function skillPathOutside(skill: string, path: string): HoldfastError {
	return new HoldfastError(
		"skill_path_outside",
		`The path ${JSON.stringify(path)} leads out of the folder of the skill "${skill}". Use a relative path below the folder, and no link that leaves it.`,
		{ data: { skill, path } },
	);
}

/** Creates the error for a file that a skill does not have. */
export function skillFileNotFound(skill: string, path: string): HoldfastError {
	return new HoldfastError(
		"skill_file_not_found",
		`The skill "${skill}" has no text file ${JSON.stringify(path)}. Use one of the paths that load_skill lists.`,
		{ data: { skill, path } },
	);
}

/** Creates the error for a name that no skill has. */
export function skillNotFound(skill: string, names: readonly string[]): HoldfastError {
	return new HoldfastError(
		"skill_not_found",
		`There is no skill ${JSON.stringify(skill)}. The skills are: ${names.join(", ")}.`,
		{ data: { skill } },
	);
}

/** Creates the error for two skills of one name. */
export function skillDuplicate(skill: string, one: string, other: string): HoldfastError {
	return new HoldfastError(
		"skill_duplicate",
		`Two skills have the name "${skill}": in ${one} and in ${other}. Rename or remove one of them.`,
		{ data: { skill, sources: [one, other] } },
	);
}

/** Creates the error for a source without skills. */
export function skillSourceMissing(source: string, why: string): HoldfastError {
	return new HoldfastError("skill_source_missing", `No skills can be read from ${source}: ${why}`, {
		data: { source },
	});
}

/** Creates the error for a skill whose content is no longer what the agent or the session began with. */
export function skillChanged(skill: string, what: string, remedy: string): HoldfastError {
	return new HoldfastError("skill_changed", `${what} of the skill "${skill}" has changed. ${remedy}`, {
		data: { skill },
	});
}
