// How the run of a clean checkout goes through its stages.
import { join } from "node:path";
import { expect, test } from "vitest";
import { runCommand } from "../tools/run-command.ts";

const root = join(import.meta.dirname, "..");

/** What bash and all that it starts print, to the last one's end. */
async function stages(...lines: readonly string[]): Promise<string> {
	const script = ["set -uo pipefail", ". .ci/stages.sh", ...lines, "list_failed_stages"].join("\n");
	return (await runCommand(["bash", "-c", script], { folder: root })).output;
}

test("a stage that hangs is ended and fails by its name, for programs and functions", async () => {
	const output = await stages(
		"forever() { while :; do sleep 0.1; done; }",
		'stage "first" within 1 sleep 60',
		'stage "second" within 1 forever',
	);
	expect(output).toMatch(/── first: FAILED, it hangs and was ended after \d s ──/);
	expect(output).toMatch(/── second: FAILED, it hangs and was ended after \d s ──/);
	expect(output).toContain("\nfirst second\n");
});

test("processes of a hanging stage end with it", async () => {
	// A child that lived on would keep the output open.
	const output = await stages('stage "parent" within 1 bash -c "sleep 1000 & wait"');
	expect(output).toContain("── parent: FAILED, it hangs");
});

test("the stages after a failed one run, and a successful stage is not a failure", async () => {
	const output = await stages('stage "bad" within 5 false', 'stage "good" within 5 echo done');
	expect(output).toMatch(/── bad: FAILED, \d s ──\n\n── good ──\ndone\n── good: ok, \d s ──/);
	expect(output).toContain("\nbad\n");
});

test("a concurrent stage ends before its finish, fails by its name if it hangs, and prints its output there", async () => {
	const output = await stages(
		'begin "beside" within 20 echo said',
		'begin "stuck" within 1 sleep 60',
		'begin "bad" within 5 false',
		'stage "own" within 5 echo done',
		'finish "beside"',
		'finish "stuck"',
		'finish "bad"',
	);
	expect(output).toMatch(
		/── own ──\ndone\n── own: ok, \d s ──\n\n── beside, .*\nsaid\n── beside: ok, \d s ──/,
	);
	expect(output).toMatch(/── stuck: FAILED, it hangs and was ended after \d s ──/);
	expect(output).toMatch(/── bad: FAILED, \d s ──/);
	expect(output).toContain("\nstuck bad\n");
});
