// Chaos: workers and servers in processes of their own over one Postgres, users that ask and watch, and a killer that kills them,
// stops and wakes them, cuts and freezes their connections and restarts the database. Then it is quiet, all comes to its end,
// and what became of it is checked.
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { type PostgresHost, postgresHost } from "@holdfast/postgres";
import {
	openWay,
	type PostgresServer,
	startPostgresServer,
	type Way,
} from "@holdfast/testing/postgres-server";
import { storeKeyOf } from "holdfast/execute";
import { checkChaos } from "./chaos-checks.fixture.ts";
import { type ChaosChild, startChild } from "./chaos-children.fixture.ts";
import type { ChaosProcessOptions } from "./chaos-process.fixture.ts";
import { type ChaosUser, journalUser, servedUser } from "./chaos-users.fixture.ts";

export interface ChaosOptions {
	/** How many faults there are. */
	readonly faults: number;
	/** What is done to whom, and when, follows from it; what becomes of it does not. */
	readonly seed: number;
	/** Sessions of workers. Default 4. */
	readonly sessions?: number;
	/** Sessions of servers. Default: as many. */
	readonly served?: number;
	/** Workers, and as many servers. Default 2. */
	readonly processes?: number;
	/** Milliseconds that all has to come to its end in, after the last fault. Default 300,000. */
	readonly quietMs?: number;
	/** Called now and then with the progress. */
	readonly onProgress?: (text: string) => void;
}

export interface ChaosReport {
	/** What is wrong; none: nothing is. */
	readonly problems: readonly string[];
	/** How many faults of each kind there were. */
	readonly faults: Readonly<Record<string, number>>;
	readonly runs: number;
	/** Those of them that were asked for on HTTP. */
	readonly served: number;
	/** Events that watchers saw, and how often their watching was begun again. */
	readonly events: number;
	readonly resumed: number;
	/** Operations on the journal that were judged, those whose outcome was not known, those refused, and owners of sessions. */
	readonly operations: number;
	readonly unknown: number;
	readonly refused: number;
	readonly owners: number;
	/** Milliseconds with faults, and after them until all was over. */
	readonly faultsMs: number;
	readonly quietMs: number;
}

/** What there is in the world of the chaos. */
export interface ChaosWorld {
	readonly folder: string;
	readonly server: PostgresServer;
	/** A host that no fault reaches but the restart of the database. */
	readonly host: PostgresHost;
	readonly users: readonly ChaosUser[];
	/** The key in the journal of a user's session. */
	keyOf(session: string): string;
}

type Kind = "cut" | "freeze" | "stop" | "long stop" | "kill" | "restart" | "cut watchers";

/** Runs it, and says what came of it. */
export async function runChaos(options: ChaosOptions): Promise<ChaosReport> {
	const {
		sessions = 4,
		served = sessions,
		processes = 2,
		quietMs = 300_000,
		onProgress = () => {},
	} = options;
	const folder = mkdtempSync(join(tmpdir(), "holdfast-chaos-"));
	mkdirSync(join(folder, "history"));
	const ends: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true })];
	try {
		const server = await startPostgresServer({ settings: { max_connections: 300 } });
		ends.push(() => server.stop());
		const direct = { connectionString: server.url, patienceMs: 600_000 };
		const host = postgresHost(direct);
		ends.push(() => host.close());
		await host.journal.list();
		const children = await startChildren(folder, server, processes, ends);
		const watchWay = await openWay(() => server.port);
		ends.push(() => watchWay.close());
		const watchUrl = new URL(server.url);
		watchUrl.port = String(watchWay.port);
		const watching = postgresHost({ connectionString: watchUrl.href, patienceMs: 2_000 });
		ends.push(() => watching.close());
		const servers = children.filter(({ role }) => role === "server");
		let next = 0;
		const balancer = await openWay(() => {
			const ready = servers.filter(({ port }) => port !== undefined);
			return ready[++next % Math.max(1, ready.length)]?.port;
		});
		ends.push(() => balancer.close());

		let isOn = true;
		const continues = (): boolean => isOn;
		const url = `http://127.0.0.1:${balancer.port}`;
		const users = [
			...Array.from({ length: sessions }, (_, at) =>
				journalUser(`worked.${at}`, { asking: host, watching }, continues),
			),
			...Array.from({ length: served }, (_, at) => servedUser(`served.${at}`, url, continues)),
		];
		ends.push(() => Promise.all(users.map((user) => user.leave())));
		const began = performance.now();
		const faults = await inflict(options, { children, server, ways: [watchWay, balancer], onProgress });
		isOn = false;
		for (const child of children) child.wake();
		const quiet = performance.now();
		const problems: string[] = [];
		const over = Promise.all(
			users.map((user) => user.over.catch((error: unknown) => problems.push(`${user.session}: ${error}`))),
		);
		await Promise.race([over, pause(quietMs, undefined, { ref: false })]);
		const ended = performance.now();
		for (const { session, asked, ended: runs } of users)
			if (runs < asked)
				problems.push(`${session}: ${asked} things were asked, and its watcher saw ${runs} runs end`);
		const keyOf = (session: string): string =>
			session.startsWith("served") ? storeKeyOf("default", session) : session;
		const checked = await checkChaos({ folder, server, host, users, keyOf }, () =>
			Promise.all(children.map((child) => child.end())),
		);
		return {
			...checked,
			problems: [...problems, ...checked.problems],
			faults,
			faultsMs: quiet - began,
			quietMs: ended - quiet,
		};
	} finally {
		for (const end of ends.reverse()) await end();
	}
}

