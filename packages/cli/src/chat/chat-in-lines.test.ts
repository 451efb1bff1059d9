/** The chat in a pipe, where no user can answer a question. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";
import { run } from "../command/spawn.fixture.ts";

const agent = join(import.meta.dirname, "approval-agent.fixture.ts");

test("a call that requires approval ends a chat in a pipe: no line approves it, and it keeps waiting", async () => {
	const folder = temporaryFolder();
	const argv = ["chat", "--agent", agent, "--session", "s"];
	const first = await run(argv, { folder, piped: "go\ny\n" });
	expect(first.stdout).toContain("which a pipe cannot give");
	expect(first.stdout).toMatch(/continue: +holdfast chat --session s\n$/);
	expect(first.stdout).not.toContain("> y");
	expect(first).toMatchObject({ code: 4, stderr: "" });
	// The line is not taken as the answer of a call that waited before.
	const again = await run(argv, { folder, piped: "y\n" });
	expect(again.stdout).not.toContain("It is done.");
	expect(again).toMatchObject({ code: 4, stderr: "" });
	const approved = await run([...argv, "--yes"], { folder, piped: "thanks\n" });
	expect(approved.stdout).toMatch(/It is done\.[\s\S]*> thanks/);
	expect(approved).toMatchObject({ code: 0, stderr: "" });
});

test("a call whose result comes from elsewhere ends a chat in a pipe, and keeps waiting", async () => {
	const folder = temporaryFolder();
	const remote = join(import.meta.dirname, "remote-agent.fixture.ts");
	const argv = ["chat", "--agent", remote, "--session", "s"];
	const first = await run(argv, { folder, piped: "go\nmore\n" });
	expect(first.stdout).toContain("measure waits for its result, which comes from outside this chat.");
	expect(first.stdout).toMatch(/continue: +holdfast chat --session s\n$/);
	expect(first.stdout).not.toContain("> more");
	expect(first).toMatchObject({ code: 4, stderr: "" });
	// Opened again, it still waits.
	const again = await run(argv, { folder, piped: "more\n" });
	expect(again.stdout).toContain("measure waits for its result");
	expect(again).toMatchObject({ code: 4, stderr: "" });
});

test("piped text does not send an image outside of the folder", async () => {
	const outside = join(temporaryFolder(), "a.png");
	writeFileSync(outside, "\x89PNG\r\n\x1a\n", "latin1");
	const argv = ["chat", "--agent", agent, "--session", "s", "--yes"];
	const { stdout } = await run(argv, { folder: temporaryFolder(), piped: `See @${outside}\n` });
	expect(stdout).toContain("was not sent: it is outside the folder.");
	expect(stdout).not.toContain("Attached");
});
