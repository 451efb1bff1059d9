// Runs many schedules of the simulation, shared among the processors: `npm run simulate -- --schedules N --seed S`, and
// `--world` for other stores than the one in memory, for work in the background, or for threads. The first seed is a new one unless it is given. Prints how far it is,
// and the first schedule that failed with the command that replays it.
import { fork } from "node:child_process";
import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { isWorld, runSchedule, type WorldName } from "../test/simulation/schedules.fixture.ts";

interface Share {
	readonly from: number;
	readonly count: number;
	readonly world: WorldName;
}

/** Milliseconds between two progress lines. */
const reportEvery = 10_000;

async function runShare({ from, count, world }: Share): Promise<void> {
	for (let seed = from; seed < from + count; seed++) {
		const { ok, problem, trace } = await runSchedule(world, seed);
		process.send?.(ok ? { seed } : { seed, problem, trace: trace.slice(-80) });
		if (!ok) break;
	}
	process.disconnect();
}

function readCount(name: string, given: string, least: number): number {
	const value = Number(given);
	if (Number.isSafeInteger(value) && value >= least) return value;
	console.error(`--${name} takes a whole number from ${least} on, not ${JSON.stringify(given)}.`);
	process.exit(2);
}

async function runAll(schedules: number, seed: number, world: WorldName): Promise<void> {
	const shares = Math.min(availableParallelism(), schedules);
	const began = performance.now();
	let done = 0;
	let reportedAt = began;
	let failed = false;
	console.log(`${schedules} schedules (${world}) from seed ${seed}`);
	const children = Array.from({ length: shares }, (_, index) => {
		const from = seed + Math.floor((index * schedules) / shares);
		const count = seed + Math.floor(((index + 1) * schedules) / shares) - from;
		const share: Share = { from, count, world };
		return fork(import.meta.filename, ["--share", JSON.stringify(share)]);
	});
	const ends = children.map(
		(child) =>
			new Promise<void>((resolve) => {
				child.on("message", (message: { seed: number; problem?: string; trace?: readonly string[] }) => {
					done++;
					if (message.problem !== undefined && !failed) {
						failed = true;
						console.log(`${message.trace?.join("\n")}\n\nSeed ${message.seed}: ${message.problem}`);
						console.log(
							`Replay it with: npm run simulate -- --world ${world} --schedules 1 --seed ${message.seed}`,
						);
						for (const each of children) each.kill();
					}
					if (performance.now() - reportedAt < reportEvery) return;
					reportedAt = performance.now();
					console.log(`${done} of ${schedules} schedules`);
				});
				child.on("exit", (code) => {
					if (code !== 0 && !failed) {
						failed = true;
						console.log(`A process of the simulation ended with code ${code}.`);
					}
					resolve();
				});
			}),
	);
	await Promise.all(ends);
	const seconds = ((performance.now() - began) / 1000).toFixed(0);
	// A process that leaves before its message has arrived would pass for one that found nothing.
	if (!failed && done < schedules)
		console.log(`Only ${done} of ${schedules} schedules were reported, after ${seconds} s.`);
	else if (!failed)
		console.log(`${done} schedules hold, seeds ${seed} to ${seed + schedules - 1}, in ${seconds} s.`);
	process.exitCode = failed || done < schedules ? 1 : 0;
}

const { values } = parseArgs({
	options: {
		schedules: { type: "string", default: "1000" },
		seed: { type: "string", default: String(Math.floor(Math.random() * 1e9)) },
		world: { type: "string", default: "memory" },
		share: { type: "string" },
	},
});
if (values.share !== undefined) await runShare(JSON.parse(values.share) as Share);
else if (isWorld(values.world))
	await runAll(readCount("schedules", values.schedules, 1), readCount("seed", values.seed, 0), values.world);
else {
	console.error(
		`--world takes memory, background, sqlite, bare or threads, not ${JSON.stringify(values.world)}.`,
	);
	process.exitCode = 2;
}
