// Places of the matrix in which other agents' programs use an agent: A2A, and MCP on both wires.
import { connectMcp } from "@holdfast/mcp";
import { expect } from "vitest";
import type { Asked } from "./features.fixture.ts";
import { type Deploy, refuseInput, serve, type Talk } from "./serve.fixture.ts";

interface Task {
	readonly id: string;
	readonly contextId: string;
	readonly status: {
		readonly state: string;
		readonly message?: { readonly parts: readonly { readonly data?: Calls }[] };
	};
}

interface Calls {
	readonly pendingCalls?: PendingCall[];
	readonly backgroundCalls?: PendingCall[];
}

interface PendingCall {
	readonly toolCallId: string;
	readonly arguments: unknown;
	readonly awaits: "approval" | "result";
}

/** A task for each turn, all in one context. */
export async function overA2a(deploy: Deploy): Promise<Talk> {
	const served = serve(deploy);
	let task: Task | undefined;
	let count = 0;
	const send = async (parts: readonly object[], to: object): Promise<readonly Asked[]> => {
		const message = { messageId: `m${++count}`, role: "ROLE_USER", parts, ...to };
		const response = await served.fetch("http://localhost/a2a", {
			method: "POST",
			headers: { "content-type": "application/json", "a2a-version": "1.0" },
			body: JSON.stringify({ jsonrpc: "2.0", id: count, method: "SendMessage", params: { message } }),
		});
		const { result, error } = (await response.json()) as {
			result?: { task: Task };
			error?: { code: number; message: string };
		};
		if (error !== undefined) throw Object.assign(new Error(error.message), { code: `a2a ${error.code}` });
		task = result?.task;
		const calls =
			task?.status.message?.parts.flatMap(({ data }) => [
				...(data?.pendingCalls ?? []),
				...(data?.backgroundCalls ?? []),
			]) ?? [];
		return calls.map(({ toolCallId: id, arguments: input, awaits }) => ({ id, input, awaits }));
	};
	return {
		say: (text) => send([{ text }], task === undefined ? {} : { contextId: task.contextId }),
		answer: (answers) =>
			send(
				answers.map(([{ id: toolCallId }, said]) => ({ data: { toolCallId, ...said } })),
				{ taskId: task?.id },
			),
		host: served.host,
		restart: served.restart,
		close: served.close,
	};
}

/** A call of the agent's tool for each turn; what waits is asked while the call is under way. */
export async function overMcp(deploy: Deploy, protocol: "2025" | "2026"): Promise<Talk> {
	const served = serve(deploy);
	const clerk = { url: "http://localhost/mcp", protocol, fetch: served.fetch };
	const connect = () => connectMcp({ clerk }, { allow: { elicitation: true } });
	const mcp = await connect();
	let calling: Promise<"ended"> | undefined;
	let turn = 0;
	const asked = async (): Promise<readonly Asked[]> => {
		let isOver = false;
		let failed: unknown;
		calling?.then(
			() => {
				isOver = true;
			},
			(error: unknown) => {
				isOver = true;
				failed = error;
			},
		);
		await expect.poll(() => isOver || mcp.requests().length > 0, { interval: 1 }).toBe(true);
		if (failed !== undefined) throw failed;
		// Questions of one round arrive one after the other.
		await new Promise((resolve) => setImmediate(resolve));
		return mcp.requests().map((request) => {
			if (request.kind !== "elicitation") throw new Error("a model was asked for");
			const { id, message } = request;
			const input: unknown = JSON.parse(/\((.*)\)$/s.exec(message)?.[1] ?? "null");
			return { id, input, awaits: message.startsWith("Approve") ? "approval" : "result" };
		});
	};
	return {
		say(text) {
			const { signal } = new AbortController();
			const context = { signal, idempotencyKey: `turn ${turn++}`, emit() {} } as never;
			calling = (async () => {
				await mcp.tools()[0]?.run({ prompt: text }, context);
				return "ended" as const;
			})();
			calling.catch(() => {});
			return asked();
		},
		async answer(answers) {
			for (const [{ id }, said] of answers) {
				refuseInput(said);
				const content = "output" in said ? { output: said.output } : { approved: said.approved };
				mcp.answer(id, { action: "accept", content });
			}
			return asked();
		},
		host: served.host,
		async restart() {
			await served.restart();
		},
		async close() {
			await mcp.close();
			await served.close();
		},
	};
}
