// Everything at once, in processes that die again and again at a write or an effect: scripts, workflows with children and
// questions, approvals, sub-agents in the background, large results and summaries, next to users who steer and fork.
import { type ChildProcess, fork } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { postgresHost } from "@holdfast/postgres";
import { startPostgresServer } from "@holdfast/testing/postgres-server";
import { isHoldfastError, messageToJSON, UserMessage } from "@holdfast/upp";
import type { Agent, Host } from "holdfast";
import { sqliteHost } from "holdfast/sqlite";
import { afterAll, expect, test } from "vitest";
import { temporaryFolder } from "../shared/temporary-folder.fixture.ts";
import { type CombinedEffect, combinedAgent } from "./combined-agent.fixture.ts";

const server = await startPostgresServer({});
afterAll(() => server.stop());

const keys = ["s0", "s1"];

/** The most moments that a worker lives: see `CombinedProcessOptions`. */
const mostMoments = 60;

interface World {
	readonly host: Host;
	readonly store: string;
	readonly effects: string;
	readonly problems: string;
}

/** Two workers; whichever dies is replaced. */
function startWorkers(world: World): { deaths(): number; end(): void } {
	let deaths = 0;
	let isOver = false;
	const children = new Set<ChildProcess>();
	const start = (): void => {
		const { host: _, ...files } = world;
		const life = 1 + Math.floor(Math.random() * mostMoments);
		const path = join(import.meta.dirname, "combined-process.fixture.ts");
		const child = fork(path, [JSON.stringify({ ...files, life })], {
			execArgv: ["--conditions=holdfast-source", "--no-warnings"],
		});
		children.add(child);
		child.once("exit", () => {
			children.delete(child);
			if (isOver) return;
			deaths++;
			start();
		});
	};
	start();
	start();
	return {
		deaths: () => deaths,
		end() {
			isOver = true;
			for (const child of children) child.kill("SIGKILL");
		},
	};
}

/** Makes a request from a process of its own, as it were: what it begins is continued by a worker. */
async function request({ host, effects }: World, what: (agent: Agent) => Promise<unknown>): Promise<void> {
	const { agent, close } = combinedAgent(host, effects);
	try {
		await what(agent);
	} catch (error) {
		const mayBe = ["session_busy", "session_held", "no_pending_tool_calls", "duplicate_tool_result"];
		if (!isHoldfastError(error) || ![...mayBe, "fork_unsettled"].includes(error.code)) throw error;
	} finally {
		await close();
	}
}

/** Sends a message, answers what it asks, and steers and forks now and then; resolves when its run has ended. */
async function ask(world: World, key: string): Promise<readonly string[]> {
	const { host } = world;
	const id = `${key}-turn`;
	const message = messageToJSON(new UserMessage(`T${key}`, { id }));
	const body = { shape: "text", message } as never;
	await host.journal.submit(key, { id, kind: "message", runId: id, dedupeKey: id, body });
	const forks: string[] = [];
	for (let round = 1; ; round++) {
		await pause(30);
		const entries = await host.journal.read(key);
		if (entries.some(({ runId, fact }) => runId === id && fact.kind === "run.ended")) return forks;
		await request(world, async (agent) => {
			const session = agent.session(key);
			const [call] = await session.pending();
			if (call === undefined) return;
			const { toolCallId, awaits } = call;
			const said = awaits === "approval" ? { approved: true } : { output: "that one" };
			await session.answer([{ toolCallId, ...said }]);
		});
		if (round % 20 === 0) await request(world, (agent) => agent.session(key).steer("Note."));
		if (round % 30 !== 0) continue;
		await request(world, async (agent) => {
			await agent.session(key).fork(`${key} fork ${round}`);
			forks.push(`${key} fork ${round}`);
		});
	}
}

/** What the messages of a session say, without what depends on when its process died. */
async function said(agent: Agent, key: string): Promise<readonly string[]> {
	const { messages } = await agent.session(key).state();
	return messages
		.map((message) => JSON.stringify(messageToJSON(message).content ?? message.text))
		.filter((text) => !/Note|noted|system-reminder/.test(text))
		.map((text) => text.replaceAll(key, "S"));
}

test.each([
	["SQLite", (folder: string) => join(folder, "holdfast.db"), (store: string) => sqliteHost(store)],
	["Postgres", () => server.url, (store: string) => postgresHost({ connectionString: store })],
])("all kinds of work end as promised in processes that die, on %s", async (_, storeIn, hostOf) => {
	const folder = temporaryFolder();
	const store = storeIn(folder);
	const host = hostOf(store);
	const world = { host, store, effects: join(folder, "effects"), problems: join(folder, "problems") };
	const workers = startWorkers(world);
	const { agent, close } = combinedAgent(host, world.effects);
	try {
		const forks = (await Promise.all(keys.map((key) => ask(world, key)))).flat();
		workers.end();
		expect(workers.deaths()).toBeGreaterThan(5);
		for (const key of forks) {
			const result = await (await agent.session(key).send("Hello.")).result();
			expect(result).toMatchObject({ outcome: "completed", text: "noted" });
		}
		const lines = readFileSync(world.effects, "utf8").trim().split("\n");
		const effects = Map.groupBy(
			lines.map((line) => JSON.parse(line) as CombinedEffect),
			({ name, subject }) => `${name} ${subject}`,
		);
		for (const [what, each] of effects) {
			expect(new Set(each.map(({ key }) => key)).size, what).toBe(1);
			if (what.startsWith("pay")) expect(each, what).toHaveLength(1);
			expect(what).not.toMatch(/^undo/);
		}
		const [first, second] = await Promise.all(keys.map((key) => said(agent, key)));
		expect(first).toContainEqual(expect.stringContaining("TS is done"));
		const done = [...effects.keys()].filter((what) => what.includes("Ts0 ")).length;
		expect(done, "effects of a session").toBeGreaterThan(12);
		expect(second).toEqual(first);
		expect(existsSync(world.problems) ? readFileSync(world.problems, "utf8") : "").toBe("");
	} finally {
		workers.end();
		await close();
		await host.close?.();
	}
});
