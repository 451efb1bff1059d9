// A recreated session is a different one, even with the same key: its incarnation differs.
import type { Journal } from "holdfast/host";
import { append, begin, ended, input, note, same, started, take, type WrittenCase } from "./journal-world.ts";

async function incarnationOf(journal: Journal, key: string): Promise<string> {
	const head = await journal.head(key);
	const incarnation = head?.incarnation ?? "";
	same([typeof incarnation, incarnation.length > 0], ["string", true], `the incarnation of ${key}`);
	return incarnation;
}

export const incarnationCases: readonly WrittenCase[] = [
	{
		title: "commits do not change a session's incarnation, and every worker reads the same one",
		async run(world) {
			const [one, two] = [await world.worker(), await world.worker()];
			await one.submit("s", input("i"));
			const first = await incarnationOf(one, "s");
			const lease = await take(two, "s");
			await append(lease, "run-1", started, note(1));
			same(await incarnationOf(two, "s"), first, "after a lease was taken");
			await append(lease, "run-1", ended);
			await append(await take(one, "s", "seize"), "run-2", started, ended);
			same(await incarnationOf(one, "s"), first, "after another worker took it");
			same(
				(await two.list()).map(({ incarnation }) => incarnation),
				[first],
				"in the list",
			);
		},
	},
	{
		title: "no two sessions share an incarnation: not with other keys, not a fork, not a recreated one",
		async run(world) {
			const [one, two] = [await world.worker(), await world.worker()];
			const seen: string[] = [];
			for (let round = 0; round < 3; round++) {
				await append(await begin(one, "s"), "run-1", ended);
				await two.submit("t", input(`i${round}`));
				await two.fork("s", "f", 2);
				for (const key of ["s", "t", "f"]) seen.push(await incarnationOf(one, key));
				await two.delete("s");
				await one.delete("t");
				await one.delete("f");
			}
			same(new Set(seen).size, seen.length, "how many incarnations there were");
		},
	},
];
