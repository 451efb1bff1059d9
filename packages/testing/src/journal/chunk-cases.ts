// Text emitted between facts keeps its position, is fenced like facts, and is deleted with them.
import type { Committed } from "holdfast/host";
import {
	append,
	begin,
	ended,
	eventually,
	input,
	note,
	rejects,
	same,
	take,
	type WrittenCase,
} from "./journal-world.ts";

const everything = { after: { seq: 0, sub: 0 }, through: 1_000, limit: 1_000 };

export const chunkCases: readonly WrittenCase[] = [
	{
		title: "chunks follow the entry before them, and are read in order from any position",
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
		title: "other workers are notified of chunks, and a fenced worker adds none",
		needs: "chunks",
		async run(world) {
			const [one, two] = [await world.worker(), await world.worker()];
			const lease = await begin(one, "s", "r");
			let heard = 0;
			const stop = two.watch("s", () => heard++);
			await lease.append({ at: 1, runId: "r", facts: [], chunks: [{ sub: 1, event: {} }] });
			await eventually("the other worker is notified", () => heard > 0);
			stop();
			await append(await take(two, "s", "seize"), "r", ended);
			await rejects("lease_lost", () =>
				lease.append({ at: 1, runId: "r", facts: [], chunks: [{ sub: 2, event: {} }] }),
			);
			same((await two.readChunks?.("s", everything))?.length, 1, "chunks");
		},
	},
	{
		title: "chunks are deleted with the entries that are folded",
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
	{
		title:
			"a page contains entries, the chunks up to the last of them and their session, as separate reads return them",
		needs: "chunks",
		async run(world) {
			const [one, two] = [await world.worker(), await world.worker()];
			if (two.readPage === undefined) return;
			const from = { after: { seq: 0, sub: 0 }, limit: 10 };
			same(await two.readPage("s", from), undefined, "no session");
			const lease = await begin(one, "s", "r");
			for (const sub of [1, 2])
				await lease.append({ at: 1, runId: "r", facts: [], chunks: [{ sub, event: { said: sub } }] });
			await append(lease, "r", note("n"));
			await lease.append({ at: 1, runId: "r", facts: [], chunks: [{ sub: 3, event: {} }] });
			const { incarnation, epoch, seq } = (await two.head("s")) ?? {};
			const head = { incarnation, epoch, seq };
			const pageAfter = async (after: { seq: number; sub: number }, limit: number): Promise<unknown> => {
				const entries = await two.read("s", { after: after.seq, limit });
				const through = entries.at(-1)?.seq ?? after.seq;
				return { ...head, entries, chunks: await two.readChunks?.("s", { after, through, limit }) };
			};
			for (const [after, limit] of [
				[from.after, 10],
				[from.after, 1],
				[{ seq: 1, sub: 1 }, 10],
				[{ seq: 2, sub: 3 }, 10],
			] as const)
				same(
					await two.readPage("s", { after, limit }),
					await pageAfter(after, limit),
					`${limit} after ${after.seq}.${after.sub}`,
				);
		},
	},
	{
		title: "the commits that a watcher receives equal those that are read, and include all of its worker",
		needs: "chunks",
		async run(world) {
			const one = await world.worker();
			const given: Committed[] = [];
			let isWhole = true;
			let heard = 0;
			const stop = one.watch("s", (commits) => {
				heard++;
				if (commits === undefined) isWhole = false;
				given.push(...(commits ?? []));
			});
			const lease = await begin(one, "s", "r");
			const value = { changes: "before" };
			const appending = append(lease, "r", note(value), note("n"));
			value.changes = "after";
			await appending;
			await one.submit("s", input("i"));
			await lease.append({ at: 1, runId: "r", facts: [], chunks: [{ sub: 1, event: { said: "a" } }] });
			await append(lease, "r", ended);
			await append(await take(one, "s"), "r2", note("next"));
			await eventually("the watcher is notified", () => heard > 0);
			stop();
			if (!isWhole) return; // A watcher without the committed entries reads them.
			const read = given.map((commit) => commit.read());
			same(
				read.flatMap(({ entries }) => entries),
				await one.read("s"),
				"entries",
			);
			same(
				read.flatMap(({ chunks }) => chunks),
				await one.readChunks?.("s", everything),
				"chunks",
			);
			const { incarnation, epoch = 0 } = (await one.head("s")) ?? {};
			same(
				given.map((commit) => [commit.incarnation, commit.epoch, commit.after, commit.count]),
				[0, 1, 3, 3, 4].map((after, at) => [
					incarnation,
					at < 4 ? epoch - 1 : epoch,
					after,
					[1, 2, 1, 1, 1][at],
				]),
				"places",
			);
		},
	},
];
