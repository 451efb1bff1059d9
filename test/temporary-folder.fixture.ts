// What a run of tests has in common. Processes that tests start share what was compiled and bundled for one of them, for
// loading the sources anew each time would cost more than what is tested. All tests of a run make their temporary folders,
// in whatever process, in one that is removed with the run; what a run left that was killed is removed by a later one.
// The folder is in memory where there is enough, since tests end processes and never the power: waiting for the disk proves
// nothing. What takes gigabytes, such as installed packages, goes to the folder that HOLDFAST_DISK names.
import { mkdtempSync, readdirSync, rmSync, statfsSync, statSync } from "node:fs";
import { freemem, tmpdir } from "node:os";
import { basename, join } from "node:path";

const prefix = "holdfast-tests-";
/** A file system in memory, as Linux has it. */
const memory = "/dev/shm";
/** Bytes that must be free in it: the tests take up to a tenth. */
const enough = 4 * 1024 ** 3;
/** Milliseconds after which a folder that nothing was added to is left over, when its process is not to be found. */
const leftAfter = 60 * 60 * 1000;

/** Called by the test runner before the first test; gives what it calls after the last. */
export default function setup(): () => void {
	const place = tmpdir();
	// Each project of a run calls this. Within one another, folders get names too long for the sockets in them.
	if (basename(place).startsWith(`${prefix}${process.pid}-`)) return () => {};
	const places = [place, ...(hasRoom(memory) ? [memory] : [])];
	const [disk = place, folder = disk] = places.map((each) => {
		for (const name of readdirSync(each)) if (name.startsWith(prefix)) removeIfLeft(join(each, name), name);
		return mkdtempSync(join(each, `${prefix}${process.pid}-`));
	});
	process.env.HOLDFAST_DISK = disk;
	// The first for all systems but Windows, the others for that one.
	for (const variable of ["TMPDIR", "TEMP", "TMP"]) process.env[variable] = folder;
	process.env.HOLDFAST_CLUSTERS = mkdtempSync(join(folder, "clusters-"));
	process.env.HOLDFAST_BUNDLES ??= mkdtempSync(join(folder, "bundles-"));
	const first = JSON.stringify(join(import.meta.dirname, "../tools/start-bundled.cjs"));
	process.env.NODE_OPTIONS = [process.env.NODE_OPTIONS, `--require=${first}`].filter(Boolean).join(" ");
	return () => {
		for (const each of new Set([disk, folder])) remove(each);
	};
}

function hasRoom(place: string): boolean {
	try {
		const { bavail, bsize } = statfsSync(place);
		return process.platform === "linux" && Math.min(bavail * bsize, freemem()) > enough;
	} catch {
		return false;
	}
}

function removeIfLeft(folder: string, name: string): void {
	try {
		const isOld = Date.now() - statSync(folder).mtimeMs > leftAfter;
		if (isOld && !isAlive(Number.parseInt(name.slice(prefix.length), 10))) remove(folder);
	} catch {
		// It is somebody else's, or gone.
	}
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
