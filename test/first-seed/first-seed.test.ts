// All random input of a run follows from one seed, which follows from the sources.
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { temporaryFolder } from "../shared/temporary-folder.fixture.ts";
import { firstSeedOf } from "./first-seed.ts";

function sources(text: string): string {
	const root = temporaryFolder();
	for (const name of ["core", "upp"]) {
		mkdirSync(join(root, "packages", name, "src"), { recursive: true });
		writeFileSync(join(root, "packages", name, "src/a.ts"), text);
	}
	return root;
}

function commit(root: string, message: string): void {
	const git = (...parameters: string[]): unknown => execFileSync("git", parameters, { cwd: root });
	git("init", "--quiet");
	git("add", ".");
	const author = ["-c", "user.name=A", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false"];
	git(...author, "commit", "--quiet", "--allow-empty", "-m", message);
}

test("the same sources have the same seed, and others another", () => {
	const one = firstSeedOf(undefined, sources("one"));
	expect(firstSeedOf(undefined, sources("one"))).toBe(one);
	expect(firstSeedOf(undefined, sources("other"))).not.toBe(one);
});

test("with Git, the seed is the same until other sources are committed, in any commit", () => {
	const [root, copy] = [sources("one"), sources("one")];
	commit(root, "One");
	commit(copy, "The same in another commit");
	const one = firstSeedOf(undefined, root);
	expect(firstSeedOf(undefined, copy)).toBe(one);
	writeFileSync(join(root, "packages/core/src/a.ts"), "other");
	expect(firstSeedOf(undefined, root)).toBe(one);
	commit(root, "Other");
	expect(firstSeedOf(undefined, root)).not.toBe(one);
});

test("HOLDFAST_FIRST_SEED names the seed, or asks for a new one", () => {
	const root = sources("one");
	expect(firstSeedOf("7", root)).toBe(7);
	const drawn = new Set([1, 2, 3, 4].map(() => firstSeedOf("random", root)));
	expect(drawn.size).toBeGreaterThan(1);
	for (const wrong of ["seven", "-1", "0.5"])
		expect(() => firstSeedOf(wrong, root)).toThrow("HOLDFAST_FIRST_SEED");
});

test("properties draw from the first seed of the run", () => {
	const seed = Number(process.env.HOLDFAST_FIRST_SEED);
	expect(fc.sample(fc.string(), 20)).toEqual(fc.sample(fc.string(), { numRuns: 20, seed }));
	expect(fc.sample(fc.string(), 20)).not.toEqual(fc.sample(fc.string(), { numRuns: 20, seed: seed + 1 }));
	expect(fc.check(fc.property(fc.nat(), () => true)).seed).toBe(seed);
});
