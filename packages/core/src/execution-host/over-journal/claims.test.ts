// A claim on a SQLite host belongs to its worker: it is free once that worker is known to be dead, or its time has ended,
// but not before.
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../../../test/shared/temporary-folder.fixture.ts";
import { ownIdentity } from "../../sqlite/liveness.ts";
import { loadSqlite } from "../../sqlite/load-sqlite.ts";
import { type SqliteHost, sqliteHost } from "../../sqlite.ts";
import { agentOn, reminder } from "../execution-host.fixture.ts";
import { changeRun } from "../run-access.ts";

let folder: string;
let path: string;
let hosts: SqliteHost[];
let time: number;
beforeEach(() => {
	folder = temporaryFolder();
	path = join(folder, "host.db");
	hosts = [];
	time = Date.now();
});
afterEach(async () => {
	for (const host of hosts) await host.close();
});

function open(): SqliteHost {
	const host = sqliteHost({ path, clock: { now: () => time } });
	hosts.push(host);
	return host;
}

/** Changes the row of the only worker to look like that of a worker elsewhere. */
function disguise(change: string): void {
	const database = new (loadSqlite().DatabaseSync)(path);
	database.exec(`UPDATE workers SET ${change}`);
	database.close();
}

/** Claims the reminder "a" and its run. Undefined if either is already claimed. */
async function claim({ store }: SqliteHost, leaseMs = 30_000): Promise<string | undefined> {
	return store.transaction(async ({ runs, notifications }) => {
		const claimed = await runs.claim("run-a", { leaseMs });
		if (!claimed.ok) return undefined;
		const { leaseId } = claimed.lease;
		return (await notifications.claimByIdempotencyKey("key-a", { leaseMs, leaseId })).ok
			? leaseId
			: undefined;
	});
}

/** A host that has claimed the reminder. */
async function claimer(): Promise<{ readonly host: SqliteHost; readonly leaseId: string }> {
	const host = open();
	const scheduling = open();
	await scheduling.store.notifications.enqueue(reminder("a"));
	await scheduling.close();
	const leaseId = await claim(host);
	if (leaseId === undefined) throw new Error("It was claimed before.");
	return { host, leaseId };
}

describe("a claim on a SQLite host", () => {
	test("names its owner, and is valid while that worker lives, until it expires [SES-100]", async () => {
		const { host, leaseId } = await claimer();
		const other = open();
		const lease = { leaseId, workerId: host.journal.workerId };
		expect(await other.store.runs.get("run-a")).toMatchObject({ status: "leased", lease });
		expect(await other.store.notifications.getByIdempotencyKey("key-a")).toMatchObject({ lease });
		time += 29_999;
		expect(await claim(other)).toBeUndefined();
		time += 1;
		expect(await claim(other)).toBeDefined();
	});

	test("is free if its host closed before it used the claim", async () => {
		const { host } = await claimer();
		await host.close();
		expect(await claim(open())).toBeDefined();
	});

	test.runIf(process.platform === "linux")(
		"of a dead process goes to one of its claimants, and the dead process's id is no longer valid [SES-098] [SES-101]",
		async () => {
			const { host, leaseId } = await claimer();
			disguise("started = 'before this process'");
			const others = Array.from({ length: 8 }, open);
			const claims = (await Promise.all(others.map((other) => claim(other)))).filter(Boolean);
			expect(claims).toHaveLength(1);
			expect(claims).not.toEqual([leaseId]);
			expect((await host.store.runs.get("run-a"))?.lease?.attempt).toBe(2);
			const { runs, notifications } = host.store;
			expect(await runs.claim("run-a", { leaseId })).toEqual({ ok: false, reason: "leased" });
			const change = { status: "running" } as const;
			expect(await changeRun({ runs }, "run-a", change, leaseId)).toBe("lease-lost");
			expect(await notifications.acknowledge("key-a", { leaseId })).toBe(false);
			expect(await notifications.releaseByIdempotencyKey("key-a", { leaseId })).toBe(false);
		},
	);

	test.runIf(process.platform === "linux")(
		"whose worker wakes up after another has claimed but not started it: it is delivered once, by whichever starts it",
		async () => {
			const both = [open(), open()];
			const [slow] = both as [SqliteHost, SqliteHost];
			await slow.store.notifications.enqueue(reminder("a"));
			let answers = 0;
			const workers = both.map((host) => {
				const [reached, opened] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
				const { submit } = host.journal;
				host.journal.submit = async (...given) => {
					reached.resolve();
					await opened.promise;
					return submit(...given);
				};
				const agent = agentOn(host, () => `Noted ${++answers}.`);
				return { agent, reached: reached.promise, wake: opened.resolve };
			});
			const resumed: unknown[] = [];
			for (const { agent, reached } of workers) {
				resumed.push(agent.resume("run-a"));
				await reached;
				disguise("started = 'before this process'");
			}
			disguise(`started = '${ownIdentity().started}'`);
			for (const [index, { wake }] of workers.entries()) {
				wake();
				await resumed[index];
			}
			const facts = async (kind: string) =>
				(await slow.journal.read("s")).filter(({ fact }) => fact.kind === kind);
			await expect.poll(() => facts("run.ended")).toMatchObject([{ fact: { outcome: "completed" } }]);
			expect([answers, (await facts("input")).length]).toEqual([1, 1]);
			const { getByIdempotencyKey } = slow.store.notifications;
			await expect.poll(() => getByIdempotencyKey("key-a")).toMatchObject({ status: "acked" });
			for (const { agent } of workers) await agent.close();
		},
	);

	test.runIf(process.platform === "linux")("passes to the worker that renews it", async () => {
		const { leaseId } = await claimer();
		const heir = open();
		expect(await heir.store.runs.claim("run-a", { leaseId })).toMatchObject({ ok: true });
		disguise(`started = 'before this process' WHERE name <> '${heir.journal.workerId}'`);
		expect(await open().store.runs.claim("run-a")).toEqual({ ok: false, reason: "leased" });
	});

	test("of a worker on another machine is valid for its duration, even without heartbeats", async () => {
		await claimer();
		disguise("machine = 'another', beat_at = 0");
		const other = open();
		time += 29_999;
		expect(await claim(other)).toBeUndefined();
		time += 1;
		expect(await claim(other)).toBeDefined();
	});
});
