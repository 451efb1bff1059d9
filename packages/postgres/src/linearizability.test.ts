// Many hosts that take one session from each other, and a check of the resulting history.
import { append, begin, note, started } from "@holdfast/testing/cases";
import {
	checkLinearizable,
	type HistoryLine,
	operationsOf,
	recordHistory,
	sessionModel,
} from "@holdfast/testing/linearizability";
import type { Journal } from "holdfast/host";
import { expect, onTestFinished, test } from "vitest";
import { postgresHost } from "./index.ts";
import { testServer } from "./test-server.fixture.ts";

/** A journal of a separate host, which records its operations. */
function recordedJournal(url: string, schema: string, lines: HistoryLine[]): Journal {
	const host = postgresHost({ connectionString: url, schema, leaseTtlMs: 120_000, patienceMs: 100_000 });
	onTestFinished(() => host.close());
	return recordHistory(host.journal, (line) => lines.push(line));
}

/**
 * Hosts take a session from each other, append to it and read it concurrently, without checking whether they still own
 * it.
 */
async function compete(schema: string): Promise<readonly HistoryLine[]> {
	const { url } = await testServer();
	const lines: HistoryLine[] = [];
	const hosts = [0, 1, 2].map(() => recordedJournal(url, schema, lines));
	await hosts[0]?.head("s");
	await Promise.all(
		hosts.map(async (journal, number) => {
			for (let round = 0; round < 8; round++) {
				const taken = await journal.acquire("s", { mode: "seize" });
				if (!taken.ok) throw new Error("a session that is seized is not held");
				const write = (what: string) =>
					taken.lease.append({ at: 0, runId: "run-1", facts: what === "started" ? [started] : [note(what)] });
				const appends = ["started", "one", "two"].map((what) =>
					Promise.resolve(write(what === "started" ? what : `${number} ${round} ${what}`)).catch(() => {}),
				);
				await Promise.all(appends);
				await journal.read("s");
				await Promise.resolve(write(`${number} ${round} late`)).catch(() => {});
			}
			await journal.read("s");
		}),
	);
	return lines;
}

function judge(lines: readonly HistoryLine[]): boolean {
	return checkLinearizable(operationsOf(lines).get("s") ?? [], sessionModel).ok;
}

test("the operations of hosts that take over a session from each other are those of one journal", async () => {
	const { schema } = await testServer();
	const lines = await compete(schema());
	const ends = lines.flatMap((line) => ("ends" in line ? [line.ends?.kind] : []));
	expect(ends).toContain("appended");
	expect(ends).toContain("refused");
	expect(judge(lines)).toBe(true);
});

/** One host takes the session from the other, which appends once more. */
async function overtake(url: string, schema: string): Promise<readonly HistoryLine[]> {
	const lines: HistoryLine[] = [];
	const [one, two] = [recordedJournal(url, schema, lines), recordedJournal(url, schema, lines)];
	const former = await begin(one, "s");
	const taken = await two.acquire("s", { mode: "seize" });
	if (taken.ok) await append(taken.lease, "run-1", note("taken over"));
	await append(former, "run-1", note("late")).catch(() => {});
	await two.read("s");
	return lines;
}

test("a journal that does not check the epoch is detected", async () => {
	const { url, schema, query } = await testServer();
	const [sound, unsound] = [schema(), schema()];
	expect(judge(await overtake(url, sound))).toBe(true);
	await recordedJournal(url, unsound, []).head("s");
	const routine = `to_regproc('${unsound}.append_plain_v1')`;
	const [found] = await query<{ text: string }>(`SELECT pg_get_functiondef(${routine}) AS text`);
	const unfenced = found?.text.replace("AND s.epoch = p.epoch", "") ?? "";
	expect(unfenced.length).toBeLessThan(found?.text.length ?? 0);
	await query(unfenced);
	expect(judge(await overtake(url, unsound))).toBe(false);
});
