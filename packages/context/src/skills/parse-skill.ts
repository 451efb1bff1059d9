// Reads a `SKILL.md` of the open Agent Skills format and checks every field, so that a skill that is used is a valid one.
import { checkOptions, HoldfastTypeError, optionNames } from "@holdfast/upp";
import { splitSkill } from "./front-matter.ts";
import { skillInvalid, skillNameInvalid, skillTooLarge } from "./skill-error.ts";

/** A `SKILL.md` after it was checked. */
export interface SkillText {
	/** 1 to 64 lowercase letters, digits and single hyphens. */
	readonly name: string;
	/** What the skill does and when to use it: 1 to 1,024 characters. */
	readonly description: string;
	/** The license, as written. */
	readonly license?: string;
	/** Requirements of the environment: 1 to 500 characters. */
	readonly compatibility?: string;
	/** Further texts by name; empty if there are none. */
	readonly metadata: Readonly<Record<string, string>>;
	/** The patterns of `allowed-tools`; absent if the skill does not limit tools. */
	readonly allowedTools?: readonly string[];
	/** The instructions after the front matter, with line ends `\n`. */
	readonly body: string;
}

/** Options of `parseSkill`. */
export interface ParseSkillOptions {
	/** The name of the skill's folder, which must equal `name` unless `format` is `lenient`. Default: not compared. */
	readonly folder?: string;
	/** Maximum characters of the body. Default 100,000. A longer body throws `skill_too_large`. */
	readonly maxBodyCharacters?: number;
	/**
	 * `strict`: only the fields of the format, in its types. `lenient` also accepts what other programs add: it ignores
	 * unknown fields, turns nested `metadata` into JSON, and accepts a list in `allowed-tools`, a name that differs from the
	 * folder's, and texts that YAML requires to be quoted. Default `strict`.
	 */
	readonly format?: "strict" | "lenient";
}

const parseSkillNames = optionNames<ParseSkillOptions>({
	folder: "text",
	maxBodyCharacters: "number",
	format: ["strict", "lenient"],
});

/** Default maximum of a body, in characters. */
const maxBodyCharacters = 100_000;

const known: ReadonlySet<string> = new Set([
	"name",
	"description",
	"license",
	"compatibility",
	"metadata",
	"allowed-tools",
]);

/**
 * Parses the text of a `SKILL.md` and validates it.
 *
 * @throws HoldfastError `skill_invalid` for missing, unknown or contradictory front matter, `skill_name_invalid` for a
 * name that breaks the format or differs from the folder's, `skill_too_large` for a body over the limit.
 * @example
 * import { parseSkill } from "@holdfast/context";
 *
 * const { name } = parseSkill("---\nname: tidy-up\ndescription: Tidies a folder.\n---\nMove files by kind.\n");
 */
export function parseSkill(text: string, options: ParseSkillOptions = {}): SkillText {
	checkOptions(options, parseSkillNames, { of: "parseSkill()" });
	if (typeof text !== "string")
		throw new HoldfastTypeError(
			"invalid_argument",
			"parseSkill() reads the text of a SKILL.md: pass a string.",
		);
	const { folder, maxBodyCharacters: limit = maxBodyCharacters, format = "strict" } = options;
	if (!(limit > 0))
		throw new HoldfastTypeError("invalid_option", "The option `maxBodyCharacters` must be a number above 0.");
	const { fields, body } = splitSkill(text, folder ?? "without a name", format);
	const name = nameOf(fields.get("name"), folder, format);
	const read: Fields = { fields, skill: name, format };
	if (format === "strict") refuseUnknown(read);
	if (body.length > limit) throw skillTooLarge(name, "a body", body.length, limit);
	const license = optionalText(read, "license", Number.POSITIVE_INFINITY);
	const compatibility = optionalText(read, "compatibility", 500);
	const allowedTools = allowedToolsOf(read);
	return {
		name,
		description: requiredText(read, "description", 1_024),
		...(license === undefined ? {} : { license }),
		...(compatibility === undefined ? {} : { compatibility }),
		metadata: metadataOf(read),
		...(allowedTools === undefined ? {} : { allowedTools }),
		body,
	};
}

