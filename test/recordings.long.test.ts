// The recordings of docs/images: the script can still make them, and they show what the programs print today.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { chatFilm, recordChat } from "../tools/images/chat.ts";
import { chromiumPath, screenshotInspector } from "../tools/images/inspector.ts";
import { recorded } from "../tools/images/recorded.ts";

const folder = join(import.meta.dirname, "../docs/images");
const hasTerminal = spawnSync("tmux", ["-V"]).status === 0;

/** Returns the conversation of a film's last frame, without durations, what follows them, and the path of the agent. */
const conversation = (svg: string): readonly string[] =>
	[...svg.matchAll(/^<g(?: style="--k:k\d+")?>(.*)$/gm)]
		.map(([, line = ""]) =>
			line
				.replaceAll(/<[^>]*>/g, "")
				.replaceAll("\u00a0", " ")
				// The width of the duration also decides how much of the result fits into the line.
				.replace(/ ?· ?\d+(?:\.\d+)? m?s.*$/, " · …"),
		)
		.filter((line) => /^(?:&gt; \w|I |It |refund|Approved|✓|Done|Your|42 )/.test(line))
		.sort();

test.skipIf(!hasTerminal)("the recording of the chat ends as the chat ends today (needs tmux)", async () => {
	const committed = readFileSync(join(folder, "chat.svg"), "utf8");
	expect(conversation(chatFilm(await recordChat()))).toEqual(conversation(committed));
});

describe.skipIf(!existsSync(chromiumPath))("the inspector (needs Chromium)", () => {
	test("npm run images can take its screenshots", async () => {
		const names = [...(await screenshotInspector()).keys()];
		expect(names.sort()).toEqual(recorded.filter((name) => name.endsWith(".png")));
	});
});
