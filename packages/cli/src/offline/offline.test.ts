import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type BoundLLMModel, type Message, ToolResultMessage, UserMessage } from "@holdfast/upp";
import { beforeEach, describe, expect, test } from "vitest";
import { expectProportion } from "../../../../test/shared/in-proportion.fixture.ts";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";
import { createAssistantTools } from "../tools/index.ts";
import { offline } from "./index.ts";

let root: string;

beforeEach(() => {
	root = temporaryFolder();
	for (const [path, text] of Object.entries(PROJECT)) put(path, text);
});

function put(path: string, text: string): void {
	mkdirSync(dirname(join(root, path)), { recursive: true });
	writeFileSync(join(root, path), text);
}

const PROJECT = {
	"GUIDE.md": `# Kettle

Kettle boils water over HTTP.

## Installation

Get it from the registry:

\`\`\`sh
brew-get kettle
\`\`\`

## Running the checks

Use the checker:

\`\`\`sh
kettle check --all
\`\`\`

## Options

| option | default | meaning |
| --- | --- | --- |
| \`temperature\` | \`96\` | degrees to heat to |
| \`keepWarm\` | \`false\` | stay warm afterwards |

## Supported materials

- steel
- copper
- glass
`,
	"NEWS.md": `# News

## 3.0.0 - 2024-05-01

### Breaking Changes

- The lid must be closed before heating.
- \`pour()\` returns a promise.

### Added

- Whistle support for copper kettles.

## 2.1.0 - 2023-01-09

### Fixed

- The handle no longer gets hot.

## 2.0.0 - 2022-07-30

- **Breaking:** steam goes to the left.
- The colour is red now.
`,
	"settings.json": `{
	"name": "kettle",
	"license": "Apache-2.0",
	"engines": { "water": ">=4" },
	"parts": {
		"lid": "^1.2.0",
		"spout": "~2.0.0"
	}
}
`,
	"kettle.conf": `# How long the kettle waits before it whistles. It is given in seconds.
#
# The default is:
#
# whistle-delay 45

boil-mode fast
`,
	"docs/steam.rst": `Steam
=====

Valves
------

- north valve
- south valve

A condenser is a vessel that turns steam into water.
`,
	"db/schema.sql": `-- People who drink.
CREATE TABLE drinkers (
  id INTEGER PRIMARY KEY,
  cups INTEGER
);
`,
	"lib/pump.py": `class Pump:
    """Moves the water."""

    def start(self, speed=3):
        """Starts the pump and returns its pressure."""
        return speed * 2
`,
	"src/heat.ts": `/** Heats the water up to the given degrees. Returns the seconds it took. */
export function heatWater(degrees: number): number {
	return degrees * MAX_SPEED;
}

export const MAX_SPEED = 7;
`,
};

/** Asks the model, given the earlier messages, and runs its tools until it answers. */
async function ask(task: string, messages: Message[] = []): Promise<{ text: string; calls: string[] }> {
	const model = offline.provider.modalities.llm?.bind(offline.modelId) as BoundLLMModel;
	const tools = createAssistantTools({ root });
	messages.push(new UserMessage(task));
	const calls: string[] = [];
	for (;;) {
		const { message } = await model.complete({ messages, tools, config: {} });
		messages.push(message);
		const asked = message.toolCalls ?? [];
		if (asked.length === 0) return { text: message.text, calls };
		const results = asked.map(async (call) => {
			calls.push(call.toolName);
			const tool = tools.find((candidate) => candidate.name === call.toolName);
			return { toolCallId: call.toolCallId, result: await tool?.run(call.arguments) };
		});
		messages.push(new ToolResultMessage(await Promise.all(results)));
	}
}