interface Fields {
	readonly fields: ReadonlyMap<string, unknown>;
	readonly skill: string;
	readonly format: "strict" | "lenient";
}

function nameOf(value: unknown, folder: string | undefined, format: Fields["format"]): string {
	if (value === undefined || value === "")
		throw skillInvalid(
			{ skill: folder ?? "without a name", field: "name" },
			"has no `name`.",
			"Add `name:` to its front matter, equal to the name of its folder.",
		);
	if (typeof value !== "string" || value.length > 64 || !/^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(value))
		throw skillNameInvalid(
			typeof value === "string" ? value : JSON.stringify(value),
			"is not valid.",
			"Use 1 to 64 lowercase letters, digits and single hyphens, with a letter or digit at both ends.",
		);
	if (format === "strict" && folder !== undefined && folder !== value)
		throw skillNameInvalid(
			value,
			`differs from the name of its folder, "${folder}".`,
			'Rename one of them: a skill\'s name and folder are equal. Or read the skill with `format: "lenient"`.',
		);
	return value;
}

function refuseUnknown({ fields, skill }: Fields): void {
	const unknown = [...fields.keys()].filter((name) => !known.has(name));
	const [field] = unknown;
	if (field === undefined) return;
	throw skillInvalid(
		{ skill, field },
		`has unknown front matter: ${unknown.map((name) => `\`${name}\``).join(", ")}.`,
		'Move it under `metadata`, or read the skill with `format: "lenient"`.',
	);
}

function requiredText(read: Fields, field: string, limit: number): string {
	const text = optionalText(read, field, limit);
	if (text !== undefined) return text;
	throw skillInvalid(
		{ skill: read.skill, field },
		`has no \`${field}\`.`,
		"Describe what it does and when to use it.",
	);
}

function optionalText({ fields, skill }: Fields, field: string, limit: number): string | undefined {
	const value = fields.get(field);
	if (value === undefined) return undefined;
	if (typeof value !== "string")
		throw skillInvalid({ skill, field }, `has a \`${field}\` that is not text.`, "Write it as one string.");
	const text = value.trim();
	if (text === "")
		throw skillInvalid({ skill, field }, `has an empty \`${field}\`.`, "Fill it in, or remove the field.");
	if (text.length > limit)
		throw skillInvalid(
			{ skill, field },
			`has a \`${field}\` of ${text.length} characters; the limit is ${limit}.`,
			"Shorten it, and move details to the body.",
		);
	return text;
}

function metadataOf({ fields, skill, format }: Fields): Readonly<Record<string, string>> {
	const value = fields.get("metadata");
	if (value === undefined || value === "") return {};
	if (typeof value !== "object" || value === null || Array.isArray(value))
		throw skillInvalid(
			{ skill, field: "metadata" },
			"has `metadata` that is not a map.",
			"Write names with strings below `metadata:`.",
		);
	const entries = Object.entries(value).map(([name, each]): [string, string] => {
		if (typeof each === "string") return [name, each];
		if (format === "lenient") return [name, JSON.stringify(each)];
		throw skillInvalid(
			{ skill, field: `metadata.${name}` },
			`has nested \`metadata\` in \`${name}\`.`,
			'Write a string for each name, or read the skill with `format: "lenient"`.',
		);
	});
	return Object.fromEntries(entries);
}

function allowedToolsOf({ fields, skill, format }: Fields): readonly string[] | undefined {
	const value = fields.get("allowed-tools");
	if (value === undefined) return undefined;
	if (typeof value === "string") return patternsIn(value);
	if (format === "lenient" && Array.isArray(value) && value.every((each) => typeof each === "string"))
		return value.map((each: string) => each.trim());
	throw skillInvalid(
		{ skill, field: "allowed-tools" },
		"has `allowed-tools` that is not a string.",
		"Write the names of the tools, separated by spaces.",
	);
}

/** Splits at spaces and commas, except inside parentheses: `Bash(git diff:*) Read`. */
function patternsIn(text: string): readonly string[] {
	return text.match(/(?:[^\s,()]+(?:\([^)]*\))?)/g) ?? [];
}
