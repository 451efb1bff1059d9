// A server of the matrix with all its protocols, which can be restarted on its store; and what waits, in the terms of the matrix.
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { a2aServer } from "@holdfast/a2a";
import { inspector } from "@holdfast/inspector";
import { mcpServer } from "@holdfast/mcp/server";
import { createHandler, sessionService } from "@holdfast/server";
import { type AgentOptions, type Host, memoryHost } from "holdfast";
import { sqliteHost } from "holdfast/sqlite";
import type { Aside, Asked, Said } from "./features.fixture.ts";

/** A conversation in a place. Each step resolves with the calls that wait when the run does, none when it ended. */
export interface Talk {
	say(text: string): Promise<readonly Asked[]>;
	/** Answers all calls that wait. */
	answer(answers: readonly (readonly [Asked, Said])[]): Promise<readonly Asked[]>;
	/** Answers one that has its result; the code of the refusal. Absent where the place has no such request. */
	answerAgain?(asked: Asked, said: Said): Promise<string>;
	/** Where its sessions are; absent where nothing is stored. */
	readonly host?: Host;
	/** Does what somebody else does while calls wait. Absent where the place has no such request. */
	aside?(what: Aside): Promise<void>;
	/** Ends the process's part, and begins again on the same store. Absent where nothing is stored. */
	restart?(): Promise<void>;
	close(): Promise<void>;
}

/** Makes the agent of a deployment. */
export type Deploy = () => AgentOptions;

/** A server that can be restarted. */
export interface Served {
	readonly host: Host;
	fetch(url: string | URL | Request, init?: RequestInit): Promise<Response>;
	restart(): Promise<void>;
	close(): Promise<void>;
}

/** Serves an agent in every protocol. */
export function serve(deploy: Deploy, host: Host = memoryHost()): Served {
	const open = () => {
		const service = sessionService({ host, agent: deploy(), deltaFlushMs: 1, recoverEveryMs: 5 });
		const handler = createHandler({ service, ...inspector() });
		const mcp = mcpServer({ service, tools: { clerk: { description: "Helps." } } });
		const a2a = a2aServer({ service, name: "Clerk", description: "Helps.", url: "http://localhost/a2a" });
		void service.supervise();
		return { service, handler, mcp, a2a };
	};
	let served = open();
	const end = async (): Promise<void> => {
		await served.mcp.close();
		await served.service.close();
		await served.handler.close();
	};
	return {
		host,
		fetch(url, init) {
			const request = new Request(url, init);
			const { pathname } = new URL(request.url);
			if (pathname.startsWith("/mcp")) return served.mcp.fetch(request);
			return pathname.startsWith("/api") ? served.handler.fetch(request) : served.a2a.fetch(request);
		},
		async restart() {
			await end();
			served = open();
		},
		async close() {
			await end();
			await host.close();
		},
	};
}

/** A store in a file. */
export function onSqlite(): Host {
	return sqliteHost({ path: join(mkdtempSync(join(tmpdir(), "holdfast-matrix-")), "store.db") });
}

/** What ends an execution, or a look at its session. */
export interface Waiting {
	readonly pendingToolCalls?: readonly PendingCall[] | undefined;
	readonly backgroundToolCalls?: readonly PendingCall[] | undefined;
}

/** The calls that wait, those of tasks in the background too. */
export function callsOf({ pendingToolCalls = [], backgroundToolCalls = [] }: Waiting): readonly Asked[] {
	return [...pendingToolCalls, ...backgroundToolCalls].map(askedOf);
}

/** A call of an execution that waits. */
export interface PendingCall {
	readonly id: string;
	readonly arguments: unknown;
	readonly approval?: true;
}

export function askedOf({ id, arguments: input, approval }: PendingCall): Asked {
	return { id, input, awaits: approval === true ? "approval" : "result" };
}

/** An answer as a message of `execute`. */
export function messageOf([{ id: toolCallId }, said]: readonly [Asked, Said]): object {
	return { role: "output" in said ? "tool" : "approval", toolCallId, ...said };
}

/** The code that a request is refused with, or "taken". */
export async function codeOf(refused: Promise<unknown>): Promise<string> {
	try {
		await refused;
		return "taken";
	} catch (error) {
		return (error as { code?: string }).code ?? String(error);
	}
}

/** An error with the code with which a place refuses. */
export function refusal(code: string): Error {
	return Object.assign(new Error(code), { code });
}

/** An error of the matrix itself: the place has no field for another input. */
export function refuseInput(said: Said): void {
	if ("input" in said) throw refusal("no_input");
}
