// Formats declarations for the reference like the repository's sources, with lines that fit a page.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const biome = join(import.meta.dirname, "../../node_modules/.bin/biome");
const settings = { formatter: { indentStyle: "space", indentWidth: 2, lineWidth: 76 } };

/** Formats each declaration, keeping their order. One that cannot be parsed stays unchanged. */
export function formatCode(declarations: readonly string[]): readonly string[] {
	const folder = mkdtempSync(join(tmpdir(), "reference-"));
	const fileOf = (at: number): string => join(folder, `${at}.ts`);
	try {
		writeFileSync(join(folder, "biome.json"), JSON.stringify(settings));
		for (const [at, code] of declarations.entries()) writeFileSync(fileOf(at), wholeOf(code));
		try {
			execFileSync(biome, ["format", "--write", "."], { cwd: folder, stdio: "ignore" });
		} catch {
			// It fails if one cannot be parsed, but has formatted the others.
		}
		return declarations.map((code, at) => shownOf(code, readFileSync(fileOf(at), "utf8")));
	} finally {
		rmSync(folder, { recursive: true, force: true });
	}
}

const hasNoBody = (code: string): boolean => /^(?:abstract )?(?:interface|class) /.test(code);

/** Makes a declaration parsable: the heading of an interface or class gets a body. */
function wholeOf(code: string): string {
	if (hasNoBody(code)) return `declare ${code} {}\n`;
	return `${code.replaceAll(/^(?=(?:function|const|abstract class) )/gm, "declare ")}\n`;
}

function shownOf(code: string, formatted: string): string {
	const plain = withShortComments(formatted.replaceAll(/^declare /gm, "").trim());
	return hasNoBody(code) ? plain.replace(/ \{\}$/, "") : plain;
}

/** Wraps comments, which the formatter leaves as they are, and shows them as line comments. */
function withShortComments(code: string): string {
	return code.replaceAll(/^( *)\/\*\* (.*) \*\/$/gm, (_, indent: string, text: string) => {
		const start = `${indent}// `;
		const lines: string[] = [];
		for (const word of text.split(" ")) {
			const last = lines.at(-1);
			if (last === undefined || last.length + word.length >= settings.formatter.lineWidth)
				lines.push(start + word);
			else lines[lines.length - 1] = `${last} ${word}`;
		}
		return lines.join("\n");
	});
}
