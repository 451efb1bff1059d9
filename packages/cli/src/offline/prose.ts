/**
 * Reads prose: Markdown, reStructuredText, AsciiDoc and plain text alike. Headings (marked or underlined),
 * list items, paragraphs, code blocks and tables become blocks with the lines they came from.
 */
import { type Block, plainName, plainText, type Section, type SourceDocument } from "./document.ts";

type Mutable<Type> = { -readonly [Key in keyof Type]: Type[Key] };

const FENCE = /^\s*(```+|~~~+)/;
const MARKED_HEADING = /^\s{0,3}(#{1,6}|={1,6})\s+(.+?)\s*[#=]*\s*$/;
const UNDERLINE = /^\s*([=\-~^"'`#*+:.])\1+\s*$/;
const ITEM = /^(\s*)(?:[-*+•]|\d{1,3}[.)]|\([a-z\d]{1,2}\))\s+(.*)$/;
const TABLE_RULE = /^\s*\|?\s*:?-{2,}:?\s*(?:\|\s*:?-{2,}:?\s*)+\|?\s*$|^\s*\|\s*:?-{2,}:?\s*\|\s*$/;

/** Parses a prose document. */
export function parseProse(
	path: string,
	lines: readonly (string | undefined)[],
	total: number,
): SourceDocument {
	const reader = new ProseReader(/\.[1-9]$/.test(path) ? lines.map(manualLine) : lines);
	reader.read();
	return {
		path,
		kind: "prose",
		lines,
		total,
		blocks: reader.blocks,
		sections: closeSections(reader.sections, total),
	};
}

