/** Texts in each theme can be read: their contrast is that of WCAG 2.2, level AA, also on the tints of changed lines. */
import { describe, expect, test } from "vitest";
import { type Look, themes } from "./theme.ts";

/** Backgrounds that terminals have: their defaults and well-known palettes. */
const backgrounds = {
	dark: ["000000", "1e1e1e", "002b36", "282c34", "300a24", "2e3440"],
	light: ["ffffff", "fdf6e3", "fafafa", "eff1f5", "eeeeee"],
};

type Rgb = readonly [number, number, number];

function fromHex(hex: string): Rgb {
	return [0, 2, 4].map((at) => Number.parseInt(hex.slice(at, at + 2), 16)) as unknown as Rgb;
}

/** The colour that terminals give an index of the palette. */
function ofPalette(index: number): Rgb {
	expect(index, "users define the first 16 colours themselves").toBeGreaterThanOrEqual(16);
	if (index >= 232) {
		const gray = 8 + 10 * (index - 232);
		return [gray, gray, gray];
	}
	const steps = [0, 95, 135, 175, 215, 255];
	const at = index - 16;
	return [Math.floor(at / 36), Math.floor(at / 6) % 6, at % 6].map((step) => steps[step]) as unknown as Rgb;
}

function luminance(rgb: Rgb): number {
	const [red, green, blue] = rgb.map((value) => {
		const share = value / 255;
		return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
	}) as unknown as Rgb;
	return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one: Rgb, other: Rgb): number {
	const [low = 0, high = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
	return (high + 0.05) / (low + 0.05);
}

describe.each(["dark", "light"] as const)("the theme %s", (name) => {
	const looks = Object.entries<Look>(themes[name]);
	const tints = looks.flatMap(([, { tint }]) => (tint === undefined ? [] : [tint]));

	test.each(looks.filter(([, { colour }]) => colour !== undefined))(
		"shows %s readably",
		(_, { colour = 0 }) => {
			for (const background of [...backgrounds[name], ...tints])
				expect(contrast(ofPalette(colour), fromHex(background)), background).toBeGreaterThanOrEqual(4.5);
		},
	);

	test("has tints that the terminal's own text is readable on", () => {
		for (const tint of tints)
			expect(contrast(fromHex(name === "dark" ? "c0c0c0" : "333333"), fromHex(tint))).toBeGreaterThanOrEqual(
				4.5,
			);
	});
});

test("the theme of high contrast neither colours nor dims", () => {
	for (const look of Object.values<Look>(themes.contrast)) {
		expect(look.colour).toBeUndefined();
		expect(look.tint).toBeUndefined();
		expect(look.attributes ?? []).not.toContain("dim");
	}
});
