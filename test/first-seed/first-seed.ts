// The seed of all random input of a run of tests: the same for the same sources, so that a run can be repeated anywhere.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Seeds are below it, so that the ones that are counted up from a seed stay safe integers. */
const below = 1_000_000_000;
/** What stands for the sources where there is no Git. */
const stated = ["packages/core/src", "packages/upp/src"];

/** The seed that `given` names, a new one for `random`, or without one the seed of the sources in `root`. */
export function firstSeedOf(given: string | undefined, root: string): number {
	if (given === "random") return Math.floor(Math.random() * below);
	if (given === undefined || given === "") return seedOf(treeOf(root) ?? hashOf(root));
	const seed = Number(given);
	if (Number.isSafeInteger(seed) && seed >= 0) return seed;
	throw new Error(`HOLDFAST_FIRST_SEED takes "random" or a whole number from 0 on, not "${given}".`);
}

function seedOf(hash: string): number {
	return Number.parseInt(hash.slice(0, 12), 16) % below;
}

/** Git's hash of the folder as it was last committed; undefined without Git. */
function treeOf(root: string): string | undefined {
	try {
		return execFileSync("git", ["rev-parse", "--verify", "HEAD:./"], {
			cwd: root,
			encoding: "utf8",
			stdio: ["ignore", "pipe", "ignore"],
		}).trim();
	} catch {
		return undefined;
	}
}

function hashOf(root: string): string {
	const hash = createHash("sha256");
	for (const folder of stated) {
		const names = readdirSync(join(root, folder), { recursive: true, encoding: "utf8" });
		for (const name of names.filter((each) => each.endsWith(".ts")).sort())
			hash.update(readFileSync(join(root, folder, name)));
	}
	return hash.digest("hex");
}