/** A line of a manual page as if it were Markdown. */
function manualLine(line: string | undefined): string | undefined {
	if (line === undefined) return undefined;
	const title = /^\.S[HS]\s+"?(.*?)"?\s*$/.exec(line);
	if (title) return `## ${title[1]}`;
	return line
		.replace(/^['.]\\?["A-Za-z]{1,2}\b\s*/, "")
		.replace(/\\f[A-Z]|\\&/g, "")
		.replaceAll("\\-", "-");
}

class ProseReader {
	readonly blocks: Mutable<Block>[] = [];
	readonly sections: Mutable<Section>[] = [];
	readonly #lines: readonly (string | undefined)[];
	/** Underline characters in the order in which they appeared: their rank is their level. */
	readonly #underlines: string[] = [];
	#section = -1;
	#lead = "";
	#at = 0;

	constructor(lines: readonly (string | undefined)[]) {
		this.#lines = lines;
	}

	read(): void {
		if (this.#line(0) === "---") this.#skipFrontMatter();
		while (this.#at < this.#lines.length) {
			const line = this.#line(this.#at);
			if (line.trim() === "") this.#at++;
			else if (FENCE.test(line)) this.#readFence();
			else if (this.#readHeading(line) || this.#readTable()) continue;
			else if (ITEM.test(line) && !/^\s*([-*_])(?:\s*\1){2,}\s*$/.test(line)) this.#readList();
			else if (/^(?: {4}|\t)/.test(line) && this.#blank(this.#at - 1)) this.#readIndented();
			else this.#readParagraph();
		}
	}

	#line(index: number): string {
		return this.#lines[index] ?? "";
	}

	#blank(index: number): boolean {
		return this.#line(index).trim() === "";
	}

	#skipFrontMatter(): void {
		for (let index = 1; index < Math.min(60, this.#lines.length); index++) {
			if (this.#line(index) === "---") {
				this.#at = index + 1;
				return;
			}
		}
	}

	#readHeading(line: string): boolean {
		const tagged = /^\s*<h([1-6])\b[^>]*>(.*?)<\/h\1>\s*$/i.exec(line);
		if (tagged) {
			this.#pushHeading(Number(tagged[1]), tagged[2] as string, this.#at, this.#at);
			this.#at++;
			return true;
		}
		const marked = MARKED_HEADING.exec(line);
		if (marked) {
			this.#pushHeading((marked[1] as string).length, marked[2] as string, this.#at, this.#at);
			this.#at++;
			return true;
		}
		const underline = UNDERLINE.exec(this.#line(this.#at + 1));
		const long = underline && this.#line(this.#at + 1).trim().length >= Math.min(4, line.trim().length);
		if (
			underline &&
			long &&
			!ITEM.test(line) &&
			!UNDERLINE.test(line) &&
			!line.includes("|") &&
			line.length < 160
		) {
			const character = underline[1] as string;
			if (!this.#underlines.includes(character)) this.#underlines.push(character);
			const level =
				character === "="
					? 1
					: Math.max(2, this.#underlines.indexOf(character) + (this.#underlines.includes("=") ? 1 : 2));
			this.#pushHeading(level, line.trim(), this.#at, this.#at + 1);
			this.#at += 2;
			return true;
		}
		// "4.17.1 / 2019-05-25" alone on a line, in a plain text file.
		if (
			releaseVersion(line) &&
			this.#blank(this.#at - 1) &&
			line.length < 70 &&
			!/[.;,]$/.test(line.trim()) &&
			!ITEM.test(line)
		) {
			this.#pushHeading(2, line.trim(), this.#at, this.#at);
			this.#at++;
			return true;
		}
		// "New features in 1.5:" alone, likewise.
		if (/:\s*$/.test(line) && this.#blank(this.#at - 1) && this.#blank(this.#at + 1) && looseVersion(line)) {
			this.#pushHeading(2, line.trim().replace(/:$/, ""), this.#at, this.#at, looseVersion(line));
			this.#at++;
			return true;
		}
		// A line in bold alone, or of capitals alone, heads what follows without closing what is above.
		const bold = /^\s*(?:\*\*|__|\*|_)([^*_].{0,100}?)(?:\*\*|__|\*|_):?\s*$/.exec(line);
		const colon = /^[A-Z][\w/&'-]*(?: [\w/&'-]+){0,3}:$/.test(line.trim()) && !/^\s/.test(line);
		const capitals = /^[A-Z][A-Z0-9 ,&/()'-]{3,60}:?$/.test(line.trim()) && this.#blank(this.#at - 1);
		if (
			(bold || capitals || colon) &&
			(this.#blank(this.#at + 1) || ITEM.test(this.#line(this.#at + 1))) &&
			this.#blank(this.#at - 1)
		) {
			this.#pushHeading(6, (bold?.[1] ?? line).replace(/:$/, ""), this.#at, this.#at);
			this.#at++;
			return true;
		}
		return false;
	}

	#pushHeading(level: number, raw: string, first: number, last: number, named?: string): void {
		const title = plainName(raw);
		let parent = this.#section;
		while (parent >= 0 && (this.sections[parent] as Section).level >= level)
			parent = (this.sections[parent] as Section).parent;
		const version = releaseVersion(title) ?? named;
		const index = this.sections.length;
		// The last release heading above counts even if it has the same level: some files are flat.
		const before = this.#section >= 0 ? (this.sections[this.#section] as Section).release : -1;
		const inherited = before >= 0 && (this.sections[before] as Section).level <= level ? before : -1;
		const nested = inherited >= 0 && (this.sections[inherited] as Section).level < level;
		const release = version !== undefined && !(nested && level > 3) ? index : inherited;
		this.sections.push({
			title,
			level,
			line: first + 1,
			endLine: last + 1,
			parent,
			version: release === index ? version : undefined,
			release,
		});
		this.#section = index;
		this.#lead = "";
		this.#push({
			kind: "heading",
			line: first + 1,
			endLine: last + 1,
			text: title,
			label: title,
			depth: level,
		});
	}

	#push(
		block: Omit<Block, "section" | "parent" | "context"> & { parent?: number; context?: string },
	): number {
		this.blocks.push({ section: this.#section, parent: -1, context: this.#lead, ...block });
		return this.blocks.length - 1;
	}

	#readFence(): void {
		const mark = ((FENCE.exec(this.#line(this.#at)) as RegExpExecArray)[1] as string).slice(0, 3);
		const first = this.#at++;
		while (this.#at < this.#lines.length && !this.#line(this.#at).trim().startsWith(mark)) this.#at++;
		this.#at = Math.min(this.#at + 1, this.#lines.length);
		this.#pushCode(first + 1, this.#at - 1, first, this.#at);
	}

	#readIndented(): void {
		const first = this.#at;
		while (
			this.#at < this.#lines.length &&
			(/^(?: {4}|\t)/.test(this.#line(this.#at)) || this.#blank(this.#at))
		)
			this.#at++;
		while (this.#blank(this.#at - 1)) this.#at--;
		this.#pushCode(first, this.#at, first, this.#at);
	}

	/** Long code falls into the pieces that blank lines make, so that a match is near its surroundings. */
	#pushCode(from: number, to: number, first: number, end: number): void {
		const push = (start: number, stop: number): void => {
			const text = this.#lines
				.slice(start, stop)
				.map((line) => line ?? "")
				.join("\n");
			this.#push({ kind: "code", line: start + 1, endLine: stop, text, label: "", depth: 0 });
		};
		if (end - first <= 10) {
			push(from, to);
			return;
		}
		let start = from;
		for (let at = from; at <= to; at++) {
			if (at < to && !this.#blank(at)) continue;
			if (at > start) push(start, at);
			start = at + 1;
		}
	}

	#readTable(): boolean {
		if (!TABLE_RULE.test(this.#line(this.#at + 1)) || !this.#line(this.#at).includes("|")) return false;
		const titles = cells(this.#line(this.#at));
		const header = titles.join(" | ");
		this.#at += 2;
		while (this.#at < this.#lines.length && this.#line(this.#at).includes("|")) {
			const row = cells(this.#line(this.#at));
			const number = ++this.#at;
			this.#push({
				kind: "row",
				line: number,
				endLine: number,
				text: row.join(" | "),
				label: plainName(row[0] ?? ""),
				depth: 0,
				context: `${this.#lead} ${header}`,
				defines: plainName(titles[0] ?? ""),
			});
		}
		return true;
	}

	#readList(): void {
		const open: { indent: number; index: number }[] = [];
		while (this.#at < this.#lines.length) {
			const line = this.#line(this.#at);
			const item = ITEM.exec(line);
			if (item) {
				const indent = (item[1] as string).replaceAll("\t", "    ").length;
				while (open.length > 0 && (open.at(-1) as { indent: number }).indent >= indent) open.pop();
				const text = plainText(item[2] as string);
				const index = this.#push({
					kind: "item",
					line: this.#at + 1,
					endLine: this.#at + 1,
					text,
					label: leadOf(item[2] as string),
					depth: open.length,
					parent: open.at(-1)?.index ?? -1,
				});
				open.push({ indent, index });
				this.#at++;
			} else if (line.trim() === "") {
				// A list goes on after a blank line only with an item or an indented line.
				const next = this.#line(this.#at + 1);
				if (!ITEM.test(next) && !/^\s{2,}\S/.test(next)) return;
				this.#at++;
			} else if (FENCE.test(line) && /^\s/.test(line)) {
				this.#readFence();
				this.#attach(open.at(-1)?.index);
			} else if (/^\s/.test(line) || !this.#blank(this.#at - 1)) {
				if (MARKED_HEADING.test(line) || UNDERLINE.test(this.#line(this.#at + 1)) || FENCE.test(line)) return;
				const owner = this.blocks[open.at(-1)?.index ?? -1];
				if (owner) {
					owner.text = `${owner.text} ${plainText(line)}`.trim();
					owner.endLine = this.#at + 1;
				}
				this.#at++;
			} else return;
		}
	}

	#attach(index: number | undefined): void {
		const code = this.blocks.at(-1);
		if (code && index !== undefined) code.parent = index;
	}

	#readParagraph(): void {
		const first = this.#at;
		while (this.#at < this.#lines.length) {
			const line = this.#line(this.#at);
			if (line.trim() === "" || FENCE.test(line)) break;
			if (
				this.#at > first &&
				(MARKED_HEADING.test(line) ||
					ITEM.test(line) ||
					UNDERLINE.test(this.#line(this.#at + 1)) ||
					TABLE_RULE.test(this.#line(this.#at + 1)))
			)
				break;
			this.#at++;
		}
		const raw = this.#lines
			.slice(first, this.#at)
			.map((line) => line ?? "")
			.join(" ")
			.trim();
		const text = plainText(raw);
		if (text === "" || UNDERLINE.test(raw)) return;
		this.#lead = "";
		this.#push({ kind: "paragraph", line: first + 1, endLine: this.#at, text, label: leadOf(raw), depth: 0 });
		// The sentence that announces a list or a code block belongs to their meaning.
		if (/:\s*$/.test(text) || text.length < 200) this.#lead = text;
	}
}

/** What a line starts with as its name: bold or code text, `[tag]`, or a short phrase before a colon. */
function leadOf(raw: string): string {
	const text = raw.trim().replace(/^\[[ xX]\]\s+/, "");
	const marked =
		/^(?:\*\*|__)(.{1,80}?)(?:\*\*|__)/.exec(text) ??
		/^[_*]([^_*]{1,60})[_*]/.exec(text) ??
		/^\\?\[([^\]]{1,60})\\?\](?!\()/.exec(text) ??
		/^`([^`]{1,60})`/.exec(text) ??
		/^([^\s:][^:.]{0,58}?):(?=\s|$)/.exec(text) ??
		/^([^\s:,.]+(?: [^\s:,.]+){0,2}) [-–—] /.exec(text);
	return marked ? plainName(marked[1] as string).replace(/[:.]$/, "") : "";
}

function cells(line: string): string[] {
	return line
		.trim()
		.replace(/^\||\|$/g, "")
		.split(/(?<!\\)\|/)
		.map(plainText);
}

/** The version a heading names, if it is the heading of a release. */
function releaseVersion(title: string): string | undefined {
	// "[1.0.0]: https://…" is where a link leads, not a heading.
	if (/^\s*\[[^\]]+\]:\s/.test(title)) return undefined;
	const text = title.replace(/^[\s[(]+/, "").trim();
	if (/^(?:[\w.@/-]+\s+){0,2}\(?unreleased\b|^(?:upcoming|next)\b.{0,20}$/i.test(text)) return "unreleased";
	const match =
		/^(?:release|version|v\.?|changes in|what'?s new in|[A-Za-z@][\w@/.+-]{0,40}(?:\s+version)?)?\s*[\s@(:-]?v?(\d+(?:\.(?:\d+|x))+(?:[-.]?(?:alpha|beta|rc|canary|next|pre|dev|post|snapshot)[\w.-]*)?)/i.exec(
			text,
		) ??
		/^(?:release|version|v)\s*(\d+)\b/i.exec(text) ??
		/^\d{4}-\d{2}-\d{2},\s+version\s+v?(\d+(?:\.\d+)+)/i.exec(text) ??
		/^((?:19|20)\d\d-\d\d-\d\d)\b/.exec(text);
	return match?.[1]?.toLowerCase();
}

/** The version in a line such as "New features in 1.5 since 1.4:". */
function looseVersion(line: string): string | undefined {
	return /^[A-Z][\w'-]*(?: [\w'-]+){0,4} (?:in|for|of) (?:version |release )?v?(\d+(?:\.\d+)+)\b.{0,30}:\s*$/.exec(
		line,
	)?.[1];
}

function closeSections(sections: Mutable<Section>[], total: number): Section[] {
	for (let index = 0; index < sections.length; index++) {
		const section = sections[index] as Mutable<Section>;
		let end = total;
		for (let next = index + 1; next < sections.length; next++) {
			const other = sections[next] as Section;
			const flatMember = section.version !== undefined && other.release === index;
			if (other.level <= section.level && !flatMember) {
				end = other.line - 1;
				break;
			}
		}
		section.endLine = end;
	}
	return sections;
}