describe("answers with the matching lines, cited", () => {
	test.each([
		[
			"Which breaking changes does NEWS.md list?",
			["lid must be closed", "NEWS.md:7", "steam goes to the left", "NEWS.md:22"],
		],
		["what changed in version 2.1.0?", ["handle no longer gets hot", "NEWS.md:18"]],
		["When was whistle support added?", ["3.0.0 - 2024-05-01", "NEWS.md:12"]],
		["When was 2.0.0 released?", ["2022-07-30"]],
		["What is the default of the temperature option?", ["96", "GUIDE.md:25"]],
		["How do I run the checks?", ["kettle check --all", "GUIDE.md:13"]],
		["List the supported materials", ["steel", "copper", "glass", "GUIDE.md:30"]],
		["What does heatWater do?", ["Heats the water up", "src/heat.ts:2"]],
		["Where is MAX_SPEED defined?", ["src/heat.ts:6"]],
		["Which license does it have?", ["Apache-2.0", "settings.json:3"]],
		["Which parts does settings.json list?", ['"lid": "^1.2.0"', '"spout": "~2.0.0"', "settings.json:6"]],
		["How many supported materials are there?", ["steel", "copper", "glass", "GUIDE.md:28"]],
		["How many lines does NEWS.md have?", ["NEWS.md has 23 lines"]],
		["What is this project?", ["boils water over HTTP"]],
		["What is the default whistle-delay?", ["whistle-delay 45", "kettle.conf:3"]],
		["What does the boil-mode option do?", ["boil-mode fast", "kettle.conf:7"]],
		["Which valves does steam.rst list?", ["north valve", "south valve", "docs/steam.rst:8"]],
		["What is a condenser?", ["turns steam into water", "docs/steam.rst:10"]],
		["What does Pump.start do?", ["returns its pressure", "lib/pump.py:4"]],
		["List the headings of GUIDE.md", ["Installation (GUIDE.md:5)", "Options (GUIDE.md:21)"]],
		["Which functions does src/heat.ts export?", ["heatWater", "src/heat.ts:2"]],
		["What is the latest version in NEWS.md?", ["3.0.0 - 2024-05-01"]],
		["Does it support copper?", ["copper"]],
		["What columns does the drinkers table have?", ["cups INTEGER", "db/schema.sql:2"]],
		["What is the default speed of the pump?", ["speed=3", "lib/pump.py:4"]],
		["Where is the database schema?", ["db/schema.sql:1"]],
	])("%s", async (task, expected) => {
		const { text } = await ask(task);
		for (const part of expected) expect(text).toContain(part);
	});

	test("omits what was not asked for", async () => {
		const { text } = await ask("Which breaking changes does NEWS.md list?");
		expect(text).not.toMatch(/Whistle|handle|colour/);
	});
});

describe("reports plainly that nothing was found", () => {
	test.each([
		"Which breaking changes does NEWS.md list for 2.1.0?",
		"What changed in version 9.9.9?",
		"Which quantum protocols does GUIDE.md describe?",
		"What does the function coolWater do?",
		"What is the default of the pressure option?",
		"Does it run on submarines?",
		"Where is parseSteam defined?",
		"How do I configure the satellite uplink?",
	])("%s", async (task) => {
		expect((await ask(task)).text).toMatch(/^I found nothing about /);
	});

	test("and what could not be searched", async () => {
		put("lamps.log", "lamp\n".repeat(5_000_000));
		expect((await ask("What colour is the submarine?")).text).toMatch(
			/^I found nothing about .* 1 file is too large to search\./,
		);
	});

	test("and that a named file does not exist", async () => {
		expect((await ask("What does recipes.yaml contain?")).text).toMatch(/^recipes.yaml does not exist here/);
	});
});

test.each([
	["### Red", "- north lamp"],
	["### ⚠ RED LAMPS", "* north lamp"],
	["RED LAMPS", "- north lamp"],
	["#### Red lamps:", "- north lamp"],
	["**Red lamps:**", "- north lamp"],
	["_Red lamps_", "- north lamp"],
	["<h3>Red lamps</h3>", "- north lamp"],
	["Red lamps:", "- north lamp"],
	["- Red lamps", "  - north lamp"],
	["", "RED LAMP: north lamp"],
	["", "- **red** north lamp"],
	["", "- [Red] north lamp"],
	["", "- (RED) north lamp"],
	["", "- Red - north lamp"],
	["", "- north lamp (red lamp)"],
	["", "1. **Red lamp**: north lamp"],
])("a list is found under %j with %j", async (title, item) => {
	put(
		"lamps.md",
		`# Lamps\n\n## 1.0.0\n\n${title}\n\n${item}\n\n### Blue lamps\n\n- south lamp\n\n### Changed lamps\n\n- west lamp\n`,
	);
	const { text } = await ask("Which red lamps does lamps.md list?");
	expect(text).toMatch(/north lamp.*\(lamps\.md:\d+\)/);
	expect(text).not.toMatch(/south lamp|west lamp/);
});

