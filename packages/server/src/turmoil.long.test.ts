// Many clients at once on few sessions of the real service, over real connections: they execute, follow, stop, look,
// and leave in the middle. Whoever stays gets an execution from its start to its end; nothing is left open.

import { scriptedModel } from "@holdfast/testing";
import { memoryHost, tool } from "holdfast";
import { expect, test } from "vitest";
import { say } from "./served.fixture.ts";
import { createServer } from "./server.ts";
import { sessionService } from "./service/index.ts";
import { type Received, readSse, until } from "./sse.fixture.ts";
import { compareEventIds } from "./streams/event-id.ts";
import type { RequestLogEntry } from "./telemetry/log.ts";

/** Numbers from 0 to 1 that are the same for a seed. */
function randomOf(seed: number): () => number {
	let state = seed;
	return () => {
		state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
		return state / 2 ** 31;
	};
}

const pause = (milliseconds: number): Promise<void> =>
	new Promise((resolve) => setTimeout(resolve, milliseconds));

test.each([1, 2])(
	"concurrent clients get what they requested, and leave nothing open (seed %i)",
	async (seed) => {
		const random = randomOf(seed);
		const look = tool({
			name: "look",
			description: "Looks.",
			parameters: { type: "object" },
			run: () => pause(2).then(() => "seen"),
		});
		const model = scriptedModel(async ({ messages }) => {
			await pause(random() * 5);
			const isSeen = JSON.stringify(messages.at(-1)).includes("seen");
			return isSeen || random() < 0.5
				? { text: "word ".repeat(20) }
				: { text: "Hm.", toolCalls: [{ name: "look" }] };
		});
		const logged: RequestLogEntry[] = [];
		const server = createServer({
			service: sessionService({ host: memoryHost(), agent: { model, tools: [look] }, deltaFlushMs: 1 }),
			log: (entry) => logged.push(entry),
		});
		const { url } = await server.listen({ port: 0 });
		let receivedWhole = 0;

		/** Reads to the end, or for some events; undefined when it left. */
		const read = async (response: Response): Promise<readonly Received[] | undefined> => {
			const reader = readSse(response);
			const most = random() < 0.4 ? Math.floor(random() * 25) : Number.POSITIVE_INFINITY;
			const seen: Received[] = [];
			for (let next = await reader.next(); next !== undefined; next = await reader.next()) {
				seen.push(next);
				if (seen.length <= most) continue;
				await reader.close().catch(() => {});
				return undefined;
			}
			for (const [at, { id }] of seen.entries())
				if (at > 0) expect(compareEventIds(id, seen[at - 1]?.id as string)).toBeGreaterThan(0);
			return seen;
		};
		const act = async (): Promise<void> => {
			const session = `${url}/api/agent/session/s${Math.floor(random() * 8)}`;
			const what = random();
			if (what < 0.5) {
				const sessionId = session.slice(session.lastIndexOf("/") + 1);
				const response = await fetch(`${url}/api/agent/execute`, {
					method: "POST",
					headers: { "content-type": "application/json" },
					body: JSON.stringify({ sessionId, input: say("Go."), context: {} }),
				});
				if (response.status !== 200) {
					expect([response.status, (await response.json()).code]).toEqual([409, "session_busy"]);
					return;
				}
				const seen = await read(response);
				if (seen === undefined) return;
				receivedWhole++;
				expect(seen[0]?.event.type).toBe("session_start");
				expect(seen.at(-1)?.event.type).toBe("execute_complete");
				expect(seen.filter(({ event }) => event.type === "execute_complete")).toHaveLength(1);
			} else if (what < 0.8) {
				const response = await fetch(`${session}/events`);
				if (response.status === 200) {
					const seen = await read(response);
					if (seen !== undefined && seen.length > 0) expect(seen.at(-1)?.event.type).toBe("execute_complete");
				} else expect(response.status).toBe(404);
			} else if (what < 0.9)
				expect([200, 404]).toContain((await fetch(`${session}/stop`, { method: "POST" })).status);
			else expect([200, 404]).toContain((await fetch(session)).status);
		};
		await Promise.all(
			Array.from({ length: 60 }, async () => {
				for (let at = 0; at < 8; at++) await act();
			}),
		);
		expect(receivedWhole).toBeGreaterThan(40);
		expect(logged.filter(({ type }) => type === "error")).toEqual([]);
		const left = async (): Promise<readonly string[]> => {
			const text = await (await fetch(`${url}/metrics`)).text();
			return text.match(/^holdfast_(?:open_streams|active_runs|buffered_bytes) \d+$/gm) ?? [];
		};
		const nothing = ["holdfast_open_streams 0", "holdfast_active_runs 0", "holdfast_buffered_bytes 0"];
		await until("nothing is left", async () => (await left()).join() === nothing.join());
		await server.close();
	},
);
