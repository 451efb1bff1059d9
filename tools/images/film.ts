// Draws a recording of a terminal as an animated SVG. Each line of text is drawn once and shown while it is on the
// screen. Readers who prefer reduced motion, and programs that do not animate, show the last frame.
import { line, type Part, picture, text } from "./draw.ts";
import type { Frame } from "./record-terminal.ts";

const columnWidth = 6.93;
const lineHeight = 17;
const left = 16;
const top = 56;

const colours = `
.black{fill:#4d6069}.red{fill:#a03015}.green{fill:#1f6b2e}.yellow{fill:#7a5200}.blue{fill:#1d4f9e}.magenta{fill:#7a2f8a}.cyan{fill:#0b5d74}.white{fill:#1c2b33}
.ul{text-decoration:underline}.cursor{fill:#1c2b33}
@media (prefers-color-scheme:dark){.black{fill:#a9bac2}.red{fill:#f6a893}.green{fill:#8fd6a0}.yellow{fill:#efc776}.blue{fill:#9cc2ff}.magenta{fill:#e2a6ef}.cyan{fill:#6cc7de}.white{fill:#e3ebee}.cursor{fill:#e3ebee}}
g.off{opacity:0}
@media (prefers-reduced-motion:no-preference){g[style]{animation:var(--k) var(--t) step-end infinite}}`;

const colourNames = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"] as const;

type Style = ReadonlySet<string>;

/** Draws one line of the screen, and returns the style in which the next one starts. Control codes become classes. */
function drawLine(
	content: string,
	row: number,
	before: Style,
): { readonly part: Part; readonly style: Style } {
	const y = top + row * lineHeight;
	let column = 0;
	let style = before;
	let isCursorDrawn = false;
	const drawCursor = (): Part => {
		isCursorDrawn = true;
		const x = round(left + column * columnWidth);
		return `<rect x="${x}" y="${y - 12}" width="${columnWidth}" height="15" class="cursor"/>`;
	};
	const parts: Part[] = [];
	// biome-ignore lint/suspicious/noControlCharactersInRegex: control codes are what is read here
	for (const [, codes, span] of content.matchAll(/\u001b\[([\d;]*)m|([^\u001b]+)/g)) {
		if (span === undefined) {
			style = styleAfter(style, codes ?? "");
			continue;
		}
		const x = left + column * columnWidth;
		const width = [...span].length;
		if (style.has("cursor")) parts.push(drawCursor());
		else if (span.trim() !== "") {
			const lead = span.length - span.trimStart().length;
			const classes = ["mono", ...style].join(" ");
			parts.push(text(round(x + lead * columnWidth), y, span.trim().replaceAll(" ", "\u00a0"), classes));
		}
		column += width;
	}
	// tmux leaves out the space under a cursor at the end of a line.
	if (style.has("cursor") && !isCursorDrawn) parts.push(drawCursor());
	return { part: parts.join(""), style };
}

/** Draws the lines of a screen. */
function drawScreen(lines: readonly string[]): readonly Part[] {
	let style: Style = new Set();
	return lines.map((content, row) => {
		const drawn = drawLine(content, row, style);
		style = drawn.style;
		return drawn.part;
	});
}

function styleAfter(before: Style, codes: string): Style {
	const style = new Set(before);
	const withoutColour = (): void => {
		for (const name of colourNames) style.delete(name);
	};
	for (const code of codes.split(";").map(Number)) {
		if (code === 0) style.clear();
		else if (code === 1) style.add("b");
		else if (code === 2) style.add("dim");
		else if (code === 4) style.add("ul");
		else if (code === 7) style.add("cursor");
		else if (code === 22) for (const name of ["b", "dim"]) style.delete(name);
		else if (code === 24) style.delete("ul");
		else if (code === 27) style.delete("cursor");
		else if (code >= 30 && code <= 37) {
			withoutColour();
			style.add(colourNames[code - 30] as string);
		} else if (code === 39) withoutColour();
	}
	return style;
}

const round = (value: number): number => Math.round(value * 10) / 10;

/** Draws a film of frames that repeats. */
export function film(
	name: string,
	description: string,
	frames: readonly Frame[],
	rows: number,
	shown: number,
): string {
	const starts = frames.map((_, at) => frames.slice(0, at).reduce((sum, { ms }) => sum + ms, 0));
	const total = frames.reduce((sum, { ms }) => sum + ms, 0);
	/** The frames that show each drawn line. */
	const shownIn = new Map<Part, Set<number>>();
	for (const [at, { lines }] of frames.entries())
		for (const part of drawScreen(lines.slice(0, rows)))
			if (part !== "") shownIn.set(part, (shownIn.get(part) ?? new Set()).add(at));
	const keyframes: string[] = [];
	const parts = [...shownIn].map(([part, at]) => {
		if (at.size === frames.length) return `<g>${part}</g>`;
		const steps = frames.flatMap((_, index) =>
			index > 0 && at.has(index) === at.has(index - 1)
				? []
				: [`${percent((starts[index] as number) / total)}{opacity:${at.has(index) ? 1 : 0}}`],
		);
		keyframes.push(`@keyframes k${keyframes.length}{${steps.join("")}}`);
		const isLast = at.has(frames.length - 1);
		return `<g style="--k:k${keyframes.length - 1}"${isLast ? "" : ` class="off"`}>${part}</g>`;
	});
	return picture(
		name,
		description,
		top + rows * lineHeight,
		[
			`<style>svg{--t:${round(total / 1000)}s}${colours}\n${keyframes.join("\n")}\n</style>`,
			`<circle cx="20" cy="19" r="5" class="warn"/><circle cx="37" cy="19" r="5" class="plain"/><circle cx="54" cy="19" r="5" class="accent"/>`,
			text(180, 23, "holdfast chat", "small dim", "middle"),
			line(1, 36, 359, 36, false),
			...parts,
		],
		shown,
	);
}

const percent = (share: number): string => `${Math.round(share * 100_000) / 1_000}%`;