async function startChildren(
	folder: string,
	{ url, port }: PostgresServer,
	processes: number,
	ends: (() => unknown)[],
): Promise<readonly ChaosChild[]> {
	const roles: ChaosProcessOptions["role"][] = ["worker", "server"];
	const all = roles.flatMap((role) => Array.from({ length: processes }, (_, at) => ({ role, at })));
	const children: ChaosChild[] = [];
	for (const { role, at } of all) {
		const options: ChaosProcessOptions = {
			role,
			host: { patienceMs: 20_000, connectTimeoutMs: 2_000, maxConnections: 6 },
			effects: join(folder, "effects"),
			requests: join(folder, "requests"),
			problems: join(folder, "problems"),
			history: join(folder, "history", `${role}-${at}`),
		};
		const child = await startChild(options, { url, port });
		ends.push(() => child.end());
		children.push(child);
	}
	while (children.some(({ isReady }) => !isReady)) await pause(50);
	return children;
}

/** Milliseconds from the first fault for which a process that is to be killed is waited for. */
const waitsMs = 60_000;

/** The faults, one after the other; resolves to how many there were of each kind. */
async function inflict(
	{ faults, seed }: ChaosOptions,
	{
		children,
		server,
		ways,
		onProgress,
	}: {
		readonly children: readonly ChaosChild[];
		readonly server: PostgresServer;
		readonly ways: readonly Way[];
		readonly onProgress: (text: string) => void;
	},
): Promise<Record<Kind, number>> {
	const count: Record<Kind, number> = {
		cut: 0,
		freeze: 0,
		stop: 0,
		"long stop": 0,
		kill: 0,
		restart: 0,
		"cut watchers": 0,
	};
	const random = randomOf(seed);
	const began = performance.now();
	const pick = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)] as T;
	for (let number = 1; number <= faults; number++) {
		const wanted = kindOf(number, random());
		const child = pick(children);
		// One that is killed again before it works would never do anything; it is waited for, but not on a machine that is slow.
		const isToDie = number % 50 === 25 && performance.now() - began < waitsMs;
		const kind = isToDie ? "kill" : wanted === "kill" && !child.isReady ? "cut" : wanted;
		if (kind === "cut") child.way.cut();
		else if (kind === "freeze") child.way.freeze(50 + random() * 300);
		else if (kind === "stop") child.stopFor(20 + random() * 200);
		else if (kind === "long stop") child.stopFor(2_000 + random() * 1_000);
		else if (kind === "cut watchers") pick(ways).cut();
		else if (kind === "restart") await server.restart({ signal: pick(["SIGQUIT", "SIGINT"] as const) });
		else {
			child.wake();
			while (!child.isReady) await pause(20);
			child.kill();
		}
		count[kind]++;
		await pause(20 + random() * 100);
		if (number % 100 === 0) onProgress(`${number} of ${faults} faults`);
	}
	return count;
}

/** Most are cheap. The database is restarted twice in 300 faults. */
function kindOf(number: number, chance: number): Kind {
	if (number % 150 === 70) return "restart";
	if (number % 100 === 40) return "long stop";
	if (chance < 0.4) return "cut";
	if (chance < 0.55) return "freeze";
	if (chance < 0.82) return "stop";
	if (chance < 0.84) return "long stop";
	return chance < 0.96 ? "cut watchers" : "kill";
}

/** Numbers from 0 to 1 that follow from a seed (mulberry32). */
function randomOf(seed: number): () => number {
	let state = seed >>> 0;
	return () => {
		state = (state + 0x6d2b79f5) >>> 0;
		let mixed = Math.imul(state ^ (state >>> 15), state | 1);
		mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
		return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
	};
}
