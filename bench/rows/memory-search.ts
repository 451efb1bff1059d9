// The cost of a search over many entries in a SQLite file: words with the frequencies of real texts, including the most
// common ones.
import { sqliteClients } from "@holdfast/memory/sqlite";
import { effort, median, mustBe, p99, report } from "../measure.ts";

const entries = effort.size(100_000, 10_000);
// In proportion to the entries, so that even the rarest word is in ten of them.
const vocabulary = effort.size(20_000, 2_000);
const wordsEach = 30;
const searches = effort.repetitions(400);

let state = 1;
/** Returns a number from 0 to 1; the sequence is the same in every run. */
function random(): number {
	state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
	return state / 2 ** 32;
}

/** A few words are in most texts, most words in few. */
const word = (): string => `w${Math.floor(vocabulary * random() ** 3).toString(36)}`;
const words = (count: number): string => Array.from({ length: count }, word).join(" ");

const { memory, close } = sqliteClients({ file: "memory-search.db", unencrypted: true });
const appended = performance.now();
for (let at = 0; at < entries; at++) await memory.append(`s${at % 50}`, { text: `the ${words(wordsEach)}` });
const perAppend = ((performance.now() - appended) * 1_000) / entries;

const times: number[] = [];
const cpu = process.cpuUsage();
for (let at = 0; at < searches; at++) {
	const query = at % 4 === 0 ? `the ${words(2)}` : words(1 + (at % 3));
	const started = performance.now();
	const found = await memory.search(query);
	times.push(performance.now() - started);
	mustBe("the number of matches", found.length, 10);
}
const spent = process.cpuUsage(cpu);
await close();

const p95 = [...times].sort((one, other) => one - other)[Math.ceil(times.length * 0.95) - 1] as number;
report([
	{ what: `append, as it grows to ${entries.toLocaleString("en")} entries`, unit: "µs", median: perAppend },
	{
		what: `search over ${entries.toLocaleString("en")} entries`,
		unit: "ms",
		median: median(times),
		p99: p99(times),
		cpu: (spent.user + spent.system) / searches,
	},
	{ what: "the same, 95 of 100 within", unit: "ms", median: p95, target: { is: "at most", value: 20 } },
]);