test("a default number is looked up, not counted", async () => {
	put("kettle.ts", "/** The default number of attempts. */\nexport const attempts = 64;\n");
	const { text } = await ask("What is the default number of attempts?");
	expect(text).toContain("64");
	expect(text).not.toMatch(/^\d+ attempts/);
});

test("only the beginning of an endless text is read as the question", async () => {
	const { text } = await ask(`What is the default of the temperature option? ${"and so on ".repeat(20_000)}`);
	expect(text).toContain("96");
});

describe("a text that is passed with the question", () => {
	const log = [
		"10:00:01 INFO server started, no errors",
		"10:01:12 WARN pool is nearly full: 18 of 20",
		...Array.from({ length: 400 }, (_, at) => `10:01:13 ERROR connect ECONNREFUSED 127.0.0.1:${5000 + at}`),
		"10:01:14 INFO GET /kettle 200",
	].join("\n");

	test.each(["what is wrong?", "Why does it fail?", "find the cause"])(
		"answers %j with the lines that look like errors, equal ones once, without reading the files",
		async (question) => {
			const { text, calls } = await ask(`${question}\n\n${log}\n`);
			expect(calls).toEqual([]);
			expect(text).toContain(
				"line 3 (400 lines like it): 10:01:13 ERROR connect ECONNREFUSED 127.0.0.1:5000",
			);
			expect(text).toContain("Warnings:\nline 2: 10:01:12 WARN pool");
			expect(text).not.toContain("started");
		},
	);

	test("answers a question about something else with the lines that contain its words", async () => {
		const { text, calls } = await ask(`Was the kettle asked?\n\n${log}`);
		expect([calls, text]).toEqual([[], expect.stringContaining("line 403: 10:01:14 INFO GET /kettle 200")]);
	});

	test("is summarised by its beginning and its notable lines", async () => {
		const { text } = await ask(`summarise\n\n${log}`);
		expect(text).toContain("It begins:\nline 1: 10:00:01 INFO server");
		expect(text).toContain("line 3 (400 lines like it)");
	});

	test("that has no error is reported as having none", async () => {
		const { text, calls } = await ask("what is wrong?\n\nall is well\nstill well\n0 errors\n");
		expect([calls, text]).toEqual([[], expect.stringContaining("no line with an error or a warning")]);
	});

	test("that does not contain the answer leaves the question to the files", async () => {
		const { text, calls } = await ask("What is the default of the temperature option?\n\nI want to know.");
		expect([calls[0], text]).toEqual(["list_files", expect.stringContaining("96")]);
	});
});

test("guides come before changelogs and lists of names, unless the question asks what changed", async () => {
	put("CHANGELOG.md", "# Changelog\n\n- A lever opens the hatch: hatch, lever, hatch.\n");
	put("docs/names.md", "# Names\n\n| `hatch` | `lever` | hatch lever |\n");
	put("docs/guide/hatch.md", "# The hatch\n\nTo open the hatch, pull the lever.\n");
	const places = async (question: string): Promise<string[]> =>
		[...(await ask(question)).text.matchAll(/\(([\w./]+\.md):\d+\)/g)].map(([, path = ""]) => path);
	expect((await places("How does the lever open the hatch?"))[0]).toBe("docs/guide/hatch.md");
	expect(await places("What changed about the hatch and its lever?")).toContain("CHANGELOG.md");
});

test("a misspelt name is found, and the answer states that it does not occur as written", async () => {
	const { text, calls } = await ask("What does heatWatr do?");
	expect(calls.slice(0, 3)).toEqual(["list_files", "search_text", "search_text"]);
	expect(text).toMatch(/src\/heat\.ts:1[\s\S]*function heatWater/);
	expect(text).toContain('"heatWatr" does not occur in any file as written here.');
});

test("a missing file is reported, with what other files contain about it", async () => {
	put("GUIDE.md", "# Recipes\n\nPut a recipes.yaml beside the kettle.\n");
	const { text } = await ask("What does recipes.yaml contain?");
	expect(text).toMatch(/^recipes.yaml does not exist here/);
	expect(text).toContain("Put a recipes.yaml beside the kettle. (GUIDE.md:3)");
});

