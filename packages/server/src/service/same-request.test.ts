import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { scriptedModel } from "@holdfast/testing";
import type { Host } from "holdfast";
import type { LoggedEvent } from "holdfast/execute";
import { sqliteHost } from "holdfast/sqlite";
import { afterEach, expect, test } from "vitest";
import type { SessionService, Submitted, WhileRunning } from "./service-types.ts";
import { sessionService } from "./session-service.ts";
import { slowAgent } from "./slow-agent.fixture.ts";

const folder = mkdtempSync(join(tmpdir(), "holdfast-"));
const open: (SessionService | Host)[] = [];
afterEach(async () => {
	for (const each of open.splice(0)) await each.close();
	rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
});

type Server = SessionService & { readonly host: Host };

function serve(path: string, whileRunning: WhileRunning): Server {
	const host = sqliteHost(path);
	const agent = { model: scriptedModel(() => "done") };
	const service = sessionService({ host, agent, whileRunning });
	open.push(service, host);
	return Object.assign(service, { host });
}

async function read(events: AsyncIterable<readonly LoggedEvent[]>): Promise<LoggedEvent[]> {
	const all: LoggedEvent[] = [];
	for await (const batch of events) all.push(...batch);
	return all;
}

/** What was said in the only session, in order. */
async function said({ journal }: Host): Promise<readonly string[]> {
	const [head] = await journal.list();
	const entries = await journal.read(head?.key ?? "");
	return entries.flatMap(({ fact }) => (fact.kind === "input" ? [fact.message.text] : []));
}

test.each(["refuse", "queue", "steer"] as const)(
	"a request that reaches two servers at once, among others, and again later is accepted once: %s [API-082]",
	async (whileRunning) => {
		const path = join(folder, `${whileRunning}.db`);
		const servers = [serve(path, whileRunning), serve(path, whileRunning)] as const;
		const [one] = servers;
		await one.submit("t", "s", { input: "Hello.", context: {} });
		await read(one.follow("t", "s", { until: "idle" }));
		for (let round = 0; round < 30; round++) {
			const input = `Pay bill ${round}.`;
			const submit = (server: Server): Promise<Submitted> =>
				server.submit("t", "s", { input }, { idempotencyKey: `k${round}` });
			const beside = servers[round % 2]?.submit("t", "s", { input: `Beside ${round}.` });
			// Those that are refused, for the session is busy with the other, come again.
			const [, ...first] = await Promise.allSettled([beside, ...servers.map(submit), ...servers.map(submit)]);
			await read(one.follow("t", "s", { until: "idle" }));
			const later = await Promise.all(servers.map(submit));
			const begun = await Promise.all(
				later.map((each) => each.begun?.(AbortSignal.timeout(10_000)) ?? each.after),
			);
			await read(one.follow("t", "s", { until: "idle" }));
			const accepted = first.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
			const runs = new Set([...accepted, ...later].map(({ waitsFor, runId }) => waitsFor ?? runId));
			if (whileRunning !== "steer") expect([round, runs.size]).toEqual([round, 1]);
			expect([round, new Set(begun).size]).toEqual([round, 1]);
			const texts = await said(one.host);
			expect([round, texts.filter((text) => text === input).length]).toEqual([round, 1]);
			const refused = first.flatMap((each) => (each.status === "rejected" ? [each.reason] : []));
			if (whileRunning !== "refuse") expect(refused).toEqual([]);
			for (const error of refused) expect(error).toMatchObject({ code: "session_busy" });
			// Of all that were accepted one was the first.
			expect([...accepted, ...later].filter(({ attached }) => !attached)).toHaveLength(1);
		}
	},
);

test.each(["refuse", "queue", "steer"] as const)(
	"of two different requests under one key at the same moment one is accepted: %s [API-082]",
	async (whileRunning) => {
		const path = join(folder, `different-${whileRunning}.db`);
		const servers = [serve(path, whileRunning), serve(path, whileRunning)] as const;
		const [one] = servers;
		await one.submit("t", "s", { input: "Hello.", context: {} });
		await read(one.follow("t", "s", { until: "idle" }));
		for (let round = 0; round < 30; round++) {
			const options = { idempotencyKey: `k${round}` };
			const inputs = [`Pay bill ${round}.`, `Cancel bill ${round}.`];
			const submit = (input: string, at: number): Promise<Submitted> =>
				(servers[(at + round) % 2] as Server).submit("t", "s", { input }, options);
			const first = await Promise.allSettled(inputs.map(submit));
			for (const each of first)
				if (each.status === "fulfilled") await each.value.begun?.(AbortSignal.timeout(10_000));
			await read(one.follow("t", "s", { until: "idle" }));
			const texts = (await said(one.host)).filter((text) => inputs.includes(text));
			expect([round, texts.length]).toEqual([round, 1]);
			const accepted = inputs.indexOf(texts[0] as string);
			expect([round, first.map(({ status }) => status)]).toEqual([
				round,
				inputs.map((_, at) => (at === accepted ? "fulfilled" : "rejected")),
			]);
			// Each comes again, to the other server, and then to both at once.
			const elsewhere = await Promise.allSettled(inputs.map((input, at) => submit(input, at + 1)));
			const again = await Promise.allSettled([...inputs, ...inputs].map(submit));
			for (const [at, each] of [...elsewhere, ...again].entries())
				expect([round, each]).toMatchObject([
					round,
					at % 2 === accepted
						? { value: { attached: true } }
						: { reason: { code: "idempotency_key_reused" } },
				]);
		}
		expect(await said(one.host)).toHaveLength(31);
	},
);

test.each([0, 1, 7, 14])(
	"a request started by a server that is killed after %i events is the same run at two others, at once and later [API-082]",
	async (count) => {
		const path = join(folder, `killed-${count}.db`);
		const script = join(import.meta.dirname, "service-process.fixture.ts");
		const child = spawn(process.execPath, ["--conditions=holdfast-source", "--no-warnings", script, path], {
			stdio: ["ignore", "pipe", "inherit"],
		});
		const gone = new Promise((resolve) => child.once("exit", resolve));
		let seen = 0;
		for await (const _ of createInterface({ input: child.stdout }))
			if (seen++ >= count) child.kill("SIGKILL");
		await gone;
		const hosts = [sqliteHost(path), sqliteHost(path)];
		const agent = slowAgent("continues");
		const servers = hosts.map((host) => sessionService({ host, agent, deltaFlushMs: 1 }));
		open.push(...servers, ...hosts);
		const submit = (server: SessionService): Promise<Submitted> =>
			server.submit("t", "s", { input: "go" }, { idempotencyKey: "k" });
		const atOnce = await Promise.all([
			...servers.map(submit),
			...servers.map((server) => server.supervise()),
		]);
		await Promise.all(servers.map((server) => read(server.follow("t", "s", { until: "complete" }))));
		const submitted = [...atOnce.slice(0, 2), ...(await Promise.all(servers.map(submit)))] as Submitted[];
		const [first] = submitted;
		expect(submitted).toEqual(submitted.map(() => ({ ...first, attached: true })));
		expect(await said(hosts[0] as Host)).toEqual(["go"]);
	},
);
