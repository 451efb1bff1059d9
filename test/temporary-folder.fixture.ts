// All tests of a run make their temporary folders, in whatever process, in one that is removed with the run; what a run
// left that was killed is removed by the next.
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const prefix = "holdfast-tests-";

/** Called by the test runner before the first test; gives what it calls after the last. */
export default function setup(): () => void {
	const place = tmpdir();
	for (const name of readdirSync(place)) {
		const [, pid] = /^holdfast-tests-(\d+)-/.exec(name) ?? [];
		if (pid !== undefined && !isAlive(Number(pid))) remove(join(place, name));
	}
	const folder = mkdtempSync(join(place, `${prefix}${process.pid}-`));
	// The first for all systems but Windows, the others for that one.
	for (const variable of ["TMPDIR", "TEMP", "TMP"]) process.env[variable] = folder;
	return () => remove(folder);
}

function remove(folder: string): void {
	rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
}

function isAlive(pid: number): boolean {
	try {
		process.kill(pid, 0);
		return true;
	} catch (error) {
		return (error as { code?: unknown }).code !== "ESRCH";
	}
}
