// A process is killed inside a call of a script. The next process continues the script from its record.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";

const program = join(import.meta.dirname, "script-process.fixture.ts");

function run(folder: string, plan: { readonly dieIn: number; readonly begins: boolean }) {
	const options = { ...plan, path: join(folder, "s.db"), effects: join(folder, "effects.jsonl") };
	const argv = ["--conditions=holdfast-source", "--no-warnings", program, JSON.stringify(options)];
	const { stdout, signal } = spawnSync(process.execPath, argv, { encoding: "utf8", timeout: 120_000 });
	const lines = existsSync(options.effects) ? readFileSync(options.effects, "utf8").trim().split("\n") : [];
	return {
		stdout,
		signal,
		effects: lines.map((line) => JSON.parse(line) as { to: string; key: string; mark: unknown }),
	};
}

test.each([1, 3, 6])("a script whose process is killed in call %i repeats no other call", (dieIn) => {
	const folder = temporaryFolder();
	const first = run(folder, { dieIn, begins: true });
	expect(first.signal).toBe("SIGKILL");
	const { stdout, effects } = run(folder, { dieIn: 0, begins: false });
	expect(stdout).toContain("posted to two at 3");
	expect(stdout).toContain("19,18]");
	expect(stdout).toContain("Done.");
	const keys = new Map<string, Set<string>>();
	for (const { to, key } of effects) keys.set(to, (keys.get(to) ?? new Set()).add(key));
	expect([...keys.keys()].sort()).toEqual(["five", "four", "one", "six", "three", "two"]);
	for (const used of keys.values()) expect(used.size).toBe(1);
	// Random numbers and the time are those of the first process.
	expect(new Set(effects.map(({ mark }) => JSON.stringify(mark))).size).toBe(1);
	// Only calls that were in flight at the kill run twice, with the same key.
	expect(effects.length).toBeLessThanOrEqual(6 + 3);
});
