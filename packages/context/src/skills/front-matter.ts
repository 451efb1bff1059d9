// Splits a `SKILL.md` into front matter and body, and reads the front matter as YAML. All scalars stay text, so `1.0` is
// not turned into a number. Aliases are refused: they can make a short text huge.
import { isMap, isScalar, parseDocument } from "yaml";
import { skillInvalid, skillTooLarge } from "./skill-error.ts";

/** The front matter's fields, and the text after it. */
export interface SplitSkill {
	readonly fields: ReadonlyMap<string, unknown>;
	readonly body: string;
}

/** Maximum characters of the front matter. The longest valid one is far shorter. */
const maxFrontMatter = 64 * 1024;

/** Splits a text. @throws HoldfastError `skill_invalid`, `skill_too_large`. */
export function splitSkill(text: string, skill: string, format: "strict" | "lenient"): SplitSkill {
	const lines = text.replace(/^\uFEFF/, "").replaceAll(/\r\n?/g, "\n");
	const opening = /^---[ \t]*\n/.exec(lines);
	if (opening === null)
		throw skillInvalid(
			{ skill },
			"has no front matter.",
			"Begin SKILL.md with a line `---`, then `name` and `description`, then another line `---`.",
		);
	const closing = /^---[ \t]*$/m.exec(lines.slice(opening[0].length));
	if (closing === null)
		throw skillInvalid(
			{ skill },
			"has front matter without an end.",
			"Add a line `---` after the last field.",
		);
	if (closing.index > maxFrontMatter)
		throw skillTooLarge(skill, "front matter", closing.index, maxFrontMatter);
	const start = opening[0].length;
	const yaml = lines.slice(start, start + closing.index);
	const body = lines.slice(start + closing.index + closing[0].length).replace(/^\n/, "");
	return { fields: fieldsOf(yaml, skill, format), body };
}

const parsed = (yaml: string) =>
	parseDocument(yaml, { schema: "failsafe", uniqueKeys: true, prettyErrors: false });

function fieldsOf(yaml: string, skill: string, format: "strict" | "lenient"): ReadonlyMap<string, unknown> {
	let document = parsed(yaml);
	const [error] = document.errors;
	if (error !== undefined && format === "lenient") document = parsed(withQuotes(yaml));
	const isValid = document.errors.length === 0;
	if (error !== undefined && !isValid) {
		const line = yaml.slice(0, error.pos[0]).split("\n").length + 1;
		throw skillInvalid(
			{ skill },
			`has front matter that is not valid YAML: line ${line}: ${error.message.trim().replace(/\.?$/, ".")}`,
			"Quote texts that contain `: ` or `#`, and name each field once.",
		);
	}
	if (!isMap(document.contents))
		throw skillInvalid(
			{ skill },
			"has front matter without fields.",
			"Write `name: …` and `description: …`.",
		);
	const fields = new Map<string, unknown>();
	for (const { key } of document.contents.items) {
		const name = isScalar(key) ? String(key.value) : String(key);
		fields.set(name, valueIn(document, name, skill));
	}
	return fields;
}

/** Quotes the texts of fields that are on one line: many published skills have a `: ` in an unquoted description. */
function withQuotes(yaml: string): string {
	const lines = yaml.split("\n");
	return lines
		.map((line, at) => {
			const { field, value = "" } = /^(?<field>[\w-]+):[ \t]+(?<value>\S.*)$/.exec(line)?.groups ?? {};
			const goesOn = /^[ \t]/.test(lines[at + 1] ?? "");
			if (field === undefined || goesOn || /^["'|>[{&*!]/.test(value)) return line;
			return `${field}: '${value.trimEnd().replaceAll("'", "''")}'`;
		})
		.join("\n");
}

function valueIn(document: ReturnType<typeof parseDocument>, name: string, skill: string): unknown {
	const value = document.get(name, true);
	try {
		return (value as { toJS?(of: unknown, options: object): unknown } | undefined)?.toJS?.(document, {
			maxAliasCount: 0,
		});
	} catch {
		throw skillInvalid(
			{ skill, field: name },
			`uses a YAML alias in \`${name}\`.`,
			"Write the value out; front matter has no aliases.",
		);
	}
}
