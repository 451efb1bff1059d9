import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { memoryHost } from "holdfast";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";
import { createAssistant } from "./assistant.ts";
import { offlineModel } from "./models.ts";

test("the user is told which AGENTS.md the assistant does not follow", async () => {
	const dir = temporaryFolder();
	writeFileSync(join(dir, "AGENTS.md"), "x".repeat(1_000_001));
	mkdirSync(join(dir, ".git"));
	writeFileSync(join(dir, "notes.md"), "The limit is 5.");
	const notices: string[] = [];
	const assistant = createAssistant({
		host: memoryHost(),
		dir,
		model: offlineModel,
		allowNetwork: false,
		allowWrite: false,
		allowShell: false,
		onNotice: (notice) => notices.push(notice),
	});
	await (await assistant.session("ann").send("What is the limit?")).result();
	expect(notices).toEqual(["AGENTS.md is not used: it has 1000001 bytes, and the limit is 1000000."]);
	await assistant.close();
});
