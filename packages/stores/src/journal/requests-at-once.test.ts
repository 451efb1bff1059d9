// With any concurrent requests to a session, each request settles, and the session stays usable.
import { scriptedModel } from "@holdfast/testing";
import { UserMessage } from "@holdfast/upp";
import { Agent, type AgentRun } from "holdfast";
import { expect, test } from "vitest";
import { MemorySessionStore } from "../session-store/memory-session-store.ts";
import { pausing, randomNumbers, slowTool, ticks } from "./slow-store.fixture.ts";

/** The errors that a session may return to a request at the wrong moment, in one process. */
const refusals = [
	"fork_unsettled",
	"no_pending_tool_calls",
	"pending_tool_calls",
	"session_busy",
	"session_held",
	"session_killed",
	"tool_call_settled",
];

test("each of many requests settles, nothing is repeated, and later messages run", async () => {
	for (let seed = 1; seed <= 250; seed++) {
		const random = randomNumbers(seed * 7_919);
		const pause = ticks(random);
		const model = scriptedModel((_, call) => {
			const kind = random();
			if (kind < 0.3) return { toolCalls: [{ name: "look" }] };
			return kind < 0.45 ? { toolCalls: [{ name: "remote" }] } : `a${call}`;
		});
		const agent = new Agent({
			model,
			tools: [
				slowTool("look", pause),
				{ name: "remote", description: "Is elsewhere.", parameters: { type: "object", properties: {} } },
			],
			host: seed % 3 === 0 ? {} : { sessionStore: pausing(pause, new MemorySessionStore()) },
		});
		const session = (): ReturnType<typeof agent.session> => agent.session("s");
		const finished = async (run: Promise<AgentRun | null>): Promise<unknown> => (await run)?.result();
		const answer = async (): Promise<unknown> => {
			const calls = await session().pending();
			const answers = calls.map(({ toolCallId }) => ({ toolCallId, output: "ok" }));
			return calls.length === 0 ? undefined : finished(session().answer(answers));
		};
		const requests: readonly (readonly [number, string, (text: string) => Promise<unknown>])[] = [
			[5, "send", (text) => finished(session().send(text))],
			[5, "steer", (text) => finished(session().steer(text))],
			[2, "start", (text) => finished(session().start(text))],
			[4, "answer", answer],
			[2, "resume", () => finished(session().resume())],
			[2, "release", () => finished(session().release())],
			[2, "edit", (text) => session().edit({ kind: "add", message: new UserMessage(text) })],
			[2, "overlay", (text) => session().overlay(text)],
			[2, "state", () => session().state()],
			[2, "fork", (text) => session().fork(text)],
			[2, "interrupt", async () => session().interrupt()],
			[2, "stop", () => session().stop()],
			[1, "kill", () => session().kill()],
			[1, "delete", () => session().delete()],
		];
		const urn = requests.flatMap(([weight, ...request]) => Array<typeof request>(weight).fill(request));
		const asked: string[] = [];
		const underWay = new Set<string>();
		const because = (): string => `seed ${seed}: ${asked.join(", ")}`;
		const refused = (error: { readonly code?: string }): void => {
			if (!refusals.includes(error.code ?? "")) throw new Error(because(), { cause: error });
		};
		const settled: Promise<unknown>[] = [];
		for (let count = 0; count < 12; count++) {
			const [name, ask] = urn[Math.floor(random() * urn.length)] ?? (urn[0] as (typeof urn)[number]);
			const text = `${name} ${count}`;
			asked.push(text);
			underWay.add(text);
			settled.push(
				ask(text)
					.catch(refused)
					.finally(() => underWay.delete(text)),
			);
			await pause();
		}
		const waitFor = async (isDone: () => Promise<boolean>): Promise<void> => {
			const until = Date.now() + 10_000;
			while (!(await isDone())) {
				expect(Date.now(), `${because()}; under way: ${[...underWay].join(", ")}`).toBeLessThan(until);
				// Waiting calls are answered, and the runs that wait for them are resumed.
				await answer().catch(refused);
				await finished(session().resume()).catch(refused);
				await new Promise((resolve) => setImmediate(resolve));
			}
		};
		await waitFor(async () => underWay.size === 0);
		await Promise.all(settled);
		const last = await session().send("last");
		void last.result();
		const said = async (): Promise<readonly string[]> =>
			(await session().state()).messages.filter(({ type }) => type === "user").map(({ text }) => text);
		await waitFor(async () => (await said()).includes("last"));
		const texts = await said();
		expect(new Set(texts).size, because()).toBe(texts.length);
		await agent.close();
	}
});

test("messages sent after kills and deletions, before those end, are not ended by them", async () => {
	for (let seed = 1; seed <= 150; seed++) {
		const random = randomNumbers(seed * 7_919);
		const pause = ticks(random);
		const agent = new Agent({
			model: scriptedModel(() => "Here."),
			host: seed % 3 === 0 ? {} : { sessionStore: pausing(pause, new MemorySessionStore()) },
		});
		const session = (): ReturnType<typeof agent.session> => agent.session("s");
		if (random() < 0.7) await (await session().send("first")).result();
		const ends = Array.from({ length: 1 + Math.floor(random() * 3) }, () =>
			random() < 0.5 ? session().kill() : session().delete(),
		);
		await pause();
		const run = await session().send("last");
		expect(await run.result(), `seed ${seed}`).toMatchObject({ outcome: "completed", text: "Here." });
		await Promise.all(ends);
		await agent.close();
	}
});
