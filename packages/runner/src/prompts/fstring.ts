// Engine `fstring`: `{name}`, dotted names, `{name!redact}`, doubled braces. Nothing is evaluated: braces around anything
// other than a name are literal. It makes one pass from brace to brace, so parsing is linear.
import { fieldAt, textOf } from "./plain-params.ts";
import {
	type CompileOutcome,
	mostProblems,
	problemAt,
	type RenderParts,
	type TemplateEngine,
} from "./template-engine.ts";

const placeholder = /\{(?<name>[A-Za-z_]\w*(?:\.\w+)*)(?:!(?<helper>\w*))?\}/y;
const brace = /[{}]/g;

interface Placeholder {
	readonly name: string;
	readonly isRedacted: boolean;
}

export const fstringEngine: TemplateEngine = { compile };

function compile(text: string): CompileOutcome {
	const parts: (string | Placeholder)[] = [];
	const problems: string[] = [];
	let at = 0;
	const next = (from: number): number => {
		brace.lastIndex = from;
		return brace.exec(text)?.index ?? text.length;
	};
	while (at < text.length && problems.length < mostProblems) {
		const found = next(at);
		if (found > at) parts.push(text.slice(at, found));
		at = found + 1;
		if (found === text.length) break;
		if (text[at] === text[found]) {
			parts.push(text[found] ?? "");
			at += 1;
			continue;
		}
		placeholder.lastIndex = found;
		const { name, helper } = placeholder.exec(text)?.groups ?? {};
		if (name !== undefined) {
			if (helper !== undefined && helper !== "redact")
				problems.push(problemAt(text, found, `unknown helper "${helper}"; there is only "redact"`));
			parts.push({ name, isRedacted: helper === "redact" });
			at = placeholder.lastIndex;
			continue;
		}
		parts.push(text[found] ?? "");
		if (text[found] === "{" && text[next(at)] !== "}")
			return {
				problems: [...problems, problemAt(text, found, 'unclosed "{"; write a literal brace twice')],
			};
	}
	if (problems.length > 0) return { problems };
	const names = parts.flatMap((part) => (typeof part === "string" ? [] : [part.name]));
	return {
		prompt: {
			references: [...new Set(names)],
			render: (given) => parts.map((part) => rendered(part, given)).join(""),
		},
	};
}

function rendered(part: string | Placeholder, { params, budget, redact }: RenderParts): string {
	budget.step();
	if (typeof part === "string") return budget.write(part);
	const value = fieldAt(params, part.name);
	return part.isRedacted ? redact(value) : budget.write(textOf(value));
}
