// Events and answers that arrive at the moment at which a run starts to wait or begins again.
import { expect, test } from "vitest";
import { acceptInput, storedInput } from "../facts/index.ts";
import type { Append, Host, Journal } from "../host/index.ts";
import { memoryJournal } from "../host/memory-journal.ts";
import { journalHost } from "../host.ts";
import { eventText } from "./event-message.ts";
import { workflow } from "./workflow.ts";

type Held = "append" | "release";

/** A store that answers a request to a lease late, once the test has opened the gate. `isLate` selects appends. */
function lateHost(journal: Journal, late: Held, isLate: (batch: Append) => boolean) {
	const gate = Promise.withResolvers<void>();
	const own: Journal = {
		...journal,
		acquire: async (key, options) => {
			const acquired = await journal.acquire(key, options);
			if (!acquired.ok) return acquired;
			const { lease } = acquired;
			const { append, release } = lease;
			if (late === "append")
				lease.append = async (batch) => {
					const answer = await append.call(lease, batch);
					if (isLate(batch)) await gate.promise;
					return answer;
				};
			else
				lease.release = async () => {
					await gate.promise;
					await release.call(lease);
				};
			return acquired;
		},
	};
	return { host: journalHost(own), open: () => gate.resolve() };
}

const waits = ({ facts }: Append): boolean => facts.some(({ kind }) => kind === "waiting");
const closes = ({ facts }: Append): boolean =>
	facts.some((fact) => fact.kind === "tool.settled" && fact.outcome === "cancelled");

function waiting(host: Host) {
	return workflow({ name: "waits", host }, (flow) => flow.event<string>("go"));
}

async function untilWaiting(journal: Journal): Promise<void> {
	await expect.poll(async () => (await journal.read("s")).at(-1)?.fact.kind, { interval: 1 }).toBe("waiting");
}

test("an event that is sent before the store has confirmed the wait for it continues the run", async () => {
	const journal = memoryJournal();
	const { host, open } = lateHost(journal, "append", waits);
	const session = waiting(host).session("s");
	const run = await session.send(undefined);
	await untilWaiting(journal);
	const sent = session.signal("go", "now");
	await expect.poll(() => journal.inbox("s").length, { interval: 1 }).toBe(1);
	open();
	await sent;
	expect(await run.result()).toMatchObject({ outcome: "completed", output: "now" });
});

test("an event that another process sends before this one has left the waiting run continues it", async () => {
	const journal = memoryJournal();
	const { host, open } = lateHost(journal, "release", waits);
	const run = await waiting(host).session("s").send(undefined);
	await untilWaiting(journal);
	await waiting(journalHost(journal.worker("other")))
		.session("s")
		.signal("go", "now");
	expect(journal.inbox("s")).toHaveLength(1);
	open();
	expect(await run.result()).toMatchObject({ outcome: "completed", output: "now" });
});

test.each(["signal", "resume", "recover"] as const)(
	"an event whose sender died before the run received it is delivered by %s",
	async (by) => {
		const journal = memoryJournal();
		const flow = waiting(journalHost(journal));
		const session = flow.session("s");
		const run = await session.send(undefined);
		await untilWaiting(journal);
		const body = storedInput(acceptInput(eventText("go", "now")));
		journal.submit("s", { id: "event", kind: "notice", dedupeKey: "once", body });
		if (by === "signal") await session.signal("go", "now", { dedupeKey: "once" });
		else if (by === "resume") (await session.session.resume())?.detach();
		else await flow.recover();
		expect(await run.result()).toMatchObject({ outcome: "completed", output: "now" });
	},
);

test("an answer that arrives while the code begins again is refused, and does not hold up the session", async () => {
	const journal = memoryJournal();
	const { host, open } = lateHost(journal, "append", closes);
	const begun = Promise.withResolvers<void>();
	const done = Promise.withResolvers<void>();
	const again = workflow({ name: "again", host }, async (flow, input: number | null) => {
		if (input === null) {
			void flow.approve("pay");
			await flow.step("begin", () => begun.promise);
			return flow.continueAsNew(1);
		}
		await flow.step("work", () => done.promise);
		return flow.event<string>("go");
	});
	const session = again.session("s");
	const run = await session.send(null);
	await expect.poll(async () => (await session.session.pending()).length, { interval: 1 }).toBe(1);
	const [call] = await session.session.pending();
	begun.resolve();
	await expect.poll(() => journal.read("s").some(({ fact }) => fact.kind === "tool.settled")).toBe(true);
	const answered = session.session.answer([{ toolCallId: call?.toolCallId ?? "", approved: true }]);
	const refused = expect(answered).rejects.toMatchObject({ code: "tool_call_settled" });
	await new Promise((resolve) => setImmediate(resolve));
	open();
	await refused;
	await session.signal("go", "now");
	done.resolve();
	expect(await run.result()).toMatchObject({ outcome: "completed", output: "now" });
});
