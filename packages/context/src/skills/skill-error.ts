// The errors of a skill's text: each names the skill, the field and the remedy.
import { HoldfastError } from "@holdfast/upp";

/** What an error about a skill is about. */
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
		`The skill "${skill}" has ${what} of ${size} characters; the limit is ${limit}. Move details to files that the body refers to, or raise the limit.`,
		{ data: { skill, size, limit } },
	);
}
