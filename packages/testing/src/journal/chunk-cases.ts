// What is emitted between facts is kept in its place, fenced like facts, and goes with them.
import {
	append,
	begin,
	ended,
	eventually,
	note,
	rejects,
	same,
	take,
	type WrittenCase,
} from "./journal-world.ts";

const everything = { after: { seq: 0, sub: 0 }, through: 1_000, limit: 1_000 };

export const chunkCases: readonly WrittenCase[] = [
	{
		title: "chunks come after the entry before them, and are read in order from any position",
		needs: "chunks",
		async run(world) {
			const [one, two] = [await world.worker(), await world.worker()];
			const about = { at: 1, runId: "r" };
			const lease = await begin(one, "s", "r");
			const chunks = [1, 2, 3].map((sub) => ({ sub, event: { said: `a${sub}` } }));
			same(
				await lease.append({ ...about, facts: [], chunks: chunks.slice(0, 2) }),
				{ ok: true, seq: 1 },
				"alone",
			);
			await lease.append({ ...about, facts: [note("n")], chunks: chunks.slice(2) });
			await lease.append({ ...about, facts: [], chunks: [{ sub: 4, event: { said: "b" } }] });
			const stored = [
				...chunks.map((chunk) => ({ seq: 1, ...chunk })),
				{ seq: 2, sub: 4, event: { said: "b" } },
			];
			same(await two.readChunks?.("s", everything), stored, "all");
			const later = { ...everything, after: { seq: 1, sub: 2 } };
			same(await two.readChunks?.("s", later), stored.slice(2), "after a position");
			same(await two.readChunks?.("s", { ...everything, through: 1 }), stored.slice(0, 3), "up to an entry");
			same(await two.readChunks?.("s", { ...everything, limit: 2 }), stored.slice(0, 2), "some");
			same((await two.read("s")).length, 2, "entries");
			await one.delete("s");
			same(await two.readChunks?.("s", everything), [], "deleted");
		},
	},
	{
		title: "others hear of chunks, and one that was fenced adds none",
		needs: "chunks",
		async run(world) {
			const [one, two] = [await world.worker(), await world.worker()];
			const lease = await begin(one, "s", "r");
			let heard = 0;
			const stop = two.watch("s", () => heard++);
			await lease.append({ at: 1, runId: "r", facts: [], chunks: [{ sub: 1, event: {} }] });
			await eventually("the other worker hears of it", () => heard > 0);
			stop();
			await append(await take(two, "s", "seize"), "r", ended);
			await rejects("lease_lost", () =>
				lease.append({ at: 1, runId: "r", facts: [], chunks: [{ sub: 2, event: {} }] }),
			);
			same((await two.readChunks?.("s", everything))?.length, 1, "chunks");
		},
	},
	{
		title: "chunks go with the entries that are folded",
		needs: "chunks",
		async run(world) {
			const one = await world.worker();
			const lease = await begin(one, "s", "r");
			await lease.append({ at: 1, runId: "r", facts: [ended], chunks: [{ sub: 1, event: {} }] });
			const state = { version: "1.0.0", id: "a", messages: [], step: 0, metadata: {} };
			await lease.append({ at: 1, runId: "r", facts: [{ kind: "folded", state, tools: [] }], replaces: 2 });
			same(await one.readChunks?.("s", everything), [], "chunks");
		},
	},
];
