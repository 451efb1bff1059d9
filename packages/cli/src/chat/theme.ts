/**
 * The themes of a chat: what each kind of text looks like. Colours are those of the 256-colour palette that no terminal
 * redefines, and tints of 24 bits, so that their contrast is known; a test measures it.
 */

/** A kind of text. */
export type StyleName =
	| "heading"
	| "strong"
	| "emphasis"
	| "deleted"
	| "code"
	| "link"
	| "quiet"
	| "warning"
	| "good"
	| "bad"
	| "user"
	| "changed"
	| "keyword"
	| "string"
	| "number"
	| "comment"
	| "title"
	| "type"
	| "attribute"
	| "added-line"
	| "removed-line"
	| "added-word"
	| "removed-word";

/** A look: attributes, a foreground of the palette, and a background of red, green and blue. */
export interface Look {
	readonly attributes?: readonly ("bold" | "dim" | "italic" | "underline" | "inverse" | "strikethrough")[];
	readonly colour?: number;
	/** Hexadecimal, without `#`. */
	readonly tint?: string;
	/** Whether a terminal without tints shows the text in reverse. */
	readonly stands?: "out";
}

/** A name that `/theme` accepts. `contrast` uses the terminal's own two colours only; `none` uses no codes at all. */
export type ThemeName = "dark" | "light" | "contrast" | "none";

/** The names of the themes. */
export const themeNames: readonly ThemeName[] = ["dark", "light", "contrast", "none"];

/** Whether a text is the name of a theme. */
export function isThemeName(name: unknown): name is ThemeName {
	return themeNames.some((each) => each === name);
}

type Looks = Readonly<Record<StyleName, Look>>;

const plain = {
	heading: { attributes: ["bold", "underline"] },
	strong: { attributes: ["bold"] },
	emphasis: { attributes: ["italic"] },
	deleted: { attributes: ["strikethrough"] },
	link: { attributes: ["underline"] },
	user: { attributes: ["bold"] },
	changed: { attributes: ["inverse"] },
} as const;

const contrast: Looks = {
	...plain,
	code: { attributes: ["bold"] },
	quiet: {},
	warning: { attributes: ["bold"] },
	good: { attributes: ["bold"] },
	bad: { attributes: ["bold", "underline"] },
	keyword: { attributes: ["bold"] },
	string: {},
	number: {},
	comment: { attributes: ["italic"] },
	title: {},
	type: {},
	attribute: {},
	"added-line": { attributes: ["bold"] },
	"removed-line": {},
	"added-word": { attributes: ["inverse"] },
	"removed-word": { attributes: ["inverse"] },
};

/** For terminals of 16 colours, which their users define. */
const basic: Looks = {
	...contrast,
	code: { colour: 6 },
	quiet: { attributes: ["dim"] },
	warning: { colour: 3 },
	good: { colour: 2 },
	bad: { colour: 1 },
	keyword: { colour: 5 },
	string: { colour: 2 },
	number: { colour: 3 },
	comment: { attributes: ["italic"] },
	title: { colour: 4 },
	type: { colour: 6 },
	"added-line": {},
};

const dark: Looks = {
	...plain,
	code: { colour: 116 },
	quiet: { colour: 250 },
	warning: { colour: 221 },
	good: { colour: 114 },
	bad: { colour: 217 },
	keyword: { colour: 183 },
	string: { colour: 150 },
	number: { colour: 216 },
	comment: { colour: 249, attributes: ["italic"] },
	title: { colour: 117 },
	type: { colour: 222 },
	attribute: { colour: 152 },
	"added-line": { tint: "0f2a1a" },
	"removed-line": { tint: "36181c" },
	"added-word": { tint: "1b4a2c", stands: "out" },
	"removed-word": { tint: "5c2329", stands: "out" },
};

const light: Looks = {
	...plain,
	code: { colour: 24 },
	quiet: { colour: 240 },
	warning: { colour: 58 },
	good: { colour: 22 },
	bad: { colour: 88 },
	keyword: { colour: 54 },
	string: { colour: 22 },
	number: { colour: 88 },
	comment: { colour: 239, attributes: ["italic"] },
	title: { colour: 18 },
	type: { colour: 58 },
	attribute: { colour: 23 },
	"added-line": { tint: "dafbe1" },
	"removed-line": { tint: "ffebe9" },
	"added-word": { tint: "aceebb", stands: "out" },
	"removed-word": { tint: "ffcecb", stands: "out" },
};

/** The looks of each theme, and those of terminals with 16 colours. */
export const themes: Readonly<Record<Exclude<ThemeName, "none"> | "basic", Looks>> = {
	dark,
	light,
	contrast,
	basic,
};
