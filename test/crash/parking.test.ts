// A run that kills its process each time it is resumed: it is parked, and the sessions after it are served again.
import { sqliteJournal } from "holdfast/sqlite";
import { afterEach, beforeEach, expect, test } from "vitest";
import { factsOf } from "./comparison.fixture.ts";
import type { Plan } from "./planned-model.fixture.ts";
import { makeWorld, named, type World } from "./world.fixture.ts";

const planned = (task: string, rounds: Plan["rounds"]): string => JSON.stringify({ task, rounds });
/** Inside the tool of the first session the process kills itself. */
const deadly = { killAt: "lookup deadly entered" };

let world: World;
beforeEach(async () => {
	world = await makeWorld();
});
afterEach(() => world.end());

async function head(session: string) {
	const journal = sqliteJournal({ path: world.path });
	try {
		return await journal.head(session);
	} finally {
		await journal.close();
	}
}

test("a tool that kills its process runs six times, then its run is parked, and others are served", async () => {
	const first = await world.run({ work: { send: [planned("one", [["lookup:deadly"]])] }, ...deadly });
	expect(first.signal).toBe("SIGKILL");
	// Another session was cut off, too. Recovery comes to it after the deadly one.
	const other = world.start({ session: "z", work: { send: [planned("two", [["wait:b"]])] } });
	await other.reached("wait b entered");
	other.child.kill("SIGKILL");
	await other.ended;
	for (let restart = 1; restart <= 5; restart++) {
		const { signal } = await world.run({ work: { recover: true }, ...deadly });
		expect(signal).toBe("SIGKILL");
	}
	expect((await head("z"))?.openRunId).toBeDefined();

	const sweep = await world.run({ work: { recover: true }, ...deadly });
	expect(sweep.signal).toBeNull();
	expect(named(sweep, "result")).toMatchObject([
		{ outcome: "suspended", error: "run_parked" },
		{ outcome: "completed", text: "two is done: fact of b." },
	]);
	expect(await head("s")).toMatchObject({ parked: true, openRunId: expect.any(String) });
	expect(factsOf(await world.entries(), "run.parked")).toMatchObject([{ reason: "crash", crashes: 6 }]);
	const attempts = factsOf(await world.entries(), "tool.started").map(({ attempt }) => attempt);
	expect(attempts).toEqual([1, 2, 3, 4, 5, 6]);

	// The next sweep leaves it alone; resume says why; what is said to it waits.
	expect(named(await world.run({ work: { recover: true }, ...deadly }), "result")).toEqual([]);
	const resumed = await world.run({ work: { resume: true }, ...deadly });
	expect(named(resumed, "failed")).toMatchObject([{ code: "run_parked" }]);
	const said = await world.run({ work: { send: [planned("three", [])] }, ...deadly });
	expect(named(said, "result")).toMatchObject([{ outcome: "suspended", error: "run_parked" }]);
	expect((await head("s"))?.waiting).toBe(1);
	expect(factsOf(await world.entries(), "run.parked")).toHaveLength(1);

	// The cause is mended: it continues where it was, and what waited comes after it.
	const released = await world.run({ work: { release: true } });
	expect(named(released, "result")).toMatchObject([
		{ outcome: "completed", text: "one is done: fact of deadly." },
	]);
	await world.run({ work: { recover: true } });
	const entries = await world.entries();
	expect(factsOf(entries, "run.resumed")[5]?.reason).toBe("released");
	expect(factsOf(entries, "run.ended").map(({ outcome }) => outcome)).toEqual(["completed", "completed"]);
	expect(await head("s")).not.toHaveProperty("parked");
});

test("a run that was released and crashes again is parked again after the same number of restarts", async () => {
	await world.run({ work: { send: [planned("one", [["lookup:deadly"]])] }, ...deadly });
	for (let restart = 1; restart <= 5; restart++) await world.run({ work: { recover: true }, ...deadly });
	await world.run({ work: { recover: true }, ...deadly });
	expect((await world.run({ work: { release: true }, ...deadly })).signal).toBe("SIGKILL");
	for (let restart = 1; restart <= 5; restart++)
		expect((await world.run({ work: { recover: true }, ...deadly })).signal).toBe("SIGKILL");
	expect((await world.run({ work: { recover: true }, ...deadly })).signal).toBeNull();
	expect(factsOf(await world.entries(), "run.parked")).toHaveLength(2);
});
