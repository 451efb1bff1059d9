import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { sqliteHost } from "holdfast/sqlite";
import { describe, expect, test } from "vitest";
import { double, edit, expectMadeOnce, lampProject } from "./lamp-project.fixture.ts";
import { run, type Started, start } from "./spawn.fixture.ts";

// Every test starts real processes, which takes its time on a busy machine.
const project = lampProject();
const { file, lamp, lastMessages, task } = project;
const paint = edit("paint", "green", "red");
const note = { id: "note", tool: "write_file", arguments: { path: "notes/new.txt", content: "Painted.\n" } };
const jsonLines = (stdout: string): Record<string, unknown>[] =>
	stdout
		.trim()
		.split("\n")
		.map((line) => JSON.parse(line));

describe("without a terminal", () => {
	test("a change waits: its diff is shown, the file stays, and the exit code is 4", async () => {
		const { code, stdout } = await run(await task([{ calls: [paint] }, { text: "Done." }]), {
			folder: project.folder,
		});
		expect(code).toBe(4);
		expect(lamp()).toContain("green");
		expect(stdout).toContain(
			"--- lamp.txt\n+++ lamp.txt\n@@ -1,2 +1,2 @@\n-The lamp is green.\n+The lamp is red.\n It is small.\n",
		);
		expect(stdout).toContain("waiting for approval of a call");
		expect(stdout).toMatch(/holdfast resume s --approve paint@[0-9a-f]{12}/);
		expect((await run(["sessions"], { folder: project.folder })).stdout).toMatch(/s +waiting for approval /);
		const shown = (await run(["show", "s"], { folder: project.folder })).stdout;
		expect(shown).toMatch(/waiting +for approval of edit_file path=lamp\.txt/);
		expect(shown).toContain("holdfast resume s");
		expect((await run(["resume"], { folder: project.folder })).code).toBe(4);
		const resumed = await run(["resume", "s", "--yes"], { folder: project.folder });
		expect([resumed.code, lamp()]).toEqual([0, "The lamp is red.\nIt is small.\n"]);
		expect(resumed.stdout).toContain("Done.");
		expect((await run(["show", "s"], { folder: project.folder })).stdout).toMatch(/approved +edit_file/);
	});

	test("--yes lets every change run, and still shows it", async () => {
		const { code, stdout } = await run(await task([{ calls: [paint, note] }, { text: "Done." }], "--yes"), {
			folder: project.folder,
		});
		expect(code).toBe(0);
		expect(stdout).toContain("+The lamp is red.");
		expect(lamp()).toContain("red");
		expect(readFileSync(file("notes/new.txt"), "utf8")).toBe("Painted.\n");
	});

	test("--json lists the waiting calls, and calls are approved and denied by name", async () => {
		const { code, stdout } = await run(await task([{ calls: [paint, note] }, { text: "Done." }], "--json"), {
			folder: project.folder,
		});
		expect(code).toBe(4);
		const pending = jsonLines(stdout).filter(({ type }) => type === "pending");
		expect(pending).toMatchObject([
			{
				id: "paint",
				tool: "edit_file",
				path: "lamp.txt",
				diff: expect.stringContaining("+The lamp is red."),
			},
			{ id: "note", approve: "note@new", versions: { before: null } },
		]);
		expect(jsonLines(stdout).at(-1)).toMatchObject({ type: "end", outcome: "waiting", exitCode: 4 });
		const approve = String(pending[0]?.approve);
		const resumed = await run(
			["resume", "s", "--approve", approve, "--deny", "note", "--reason", "no notes here"],
			{ folder: project.folder },
		);
		expect(resumed.code).toBe(0);
		expect(lamp()).toContain("red");
		expect(existsSync(file("notes"))).toBe(false);
		expect(lastMessages()).toContain("no notes here");
	});

	test("one of two calls can be answered; the other keeps waiting", async () => {
		await run(await task([{ calls: [paint, note] }, { text: "Done." }]), { folder: project.folder });
		const one = await run(["resume", "s", "--approve", "note"], { folder: project.folder });
		expect([one.code, existsSync(file("notes/new.txt")), lamp().includes("green")]).toEqual([4, true, true]);
		expect((await run(["resume", "s", "--deny", "paint"], { folder: project.folder })).code).toBe(0);
	});

	test("only the shown version is approved: another version of the file is shown again instead", async () => {
		const { stdout } = await run(await task([{ calls: [paint] }, { text: "Done." }]), {
			folder: project.folder,
		});
		const [word = ""] = /paint@\w+/.exec(stdout) ?? [];
		writeFileSync(file("lamp.txt"), "A green lamp.\n");
		const stale = await run(["resume", "s", "--approve", word], { folder: project.folder });
		expect([stale.code, lamp()]).toEqual([4, "A green lamp.\n"]);
		expect(stale.stdout).toContain("+A red lamp.");
		const [fresh = ""] = /paint@\w+/.exec(stale.stdout.slice(stale.stdout.indexOf("+A red"))) ?? [];
		expect((await run(["resume", "s", "--approve", fresh], { folder: project.folder })).code).toBe(0);
		expect(lamp()).toBe("A red lamp.\n");
	});

	test("a call that does not wait cannot be named, and one that can no longer run is rejected", async () => {
		await run(await task([{ calls: [paint] }, { text: "Done." }]), { folder: project.folder });
		const wrong = await run(["resume", "s", "--approve", "other"], { folder: project.folder });
		expect([wrong.code, wrong.stderr]).toEqual([
			2,
			'holdfast: No call "other" waits in this session. Waiting: paint.\n',
		]);
		writeFileSync(file("lamp.txt"), "Gone.\n");
		expect((await run(["resume", "s", "--yes"], { folder: project.folder })).code).toBe(0);
		expect(lastMessages()).toContain("not in");
		expect(lamp()).toBe("Gone.\n");
	});

	test("several changes of one file follow each other, and impossible changes need no answer", async () => {
		const calls = [paint, edit("size", "small", "large"), edit("no", "nowhere", "x")];
		const { code, stdout } = await run(await task([{ calls }, { text: "Done." }], "--yes"), {
			folder: project.folder,
		});
		expect([code, lamp()]).toEqual([0, "The lamp is red.\nIt is large.\n"]);
		expect(stdout).not.toContain("edit_file lamp.txt needs approval: no");
		expect(lastMessages()).toContain("is not in");
	});

	test("a name refers to the call that waits now, not to a later one with the same id", async () => {
		const later = edit("paint", "small", "large");
		await run(await task([{ calls: [paint] }, { calls: [later] }, { text: "Done." }]), {
			folder: project.folder,
		});
		const { code, stdout } = await run(["resume", "s", "--approve", "paint"], { folder: project.folder });
		expect([code, lamp()]).toEqual([4, "The lamp is red.\nIt is small.\n"]);
		expect(stdout).toContain("+It is large.");
	});

	test("a worker continues such a session and leaves its changes waiting", async () => {
		const argv = await task(["hang", { calls: [paint] }, { text: "Done." }]);
		const { child, finished } = start(argv, { folder: project.folder });
		await project.server.asked(1);
		child.kill("SIGKILL");
		await finished;
		const worked = await run(["worker", "--once"], { folder: project.folder });
		expect([worked.code, lamp().includes("green")]).toEqual([0, true]);
		expect(worked.stdout).toMatch(/^waiting +session s/m);
		expect((await run(["resume", "s", "--yes"], { folder: project.folder })).code).toBe(0);
		expect(lamp()).toContain("red");
	});

	test("the next task of a waiting session does not start before its answer", async () => {
		await run(await task([{ calls: [paint] }, { text: "First." }, { text: "Second." }]), {
			folder: project.folder,
		});
		const waits = await run(["run", "And then?", "--session", "s"], { folder: project.folder });
		expect([waits.code, project.server.requests.length]).toEqual([4, 1]);
		const { code, stdout } = await run(["run", "And then?", "--session", "s", "--yes"], {
			folder: project.folder,
		});
		expect(code).toBe(0);
		expect(stdout).toMatch(/First\.[\s\S]*Second\./);
	});

	test("the offline model states that it changes nothing; without --allow-write there is no tool that could", async () => {
		await project.serve([{ text: "Yes." }]);
		const ask = ["run", "What is green?", "--dir", "project"];
		const { code, stdout } = await run([...ask, "--allow-write"], { folder: project.folder });
		expect([code, stdout.includes("it changes no files")]).toEqual([0, true]);
		await run([...ask, "--model", project.server.model], { folder: project.folder });
		expect(JSON.stringify(project.server.requests)).not.toContain("write_file");
	});
});

