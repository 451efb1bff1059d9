// recover(), supervise() and close() mean the same of everything that works on sessions: an agent, the sessions that servers are
// made of, a service of them, the threads of a project.
import { join } from "node:path";
import { sessionService } from "@holdfast/server";
import { scriptedModel } from "@holdfast/testing";
import { threads } from "@holdfast/threads";
import { Agent, type AgentRun, type HoldfastError, type Host } from "holdfast";
import { ExecuteSessions } from "holdfast/execute";
import type { Recovery } from "holdfast/host";
import { sqliteHost } from "holdfast/sqlite";
import type { DrainOptions, RecoverOptions, SuperviseOptions, WorkOptions } from "holdfast/types";
import { describe, expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "./shared/temporary-folder.fixture.ts";
import { projectIn } from "./simulation/threads-project.fixture.ts";

/** What all owners of sessions have. */
interface Owner {
	recover(options?: RecoverOptions): Recovery;
	work(options?: WorkOptions): AsyncIterable<AgentRun>;
	supervise(options?: SuperviseOptions): Promise<void>;
	close(options?: DrainOptions): Promise<void>;
	/** Accepts work in the session of a key. */
	begin(key: string): Promise<unknown>;
}

interface World {
	readonly host: Host;
	/** Called by the model of each run, which answers when it resolves. */
	answer(): Promise<void>;
	readonly warnings: HoldfastError[];
}

function modelOf({ answer }: World) {
	return scriptedModel(async () => {
		await answer();
		return "Done.";
	});
}

const owners: Readonly<Record<string, (world: World) => Owner>> = {
	"an agent"(world) {
		const onWarning = (warning: HoldfastError): void => void world.warnings.push(warning);
		const agent = new Agent({ model: modelOf(world), host: world.host, onWarning });
		return Object.assign(agent, {
			begin: async (key: string) => void (await agent.session(key).send("go")).result(),
		}) as unknown as Owner;
	},
	"the sessions of execute()"(world) {
		const onWarning = (warning: HoldfastError): void => void world.warnings.push(warning);
		const sessions = new ExecuteSessions({
			host: world.host,
			agent: { model: modelOf(world), onWarning },
		});
		return Object.assign(sessions.lifecycle, {
			async begin(key: string) {
				const session = sessions.session(key);
				await session.create({ messages: [], tools: [] });
				const { run } = await session.execute({ kind: "message", input: "go" });
				void run.result();
			},
		});
	},
	"a service"(world) {
		const onWarning = (warning: HoldfastError): void => void world.warnings.push(warning);
		const service = sessionService({ host: world.host, agent: { model: modelOf(world), onWarning } });
		return Object.assign(service, {
			begin: (key: string) =>
				service.submit("tenant", key, { input: { role: "user", content: "go" }, context: {} }),
		});
	},
	threads(world) {
		const project = projectIn({
			plan: { main: [], worker: [] },
			delayOf: () => 0,
			pass: world.answer,
			begins() {},
			did() {},
			wrong() {},
		});
		const all = threads({ project, host: world.host });
		return Object.assign(all, {
			begin: (key: string) => all.createThread({ agentId: "main", id: key, message: "go" }),
		}) as Owner;
	},
};

/** Processes, one after the other or at once, over one file. */
function processes(make: (world: World) => Owner) {
	const path = join(temporaryFolder(), "sessions.db");
	let gate = Promise.withResolvers<void>();
	const counts = { asked: 0 };
	const hosts: Host[] = [];
	onTestFinished(async () => {
		gate.resolve();
		await Promise.all(hosts.map((host) => host.close()));
	});
	return {
		counts,
		/** Models answer from now on, or wait. */
		open: () => gate.resolve(),
		shut() {
			gate = Promise.withResolvers();
		},
		start() {
			const host = sqliteHost(path);
			hosts.push(host);
			const warnings: HoldfastError[] = [];
			const answer = async (): Promise<void> => {
				counts.asked++;
				await gate.promise;
			};
			const owner = make({ host, answer, warnings });
			onTestFinished(() => owner.close());
			return { owner, host, warnings };
		},
		async asked(times: number) {
			await expect.poll(() => counts.asked).toBe(times);
		},
	};
}

/** Whether a promise is settled once all that waits for nothing has happened. */
async function isSettled(promise: PromiseLike<unknown>): Promise<boolean> {
	let settled = false;
	void promise.then(() => {
		settled = true;
	});
	for (let turns = 0; turns < 20; turns++) await new Promise((resolve) => setImmediate(resolve));
	return settled;
}

const closed = { code: "agent_closed" };
const firstOf = async (runs: AsyncIterable<AgentRun>) => {
	for await (const run of runs) return run;
	return undefined;
};

describe.each(Object.entries(owners))("%s", (_, make) => {
	test("rejects all work with one code from the moment it is closed, even if it was never used", async () => {
		const { start } = processes(make);
		const { owner } = start();
		const closing = owner.close();
		await expect(owner.begin("late")).rejects.toMatchObject(closed);
		await closing;
		await owner.close();
		await expect(owner.begin("later")).rejects.toMatchObject(closed);
		await expect(owner.recover()).rejects.toMatchObject(closed);
		await expect(firstOf(owner.recover())).rejects.toMatchObject(closed);
		await expect(firstOf(owner.work({ until: "done" }))).rejects.toMatchObject(closed);
		await expect(owner.supervise()).rejects.toMatchObject(closed);
	});

	test("gives active runs time to end when it is closed, and rejects everything new in the meantime", async () => {
		const { start, open, asked, counts } = processes(make);
		const { owner } = start();
		await owner.begin("a");
		await asked(1);
		const closing = owner.close({ drainMs: Number.POSITIVE_INFINITY });
		const again = owner.close();
		await expect(owner.begin("late")).rejects.toMatchObject(closed);
		expect(await isSettled(closing)).toBe(false);
		expect(await isSettled(again)).toBe(false);
		open();
		await Promise.all([closing, again]);
		await start().owner.recover(); // nothing was left
		expect(counts.asked).toBe(1);
	});

	test("suspends unfinished runs in time; one recovery finishes them, and skips runs that are left later", async () => {
		const { start, open, shut, asked, counts } = processes(make);
		const first = start();
		await Promise.all([first.owner.begin("a"), first.owner.begin("b")]);
		await asked(2);
		await first.owner.close({ drainMs: 1 });
		const { owner } = start();
		const recovering = owner.recover();
		const finished = Promise.resolve(recovering);
		await asked(4);
		expect(await isSettled(finished)).toBe(false);
		open();
		await finished;
		await recovering; // awaited twice, it is the same
		shut();
		const third = start();
		await third.owner.begin("c");
		await asked(5);
		await third.owner.close();
		expect(await isSettled(new Promise(() => {}))).toBe(false);
		expect(counts.asked).toBe(5);
	});

	test("two concurrent recoveries share what they resume, and neither ends before it", async () => {
		const { start, open, asked, counts } = processes(make);
		const first = start();
		await Promise.all([first.owner.begin("a"), first.owner.begin("b")]);
		await asked(2);
		await first.owner.close();
		const { owner } = start();
		const one = Promise.resolve(owner.recover());
		await asked(4);
		const keys: string[] = [];
		for await (const { sessionKey } of owner.recover()) keys.push(sessionKey);
		expect(keys).toHaveLength(2);
		const two = Promise.resolve(owner.recover());
		expect(await Promise.all([isSettled(one), isSettled(two)])).toEqual([false, false]);
		open();
		await Promise.all([one, two]);
		expect(counts.asked).toBe(4);
	});

	test("supervision continues until it is closed, and can be started once", async () => {
		const { start, open, asked, shut } = processes(make);
		const { owner } = start();
		await Promise.all([owner.supervise({ lookEveryMs: 5 }), owner.supervise({ lookEveryMs: 5 })]);
		await owner.supervise({ lookEveryMs: 5 });
		await expect(owner.supervise({ lookEveryMs: 6 })).rejects.toMatchObject({ code: "invalid_option" });
		for (const round of [1, 2]) {
			shut();
			const other = start();
			await other.owner.begin(`left ${round}`);
			await asked(2 * round - 1);
			await other.owner.close();
			await asked(2 * round);
			open();
		}
		await owner.close();
	});

	test("a failed search is reported, and repeated", async () => {
		const { start, open, asked } = processes(make);
		const first = start();
		await first.owner.begin("a");
		await asked(1);
		await first.owner.close();
		const { owner, host, warnings } = start();
		const { list } = host.journal;
		const broken = new Error("the disk is away");
		host.journal.list = () => {
			throw broken;
		};
		await expect(owner.recover()).rejects.toBe(broken);
		const problems: unknown[] = [];
		const isOfThreads = "createThread" in owner;
		const onProblem = ({ error }: { readonly error: unknown }): void => void problems.push(error);
		await owner.supervise({ lookEveryMs: 5, ...(isOfThreads ? { onProblem } : {}) });
		await expect.poll(() => problems.length + warnings.length).toBeGreaterThan(0);
		if (!isOfThreads) {
			expect(warnings).toMatchObject([{ code: "recovery_failed", cause: broken }]);
		} else expect(problems[0]).toBe(broken);
		host.journal.list = list;
		open();
		await asked(2);
	});
});
