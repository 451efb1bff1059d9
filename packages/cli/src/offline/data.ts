/**
 * Reads data files (JSON and its relatives, YAML, TOML, INI) into entries: a key path, its value and its
 * line. It is tolerant: a file that is slightly broken still gives the entries that can be read.
 */
import type { Block, SourceDocument } from "./document.ts";

type Mutable<Type> = { -readonly [Key in keyof Type]: Type[Key] };

/** Parses a data file. */
export function parseData(
	path: string,
	lines: readonly (string | undefined)[],
	total: number,
): SourceDocument {
	const text = lines.map((line) => line ?? "").join("\n");
	const json = /\.(?:json|jsonc|json5)$/i.test(path) || /^\s*\{/.test(text);
	const blocks = json ? readJson(text) : readKeyLines(lines, /\.conf$/i.test(path));
	return { path, kind: "data", lines, total, blocks, sections: [] };
}

function entry(parent: number, depth: number, line: number, label: string, context: string): Mutable<Block> {
	return { kind: "entry", line, endLine: line, text: label, label, depth, section: -1, parent, context };
}

/** Scans tokens instead of parsing, so that lines are known and comments or trailing commas do no harm. */
function readJson(text: string): Block[] {
	const blocks: Mutable<Block>[] = [];
	const open: { index: number; array: boolean; count: number }[] = [];
	let line = 1;
	let key: string | undefined;
	const token = /"(?:[^"\\\n]|\\.)*"|\/\/[^\n]*|\/\*[\s\S]*?\*\/|[{}[\],:\n]|[^\s{}[\],:"]+/g;
	const path = (): string =>
		open.flatMap(({ index }) => (index >= 0 ? [(blocks[index] as Block).label] : [])).join(" ");
	const begin = (): number => {
		const scope = open.at(-1);
		if (scope?.array) scope.count++;
		const label = key ?? "";
		key = undefined;
		if (!scope || (scope.array && label === "")) return scope?.index ?? -1;
		blocks.push(entry(scope.index, open.length - 1, line, label, path()));
		return blocks.length - 1;
	};
	for (const match of text.matchAll(token)) {
		const found = match[0];
		if (found === "\n") line++;
		else if (found.startsWith("//") || found.startsWith("/*")) line += found.split("\n").length - 1;
		else if (found === "{" || found === "[") open.push({ index: begin(), array: found === "[", count: 0 });
		else if (found === "}" || found === "]") {
			const closed = open.pop();
			const block = closed && blocks[closed.index];
			if (block) block.endLine = line;
		} else if (found === "," || found === ":") continue;
		else {
			const scope = open.at(-1);
			const next = /^\s*:/.test(text.slice(match.index + found.length, match.index + found.length + 40));
			if (scope && !scope.array && key === undefined && next) {
				key = unquote(found);
				continue;
			}
			const value = unquote(found);
			if (scope?.array) {
				const owner = blocks[scope.index];
				blocks.push({ ...entry(scope.index, open.length - 1, line, value, path()), text: value });
				if (owner && owner.text.length < 300)
					owner.text = `${owner.text}${scope.count++ === 0 ? ": " : ", "}${value}`;
			} else {
				const label = key ?? "";
				key = undefined;
				const block = entry(scope?.index ?? -1, open.length - 1, line, label, path());
				block.text = `${label}: ${value}`;
				blocks.push(block);
			}
		}
	}
	return blocks;
}

function unquote(token: string): string {
	if (!token.startsWith('"')) return token;
	try {
		return String(JSON.parse(token));
	} catch {
		return token.slice(1, -1);
	}
}

/** `spaced`: a key and its value may be parted by a space alone. */
function readKeyLines(lines: readonly (string | undefined)[], spaced: boolean): Block[] {
	const blocks: Mutable<Block>[] = [];
	let open: { indent: number; index: number }[] = [];
	let table = -1;
	let comment = "";
	for (let index = 0; index < lines.length; index++) {
		const raw = lines[index] ?? "";
		const note = /^\s*[#;]\s?(.*)$/.exec(raw);
		if (note) {
			// A paragraph of a comment can be cited by itself; the last one also belongs to the key below it.
			const last = blocks.at(-1);
			const announced = last?.kind === "paragraph" && /:\s*$/.test(last.text);
			if ((note[1] as string).trim() === "" && !announced) comment = "";
			if (comment !== "" && last?.kind === "paragraph" && last.endLine === index) {
				last.text = `${last.text} ${note[1]}`;
				last.endLine = index + 1;
			} else if ((note[1] as string).trim() !== "")
				blocks.push({
					...entry(-1, 0, index + 1, "", ""),
					kind: "paragraph",
					text: (note[1] as string).trim(),
				});
			comment = `${comment} ${note[1]}`.trim();
			continue;
		}
		if (raw.trim() === "") {
			comment = "";
			continue;
		}
		const header = /^\s*\[+\s*([^\]]+?)\s*\]+\s*(?:#.*)?$/.exec(raw);
		if (header) {
			blocks.push(entry(-1, 0, index + 1, (header[1] as string).replaceAll('"', ""), comment));
			table = blocks.length - 1;
			open = [];
			comment = "";
			continue;
		}
		const indent = (/^\s*(?:-\s+)?/.exec(raw)?.[0] ?? "").length;
		const pair =
			/^\s*(?:-\s+)?(?:export\s+)?("[^"]+"|'[^']+'|[\w$@./-][\w$@./ -]*?)\s*(?::(?=\s|$)|=)\s*(.*)$/.exec(
				raw,
			) ?? (spaced ? /^([a-z][\w-]*)\s+(\S.*)$/i.exec(raw) : null);
		while (open.length > 0 && (open.at(-1) as { indent: number }).indent >= indent) open.pop();
		const parent = open.at(-1)?.index ?? table;
		for (let up = parent; up >= 0; up = (blocks[up] as Block).parent)
			(blocks[up] as Mutable<Block>).endLine = index + 1;
		const context = [comment, ...open.map((scope) => (blocks[scope.index] as Block).label)].join(" ").trim();
		if (pair) {
			const label = (pair[1] as string).replace(/^["']|["']$/g, "");
			const block = entry(parent, open.length, index + 1, label, context);
			const value = (pair[2] as string).trim();
			if (value !== "") block.text = `${label}: ${value}`;
			blocks.push(block);
			open.push({ indent, index: blocks.length - 1 });
		} else {
			const value = raw
				.trim()
				.replace(/^-\s+/, "")
				.replace(/,$/, "")
				.replace(/^["']|["']$/g, "");
			blocks.push({ ...entry(parent, open.length, index + 1, value, context), text: value });
		}
		comment = "";
	}
	return blocks;
}