const script = "/usr/bin/script";

describe.skipIf(!existsSync(script))("in a terminal", () => {
	const terminal = { through: script, environment: { TERM: "xterm-256color", NO_COLOR: "" } };
	const question = (started: Started, title: string): Promise<void> =>
		started.until(new RegExp(`${title}\\? \\[y\\]es`));

	test("each change is shown in colours and requires approval; a reason for denial reaches the model", async () => {
		const argv = await task([{ calls: [paint, note] }, { text: "Done." }]);
		const started = start(argv, { folder: project.folder, ...terminal });
		await question(started, "edit_file lamp\\.txt");
		expect(lamp()).toContain("green");
		started.type("y\n");
		await question(started, "write_file notes/new\\.txt");
		started.type("we take no notes\n");
		const { code, stdout } = await started.finished;
		expect(code).toBe(0);
		expect(stdout).toContain("\x1b[32m+The lamp is red.");
		expect(stripVTControlCharacters(stdout)).not.toContain("resumed");
		expect(lamp()).toContain("red");
		expect(existsSync(file("notes"))).toBe(false);
		expect(lastMessages()).toContain("we take no notes");
	});

	test("`all` approves all later changes", async () => {
		const argv = await task([{ calls: [paint] }, { calls: [note] }, { text: "Done." }]);
		const started = start(argv, { folder: project.folder, ...terminal });
		await question(started, "edit_file lamp\\.txt");
		started.type("a\n");
		expect((await started.finished).code).toBe(0);
		expect([lamp().includes("red"), existsSync(file("notes/new.txt"))]).toEqual([true, true]);
	});

	test.each([
		["Ctrl-C", "\x03"],
		["the end of input", "\x04"],
	])("%s leaves the change waiting and explains how to continue; resume asks again", async (_name, keys) => {
		const started = start(await task([{ calls: [paint] }, { text: "Done." }]), {
			folder: project.folder,
			...terminal,
		});
		await question(started, "edit_file lamp\\.txt");
		started.type(keys);
		const { code, stdout } = await started.finished;
		expect([code, lamp().includes("green")]).toEqual([4, true]);
		expect(stdout).toContain("holdfast resume s");
		const resumed = start(["resume", "s"], { folder: project.folder, ...terminal });
		await question(resumed, "edit_file lamp\\.txt");
		resumed.type("y\n");
		expect((await resumed.finished).code).toBe(0);
		expect(lamp()).toContain("red");
	});

	test("text typed before a question does not answer it", async () => {
		const shown = Promise.withResolvers<void>();
		const argv = await task([{ calls: [paint], after: shown.promise }, { text: "Done." }]);
		const started = start(argv, { folder: project.folder, ...terminal });
		await project.server.asked(1);
		started.type("yes\n");
		await started.until(/yes\r?\n/);
		shown.resolve();
		await question(started, "edit_file lamp\\.txt");
		started.type("n\n");
		expect((await started.finished).code).toBe(0);
		expect(lamp()).toContain("green");
	});

	test("killed during the question, the change waits and is shown again", async () => {
		const started = start(await task([{ calls: [paint] }, { text: "Done." }]), {
			folder: project.folder,
			...terminal,
		});
		await question(started, "edit_file lamp\\.txt");
		process.kill(lastDescendant(started.child.pid as number), "SIGKILL");
		await started.finished;
		expect((await run(["sessions"], { folder: project.folder })).stdout).toMatch(/s +waiting for approval /);
		const { code } = await run(["resume", "s", "--yes"], { folder: project.folder });
		expect([code, lamp().includes("red")]).toEqual([0, true]);
	});
});

