// The cost of sessions in memory: 2,000 at once, one tool step each, and the retained heap.
import { type Agent, agent, type Host, memoryHost } from "holdfast";
import { collector, effort, type Measurement, median, mustBe, p99, report, spend } from "../measure.ts";
import { lookTool, oneStepModel } from "../stub-model.ts";

const count = 2_000;
const collect = collector();

type Order = "at once" | "one after the other";

/** Returns how many sessions completed. */
async function runAll(looker: Agent, order: Order): Promise<number> {
	let completed = 0;
	const one = async (at: number): Promise<void> => {
		const run = await looker.session(`customer-${at}`).send("Look.");
		if ((await run.result()).outcome === "completed") completed++;
	};
	const numbers = Array.from({ length: count }, (_, at) => at);
	if (order === "at once") await Promise.all(numbers.map(one));
	else for (const at of numbers) await one(at);
	return completed;
}

function makeAgent(host: Host): Agent {
	return agent({ model: oneStepModel(), tools: [lookTool()], host });
}

async function heapUsed(): Promise<number> {
	// The garbage of the current event loop turn is released first.
	await new Promise((resolve) => setTimeout(resolve, 20));
	for (let at = 0; at < 4; at++) collect();
	return process.memoryUsage().heapUsed;
}

async function rate(order: Order): Promise<Measurement> {
	const rates: number[] = [];
	const cpu: number[] = [];
	const repetitions = effort.repetitions(20);
	for (let at = -5; at < repetitions; at++) {
		const host = memoryHost();
		const looker = makeAgent(host);
		const spent = await spend(() => runAll(looker, order));
		mustBe("the number of sessions that completed", spent.result, count);
		await looker.close();
		await host.close();
		if (at < 0) continue;
		rates.push(count / (spent.wall / 1e6));
		cpu.push(spent.cpu / count);
	}
	return {
		what: `2,000 sessions ${order}, one tool step each`,
		unit: "/s",
		median: median(rates),
		p99: -p99(rates.map((each) => -each)),
		cpu: median(cpu),
		target: { is: "at least", value: 40_000 },
	};
}

/** Measures the bytes that a session retains while its host stays, with and without its agent. */
async function kept(): Promise<{ withAgent: number; hostAlone: number }> {
	const host = memoryHost();
	let looker: Agent | undefined = makeAgent(host);
	const before = await heapUsed();
	await runAll(looker, "at once");
	const withAgent = (await heapUsed()) - before;
	mustBe("the sessions of the host", (await host.journal.list({ limit: count + 1 })).length, count);
	looker = undefined;
	const hostAlone = (await heapUsed()) - before;
	await host.close();
	return { withAgent: withAgent / count, hostAlone: hostAlone / count };
}

// Before memory is measured: see collector().
const rates = [await rate("at once"), await rate("one after the other")];
const withAgent: number[] = [];
const hostAlone: number[] = [];
for (let at = 0; at < effort.repetitions(7); at++) {
	const each = await kept();
	withAgent.push(each.withAgent);
	hostAlone.push(each.hostAlone);
}
const atMost: Measurement["target"] = { is: "at most", value: 4096 };
report([
	...rates,
	{ what: "heap kept a session, host and agent kept", unit: "B", median: median(withAgent), target: atMost },
	{ what: "heap kept a session, host kept", unit: "B", median: median(hostAlone), target: atMost },
]);
