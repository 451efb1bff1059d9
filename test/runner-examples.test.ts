// The folders of examples/: each runs as its page says, and does what it is there to show.
import childProcess from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { expectActions } from "@holdfast/runner/harness";
import { afterEach, describe, expect, test, vi } from "vitest";
import { issueAgent } from "../examples/issue-automation/agent.ts";
import { standInModel as issueModel } from "../examples/issue-automation/stand-in-model.ts";
import { startTracker } from "../examples/issue-automation/tracker.ts";
import { releaseNotesAgent } from "../examples/release-notes/agent.ts";
import { startSite } from "../examples/release-notes/site.ts";
import { standInModel as notesModel } from "../examples/release-notes/stand-in-model.ts";
import { runCommand } from "../tools/run-command.ts";

const folder = join(import.meta.dirname, "../examples");

afterEach(() => {
	vi.restoreAllMocks();
	syncBuiltinESMExports();
});

describe("release-notes", () => {
	test("fetches from its server, stores the response, and summarises it [RUN-156]", async () => {
		const site = await startSite();
		const agent = releaseNotesAgent(site.host, notesModel);
		const result = await agent.runOnce();
		site.close();
		expectActions(result, [
			{ type: "tool", toolId: "http", ok: true },
			{ type: "tool", toolId: "cache", ok: true },
			{ type: "finish", ok: true },
		]);
		expect(result.actions?.[1]?.input).toMatchObject({
			operation: "set",
			value: expect.stringContaining("horn() is gone"),
		});
		const get = { operation: "get", key: "release-notes" };
		expect(await agent.getTool("cache")?.run(get, {} as never)).toMatchObject({
			ok: true,
			output: expect.stringContaining("horn() is gone"),
		});
		expect(result).toMatchObject({
			success: true,
			summary: "Lighthouse 2.4.0: lamp.on() takes a colour; horn() is gone, use sound().",
		});
	});
});

describe("issue-automation", () => {
	async function run(allowShell: boolean) {
		const tracker = await startTracker();
		const result = await issueAgent({ tracker, model: issueModel, allowShell }).runOnce();
		tracker.close();
		return { result, tracker };
	}

	test("searches, runs the test, and posts one issue even though the tracker first fails to answer [RUN-157]", async () => {
		const { result, tracker } = await run(true);
		expectActions(result, [
			{ type: "tool", toolId: "search", ok: true },
			{ type: "tool", toolId: "shell", ok: false },
			{ type: "tool", toolId: "http", ok: true },
			{ type: "finish", ok: true },
		]);
		expect([tracker.requests(), result.actions?.[2]?.attempts]).toEqual([2, 2]);
		expect([...tracker.issues.values()]).toEqual([
			{ title: "slugify: its test fails", text: expect.stringContaining("keep-the light on") },
		]);
		expect(JSON.stringify(result)).not.toContain(tracker.key);
	});

	test("starts no process and posts nothing without allowShell [RUN-157]", async () => {
		const spawn = vi.spyOn(childProcess, "spawn");
		syncBuiltinESMExports();
		const { result, tracker } = await run(false);
		expect(spawn).not.toHaveBeenCalled();
		expect(result.actions?.[1]).toMatchObject({ ok: false, error: { code: "SHELL_DISABLED" } });
		expect([result.success, tracker.requests()]).toEqual([true, 0]);
		await run(true);
		expect(spawn).toHaveBeenCalledTimes(1);
	});
});

test("every command on the pages runs, and every file that they name exists", async () => {
	for (const name of ["release-notes", "issue-automation"]) {
		const page = readFileSync(join(folder, name, "README.md"), "utf8");
		const commands = [...page.matchAll(/^npm run example (?:-- )?(.+)$/gm)].map(
			([, command = ""]) => command,
		);
		expect(commands.length).toBeGreaterThan(0);
		for (const command of commands) {
			const argv = [
				process.execPath,
				"--conditions=holdfast-source",
				"--no-warnings",
				...command.split(" "),
			] as const;
			const { code, output } = await runCommand(argv, { folder: join(folder, ".."), timeout: 60_000 });
			expect([command, code, output]).toEqual([
				command,
				0,
				expect.stringMatching(/finish\n\S.*\n$|finish\n.*\nIssue after 2/),
			]);
		}
		const named = [...page.matchAll(/^\| `([^`]+)` \|/gm)]
			.map(([, file = ""]) => file.replace("/", ""))
			.sort();
		const there = readdirSync(join(folder, name))
			.filter((file) => file !== "README.md")
			.sort();
		expect(named).toEqual(there);
	}
});
