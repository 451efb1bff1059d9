// Whatever clients ask of one server at once, the process stays able to answer everybody else: no loop that waits for something
// keeps the event loop from turning.
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { probe } from "./probe.fixture.ts";
import { startServer } from "./server-process.fixture.ts";

/** Numbers from 0 to 1 that are the same for a seed. */
function randomOf(seed: number): () => number {
	let state = seed;
	return () => {
		state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
		return state / 2 ** 31;
	};
}

type Act = (random: () => number) => {
	readonly method: string;
	readonly path: string;
	readonly body?: unknown;
};

const post = (path: string, body: unknown = {}) => ({ method: "POST", path, body });
const get = (path: string) => ({ method: "GET", path });
const said = ["Go.", "Go.", "use look", "use erase", "use where", "use delegate_to_helper"];

/** What clients ask for, about one of few ids. */
const acts: readonly (readonly [weight: number, act: Act])[] = (() => {
	const one = (random: () => number): string => `s${Math.floor(random() * 2)}`;
	const message = (random: () => number) => ({
		role: "user",
		content: said[Math.floor(random() * said.length)],
	});
	const thread = (random: () => number): string =>
		`/api/threads/${threadIds[Math.floor(random() * threadIds.length)]}`;
	const session = (random: () => number): string => `/api/agent/session/${one(random)}`;
	return [
		[
			12,
			(random) => post("/api/agent/execute", { sessionId: one(random), input: message(random), context: {} }),
		],
		[6, (random) => ({ method: "DELETE", path: session(random) })],
		[5, (random) => post(`${session(random)}/stop`)],
		[4, (random) => get(`${session(random)}/events?follow=${random() < 0.5 ? 1 : 0}`)],
		[2, (random) => get(session(random))],
		[1, () => get("/api/agent/sessions")],
		[1, (random) => post(`${session(random)}/approve`, { toolCallId: "call_0_0" })],
		[1, (random) => post(`${session(random)}/deny`, { toolCallId: "call_0_0" })],
		[
			3,
			(random) =>
				post("/api/chat", {
					id: one(random),
					messages: [
						{ id: `m${random()}`, role: "user", parts: [{ type: "text", text: message(random).content }] },
					],
				}),
		],
		[1, (random) => get(`/api/chat/${one(random)}`)],
		[1, (random) => get(`/api/chat/${one(random)}/stream?again=1`)],
		[1, (random) => post(`/api/chat/${one(random)}/stop`)],
		[
			2,
			(random) =>
				post("/api/ag-ui", {
					threadId: one(random),
					runId: `r${random()}`,
					messages: [{ id: "m", role: "user", content: message(random).content }],
					tools: [],
					context: [],
					state: {},
					forwardedProps: {},
				}),
		],
		[2, () => post("/api/threads", { agent_id: "main" })],
		[4, (random) => post(`${thread(random)}/messages`, { content: "said 1" })],
		[2, (random) => ({ method: "DELETE", path: thread(random) })],
		[2, (random) => post(`${thread(random)}/stop`)],
		[1, (random) => get(`${thread(random)}/stream`)],
		[1, (random) => get(`${thread(random)}/messages`)],
		[1, () => get("/api/threads")],
		[1, () => get("/api/inspect/sessions")],
		[1, (random) => get(`/api/inspect/session/default%20${one(random)}/entries`)],
		[1, () => get(longPoll)],
	];
})();
const threadIds: string[] = ["none"];
/** Answered when something changes: its clients leave before that. */
const longPoll = "/api/inspect/changes";
const total = acts.reduce((sum, [weight]) => sum + weight, 0);

function chosen(random: () => number): ReturnType<Act> {
	let at = random() * total;
	for (const [weight, act] of acts) {
		at -= weight;
		if (at < 0) return act(random);
	}
	throw new Error("There is always one.");
}

/** Reads a response for some time at most, since some streams have no end. A stream of a session that is deleted breaks off. */
async function read(response: Response, milliseconds: number): Promise<string> {
	const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
	let text = "";
	let timer: ReturnType<typeof setTimeout> | undefined;
	const over = new Promise<void>((resolve) => {
		timer = setTimeout(resolve, milliseconds);
	});
	for (;;) {
		const next = await Promise.race([reader?.read().catch(() => undefined), over]);
		if (!next || next.done) break;
		text += next.value;
	}
	clearTimeout(timer);
	await reader?.cancel().catch(() => {});
	return text;
}

const rounds = Number(process.env.RESPONSIVE_REQUESTS ?? 800);

test.each(["memory", "sqlite"])(
	"no mix of requests keeps a server from answering others (%s)",
	async (kind) => {
		const store = kind === "memory" ? kind : join(mkdtempSync(join(tmpdir(), "holdfast-responsive-")), "db");
		const server = await startServer(store);
		onTestFinished(() => server.kill());
		const seed = Number(process.env.RESPONSIVE_SEED ?? 1);
		const random = randomOf(seed);
		const probing = probe(server.url, server.pid);
		const counts = new Map<number, number>();
		let left = rounds;
		const unanswered: string[] = [];
		const client = async (): Promise<void> => {
			while (left-- > 0 && unanswered.length === 0) {
				const { method, path, body } = chosen(random);
				const response = await fetch(`${server.url}${path}`, {
					method,
					signal: AbortSignal.timeout(path === longPoll ? 200 : 20_000),
					...(body === undefined
						? {}
						: { headers: { "content-type": "application/json" }, body: JSON.stringify(body) }),
				}).catch((error: Error) => {
					if (path !== longPoll) unanswered.push(`${method} ${path}: ${error.cause ?? error}`);
				});
				if (response === undefined) continue;
				counts.set(response.status, (counts.get(response.status) ?? 0) + 1);
				const text = await read(response, 20 + random() * 200);
				if (path === "/api/threads" && response.status === 201) {
					threadIds.push(JSON.parse(text).id);
					if (threadIds.length > 4) threadIds.shift();
				}
			}
		};
		await Promise.all(Array.from({ length: 16 }, client));
		const slowest = await probing.stop();
		if (process.env.RESPONSIVE_SEED !== undefined)
			console.log(kind, seed, slowest, counts, server.errors.slice(0, 3));
		expect(unanswered).toEqual([]);
		expect(slowest.cpu, JSON.stringify(slowest)).toBeLessThan(500);
		expect(server.errors).toEqual([]);
		expect(counts.get(500) ?? 0).toBe(0);
		const { sessions } = await (await fetch(`${server.url}/api/agent/sessions`)).json();
		for (const { sessionId } of sessions)
			expect((await fetch(`${server.url}/api/agent/session/${sessionId}`)).status, sessionId).toBe(200);
		expect(await server.terminate(20_000)).toBe(0);
	},
);
