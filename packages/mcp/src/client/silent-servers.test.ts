// Servers that are silent at any point, or send something without an end: connecting, listing and calls end with a coded error.
import { InMemoryTransport, type JSONRPCMessage, type Transport } from "@modelcontextprotocol/client";
import { describe, expect, test } from "vitest";
import { connectMcp } from "./connect-mcp.ts";
import type { McpTransportServer } from "./connect-options.ts";

interface Request {
	readonly id: number;
	readonly method: string;
	readonly params: {
		readonly protocolVersion?: string;
		readonly _meta?: { readonly progressToken?: number };
	};
}

type Answers = Readonly<
	Record<string, (request: Request, send: (message: object) => void) => object | undefined>
>;

const good = { name: "good", inputSchema: { type: "object", properties: {} } };
const usual: Answers = {
	initialize: ({ params }) => ({
		protocolVersion: params.protocolVersion,
		capabilities: { tools: {} },
		serverInfo: { name: "s", version: "1" },
	}),
	"tools/list": () => ({ tools: [good] }),
	"tools/call": () => ({ content: [{ type: "text", text: "done" }] }),
};

/** A server that answers as it is told; undefined leaves a request without an answer. */
function server(answers: Answers, more: Partial<McpTransportServer> = {}): { s: McpTransportServer } {
	const all = { ...usual, ...answers };
	const transport = (): Transport => {
		const [ours, theirs] = InMemoryTransport.createLinkedPair();
		const send = (message: object): void =>
			void theirs.send({ jsonrpc: "2.0", ...message } as JSONRPCMessage).catch(() => {});
		theirs.onmessage = (message) => {
			const request = message as unknown as Request;
			if (request.id === undefined) return;
			const result = all[request.method]?.(request, send);
			if (result !== undefined) send({ id: request.id, result });
		};
		void theirs.start();
		return ours;
	};
	return { s: { transport, protocol: "2025", connectTimeoutMs: 40, timeoutMs: 40, ...more } };
}

const context = (emit: (delta: string) => void = () => {}) =>
	({ signal: new AbortController().signal, idempotencyKey: "1", emit }) as never;

describe("a server that falls silent", () => {
	test.each([
		["before it is connected", { initialize: () => undefined }],
		["before it has listed its tools", { "tools/list": () => undefined }],
	] satisfies [string, Answers][])("%s cannot be connected to", async (_, answers) => {
		await expect(connectMcp(server(answers))).rejects.toMatchObject({
			code: "mcp_connect_failed",
			retryable: true,
		});
	});

	test("whose transport never starts cannot be connected to", async () => {
		const { s } = server({});
		const transport = (): Transport => Object.assign(s.transport(), { start: () => new Promise(() => {}) });
		await expect(connectMcp({ s: { ...s, transport } })).rejects.toMatchObject({
			code: "mcp_connect_failed",
			cause: { code: "server_silent" },
		});
	});

	test.each([
		["manual-recovery", false],
		["idempotent", true],
	] as const)(
		"in a call that is %s ends it, and the call can be repeated: %s",
		async (retryPolicy, retryable) => {
			const cancelled: unknown[] = [];
			const silent = { "tools/call": () => undefined };
			const servers = server(silent, { retryPolicy });
			const { transport } = servers.s;
			const watched = (): Transport => {
				const ours = transport();
				const send = ours.send.bind(ours);
				ours.send = (message, options) => {
					if ((message as Request).method === "notifications/cancelled") cancelled.push(message);
					return send(message, options);
				};
				return ours;
			};
			await using mcp = await connectMcp({ s: { ...servers.s, transport: watched } });
			await expect(mcp.tools()[0]?.run({}, context())).rejects.toMatchObject({
				code: "server_silent",
				retryable,
				data: { server: "s" },
			});
			expect(cancelled).toHaveLength(1);
		},
	);

	test("but reports progress is waited for", async () => {
		const slow: Answers = {
			"tools/call": ({ id, params }, send) => {
				let count = 0;
				const timer = setInterval(() => {
					const progressToken = params._meta?.progressToken;
					send({ method: "notifications/progress", params: { progressToken, progress: ++count } });
					if (count < 6) return;
					clearInterval(timer);
					send({ id, result: { content: [{ type: "text", text: "done" }] } });
				}, 20);
				return undefined;
			},
		};
		await using mcp = await connectMcp(server(slow, { timeoutMs: 80 }));
		await expect(mcp.tools()[0]?.run({}, context())).resolves.toBe("done");
	});

	test("because it waits for the user is waited for", async () => {
		let call: { readonly id: number; readonly send: (message: object) => void } | undefined;
		const asking: Answers = {
			"tools/call": ({ id }, send) => {
				call = { id, send };
				const requestedSchema = { type: "object", properties: { name: { type: "string" } } };
				send({ id: "q", method: "elicitation/create", params: { message: "Who?", requestedSchema } });
				return undefined;
			},
		};
		await using mcp = await connectMcp(server(asking), { allow: { elicitation: true } });
		const running = mcp.tools()[0]?.run({}, context());
		await expect.poll(() => mcp.requests().length).toBe(1);
		await new Promise((resolve) => setTimeout(resolve, 120)); // three times the limit
		expect(mcp.requests()).toHaveLength(1);
		call?.send({ id: call.id, result: { content: [{ type: "text", text: "later" }] } });
		await expect(running).resolves.toBe("later");
	});
});

describe("a server that sends endlessly", () => {
	test("pages of tools cannot be connected to, or keeps as many as fit", async () => {
		let page = 0;
		const pages: Answers = { "tools/list": () => ({ tools: [good], nextCursor: `${++page}` }) };
		await expect(connectMcp(server(pages, { connectTimeoutMs: 5_000 }))).rejects.toMatchObject({
			code: "mcp_connect_failed",
		});
		expect(page).toBeLessThan(100);
		const description = "x".repeat(6 * 1024 * 1024);
		const large: Answers = {
			"tools/list": () => ({ tools: [{ ...good, name: `t${++page}`, description }], nextCursor: `${page}` }),
		};
		const warnings: string[] = [];
		await using mcp = await connectMcp(server(large, { connectTimeoutMs: 20_000 }), {
			onWarning: ({ code }) => warnings.push(code),
		});
		expect([mcp.tools().length, warnings]).toEqual([2, ["mcp_tool_unusable"]]);
	});

	test("progress ends the call with the error of the exceeded limit", async () => {
		const flooding: Answers = {
			"tools/call": ({ params }, send) => {
				const { progressToken } = params._meta ?? {};
				for (let progress = 1; progress <= 5; progress++)
					send({ method: "notifications/progress", params: { progressToken, progress } });
				return undefined;
			},
		};
		await using mcp = await connectMcp(server(flooding, { timeoutMs: 5_000 }));
		const tooMuch = Object.assign(new Error("too much"), { code: "too_much_streamed" });
		let count = 0;
		const emit = (): void => {
			if (++count > 3) throw tooMuch;
		};
		await expect(mcp.tools()[0]?.run({}, context(emit))).rejects.toBe(tooMuch);
	});
});
