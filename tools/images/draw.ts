// Draws the diagrams of the documentation as SVG: 360 units wide, so that a phone shows text at eleven pixels or more
// without scaling, and in the reader's preferred colour scheme.

/** A part of a picture: SVG elements. */
export type Part = string;

/** The style of a box: ordinary, the subject of the picture, stored data, or a failure. */
export type Look = "plain" | "accent" | "store" | "warn";

const width = 360;

const style = `
svg{font:13px ui-sans-serif,system-ui,"Segoe UI",Helvetica,Arial,sans-serif}
.bg{fill:#f7f9fa;stroke:#d5dde1}text{fill:#1c2b33}.dim{fill:#4d6069}.small{font-size:11.5px}.b{font-weight:600}
.mono{font:11.5px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}.mono.b{font-weight:600}
.plain{fill:#fff;stroke:#8fa1aa}.accent{fill:#dff1f6;stroke:#0b5d74}.store{fill:#ecebf9;stroke:#5a53b0}.warn{fill:#fdeae6;stroke:#b23a1e}
.line{fill:none;stroke:#4d6069;stroke-width:1.4}.dash{stroke-dasharray:4 3}.bad{stroke:#b23a1e}.head{fill:#4d6069}.headbad{fill:#b23a1e}.t-warn{fill:#a03015}.t-accent{fill:#0b5d74}
@media (prefers-color-scheme:dark){.bg{fill:#161d21;stroke:#34434b}text{fill:#e3ebee}.dim{fill:#a9bac2}
.plain{fill:#1f292f;stroke:#62757f}.accent{fill:#12394a;stroke:#6cc7de}.store{fill:#2a2849;stroke:#a19bf0}.warn{fill:#44211a;stroke:#f0937b}
.line{stroke:#a9bac2}.bad{stroke:#f0937b}.head{fill:#a9bac2}.headbad{fill:#f0937b}.t-warn{fill:#f6a893}.t-accent{fill:#6cc7de}}`;

const escaped = (text: string): string =>
	text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

/** Draws text from a point; `\n` starts a new line. Classes: `dim`, `small`, `b`, `mono`, `t-warn`, `t-accent`. */
export function text(
	x: number,
	y: number,
	content: string,
	classes = "",
	anchor: "start" | "middle" | "end" = "start",
): Part {
	const lines = content.split("\n");
	const attributes = `class="${classes}"${anchor === "start" ? "" : ` text-anchor="${anchor}"`}`;
	return lines
		.map((line, at) => `<text x="${x}" y="${y + at * 16}" ${attributes}>${escaped(line)}</text>`)
		.join("");
}

/** Draws a box; the first of its lines is its name. */
export function box(
	x: number,
	y: number,
	w: number,
	h: number,
	[name, ...lines]: readonly [string, ...string[]],
	look: Look = "plain",
): Part {
	const middle = y + h / 2 + 4.5 - lines.length * 7.5;
	return [
		`<rect x="${x}" y="${y}" width="${w}" height="${h}" rx="7" class="${look}"/>`,
		text(x + w / 2, middle, name, "b", "middle"),
		...lines.map((line, at) => text(x + w / 2, middle + 15 * (at + 1), line, "small dim", "middle")),
	].join("");
}

/** Draws an arrow along points. */
export function arrow(
	points: readonly (readonly [number, number])[],
	kind: "line" | "dash" | "bad" = "line",
): Part {
	const [x2, y2] = points.at(-1) ?? [0, 0];
	const [x1, y1] = points.at(-2) ?? [0, 0];
	const length = Math.hypot(x2 - x1, y2 - y1) || 1;
	const [dx, dy] = [(x2 - x1) / length, (y2 - y1) / length];
	const corner = (side: number): string =>
		`${round(x2 - dx * 8 - dy * 4 * side)},${round(y2 - dy * 8 + dx * 4 * side)}`;
	const path = points.map(([x, y], at) => `${at === 0 ? "M" : "L"}${x} ${y}`).join("");
	return [
		`<path d="${path}" class="line ${kind === "line" ? "" : kind === "bad" ? "bad dash" : "dash"}"/>`,
		`<polygon points="${x2},${y2} ${corner(1)} ${corner(-1)}" class="${kind === "bad" ? "headbad" : "head"}"/>`,
	].join("");
}

/** Draws a line without a head. */
export function line(x1: number, y1: number, x2: number, y2: number, isDashed = true): Part {
	return `<path d="M${x1} ${y1}L${x2} ${y2}" class="line ${isDashed ? "dash" : ""}"/>`;
}

const round = (value: number): number => Math.round(value * 10) / 10;

/** Returns the whole picture. Screen readers read its title and description when the file is opened on its own. */
export function picture(
	title: string,
	description: string,
	height: number,
	parts: readonly Part[],
	shown = 440,
): string {
	return `${[
		`<svg xmlns="http://www.w3.org/2000/svg" width="${shown}" height="${Math.round((height * shown) / width)}" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="t d">`,
		`<title id="t">${escaped(title)}</title><desc id="d">${escaped(description)}</desc>`,
		`<style>${style}\n</style>`,
		`<rect x=".5" y=".5" width="${width - 1}" height="${height - 1}" rx="10" class="bg"/>`,
		...parts,
		"</svg>",
	].join("\n")}\n`;
}
