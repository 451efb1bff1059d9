// Runs the rows of all subjects: each measurement is a separate process, and all take turns, so that a slow moment of the
// machine affects all of them.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { median } from "../measure.ts";
import type { Row } from "./peers.ts";

/** A compared library, ours or a peer, as installed. */
export interface Subject {
	readonly name: string;
	readonly title: string;
	readonly version: string;
	readonly folder: string;
	readonly entry: string;
	readonly rows: readonly Row[];
	/** The folder for rows with a store. */
	readonly storeFolder: string;
}

/** One row's result for one subject. CPU and wall times are in microseconds per step, delta or conversation. */
export interface Figure {
	readonly cpu: number;
	readonly wall: number;
	/** Ratio of the subject's CPU time to ours, the median of the turns. */
	readonly ratio: number;
	/** Bytes of the file per step. */
	readonly bytes?: number;
}

/** The outcome of a run whose process was killed inside the 20th call of 40. */
export interface Takeover {
	/** Milliseconds from the request until the run ended. */
	readonly milliseconds: number;
	/** Calls of the tool by both processes; 40 would be each once. */
	readonly calls: number;
}

type Found = { readonly cpu: number; readonly wall: number; readonly bytes?: number };

function run(
	subject: Subject,
	row: string,
	{ path, quick }: { readonly path?: string; readonly quick: boolean },
) {
	const folder = row === "durable" || path !== undefined ? subject.storeFolder : subject.folder;
	const flags = ["--disable-warning=ExperimentalWarning", join(folder, "harness.js"), row, subject.name];
	const child = spawnSync(process.execPath, [...flags, path ?? "", ...(quick ? ["--quick"] : [])], {
		cwd: folder,
		encoding: "utf8",
		timeout: 300_000,
	});
	return { ...child, found: () => JSON.parse(child.stdout.trim().split("\n").at(-1) ?? "") };
}

/** Measures one row, with all subjects in turn, this many times. */
export function measureRow(
	row: Exclude<Row, "takeover">,
	subjects: readonly Subject[],
	{ turns, quick }: { readonly turns: number; readonly quick: boolean },
): ReadonlyMap<string, Figure | string> {
	const asked = subjects.filter(({ rows }) => rows.includes(row));
	const found = new Map<string, Found[]>(asked.map(({ name }) => [name, []]));
	const failed = new Map<string, string>();
	for (let turn = 0; turn < turns; turn++)
		for (const subject of asked) {
			if (failed.has(subject.name)) continue;
			const folder = mkdtempSync(join(tmpdir(), "holdfast-peers-"));
			const path = row === "durable" ? join(folder, "store.db") : undefined;
			const child = run(subject, row, { quick, ...(path === undefined ? {} : { path }) });
			if (child.status === 0) found.get(subject.name)?.push(child.found());
			else
				failed.set(
					subject.name,
					`${child.error?.message ?? ""}${child.stderr}`.trim().split("\n").slice(-6).join(" "),
				);
			rmSync(folder, { recursive: true, force: true });
		}
	const ours = found.get("holdfast") ?? [];
	return new Map(
		asked.map(({ name }): [string, Figure | string] => {
			const why = failed.get(name);
			if (why !== undefined) return [name, why];
			const all = found.get(name) ?? [];
			const { bytes } = all[0] ?? {};
			return [
				name,
				{
					cpu: median(all.map(({ cpu }) => cpu)),
					wall: median(all.map(({ wall }) => wall)),
					ratio: median(all.map(({ cpu }, at) => cpu / (ours[at]?.cpu ?? Number.NaN))),
					...(bytes === undefined ? {} : { bytes }),
				},
			];
		}),
	);
}

/** Kills a process inside the 20th call of its tool, and lets another one continue. */
export function measureTakeover(subject: Subject, turns: number): Takeover {
	const all: Takeover[] = [];
	for (let turn = 0; turn < turns; turn++) {
		const folder = mkdtempSync(join(tmpdir(), "holdfast-peers-"));
		const path = join(folder, "store.db");
		const dead = run(subject, "die", { path, quick: false });
		if (dead.signal !== "SIGKILL") throw new Error(`${subject.name} was not killed: ${dead.stderr}`);
		const next = run(subject, "resume", { path, quick: false });
		if (next.status !== 0) throw new Error(`${subject.name} did not continue: ${next.stderr}`);
		all.push(next.found());
		rmSync(folder, { recursive: true, force: true });
	}
	return {
		milliseconds: median(all.map(({ milliseconds }) => milliseconds)),
		calls: median(all.map(({ calls }) => calls)),
	};
}

/**
 * Measures the milliseconds that the import adds to the start of a process: CPU and wall time, relative to a bare start.
 */
export function measureImports(subjects: readonly Subject[], turns: number): ReadonlyMap<string, Found> {
	const start = (folder: string, entry: string): Found => {
		const code = `${entry === "" ? "" : `await import("${entry}");`}process.stdout.write("\\n"+JSON.stringify(process.cpuUsage()));process.exit(0)`;
		const began = performance.now();
		const child = spawnSync(process.execPath, ["--no-warnings", "--input-type=module", "-e", code], {
			cwd: folder,
			encoding: "utf8",
		});
		if (child.status !== 0) throw new Error(`import("${entry}") failed: ${child.stderr}`);
		const { user, system } = JSON.parse(child.stdout.trim().split("\n").at(-1) ?? "");
		return { wall: performance.now() - began, cpu: (user + system) / 1000 };
	};
	const found = new Map<string, Found[]>(subjects.map(({ name }) => [name, []]));
	for (let turn = -1; turn < turns; turn++)
		for (const { name, folder, entry } of subjects) {
			const bare = start(folder, "");
			const full = start(folder, entry);
			if (turn >= 0) found.get(name)?.push({ wall: full.wall - bare.wall, cpu: full.cpu - bare.cpu });
		}
	return new Map(
		[...found].map(([name, all]) => [
			name,
			{ wall: median(all.map(({ wall }) => wall)), cpu: median(all.map(({ cpu }) => cpu)) },
		]),
	);
}

/** Returns the bytes of an installation without source maps, and its number of packages. */
export function sizeOf(
	folder: string,
	names?: readonly string[],
): { readonly bytes: number; readonly packages: number } {
	const places = (names ?? [""]).map((name) => join(folder, "node_modules", name));
	const bytes = places
		.flatMap((place) => readdirSync(place, { recursive: true, withFileTypes: true }))
		.filter((entry) => entry.isFile() && !entry.name.endsWith(".map"))
		.reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
	const lock = join(folder, "package-lock.json");
	if (names !== undefined || !existsSync(lock)) return { bytes, packages: places.length };
	const { packages } = JSON.parse(readFileSync(lock, "utf8")) as { packages: Record<string, unknown> };
	// Optional packages for other platforms are in the lock file but not in the folder.
	const there = Object.keys(packages).filter((name) => name !== "" && existsSync(join(folder, name)));
	return { bytes, packages: there.length };
}