test("an answer stays within the folder that the question names", async () => {
	put("docs/lid.md", "# Lid\n\nThe lid is of glass.\n");
	put("lib/lid.md", "# Lid\n\nThe lid is of steel.\n");
	const { text } = await ask("What is the lid of, in docs?");
	expect(text).toContain("The lid is of glass. (docs/lid.md:3)");
	expect(text).not.toContain("steel");
});

test("a folder or a file that is requested as a whole is introduced", async () => {
	expect((await ask("What is in docs?")).text).toMatch(/docs\/steam\.rst has 10 lines[\s\S]*Valves \(docs/);
	const { text } = await ask("What does NEWS.md say?");
	expect(text).toContain("NEWS.md has 23 lines.");
	expect(text).toContain("3.0.0 - 2024-05-01 (NEWS.md:3)");
});

describe("reports where the rest is for everything it cuts", () => {
	test("more passages follow on request, each once", async () => {
		const lamps = Array.from({ length: 300 }, (_, index) => `lamp number ${index + 1} is somewhere`);
		put("lamps.md", lamps.map((lamp, index) => `# Place ${index + 1}\n\n${lamp}\n`).join("\n"));
		const seen: string[] = [];
		const messages: Message[] = [];
		let text = "";
		for (let page = 0; page === 0 || text.includes('ask "more"'); page++) {
			({ text } = await ask(page === 0 ? "Where is a lamp?" : "more", messages));
			seen.push(...(text.match(/lamp number \d+ is somewhere/g) ?? []));
			expect(page).toBeLessThan(300);
		}
		expect(seen.toSorted()).toEqual(lamps.toSorted());
		expect((await ask("more", messages)).text).toContain("There are no more.");
	});

	test("long paragraphs, long code and long lists name the lines of the rest", async () => {
		put("long.md", `# Sieve\n\n${"The sieve holds leaves. ".repeat(100)}\n`);
		expect((await ask("What does the sieve hold?")).text).toMatch(/… \(1,999 more characters: long\.md:3\)/);
		put("long.ts", `export function sieve() {\n${"\tdrop();\n".repeat(30)}}\n`);
		expect((await ask("Where is the function sieve?")).text).toContain("(22 more lines: long.ts:1-32)");
		put("list.md", `# Leaves\n\n${"- a leaf\n".repeat(30)}`);
		expect((await ask("Which leaves are there?")).text).toContain("18 more in list.md:15-32");
	});

	test("a file that is requested as a whole is shown completely, page by page; for others the answer states that there is more", async () => {
		const lines = Array.from({ length: 200 }, (_, index) => `- leaf ${index + 1}`);
		put("leaves.md", `# Leaves\n\n${lines.join("\n")}\n`);
		const messages: Message[] = [];
		let text = "";
		for (let page = 0; page < 5; page++)
			text += (await ask(page === 0 ? "What does leaves.md say?" : "more", messages)).text;
		for (const line of lines) expect(text).toContain(`${line} (leaves.md:`);
		expect((await ask("What is this project?")).text).toContain(
			'for all of it ask "What does GUIDE.md say?"',
		);
	});

	test("files that were not read or searched are reported", async () => {
		for (let file = 0; file < 30; file++) put(`lamps/${file}.md`, `A lamp of kind ${file}.\n`);
		put("lamps/large.md", `${"A lamp is here.\n".repeat(20_000)}`);
		const { text } = await ask("Which lamp?");
		expect(text).toMatch(
			/\d+ more files were only searched \(read are 20 files of up to 100 KB.*name a file or a folder/,
		);
		expect(text).toContain("Searches showed only the first 300 matching lines of a word.");
		const many = "red orange yellow green blue indigo violet black white";
		expect((await ask(`Which lamps are ${many}?`)).text).toContain(
			'"white" was not searched for: too many words.',
		);
	});
});

test("takes time in proportion to the text it reads", async () => {
	const paragraph = "# A lamp\n\nThe lamp burns oil and the horn sounds in fog.\n\n- a lamp\n- a horn\n\n";
	await expectProportion(6_000, (repeats) => {
		put("lamps.md", paragraph.repeat(repeats));
		return async () =>
			expect((await ask("What does the lamp of lamps.md burn?")).text).toContain("burns oil");
	});
});

test("identifies itself in every answer", async () => {
	expect((await ask("What is this project?")).text).toMatch(/offline: .*no language model; set --model/);
	expect((await ask("Does it run on submarines?")).text).toMatch(/no language model/);
});

test("makes several lookups in parallel before it reads", async () => {
	const { calls } = await ask("Which breaking changes does NEWS.md list?");
	expect(calls).toEqual(["list_files", "search_text", "search_text", "read_file"]);
});

test("is deterministic", async () => {
	expect(await ask("What does heatWater do?")).toEqual(await ask("What does heatWater do?"));
});

test("finds all breaking changes of a changelog of 5,000 lines in less than two seconds", async () => {
	const lines = ["# Changelog", ""];
	const breaking: string[] = [];
	for (let release = 250; lines.length < 5_000; release--) {
		lines.push(`## ${release}.0.0 (2024-01-01)`, "");
		if (release % 10 === 0) {
			breaking.push(`* **core:** part ${release} was removed`);
			lines.push("### ⚠ BREAKING CHANGES", "", breaking.at(-1) as string, "");
		}
		lines.push("### Bug Fixes", "");
		for (let fix = 0; fix < 14; fix++)
			lines.push(`* **area${fix}:** some fix number ${fix} of ${release} changes little`);
		lines.push("");
	}
	put("HISTORY.md", lines.join("\n"));
	const started = process.cpuUsage();
	const { text } = await ask("which breaking changes does HISTORY.md list?");
	expect(process.cpuUsage(started).user / 1_000).toBeLessThan(2_000);
	expect(breaking.length).toBeGreaterThan(20);
	for (const line of breaking)
		expect(text).toContain(`${line.replaceAll("**", "").slice(2)} (HISTORY.md:${lines.indexOf(line) + 1})`);
	expect(text).not.toContain("some fix");
});

test("streams its answer in pieces that add up to the message", async () => {
	const model = offline.provider.modalities.llm?.bind(offline.modelId) as BoundLLMModel;
	const stream = model.stream({ messages: [new UserMessage("hello?")], tools: [], config: {} });
	let text = "";
	for await (const event of stream) text += event.type === "text_delta" ? (event.delta.text ?? "") : "";
	expect(text).toBe((await stream.response).message.text);
	expect(text).toMatch(/tools .* were not given/);
});

test("an aborted call is rejected as cancelled", async () => {
	const model = offline.provider.modalities.llm?.bind(offline.modelId) as BoundLLMModel;
	const request = { messages: [new UserMessage("x")], config: {}, signal: AbortSignal.abort() };
	await expect(model.complete(request)).rejects.toMatchObject({ code: "CANCELLED" });
});

describe("questions about files built to be slow are each answered in a few seconds", () => {
	const long = (line: string): string => `${line}\n`.repeat(Math.ceil(200_000 / (line.length + 1)));
	const nested = (line: (depth: number) => string): string =>
		Array.from({ length: 500 }, (_, depth) => line(depth)).join("\n");
	test.each([
		["tiny.md", `# ${"lamp ".repeat(800)}\n\n${"a\n\n".repeat(60_000)}`],
		["marks.md", long(`# ${"#".repeat(3_900)} x`)],
		["cells.md", long(`|${" ".repeat(3_900)}x`)],
		["heads.md", "|a|\n\n".repeat(40_000)],
		["links.md", long("[".repeat(3_900))],
		["items.md", nested((depth) => `${" ".repeat(depth)}- ${"x".repeat(150)}`)],
		["keys.yaml", nested((depth) => `${" ".repeat(depth)}${"k".repeat(150)}:`)],
		["sections.ini", long("[".repeat(3_900))],
		["braces.ts", long(`\t${"x".repeat(1_900)}(${"{ ".repeat(1_000)}x`)],
		["words.txt", long("lamp".repeat(900))],
		["blanks.ts", long(`${" ".repeat(3_900)}!`)],
	])("%s", async (path, text) => {
		put(path, `${text}\nthe lamp is here\n`);
		const started = process.cpuUsage();
		expect((await ask(`Where is the lamp in ${path}?`)).text).toContain(path);
		expect(process.cpuUsage(started).user / 1_000).toBeLessThan(5_000);
	});
});
