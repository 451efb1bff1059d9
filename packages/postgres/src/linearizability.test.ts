// Many hosts that take one session from each other, and the history of what they did, judged.
import { note, started } from "@holdfast/testing/cases";
import {
	checkLinearizable,
	type HistoryLine,
	operationsOf,
	recordHistory,
	sessionModel,
} from "@holdfast/testing/linearizability";
import { expect, onTestFinished, test } from "vitest";
import { postgresHost } from "./index.ts";
import { testServer } from "./test-server.fixture.ts";

/** Hosts take a session from each other, append to it and read it, all at once, and never look whether it is still theirs. */
async function compete(schema: string): Promise<readonly HistoryLine[]> {
	const { url } = await testServer();
	const lines: HistoryLine[] = [];
	const hosts = [0, 1, 2].map(() => {
		const host = postgresHost({ connectionString: url, schema, leaseTtlMs: 120_000, patienceMs: 100_000 });
		onTestFinished(() => host.close());
		return recordHistory(host.journal, (line) => lines.push(line));
	});
	await hosts[0]?.head("s");
	await Promise.all(
		hosts.map(async (journal, number) => {
			for (let round = 0; round < 8; round++) {
				const taken = await journal.acquire("s", { mode: "seize" });
				if (!taken.ok) throw new Error("a session that is seized is not held");
				const append = (what: string) =>
					taken.lease.append({ at: 0, runId: "run-1", facts: what === "started" ? [started] : [note(what)] });
				const appends = ["started", "one", "two"].map((what) =>
					Promise.resolve(append(what === "started" ? what : `${number} ${round} ${what}`)).catch(() => {}),
				);
				await Promise.all(appends);
				await journal.read("s");
				await Promise.resolve(append(`${number} ${round} late`)).catch(() => {});
			}
			await journal.read("s");
		}),
	);
	return lines;
}

function judge(lines: readonly HistoryLine[]): boolean {
	return checkLinearizable(operationsOf(lines).get("s") ?? [], sessionModel).ok;
}

test("what hosts do that take a session from each other is what one journal can have done", async () => {
	const { schema } = await testServer();
	const lines = await compete(schema());
	const ends = lines.flatMap((line) => ("ends" in line ? [line.ends?.kind] : []));
	expect(ends).toContain("appended");
	expect(ends).toContain("refused");
	expect(judge(lines)).toBe(true);
});

test("a journal that does not look at the epoch is found out", async () => {
	const server = await testServer();
	const schema = server.schema();
	const { url } = server;
	const host = postgresHost({ connectionString: url, schema, leaseTtlMs: 120_000 });
	onTestFinished(() => host.close());
	await host.journal.head("s");
	const routine = `to_regproc('${schema}.append_plain_v1')`;
	const [found] = await server.query<{ text: string }>(`SELECT pg_get_functiondef(${routine}) AS text`);
	const unfenced = found?.text.replace("AND s.epoch = p.epoch", "") ?? "";
	expect(unfenced.length).toBeLessThan(found?.text.length ?? 0);
	await server.query(unfenced);
	expect(judge(await compete(schema))).toBe(false);
});
