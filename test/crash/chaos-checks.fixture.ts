// What must hold when the chaos is over.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import {
	checkLinearizable,
	type HistoryLine,
	operationsOf,
	recordHistory,
	sessionModel,
} from "@holdfast/testing/linearizability";
import { messageToJSON } from "@holdfast/upp";
import { Agent, followSession, memoryHost } from "holdfast";
import type { Entry } from "holdfast/host";
import type { ChaosReport, ChaosWorld } from "./chaos.fixture.ts";
import { chaosAgent, chaosPlan, type Effect } from "./chaos-agent.fixture.ts";

type Checked = Pick<
	ChaosReport,
	"problems" | "runs" | "served" | "events" | "resumed" | "operations" | "unknown" | "refused" | "owners"
>;

/** Checks it; `endAll` ends the processes, when they are needed no more. */
export async function checkChaos(world: ChaosWorld, endAll: () => Promise<unknown>): Promise<Checked> {
	const { folder, users, host, keyOf } = world;
	const problems: string[] = [];
	let runs = 0;
	let served = 0;
	let events = 0;
	// What is written after this is not part of the history.
	await endAll();
	for (const user of users) {
		await user.leave();
		const key = keyOf(user.session);
		const entries = await host.journal.read(key);
		const ended = checkRuns(user.session, entries, user.asked, problems);
		runs += ended;
		if (user.session.startsWith("served")) served += ended;
		events += user.seen.length;
		await checkWatcher(world, user, problems);
		await checkTranscript(world, user.session, user.asked, problems);
	}
	checkEffects(readLines<Effect>(join(folder, "effects")), problems);
	const trouble = join(folder, "problems");
	if (problems.length > 0 && existsSync(trouble)) problems.push(readFileSync(trouble, "utf8").slice(-4_000));
	const files = readdirSync(join(folder, "history"));
	const lines = files.flatMap((file) => readLines<HistoryLine>(join(folder, "history", file)));
	const resumed = users.reduce((sum, { broken }) => sum + broken, 0);
	return { ...(await checkHistory(world, lines, problems)), problems, runs, served, events, resumed };
}

function checkRuns(session: string, entries: readonly Entry[], asked: number, problems: string[]): number {
	const started = entries.filter(({ fact }) => fact.kind === "run.started").length;
	const ended = entries.filter(({ fact }) => fact.kind === "run.ended");
	if (started !== asked || ended.length !== asked)
		problems.push(
			`${session}: ${asked} runs were asked for, ${started} were begun, and ${ended.length} ended`,
		);
	for (const { fact } of ended) {
		const { outcome } = fact as { outcome?: unknown };
		if (outcome !== "completed") problems.push(`${session}: a run ended as ${JSON.stringify(fact)}`);
	}
	return ended.length;
}

/** Every event once, in order: as somebody sees them who comes when all is over. */
async function checkWatcher(
	{ host, keyOf }: ChaosWorld,
	{ session, seen }: { readonly session: string; readonly seen: readonly string[] },
	problems: string[],
): Promise<void> {
	if (new Set(seen).size < seen.length) problems.push(`${session}: its watcher saw an event twice`);
	const sorted = seen.toSorted(byPlace);
	if (sorted.some((id, at) => id !== seen[at]))
		problems.push(`${session}: its watcher saw events in another order`);
	if (session.startsWith("served")) return;
	const whole: string[] = [];
	for await (const { id } of followSession(host, keyOf(session))) if (id !== undefined) whole.push(id);
	const missing = whole.filter((id) => !seen.includes(id));
	if (missing.length > 0 || whole.length !== seen.length)
		problems.push(
			`${session}: its watcher saw ${seen.length} of ${whole.length} events; it missed ${missing.join()}`,
		);
}

function byPlace(one: string, other: string): number {
	const [left, right] = [one.split(".").map(Number), other.split(".").map(Number)];
	for (let at = 0; at < Math.max(left.length, right.length); at++) {
		const difference = (left[at] ?? 0) - (right[at] ?? 0);
		if (difference !== 0) return difference;
	}
	return 0;
}

