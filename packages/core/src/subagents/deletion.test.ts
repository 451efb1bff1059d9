import { join } from "node:path";
import { scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";
import { Agent } from "../agent/agent.ts";
import { type MemoryJournal, memoryJournal } from "../host/memory-journal.ts";
import { sqliteHost } from "../sqlite.ts";
import { calls, eventsOf, family, helper, until } from "./delegate.fixture.ts";

/** The session of "helper" under the session "s". */
const place = "\u0000sub\u00001\u0000s\u00006\u0000helper\u0000default";
const asks = calls(["delegate_to_helper", { prompt: "work" }]);

/**
 * Runs an action before the chosen call of a journal, counted from 1; later calls wait for it. Returns the number of
 * calls.
 */
function beforeCall(journal: MemoryJournal, chosen: number, happen: () => Promise<void>): () => number {
	let count = 0;
	let happened: Promise<void> | undefined;
	for (const name of ["acquire", "head", "list", "read", "delete"] as const) {
		const call = journal[name].bind(journal) as (...given: unknown[]) => unknown;
		const held = async (...given: unknown[]): Promise<unknown> => {
			if (++count === chosen) happened = happen();
			await happened;
			return call(...given);
		};
		(journal as unknown as Record<string, unknown>)[name] = held;
	}
	return () => count;
}

/**
 * Deletes a session whose sub-agent has worked, and lets another process begin work before one of the deletion's calls.
 */
async function deletedBeside(chosen: number): Promise<{ readonly left: string[]; readonly calls: number }> {
	const journal = memoryJournal();
	const theirs = journal.worker("elsewhere");
	// The other process already has the session's lease, so its next run raises no epoch.
	const stuck = helper("helper", ["done", { gate: new Promise(() => {}) }]);
	const other = family([asks, "said", asks, "never"], [stuck], { journal: theirs }).parent.session("s");
	await eventsOf(await other.send("before"));
	const ours = journal.worker("deletes");
	const { parent } = family([], [helper("helper", [])], { journal: ours });
	const count = beforeCall(ours, chosen, async () => {
		void (await other.send("beside")).result();
		await until(theirs, place, () => theirs.head(place)?.openRunId !== undefined);
	});
	await parent.session("s").delete();
	return { left: journal.list().map(({ key }) => key), calls: count() };
}

describe("deleting a session while another process sends to it", () => {
	test("removes the sub-agents of the removed session, and none of a recreated one, at any moment", async () => {
		for (let chosen = 1, most = 1; chosen <= most; chosen++) {
			const { left, calls: made } = await deletedBeside(chosen);
			const isWhole = left.length === 0 || left.join() === [place, "s"].join();
			expect(isWhole, `begun before call ${chosen}, left is ${left}`).toBe(true);
			most = Math.max(most, made);
		}
	});

	test("leaves no session of a sub-agent, also not one that another run starts afterwards", async () => {
		const journal = memoryJournal();
		const theirs = journal.worker("elsewhere");
		const other = family([asks, "never"], [helper("helper", ["done"])], { journal: theirs });
		const { submit } = theirs;
		const { parent } = family([], [helper("helper", [])], { journal: journal.worker("deletes") });
		const refused = Promise.withResolvers<unknown>();
		theirs.submit = async (key, input) => {
			await parent.session("s").delete();
			try {
				return await submit.call(theirs, key, input);
			} catch (error) {
				refused.resolve(error);
				throw error;
			}
		};
		void (await other.parent.session("s").send("go")).result();
		expect(await refused.promise).toMatchObject({ code: "lease_lost" });
		expect(journal.list()).toEqual([]);
	});

	test("is not undone by a reminder of a task that ends at that moment", async () => {
		const journal = memoryJournal();
		const theirs = journal.worker("elsewhere");
		const inBackground = calls(["delegate_to_helper", { prompt: "work", run_in_background: true }]);
		const other = family([inBackground, "begun"], [helper("helper", ["done"])], { journal: theirs });
		const { parent } = family([], [helper("helper", [])], { journal: journal.worker("deletes") });
		const { submit } = theirs;
		const emitted = Promise.withResolvers<void>();
		theirs.submit = async (key, input) => {
			if (input.kind === "notice") await parent.session("s").delete();
			try {
				return await submit.call(theirs, key, input);
			} finally {
				if (input.kind === "notice") emitted.resolve();
			}
		};
		await (await other.parent.session("s").send("go")).result();
		await emitted.promise;
		expect(journal.list()).toEqual([]);
		await other.parent.close();
	});

	test.each(["recorded", "scheduled", "submitted"])(
		"leaves no reminder of a task that ends at that moment, before the reminder is %s",
		async (when) => {
			const path = join(temporaryFolder(), "sessions.db");
			const [host, other] = [sqliteHost(path), sqliteHost(path)];
			const deleting = new Agent({
				host: other,
				model: scriptedModel([]),
				subagents: [helper("helper", [])],
			});
			const { execution, journal } = host;
			const before = <Port extends object>(port: Port, name: keyof Port, isReminder = () => true): void => {
				const call = (port[name] as (...given: unknown[]) => Promise<unknown>).bind(port);
				const deleted = async (...given: unknown[]): Promise<unknown> => {
					if (isReminder()) await deleting.session("s").delete();
					return call(...given);
				};
				Object.assign(port, { [name]: deleted });
			};
			let isRecorded = false;
			const { resumeSession } = execution.scheduler;
			execution.scheduler.resumeSession = async (...given) => {
				isRecorded = true;
				await resumeSession.call(execution.scheduler, ...given);
			};
			if (when === "recorded") before(execution.store.notifications, "enqueue");
			if (when === "scheduled") before(execution.scheduler, "resumeSession");
			if (when === "submitted") before(journal, "submit", () => isRecorded);
			const inBackground = calls(["delegate_to_helper", { prompt: "work", run_in_background: true }]);
			const parent = new Agent({
				host,
				model: scriptedModel([inBackground, "begun"]),
				subagents: [helper("helper", ["done"])],
			});
			await (await parent.session("s").send("go")).result();
			await expect.poll(() => isRecorded).toBe(true);
			await parent.close();
			expect(await journal.list()).toEqual([]);
			for (const shelf of ["notifications", "scheduled-runs", "unfinished-runs", "run-dedupe"])
				expect(await host.records.list(shelf), shelf).toEqual([]);
			await deleting.close();
			await host.close();
			await other.close();
		},
	);
});
