// A database that a build of 2026-11-23 left behind when it was killed: this build continues everything in it.
// `node work.fixture.ts --leave-work FILE` of that build wrote it.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { temporaryFolder } from "../shared/temporary-folder.fixture.ts";
import { type Booking, makeWork } from "./work.fixture.ts";

const left = join(import.meta.dirname, "work-of-2026-11-23.fixture.db.gz");

test("runs, approvals, queued inputs and background tasks of an earlier build continue", async () => {
	const file = join(temporaryFolder(), "agent.db");
	writeFileSync(file, gunzipSync(readFileSync(left)));
	const bookings: Booking[] = [];
	const { planner, host } = makeWork(file, (booking) => bookings.push(booking));

	const texts: string[] = [];
	for await (const run of planner.recover()) texts.push((await run.result()).text);
	// The killed calls run again, under the keys that the earlier build gave them.
	expect(bookings.map(({ city, attempt }) => [city, attempt]).sort()).toEqual([
		["Braga", 2],
		["Porto", 2],
	]);
	expect(bookings.map(({ key }) => key).sort()).toEqual([
		"b700472c-13a2-4e58-aa3d-05e554c014e2.1.0",
		"ebcefeb2-9d1a-4bc4-9222-f3f1f2ee5a33.1.0.1.0",
	]);
	// The turn that waited behind the killed one follows it.
	expect(texts).toContain("Done: booked in Porto");
	await (await planner.session("killed").send("again")).result();
	const { messages } = await planner.session("killed").state();
	const answers = messages.filter(({ type }) => type === "assistant").map(({ text }) => text);
	expect(answers.slice(-3)).toEqual(["Done: booked in Porto", "Heard: hello", "Heard: again"]);

	const waiting = planner.session("waiting");
	const [call] = await waiting.pending();
	expect(call).toMatchObject({ toolName: "pay", awaits: "approval" });
	const answered = await waiting.answer([{ toolCallId: call?.toolCallId ?? "", approved: true }]);
	expect((await answered.result()).text).toBe("Done: A-7 is paid");

	const next = await planner.session("finished").send("hello again");
	expect((await next.result()).text).toBe("Heard: hello again");
	const history = (await planner.session("finished").state()).messages.map(({ text }) => text);
	expect(history[0]).toBe("book Rome");
	expect(history).toContain("Done: booked in Rome");
	await planner.close();
	await host.close();
});