/** The conversation is that of a session that was left alone; whether somebody was paid may not be known there. */
async function checkTranscript(
	{ host, folder }: ChaosWorld,
	session: string,
	asked: number,
	problems: string[],
): Promise<void> {
	const files = { effects: join(folder, "effects-alone"), requests: join(folder, "requests-alone") };
	const alone = new Agent({ ...chaosAgent(files), host: memoryHost() });
	for (let number = 0; number < asked; number++)
		await (await alone.session(session).send(JSON.stringify(chaosPlan(session, number)))).result();
	const namespace = session.startsWith("served") ? { namespace: "default" } : {};
	const reader = new Agent({ ...chaosAgent(files), host, ...namespace });
	const wanted = (await alone.session(session).state()).messages.map(shown);
	const found = (await reader.session(session).state()).messages.map(shown);
	await alone.close();
	await reader.close();
	if (wanted.length !== found.length)
		problems.push(`${session}: ${found.length} messages, and ${wanted.length} where it was left alone`);
	const at = wanted.findIndex((each, index) => each !== found[index]);
	if (at >= 0)
		problems.push(`${session}: message ${at} is\n${found[at]}\nand where it was left alone\n${wanted[at]}`);
}

/** A message as it is compared: without ids and times, and without what depends on whether a payment went through. */
function shown(message: Parameters<typeof messageToJSON>[0]): string {
	const json = messageToJSON(message) as unknown as Record<string, unknown>;
	const { type, content, toolCalls, results } = json;
	const known = (results as { toolCallId: string; result: unknown }[] | undefined)?.map((each) =>
		each.toolCallId.endsWith("-3") ? "a payment" : [each.toolCallId, each.result],
	);
	// The last answer says what came of all calls.
	const said = JSON.stringify(content);
	return JSON.stringify([type, said.replace(/is done: .*/s, "is done"), toolCalls, known]);
}

/** `manual-recovery` at most once, `idempotent` under one key however often. */
function checkEffects(effects: readonly Effect[], problems: string[]): void {
	const keys = new Map<string, string>();
	const paid = new Set<string>();
	for (const { tool, toolCallId, idempotencyKey } of effects) {
		const key = keys.get(toolCallId) ?? idempotencyKey;
		keys.set(toolCallId, key);
		if (key !== idempotencyKey || key === "") problems.push(`${toolCallId} was done under two keys`);
		if (tool !== "pay") continue;
		if (paid.has(toolCallId)) problems.push(`${toolCallId} was done twice`);
		paid.add(toolCallId);
	}
	if (new Set(keys.values()).size < keys.size) problems.push("two calls had one key");
}

/** The history of leases and appends of each session, with what is there in the end as its last read. */
async function checkHistory(
	{ users, host, keyOf }: ChaosWorld,
	lines: HistoryLine[],
	problems: string[],
): Promise<Pick<Checked, "operations" | "unknown" | "refused" | "owners">> {
	const last = recordHistory(host.journal, (line) => lines.push(line));
	for (const { session } of users) await last.read(keyOf(session));
	const sums = { operations: 0, unknown: 0, refused: 0, owners: 0 };
	for (const [key, operations] of operationsOf(lines)) {
		const judged = checkLinearizable(operations, sessionModel);
		if (!judged.ok)
			problems.push(
				`${JSON.stringify(key)}: no order of its appends and reads is possible. After ${judged.order.length} of ` +
					`${operations.length} it has the epoch ${judged.state.epoch} and ${judged.state.facts.length} entries, and none ` +
					`of these can be next: ${JSON.stringify(judged.stuck).slice(0, 2_000)}`,
			);
		sums.operations += operations.length;
		sums.unknown += operations.filter(({ output }) => output === undefined).length;
		sums.refused += operations.filter(({ output }) => output?.kind === "refused").length;
		const owners = operations.flatMap(({ input, output }) =>
			input.kind === "append" && output?.kind === "appended" ? [input.lease] : [],
		);
		sums.owners += new Set(owners).size;
	}
	return sums;
}

function readLines<Line>(file: string): Line[] {
	if (!existsSync(file)) return [];
	const lines = readFileSync(file, "utf8").split("\n").filter(Boolean);
	return lines.map((line) => JSON.parse(line) as Line);
}
