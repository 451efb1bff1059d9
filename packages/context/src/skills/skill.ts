// A skill as it is used: its text, its files, and where it came from.
import type { MaybePromise } from "holdfast/host";
import type { SkillText } from "./parse-skill.ts";

/** A skill that was loaded from a source. */
export interface Skill extends SkillText {
	/** Where it came from: its folder, or `inline`. */
	readonly source: string;
	/** The whole `SKILL.md`. */
	readonly text: string;
	/** The SHA-256 of `text`, in hexadecimal. */
	readonly hash: string;
	/** The paths of its other files, relative to its folder, in order. */
	readonly files: readonly string[];
	/**
	 * Returns the bytes of one of `files`. Rejects with `skill_file_not_found`, `skill_path_outside` or
	 * `skill_too_large`.
	 */
	readFile(path: string): Promise<Uint8Array>;
	/** Returns the `SKILL.md` as the source has it now. */
	readText(): Promise<string>;
}

/** A skill as a value. */
export interface InlineSkill {
	/** The whole `SKILL.md`. */
	readonly text: string;
	/** The contents of its other files, by path. Default: none. */
	readonly files?: Readonly<Record<string, string | Uint8Array>>;
}

/** An installed npm package: its folder `skills`, or the package itself if it has a `SKILL.md`. */
export interface SkillPackage {
	/** Name of the package. */
	readonly package: string;
	/** The folder from which the package is looked up. Default: the current folder. */
	readonly from?: string;
}

/** Where skills come from: a value, a loaded skill, a package, or a function that returns such sources. */
export type SkillSource =
	| InlineSkill
	| Skill
	| SkillPackage
	| (() => MaybePromise<readonly (InlineSkill | Skill | SkillPackage)[]>);