/** Returns the process id of the command itself, which the terminal program has started. */
function lastDescendant(pid: number): number {
	const [child] = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").filter(Boolean);
	return child === undefined ? pid : lastDescendant(Number(child));
}

describe("a process that is killed", () => {
	test("at rename:after of the write leaves a complete file, and resume makes the approved change once", () =>
		expectMadeOnce(project, "rename:after"));

	test("in the write, with the file changed before it is resumed, overwrites nothing", async () => {
		await project.killedAt("rename:before");
		writeFileSync(file("lamp.txt"), "Mine is green.\n");
		expect((await run(["resume", "s"], { folder: project.folder })).code).toBe(0);
		expect([lamp(), project.isClean()]).toEqual(["Mine is green.\n", true]);
		expect(lastMessages()).toContain("has changed since this change was approved");
	});

	test("after the approval and before the write makes the change when it is resumed", async () => {
		await run(await task([{ calls: [double] }, { text: "Done." }]), { folder: project.folder });
		const [proposal] = jsonLines(
			(await run(["resume", "s", "--json"], { folder: project.folder })).stdout,
		).filter(({ type }) => type === "pending");
		const host = sqliteHost(join(project.folder, ".holdfast/holdfast.db"));
		const runId = (await host.journal.head("s"))?.openRunId as string;
		const taken = await host.journal.acquire("s");
		if (!taken.ok) throw new Error("The session is held.");
		const [first] = await host.journal.read("s");
		if (first?.fact.kind !== "run.started") throw new Error("The session has no run.");
		const { fingerprint } = first.fact;
		await taken.lease.append({
			at: Date.now(),
			runId,
			facts: [
				{ kind: "run.resumed", attempt: 2, fingerprint, reason: "answered" },
				{
					kind: "decision",
					step: 1,
					topic: "approval",
					answer: { callId: "double", approved: true, basis: proposal?.versions },
				},
			],
		});
		await host.close();
		expect((await run(["resume", "s"], { folder: project.folder })).code).toBe(0);
		expect(lamp()).toBe("The lamp is green green.\nIt is small.\n");
	});
});
