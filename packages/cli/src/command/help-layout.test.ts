import { expect, test } from "vitest";
import { helpText } from "./help.ts";
import { laidOut } from "./help-layout.ts";

const topics = [
	"run",
	"chat",
	"resume",
	"worker",
	"eval",
	"fork",
	"release",
	"serve",
	"init",
	"check",
	"dev",
];
const all = [undefined, ...topics, "pack", "unpack", "sessions", "show", "context", "db"];
const isExample = (line: string): boolean => /^ {2}(?:holdfast|cat|HOLDFAST)/.test(line);

test.each([70, 80, 200])("no help is wider than a terminal of %i columns, and no word is lost", (columns) => {
	for (const topic of all) {
		const shown = laidOut(helpText(topic), columns);
		const wide = shown
			.split("\n")
			.filter((line) => line.length >= Math.min(columns, 101) && !isExample(line));
		expect(wide).toEqual([]);
		expect(shown.split(/\s+/)).toEqual(helpText(topic).split(/\s+/));
	}
});

test("a description is indented to its start, a paragraph stays one, and an example stays whole", () => {
	const help = `holdfast do [A]

One two three
four five six.

  --of A, --of-all A what it is of, and of which
                     others
  holdfast do "a thing that is long"
`;
	expect(laidOut(help, 41)).toBe(`holdfast do [A]

One two three four five six.

  --of A, --of-all A what it is of, and
                     of which others
  holdfast do "a thing that is long"
`);
});
