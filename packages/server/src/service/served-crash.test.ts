import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { LoggedEvent } from "holdfast/execute";
import { sqliteHost } from "holdfast/sqlite";
import { afterEach, expect, test } from "vitest";
import type { SessionService } from "./service-types.ts";
import { sessionService } from "./session-service.ts";
import { slowAgent } from "./slow-agent.fixture.ts";

const folder = mkdtempSync(join(tmpdir(), "holdfast-"));
let files = 0;
afterEach(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));

/** Starts a server on a new file and kills it when it has emitted so many events. */
async function killedAfter(count: number): Promise<{ readonly path: string; readonly seen: LoggedEvent[] }> {
	const path = join(folder, `${files++}.db`);
	const script = join(import.meta.dirname, "service-process.fixture.ts");
	const child = spawn(process.execPath, ["--conditions=holdfast-source", "--no-warnings", script, path], {
		stdio: ["ignore", "pipe", "inherit"],
	});
	const gone = new Promise((resolve) => child.once("exit", resolve));
	const seen: LoggedEvent[] = [];
	for await (const line of createInterface({ input: child.stdout })) {
		if (seen.length < count) seen.push(JSON.parse(line) as LoggedEvent);
		if (seen.length === count) child.kill("SIGKILL");
	}
	await gone;
	return { path, seen };
}

async function read(events: AsyncIterable<readonly LoggedEvent[]>): Promise<LoggedEvent[]> {
	const all: LoggedEvent[] = [];
	for await (const batch of events) all.push(...batch);
	return all;
}

async function restarted<T>(path: string, use: (service: SessionService) => Promise<T>): Promise<T> {
	const host = sqliteHost(path);
	const service = sessionService({ host, agent: slowAgent("continues"), deltaFlushMs: 1 });
	try {
		await service.supervise();
		return await use(service);
	} finally {
		await service.close();
		await host.close();
	}
}

const types = (events: readonly LoggedEvent[]): string[] => events.map(({ event }) => event.type);

// session_start, user's message (2), answer with text and a call (at least 8), the tool (3), its message (2), …
test.each([1, 4, 7, 14, 18])(
	"events from before a server was killed, of which a watcher had %i, are streamed again under the same ids, and more follow [API-075]",
	async (count) => {
		const { path, seen } = await killedAfter(count);
		expect(seen).toHaveLength(count);
		await restarted(path, async (service) => {
			const rest = await read(service.follow("t", "s", { after: seen.at(-1)?.id, until: "complete" }));
			const whole = await read(service.follow("t", "s", {}));
			expect([...seen, ...rest]).toEqual(whole);
			expect(new Set(whole.map(({ id }) => id)).size).toBe(whole.length);
			expect(rest.at(-1)?.event).toEqual({ type: "execute_complete", status: "completed" });
			const again = await service.submit("t", "s", { input: "go" }, { idempotencyKey: "k" });
			expect(again.attached).toBe(true);
			expect(await read(service.follow("t", "s", { after: again.after, until: "complete" }))).toEqual(whole);
		});
	},
);

test("an answer cut off by a crash ends as an error with its partial text, and is generated again [API-076]", async () => {
	// Up to the third word of the second answer.
	const { path, seen } = await killedAfter(19);
	expect(types(seen).slice(-3)).toEqual(["message_start", "text_start", "text_delta"]);
	await restarted(path, async (service) => {
		const rest = await read(service.follow("t", "s", { after: seen.at(-1)?.id, until: "complete" }));
		const cut = rest.find(({ event }) => event.type === "message_end");
		expect(cut?.event).toMatchObject({
			message: {
				role: "error",
				code: "interrupted",
				partial: { content: [{ type: "text", text: "It is all" }] },
			},
		});
		expect(types(rest.slice(rest.indexOf(cut as LoggedEvent) + 1))).toEqual([
			"message_start",
			"text_start",
			"text_delta",
			"text_end",
			"message_end",
			"session_end",
			"execute_complete",
		]);
		const info = await service.get("t", "s");
		expect(info?.messages.map(({ role }) => role)).toEqual([
			"user",
			"assistant",
			"tool",
			"error",
			"assistant",
		]);
	});
});
