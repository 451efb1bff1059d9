// Measures one row of one subject in a process of its own: `harness.js ROW SUBJECT [PATH] [--quick]`. Prints what it found as JSON.
import { appendFileSync, statSync } from "node:fs";

const [row, name, path = ""] = process.argv.slice(2);
const quick = process.argv.includes("--quick");
const subject = await import(`./${name}.js`);

const median = (numbers) => numbers.toSorted((a, b) => a - b)[numbers.length >> 1];
const report = (found) => process.stdout.write(`\n${JSON.stringify(found)}\n`);
function mustBe(what, found, expected) {
	if (found !== expected)
		throw new Error(`${what}: ${JSON.stringify(found)} where ${JSON.stringify(expected)} was expected`);
}

/** A model's decisions: `steps` calls of the tool, then an answer; and so again. It does not read the history. */
function stepping(steps) {
	let answered = 0;
	return () => {
		if (answered < steps) return ++answered;
		answered = 0;
		return "Done.";
	};
}

/** For many conversations at once: one call, then an answer. */
function once() {
	let calls = 0;
	return (messages, isResult) => (isResult(messages.at(-1) ?? {}) ? "Done." : ++calls);
}

/** For runs that are resumed by another process: how many calls there were is read from the history. */
const counting = (steps) => (messages, isResult) => {
	const done = messages.filter(isResult).length;
	return done < steps ? done + 1 : "Done.";
};

/** Wall and CPU microseconds of one piece of work: warmed up, then the median of as many as fit into so much CPU time. */
async function timed(work) {
	const budget = (quick ? 0.1 : 0.4) * 1e6;
	const spent = () => {
		const { user, system } = process.cpuUsage();
		return user + system;
	};
	for (const until = spent() + budget; spent() < until; ) await work();
	const [walls, cpus] = [[], []];
	for (const until = spent() + budget; walls.length === 0 || spent() < until; ) {
		const [before, started] = [spent(), performance.now()];
		await work();
		walls.push((performance.now() - started) * 1000);
		cpus.push(spent() - before);
	}
	return { wall: median(walls), cpu: median(cpus), rounds: walls.length };
}

const rows = {
	async loop(steps) {
		let calls = 0;
		const run = await subject.looper(stepping(steps), () => calls++);
		const { wall, cpu, rounds } = await timed(async () => {
			calls = 0;
			mustBe("the answer", await run(), "Done.");
			mustBe("calls of the tool", calls, steps);
		});
		return { wall: wall / steps, cpu: cpu / steps, rounds };
	},
	async stream() {
		const count = 2_000;
		const open = await subject.streamer(count);
		const { wall, cpu, rounds } = await timed(async () => {
			let length = 0;
			for await (const text of open()) length += text.length;
			mustBe("characters", length, count * 5);
		});
		return { wall: wall / count, cpu: cpu / count, rounds };
	},
	async conversations() {
		const count = 200;
		let round = 0;
		const one = await subject.conversations(once(), () => {});
		const { wall, cpu, rounds } = await timed(async () => {
			const first = count * round++;
			const answers = await Promise.all(Array.from({ length: count }, (_, at) => one(first + at)));
			for (const answer of answers) mustBe("the answer", answer, "Done.");
		});
		return { wall: wall / count, cpu: cpu / count, rounds };
	},
	async durable() {
		const steps = 100;
		let [calls, round] = [0, 0];
		const store = await subject.durable(path, stepping(steps), () => calls++);
		const { wall, cpu, rounds } = await timed(async () => {
			calls = 0;
			mustBe("the answer", await store.run(`customer-${round++}`), "Done.");
			mustBe("calls of the tool", calls, steps);
		});
		await store.close();
		return { wall: wall / steps, cpu: cpu / steps, rounds, bytes: statSync(path).size / (round * steps) };
	},
	/** Runs until it kills itself inside the twentieth call of the tool, which it notes as every other. */
	async die() {
		let calls = 0;
		const store = await subject.durable(path, counting(40), () => {
			appendFileSync(`${path}.calls`, "x");
			if (++calls === 20) process.kill(process.pid, "SIGKILL");
		});
		await store.run("customer");
		throw new Error("It was to be killed.");
	},
	/** Continues with what the dead process left. */
	async resume() {
		const store = await subject.durable(path, counting(40), () => appendFileSync(`${path}.calls`, "x"));
		const started = performance.now();
		const text = await store.resume("customer");
		const milliseconds = performance.now() - started;
		mustBe("the answer", text, "Done.");
		await store.close();
		return { milliseconds, calls: statSync(`${path}.calls`).size };
	},
};

const [kind = "", steps] = (row ?? "").split("-");
report(await rows[kind](Number(steps)));
process.exit(0);
