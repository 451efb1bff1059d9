// How the run of a clean checkout goes through its stages.
import { join } from "node:path";
import { expect, test } from "vitest";
import { runCommand } from "../tools/run-command.ts";

const root = join(import.meta.dirname, "..");

/** What bash and all that it starts print, to the last one's end. */
async function stages(...lines: readonly string[]): Promise<string> {
	const script = [". .ci/stages.sh", ...lines, "list_failed_stages"].join("\n");
	return (await runCommand(["bash", "-c", script], { folder: root })).output;
}

test("a stage that hangs is ended and fails by its name, whether a program or a function hangs", async () => {
	const output = await stages(
		"forever() { while :; do sleep 0.1; done; }",
		'stage "first" within 1 sleep 60',
		'stage "second" within 1 forever',
	);
	expect(output).toMatch(/── first: FAILED, it hangs and was ended after \d s ──/);
	expect(output).toMatch(/── second: FAILED, it hangs and was ended after \d s ──/);
	expect(output).toContain("\nfirst second\n");
});

test("what a stage that hangs has started ends with it", async () => {
	// A child that lived on would keep the output open.
	const output = await stages('stage "parent" within 1 bash -c "sleep 1000 & wait"');
	expect(output).toContain("── parent: FAILED, it hangs");
});

test("the stages after one that failed run, and a stage that is good is no failure", async () => {
	const output = await stages('stage "bad" within 5 false', 'stage "good" within 5 echo done');
	expect(output).toMatch(/── bad: FAILED, \d s ──\n\n── good ──\ndone\n── good: ok, \d s ──/);
	expect(output).toContain("\nbad\n");
});
