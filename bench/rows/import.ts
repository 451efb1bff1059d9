// The time that `import("holdfast")` adds to the start of a process: fresh processes, alternately with and without it.
import { spawnSync } from "node:child_process";
import { effort, type Measurement, median, p99, report } from "../measure.ts";

const usage = "process.stdout.write(JSON.stringify(process.cpuUsage()))";

interface Start {
	/** Milliseconds from starting the process to its end. */
	readonly wall: number;
	/** Microseconds. */
	readonly cpu: number;
}

function start(script: string): Start {
	const started = performance.now();
	const child = spawnSync(process.execPath, ["--input-type=module", "-e", `${script};${usage}`], {
		encoding: "utf8",
	});
	const wall = performance.now() - started;
	if (child.status !== 0) throw new Error(`A process that runs \`${script}\` failed:\n${child.stderr}`);
	const { user, system } = JSON.parse(child.stdout) as { user: number; system: number };
	return { wall, cpu: user + system };
}

const entries = ["holdfast", "holdfast/sqlite"];
const scripts = new Map([["", ""], ...entries.map((entry) => [entry, `await import("${entry}")`] as const)]);
const starts = new Map([...scripts.keys()].map((entry) => [entry, [] as Start[]]));
const repetitions = effort.repetitions(15);
for (let at = -2; at < repetitions; at++) {
	for (const [entry, script] of scripts) {
		const each = start(script);
		if (at >= 0) starts.get(entry)?.push(each);
	}
}

const walls = (entry: string): readonly number[] => (starts.get(entry) ?? []).map(({ wall }) => wall);
const cpus = (entry: string): readonly number[] => (starts.get(entry) ?? []).map(({ cpu }) => cpu);
/** Returns the differences between each start and the bare start next to it. */
const above = (entry: string): Measurement => {
	const differences = walls(entry).map((wall, at) => wall - (walls("")[at] as number));
	return {
		what: `import("${entry}") above bare Node`,
		unit: "ms",
		median: median(differences),
		p99: p99(differences),
		cpu: median(cpus(entry)) - median(cpus("")),
	};
};
report([
	{ ...above("holdfast"), target: { is: "at most", value: 20 } },
	above("holdfast/sqlite"),
	{
		what: "floor: bare Node",
		unit: "ms",
		median: median(walls("")),
		p99: p99(walls("")),
		cpu: median(cpus("")),
	},
]);
