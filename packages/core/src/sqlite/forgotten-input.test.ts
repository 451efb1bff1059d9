import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { scriptedModel } from "@holdfast/testing";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";
import { agent, tool } from "../index.ts";
import { sqliteHost } from "../sqlite.ts";

test.each([1, 100, 1_000])(
	"a waiting input of %i search words leaves no copy in the file after delivery",
	async (count) => {
		const folder = temporaryFolder();
		const host = sqliteHost(join(folder, "a.db"));
		const gate = Promise.withResolvers<string>();
		const wait = tool({
			name: "wait",
			description: "Waits.",
			parameters: { type: "object" },
			run: () => gate.promise,
		});
		const model = scriptedModel([{ toolCalls: [{ name: "wait" }] }, "one", "two"]);
		const helper = agent({ model, tools: [wait], host });
		const session = helper.session("s");
		const first = await session.send("first");
		const second = await session.send("needle-4711-needle ".repeat(count));
		gate.resolve("done");
		await first.result();
		await second.result();
		await helper.close();
		await host.close();
		const kept = readdirSync(folder)
			.map((name) => readFileSync(join(folder, name), "latin1"))
			.join("");
		// Only in its entry, where page boundaries may split a few.
		expect(kept.split("needle-4711-needle").length - 1).toBeLessThanOrEqual(count);
	},
);
