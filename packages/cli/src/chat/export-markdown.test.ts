import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { AssistantMessage, ToolResultMessage, UserMessage } from "@holdfast/upp";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";
import { exportMarkdown, markdownOf } from "./export-markdown.ts";

test("messages, calls and results become Markdown, and no result ends its code block", () => {
	const call = { toolCallId: "internal-1", toolName: "read_file", arguments: { path: "a.md" } };
	const text = markdownOf(
		[
			new UserMessage("Read it."),
			new AssistantMessage("I read.", [call]),
			new ToolResultMessage([{ toolCallId: "internal-1", result: "````\nx\u001b[2J" }]),
		],
		"chat-1",
	);
	expect(text).toBe(
		"# chat-1\n\n## User\n\nRead it.\n\n## Assistant\n\nI read.\n\n- `read_file path=a.md`\n\nResult:\n\n`````\n````\nx\n`````\n",
	);
});

test("an existing file is never replaced", async () => {
	const dir = temporaryFolder();
	writeFileSync(join(dir, "a.md"), "mine");
	await expect(exportMarkdown([], { title: "t", dir, file: "a.md" })).rejects.toThrow(
		/exists\. Name another file/,
	);
	expect(readFileSync(join(dir, "a.md"), "utf8")).toBe("mine");
	await exportMarkdown([new UserMessage("Hi")], { title: "t", dir, file: "b.md" });
	expect(readFileSync(join(dir, "b.md"), "utf8")).toContain("Hi");
});
