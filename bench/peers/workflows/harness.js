// Measures one row of one workflow engine in a process of its own: `harness.js ROW SUBJECT STORE [--quick]`. STORE is JSON.
// Prints what it found as JSON.
import { appendFileSync, statSync } from "node:fs";

const [row, name, store] = process.argv.slice(2);
const quick = process.argv.includes("--quick");
const { open } = await import(`./${name}.js`);
const place = JSON.parse(store);
const result = "0123456789".repeat(10);
const median = (numbers) => numbers.toSorted((a, b) => a - b)[numbers.length >> 1];
const spent = () => {
	const { user, system } = process.cpuUsage();
	return user + system;
};
function mustBe(what, found, expected) {
	if (found !== expected)
		throw new Error(`${what}: ${JSON.stringify(found)} instead of ${JSON.stringify(expected)}`);
}

const rows = {
	/** Microseconds between two steps of a run, and of CPU time per step. */
	async steps() {
		const steps = 100;
		const runs = quick ? 3 : 10;
		let times = [];
		const ran = () => {
			times.push(performance.now());
			return result;
		};
		const engine = await open(place, { steps, ran });
		const gaps = [];
		const cpus = [];
		for (let at = -1; at < runs; at++) {
			times = [];
			const before = spent();
			mustBe("the result", await engine.run(`run-${at}`), result);
			mustBe("steps", times.length, steps);
			if (at < 0) continue;
			cpus.push((spent() - before) / steps);
			for (const [index, time] of times.slice(1).entries()) gaps.push((time - times[index]) * 1000);
		}
		await engine.close();
		return { wall: median(gaps), cpu: median(cpus), steps: steps * (runs + 1) };
	},
	/** Runs until it kills itself inside the twentieth step. */
	async die() {
		let calls = 0;
		const ran = () => {
			appendFileSync(place.calls, "x");
			if (++calls === 20) process.kill(process.pid, "SIGKILL");
			return result;
		};
		const engine = await open(place, { steps: 40, ran });
		await engine.run("killed");
		throw new Error("It was to be killed.");
	},
	/** Continues what the dead process left. */
	async resume() {
		const started = performance.now();
		const ran = () => {
			appendFileSync(place.calls, "x");
			return result;
		};
		const engine = await open(place, { steps: 40, ran });
		mustBe("the result", await engine.resume("killed"), result);
		const milliseconds = performance.now() - started;
		await engine.close();
		return { milliseconds, calls: statSync(place.calls).size };
	},
};

process.stdout.write(`\n${JSON.stringify(await rows[row]())}\n`);
process.exit(0);
