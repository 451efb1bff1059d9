/** The command `sessions`: lists the sessions, the most recently changed first. */

import type { Host } from "holdfast";
import type { Entry, SessionHead } from "holdfast/host";
import { type CommandIo, formatTime, oneLine } from "../terminal/index.ts";
import { exitCodes, nameOfSession, openExisting, titleOf } from "../work/index.ts";
import type { Command } from "./arguments.ts";

/** One session in the list. */
interface ListedSession {
	readonly key: string;
	readonly state:
		| "running"
		| "interrupted"
		| "parked"
		| "waiting"
		| "waiting_for_approval"
		| "waiting_for_result"
		| "completed"
		| "failed"
		| "aborted";
	readonly updatedAt: number;
	readonly createdAt: number;
	/** The first input of the session. */
	readonly task: string;
}

/** Lists the sessions. */
export async function listSessions(
	command: Extract<Command, { name: "sessions" }>,
	io: CommandIo,
): Promise<number> {
	const host = await openExisting(command);
	try {
		const heads = host === undefined ? [] : await host.journal.list();
		const sessions: ListedSession[] = [];
		for (const head of heads) sessions.push(await describe(host as Host, head));
		sessions.sort((left, right) => right.updatedAt - left.updatedAt);
		if (command.json) for (const session of sessions) io.stdout.write(`${JSON.stringify(asJson(session))}\n`);
		else if (sessions.length === 0)
			io.stdout.write('There are no sessions yet. Start one: holdfast run "your task".\n');
		else io.stdout.write(table(sessions, io.stdout.isTerminal ? io.stdout.columns - 1 : 160));
		return exitCodes.completed;
	} finally {
		await host?.close();
	}
}

async function describe(host: Host, head: SessionHead): Promise<ListedSession> {
	const last = head.seq > 0 ? await host.journal.read(head.key, { after: head.seq - 1 }) : [];
	return {
		key: await nameOfSession(head.key),
		state: stateOf(head, last.at(-1)),
		updatedAt: head.updatedAt,
		createdAt: head.createdAt,
		task: await titleOf(host, head.key),
	};
}

function stateOf(head: SessionHead, last: Entry | undefined): ListedSession["state"] {
	if (head.parked === true) return "parked";
	if (last?.fact.kind === "waiting" && last.fact.wait !== undefined) return "waiting";
	if (last?.fact.kind === "waiting") {
		const { calls, children = [] } = last.fact;
		const all = [...calls, ...children.flatMap((child) => child.calls)];
		if (all.length === 0) return "waiting";
		return all.some(({ awaits }) => awaits === "approval") ? "waiting_for_approval" : "waiting_for_result";
	}
	if (head.openRunId !== undefined) return head.holder?.alive === true ? "running" : "interrupted";
	if (head.waiting > 0) return "waiting";
	if (last?.fact.kind !== "run.ended" || last.fact.outcome === "completed") return "completed";
	return last.fact.outcome === "error" ? "failed" : "aborted";
}

function asJson(session: ListedSession): object {
	return {
		...session,
		createdAt: new Date(session.createdAt).toISOString(),
		updatedAt: new Date(session.updatedAt).toISOString(),
	};
}

function table(sessions: readonly ListedSession[], width: number): string {
	const shown = sessions.map((session) => ({ ...session, key: oneLine(session.key, session.key.length) }));
	const keys = Math.min(60, Math.max(3, ...shown.map(({ key }) => key.length)));
	const words = (state: ListedSession["state"]): string => state.replaceAll("_", " ");
	const states = Math.max(11, ...shown.map(({ state }) => state.length));
	const rows = shown.map(({ key, state, updatedAt, task }) => {
		const head = `${key.padEnd(keys)}  ${words(state).padEnd(states)}  ${formatTime(updatedAt)}  `;
		return `${head}${oneLine(task, Math.max(10, width - head.length))}`;
	});
	return `${["KEY".padEnd(keys), "STATE".padEnd(states), "CHANGED            ", "TASK"].join("  ")}\n${rows.join("\n")}\n`;
}
