// No room is left: the run fails with a code that says so, what was committed stays, and it continues when there is room.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Entry } from "holdfast/host";
import { describe, expect, test } from "vitest";
import { expectNoOpenCalls, expectWellFormed, factsOf } from "./comparison.fixture.ts";
import { makeWorld, named, type World } from "./world.fixture.ts";

const large = Array.from({ length: 6 }, () => ["produce:40000"]);
const plan = (first: string): string =>
	JSON.stringify({ task: "one", rounds: [[first], ...large, ["post:b"]] });
const text = "one is done: fact of a, receipt 1.";

async function expectContinues(world: World, committed: number): Promise<void> {
	const before = await world.entries();
	expect(before.length).toBeGreaterThanOrEqual(committed);
	expect(factsOf(before, "run.ended")).toEqual([]);
	const resumed = await world.run({ work: { resume: true } });
	expect(named(resumed, "failed")).toEqual([]);
	expect(named(resumed, "result")).toMatchObject([{ outcome: "completed", text }]);
	expectUnharmed(world, before, await world.entries());
}

function expectUnharmed(world: World, before: readonly Entry[], entries: readonly Entry[]): void {
	expect(entries.slice(0, before.length)).toEqual(before);
	expectWellFormed(entries);
	expectNoOpenCalls(world.requests());
	expect(factsOf(entries, "tool.settled").every(({ outcome }) => outcome === "done")).toBe(true);
	expect(world.received().size).toBe(1);
}

interface SmallDisk {
	readonly folder: string;
	/** Leaves room for so many bytes. */
	fill(room: number): void;
	enlarge(): void;
	unmount(): void;
}

/** Mounts a file system of so many bytes; undefined where that is not allowed. */
function smallDisk(size: number): SmallDisk | undefined {
	const folder = mkdtempSync(join(tmpdir(), "holdfast-disk-"));
	const mount = (options: string, ...rest: readonly string[]): unknown =>
		execFileSync("mount", [...rest, "-o", options, folder], { stdio: "ignore" });
	try {
		mount(`size=${size}`, "-t", "tmpfs", "tmpfs");
	} catch {
		rmSync(folder, { recursive: true });
		return undefined;
	}
	return {
		folder,
		fill(room) {
			const { bavail, bsize } = statfsSync(folder);
			writeFileSync(join(folder, "ballast"), Buffer.alloc(bavail * bsize - room));
		},
		enlarge: () => void mount(`remount,size=${16 * size}`),
		unmount() {
			execFileSync("umount", [folder]);
			rmSync(folder, { recursive: true });
		},
	};
}

describe("without space for the journal", () => {
	test("a file at its limit: the run fails with disk_full, and continues when the limit is raised", async ({
		onTestFinished,
	}) => {
		const world = await makeWorld();
		onTestFinished(() => world.end());
		const ended = await world.run({ host: { maxFileSize: 200_000 }, work: { send: [plan("lookup:a")] } });
		expect(named(ended, "result")).toMatchObject([{ outcome: "suspended", error: "disk_full" }]);
		await expectContinues(world, 8);
	});

	test.for(["another process", "the same process"])(
		"a full disk: the run fails with disk_full, and continues in %s once there is space",
		async (where, { skip, onTestFinished }) => {
			const disk = smallDisk(1_048_576);
			if (disk === undefined) return skip("a file system to be filled cannot be mounted here");
			const world = await makeWorld(disk.folder);
			onTestFinished(async () => {
				await world.end();
				disk.unmount();
			});
			const first = world.start({ work: { send: [plan("wait:a")], thenResume: true } });
			await first.reached("wait a entered");
			disk.fill(150_000);
			first.say("continue");
			expect(await first.reached("result")).toMatchObject({ outcome: "suspended", error: "disk_full" });
			const committed = await world.entries();
			disk.enlarge();
			if (where === "another process") {
				first.child.kill("SIGKILL");
				await first.ended;
				await expectContinues(world, 5);
			} else {
				first.say("resume");
				const ended = await first.ended;
				expect(named(ended, "result").at(-1)).toMatchObject({ outcome: "completed", text });
				expectUnharmed(world, committed, await world.entries());
			}
		},
	);
});
