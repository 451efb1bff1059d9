// Results of servers: whatever they send is text, data, or blocks that a model may be shown.
import { isContentBlock } from "@holdfast/upp";
import fc from "fast-check";
import { expect, test } from "vitest";
import { readFailure, readResult } from "./tool-result.ts";

const png = "iVBORw0KGgo=";

test("texts are joined, and data replaces the text that repeats it", () => {
	const content = [
		{ type: "text" as const, text: "1" },
		{ type: "text" as const, text: "2" },
	];
	expect(readResult({ content })).toBe("1\n2");
	const json = [{ type: "text" as const, text: '{ "b": 1, "sum": 3 }' }];
	expect(readResult({ content: json, structuredContent: { sum: 3, b: 1 } })).toEqual({ sum: 3, b: 1 });
	expect(readResult({ content: [], structuredContent: { sum: 3 } })).toEqual({ sum: 3 });
	expect(readResult({ content: [] })).toBe("");
});

test("text with other content is shown with the data", () => {
	const content = [{ type: "text" as const, text: "Call me." }];
	expect(readResult({ content, structuredContent: { sum: 3 } })).toBe('Call me.\n{"sum":3}');
	expect(readFailure({ content: [], isError: true, structuredContent: { error: "no table" } })).toBe(
		'{"error":"no table"}',
	);
});

test("pictures and documents are blocks, and other bytes are described", () => {
	const result = readResult({
		content: [
			{ type: "image", data: png, mimeType: "image/png" },
			{ type: "audio", data: png, mimeType: "audio/wav" },
			{ type: "resource", resource: { uri: "file:///a.pdf", blob: png, mimeType: "application/pdf" } },
			{ type: "resource", resource: { uri: "file:///a.bin", blob: png } },
			{ type: "resource", resource: { uri: "file:///a.png", blob: png, mimeType: "image/png" } },
		],
	});
	expect(result).toEqual([
		{ type: "image", source: { type: "base64", data: png }, mimeType: "image/png" },
		{ type: "text", text: "[audio, audio/wav, 9 bytes]" },
		{
			type: "document",
			source: { type: "base64", data: png },
			mimeType: "application/pdf",
			title: "file:///a.pdf",
		},
		{ type: "text", text: "[resource file:///a.bin, application/octet-stream, 9 bytes]" },
		{ type: "image", source: { type: "base64", data: png }, mimeType: "image/png" },
	]);
});

test.each([
	["is no base64", "<svg/>", "image/png"],
	["is cut off", "iVBORw0KGg", "image/png"],
	["is empty", "", "image/png"],
	["is no picture by its type", png, "text/html"],
])(
	"a picture that %s is not shown to a model, because it would fail every later request",
	(_, data, mimeType) => {
		expect(readResult({ content: [{ type: "image", data, mimeType }] })).toMatch(/cannot be read/);
		const blob = { uri: "x:y", blob: data, mimeType: mimeType === "text/html" ? "image/" : mimeType };
		expect(readResult({ content: [{ type: "resource", resource: blob }] })).toMatch(/cannot be read/);
	},
);

test("a failure has its text, or a note that it has none", () => {
	const picture = { type: "image" as const, data: png, mimeType: "image/png" };
	expect(readFailure({ content: [picture, { type: "text", text: "No." }] })).toBe("No.");
	expect(readFailure({ content: [picture] })).toBe("The tool failed without a reason.");
});

test("anything that a server sends becomes text, data or blocks", () => {
	const text = fc.string();
	const resource = fc.oneof(
		fc.record({ uri: text, text }),
		fc.record({ uri: text, blob: text, mimeType: fc.oneof(text, fc.constant("image/png")) }),
	);
	const content = fc.oneof(
		fc.record({ type: fc.constant("text"), text }),
		fc.record({ type: fc.constantFrom("image", "audio"), data: text, mimeType: text }),
		fc.record({ type: fc.constant("resource_link"), uri: text, name: text }),
		fc.record({ type: fc.constant("resource"), resource }),
		fc.record({ type: text }),
	);
	fc.assert(
		fc.property(
			fc.array(content),
			fc.option(fc.jsonValue(), { nil: undefined }),
			(all, structuredContent) => {
				const known = all.filter((each) => each.type !== "text" || "text" in each) as never;
				const result = readResult({ content: known, structuredContent });
				if (Array.isArray(result) && structuredContent === undefined)
					expect(result.every(isContentBlock)).toBe(true);
				expect(JSON.stringify(JSON.parse(JSON.stringify(result)))).toBe(JSON.stringify(result));
				expect(readFailure({ content: known })).not.toBe("");
			},
		),
	);
});
