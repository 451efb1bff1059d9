// Chaos on Postgres: `npm run chaos -- --faults N --seed S`. Workers and servers in separate processes over one database,
// which are killed, stopped and disconnected until the number of faults is reached; then everything is checked. The seed
// is random by default; it determines the faults, but not their outcome.
import { parseArgs } from "node:util";
import { runChaos } from "../test/crash/chaos.fixture.ts";

const { values } = parseArgs({
	options: {
		faults: { type: "string", default: "1000" },
		seed: { type: "string", default: String(Math.floor(Math.random() * 1e9)) },
		sessions: { type: "string", default: "4" },
		processes: { type: "string", default: "2" },
	},
});

function readCount(name: keyof typeof values, least: number): number {
	const value = Number(values[name]);
	if (Number.isSafeInteger(value) && value >= least) return value;
	console.error(`--${name} takes a whole number from ${least} on, not ${JSON.stringify(values[name])}.`);
	process.exit(2);
}

const faults = readCount("faults", 1);
const seed = readCount("seed", 0);
const sessions = readCount("sessions", 1);
const processes = readCount("processes", 1);
console.log(`${faults} faults, seed ${seed}`);
const { problems, ...report } = await runChaos({
	faults,
	seed,
	sessions,
	processes,
	onProgress: (text) => console.log(text),
});
console.log(report);
for (const problem of problems) console.error(problem);
console.log(problems.length === 0 ? "Everything holds." : `${problems.length} problems.`);
process.exitCode = problems.length === 0 ? 0 : 1;
