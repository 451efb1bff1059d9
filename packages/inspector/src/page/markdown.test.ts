import { expect, test } from "vitest";
import { isSafeLink, tokensOf } from "./markdown.tsx";

test("deeply nested quotes or lists are shown as text, because parsing them would crash the page", () => {
	for (const deep of [">".repeat(10_000), `Look:\n\n${"- ".repeat(10_000)}x`, "1. ".repeat(10_000)])
		expect(tokensOf(deep)).toBeUndefined();
	const tokens = tokensOf("> > - One\n\n--------------\n\n**************\n") ?? [];
	expect(tokens.map(({ type }) => type).filter((type) => type !== "space")).toEqual([
		"blockquote",
		"hr",
		"hr",
	]);
});

test("a link leads only to the web or to a mail address", () => {
	for (const href of ["https://a.b", "HTTP://a.b", "mailto:a@b.c"]) expect(isSafeLink(href)).toBe(true);
	for (const href of ["javascript:alert(1)", " javascript:x", "data:text/html,x", "//a.b", "java\nscript:x"])
		expect(isSafeLink(href)).toBe(false);
});
