// A file with any one damaged page: each call that encounters the damage rejects with a code, and nothing else happens.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { scriptedModel } from "@holdfast/testing";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";
import { Agent } from "../agent/agent.ts";
import { drain } from "../sessions/drain.ts";
import { sqliteHost } from "../sqlite.ts";

const pageSize = 4096;

/** Writes a file that uses every feature. */
async function write(path: string): Promise<void> {
	const host = sqliteHost(path);
	const agent = new Agent({ model: scriptedModel(() => "word ".repeat(300)), host });
	for (let each = 0; each < 12; each++)
		await drain(await agent.session(`s${each}`).send("Hello. ".repeat(40)));
	await host.values?.values("s1", "notes").set("n", { text: "note ".repeat(900) });
	await host.files?.of("s1", "box").write("f", [Buffer.alloc(9_000, 7)]);
	await host.timers?.set({ key: "s1", name: "t", wakeAt: 1, body: "x".repeat(500) });
	await agent.close();
	await host.close();
}

/** Performs every operation of a host, sequentially and concurrently; returns the codes of those that failed. */
async function useAll(path: string): Promise<ReadonlySet<unknown>> {
	const codes = new Set<unknown>();
	const attempt = async (act: () => unknown): Promise<void> => {
		try {
			await act();
		} catch (error) {
			codes.add((error as { code?: unknown }).code ?? error);
		}
	};
	let host: ReturnType<typeof sqliteHost>;
	try {
		host = sqliteHost(path);
	} catch (error) {
		return new Set([(error as { code?: unknown }).code ?? error]);
	}
	const agent = new Agent({ model: scriptedModel(() => "Yes."), host });
	const { journal } = host;
	const keys = Array.from({ length: 12 }, (_, each) => `s${each}`);
	const reads = (key: string): (() => unknown)[] => [
		() => journal.head(key),
		() => journal.read(key),
		() => journal.inbox(key),
		() => journal.readPage?.(key, { after: { seq: 0, sub: 0 }, limit: 100 }),
		() => host.values?.values(key, "notes").list(),
		async () => {
			for await (const _ of host.files?.of(key, "box").read("f") ?? []);
		},
	];
	await Promise.all(keys.flatMap(reads).map(attempt));
	for (const act of keys.flatMap(reads)) await attempt(act);
	for (const act of [
		() => journal.list(),
		() => host.timers?.nextDue(),
		() => host.timers?.claim({ now: Date.now(), leaseMs: 1, limit: 5 }),
		() => host.changes?.read({ after: 0 }),
	])
		await attempt(act);
	await Promise.all(
		keys.map((key) =>
			attempt(async () => {
				const { outcome, error } = await (await agent.session(key).send("More.")).result();
				if (outcome !== "completed") throw error;
			}),
		),
	);
	await attempt(() => agent.session("s2").delete());
	await attempt(() => host.values?.values("s3", "notes").set("m", 1));
	await attempt(() => agent.close());
	await attempt(() => host.close());
	return codes;
}

test("for damage of any page, calls reject with codes and nothing is thrown elsewhere", async () => {
	const folder = temporaryFolder();
	const whole = join(folder, "whole.db");
	await write(whole);
	const thrown: unknown[] = [];
	const note = (error: unknown): void => void thrown.push(error);
	process.on("uncaughtExceptionMonitor", note);
	onTestFinished(() => void process.off("uncaughtExceptionMonitor", note));
	const bytes = readFileSync(whole);
	const pages = bytes.length / pageSize;
	expect(pages).toBeGreaterThan(40);
	const codes = new Set<unknown>();
	for (let page = 1; page < pages; page++) {
		const damaged = Buffer.from(bytes);
		damaged.fill([0, 255, 0x5a][page % 3] as number, page * pageSize, (page + 1) * pageSize);
		const path = join(folder, `damaged-${page}.db`);
		writeFileSync(path, damaged);
		for (const code of await useAll(path)) codes.add(code);
		await new Promise((resolve) => setImmediate(resolve));
	}
	expect(thrown).toEqual([]);
	expect([...codes].filter((code) => typeof code !== "string" || !/^[a-z_]+$/.test(code))).toEqual([]);
	expect(codes).toContain("journal_corrupt");
});
