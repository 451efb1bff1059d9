// Many sessions that begin at once: those that wait for the others keep the order of their requests.
import { scriptedModel } from "@holdfast/testing";
import { expect, test } from "vitest";
import { Agent } from "../agent/agent.ts";
import { journalHost } from "../host/host-port.ts";
import { memoryJournal } from "../host/memory-journal.ts";
import { echo } from "./sessions.fixture.ts";

/** An agent with so many beginning sessions that a new request has to wait. */
function crowded() {
	const journal = memoryJournal();
	const agent = new Agent({ model: scriptedModel(echo), host: journalHost(journal) });
	const others = Array.from({ length: 50 }, async (_, at) =>
		(await agent.session(`other ${at}`).send("go")).result(),
	);
	return { agent, journal, over: () => Promise.all(others) };
}

/** The recorded inputs and answers of the session "s". */
function texts(journal: ReturnType<typeof memoryJournal>): readonly string[] {
	return journal
		.read("s")
		.flatMap(({ fact }) => (fact.kind === "input" || fact.kind === "assistant" ? [fact.message.text] : []));
}

test("inputs sent in one tick, through several handles, keep their order, and a steer belongs to the turn before it", async () => {
	const { agent, journal, over } = crowded();
	const [one, other] = [agent.session("s"), agent.session("s")];
	const asked = [one.send("one"), other.steer("two"), one.send("three"), other.send("four")];
	const runs = await Promise.all(asked);
	await Promise.all(runs.map((run) => run.result()));
	expect(texts(journal)).toEqual(["one", "two", "re: two", "three", "re: three", "four", "re: four"]);
	expect(runs[1]?.runId).toBe(runs[0]?.runId);
	await over();
});

test("a turn that must start at once or not at all does not overtake earlier sends", async () => {
	const { agent, journal, over } = crowded();
	const session = agent.session("s");
	const sent = session.send("one");
	await expect(session.start("two")).rejects.toMatchObject({ code: "session_busy" });
	await (await sent).result();
	expect(texts(journal)).toEqual(["one", "re: one"]);
	await over();
});

test("a kill ends earlier sends, and no later ones", async () => {
	const { agent, journal, over } = crowded();
	const session = agent.session("s");
	const sent = session.send("one").then(
		async (run) => (await run.result()).outcome,
		(error: { code: string }) => error.code,
	);
	const killed = session.kill();
	const next = agent.session("s").send("two");
	expect(["killed", "session_killed"]).toContain(await sent);
	await killed;
	expect((await (await next).result()).text).toBe("re: two");
	expect(texts(journal)).not.toContain("re: one");
	await over();
});

test("inputs that wait while the agent is closed are rejected or left to be resumed", async () => {
	const { agent, over } = crowded();
	const sent = agent
		.session("s")
		.send("one")
		.then(
			async (run) => (await run.result()).outcome,
			(error: { code: string }) => error.code,
		);
	const others = over().catch(() => {});
	await agent.close();
	expect(["agent_closed", "suspended"]).toContain(await sent);
	await others;
});
