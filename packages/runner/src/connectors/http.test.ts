// The connector for HTTP: what it gives, what it tries again, and what it never reaches.
import dns from "node:dns";
import type { RequestListener } from "node:http";
import { syncBuiltinESMExports } from "node:module";
import { Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { afterEach, describe, expect, test, vi } from "vitest";
import { finish, made, use } from "../agent/agent.fixture.ts";
import type { ActionResult, AgentConfig } from "../contract/index.ts";
import { contextOf, serving } from "./connectors.fixture.ts";
import { type HttpConnectorOptions, httpConnector } from "./index.ts";

afterEach(() => {
	vi.restoreAllMocks();
	syncBuiltinESMExports();
});

const local = { allowPrivate: ["127.0.0.1"] } as const;

function call(input: unknown, options: HttpConnectorOptions = local) {
	return httpConnector(options).run(input, contextOf());
}

/** The waits between attempts, which do not happen. */
function waits(toolTime: number): {
	readonly ports: NonNullable<AgentConfig["ports"]>;
	readonly waited: number[];
} {
	const waited: number[] = [];
	const after = (milliseconds: number, wake: () => void) => {
		if (milliseconds === toolTime) return () => {};
		waited.push(milliseconds);
		const timer = setImmediate(wake);
		return () => clearImmediate(timer);
	};
	return { ports: { timers: { after } }, waited };
}

async function running(
	input: unknown,
	options: HttpConnectorOptions = local,
	more: Partial<AgentConfig> = {},
) {
	const connector = httpConnector(options);
	const { ports, waited } = waits(connector.timeoutMs as number);
	const tools = [connector];
	const agent = made([use("http", input), finish], { tools, allowNetwork: true, ports, ...more });
	return { action: (await agent.runOnce()).actions?.[0] as ActionResult, waited };
}

test("declares that it needs the network and is not safe by default, and always resolves [RUN-071]", async () => {
	const connector = httpConnector();
	expect(connector).toMatchObject({ id: "http", safeByDefault: false, requires: "network" });
	expect(connector.description).not.toBe("");
	for (const input of [
		undefined,
		5,
		{},
		{ url: 5 },
		{ url: "http://a/", method: "TRACE" },
		{ url: "http://a/", other: 1 },
	])
		expect(await connector.run(input, contextOf())).toMatchObject({
			ok: false,
			meta: { code: "TOOL_INPUT_INVALID" },
		});
});

test("returns status, headers and body of a 2xx, and of any other status with ok: false [RUN-074]", async () => {
	const listener: RequestListener = ({ url }, response) => {
		const status = Number(url?.slice(1));
		response.writeHead(status, { "X-One": "1" }).end(status === 204 ? undefined : "grüße");
	};
	await serving(listener, async (base) => {
		expect(await call({ url: `${base}/200` })).toMatchObject({
			ok: true,
			output: { status: 200, headers: { "x-one": "1" }, body: "grüße", url: `${base}/200` },
		});
		expect(await call({ url: `${base}/204` })).toMatchObject({ ok: true, output: { status: 204, body: "" } });
		for (const status of [304, 400, 404, 500])
			expect(await call({ url: `${base}/${status}` })).toMatchObject({
				ok: false,
				output: { status, headers: { "x-one": "1" } },
				meta: { code: "HTTP_STATUS", status },
			});
	});
});

test("returns bytes that are not text in base64, and text in its charset", async () => {
	const listener: RequestListener = ({ url }, response) => {
		if (url === "/png")
			response.writeHead(200, { "content-type": "image/png" }).end(Buffer.from([137, 80, 0, 255]));
		else
			response
				.writeHead(200, { "content-type": 'text/plain; charset="iso-8859-1"' })
				.end(Buffer.from([0xfc]));
	};
	await serving(listener, async (base) => {
		expect((await call({ url: `${base}/png` })).output).toMatchObject({
			body: "iVAA/w==",
			encoding: "base64",
		});
		expect((await call({ url: `${base}/text` })).output).toMatchObject({ body: "ü" });
	});
});

test("sends a body as text or JSON; a GET has none, and connection headers cannot be set", async () => {
	const seen: unknown[] = [];
	const listener: RequestListener = async (message, response) => {
		let body = "";
		for await (const chunk of message) body += chunk;
		seen.push([message.method, message.headers["content-type"], body]);
		response.end();
	};
	await serving(listener, async (base) => {
		await call({ url: base, method: "POST", body: "text" });
		await call({ url: base, method: "PUT", body: { a: [1] } });
		await call({ url: base, method: "PATCH", body: {}, headers: { "Content-Type": "application/merge" } });
		expect(seen).toEqual([
			["POST", "text/plain;charset=utf-8", "text"],
			["PUT", "application/json", '{"a":[1]}'],
			["PATCH", "application/merge", "{}"],
		]);
		for (const wrong of [
			{ body: "x" },
			{ headers: { Host: "inside" } },
			{ headers: { "transfer-encoding": "chunked" } },
			{ headers: { "a b": "x" } },
			{ headers: { a: "x\r\nHost: y" } },
			{ idempotencyKey: "a\nb" },
		])
			expect(await call({ url: base, ...wrong })).toMatchObject({
				ok: false,
				meta: { code: "TOOL_INPUT_INVALID" },
			});
		expect(seen).toHaveLength(3);
	});
});

describe("its timeout", () => {
	test("covers a silent server and an endless body, and closes the socket [RUN-075]", async () => {
		let closed = 0;
		const listener: RequestListener = ({ url, socket }, response) => {
			socket.on("close", () => closed++);
			if (url === "/body") response.write("never ends");
		};
		await serving(listener, async (base) => {
			for (const path of ["/silent", "/body"])
				expect(await call({ url: base + path }, { ...local, timeoutMs: 100 })).toMatchObject({
					ok: false,
					meta: { code: "HTTP_TIMEOUT", retriable: true },
				});
			await vi.waitFor(() => expect(closed).toBe(2));
		});
	});

	test("covers a lookup that hangs, and is 10 seconds by default [RUN-075]", async () => {
		const resolve = () => new Promise<never>(() => {});
		expect(await call({ url: "http://a.example/" }, { resolve, timeoutMs: 50 })).toMatchObject({
			ok: false,
			meta: { code: "HTTP_TIMEOUT", retriable: true },
		});
		const asked = vi.spyOn(globalThis, "setTimeout");
		await call({ url: "http://a.example/" }, { resolve: async () => [] });
		expect(asked.mock.calls.map(([, milliseconds]) => milliseconds)).toContain(10_000);
		expect(httpConnector().timeoutMs).toBeGreaterThan(10_000);
	});
});

describe("through a runner", () => {
	test.each([429, 502, 503, 504])(
		"a GET or HEAD that got %i is sent three times in total [RUN-076]",
		async (status) => {
			for (const method of ["GET", "HEAD"]) {
				let requests = 0;
				const listener: RequestListener = (_, response) => {
					requests++;
					response.writeHead(status).end();
				};
				await serving(listener, async (base) => {
					const { action } = await running({ url: base, method });
					expect([requests, action.attempts, action.error?.code]).toEqual([3, 3, "HTTP_STATUS"]);
				});
			}
		},
	);

	test("a failed connection and a timeout are retried, another status is not [RUN-076]", async () => {
		let requests = 0;
		const listener: RequestListener = ({ url, socket }, response) => {
			requests++;
			if (url === "/broken") socket.destroy();
			else if (url === "/500") response.writeHead(500).end();
			else if (url === "/later" && requests === 3) response.end("there");
			else if (url === "/later") socket.destroy();
		};
		await serving(listener, async (base) => {
			expect((await running({ url: `${base}/broken` })).action).toMatchObject({
				attempts: 3,
				error: { code: "CONNECTION_FAILED" },
			});
			expect(requests).toBe(3);
			expect((await running({ url: `${base}/slow` }, { ...local, timeoutMs: 400 })).action).toMatchObject({
				attempts: 3,
				error: { code: "HTTP_TIMEOUT" },
			});
			expect(requests).toBe(6);
			expect((await running({ url: `${base}/500` })).action.attempts).toBe(1);
			requests = 0;
			expect((await running({ url: `${base}/later` })).action).toMatchObject({ ok: true, attempts: 3 });
		});
	});

	test("a POST is sent again only with an idempotency key, which every attempt sends [RUN-076]", async () => {
		const keys: unknown[] = [];
		const listener: RequestListener = ({ headers, socket, url }, response) => {
			keys.push(headers["idempotency-key"]);
			if (url === "/503") response.writeHead(503).end();
			else if (url === "/broken") socket.destroy();
		};
		await serving(listener, async (base) => {
			for (const path of ["/503", "/broken", "/slow"]) {
				const input = { url: base + path, method: "POST", body: "x" };
				const options = { ...local, timeoutMs: path === "/slow" ? 400 : 5_000 };
				expect((await running(input, options)).action.attempts).toBe(1);
				expect(keys.splice(0)).toEqual([undefined]);
				expect((await running({ ...input, idempotencyKey: "one" }, options)).action.attempts).toBe(3);
				expect(keys.splice(0)).toEqual(["one", "one", "one"]);
			}
		});
	});

	test("waits as long as the server requests, 30 seconds at most [RUN-076]", async () => {
		let value = "";
		const listener: RequestListener = (_, response) => {
			response.writeHead(503, { "Retry-After": value }).end();
		};
		await serving(listener, async (base) => {
			for (const [given, expected] of [
				["7", 7_000],
				["3600", 30_000],
				[new Date(1_000_000 + 9_000).toUTCString(), 9_000],
			] as const) {
				value = given;
				const result = await call({ url: base });
				expect(result.meta?.retryAfterMs).toBe(expected);
			}
			value = "11";
			expect((await running({ url: base })).waited).toEqual([11_000, 11_000]);
			for (value of ["-5", "soon", "", "0"])
				expect((await call({ url: base })).meta).not.toHaveProperty("retryAfterMs");
		});
		const asking = {
			id: "ask",
			run: () => ({ ok: false, meta: { retriable: true, retryAfterMs: 3_600_000 } }),
		};
		const { ports, waited } = waits(0);
		await made([use("ask"), finish], { tools: [asking], ports }).runOnce();
		expect(waited).toEqual([30_000, 30_000]);
	});

	test("without allowNetwork nothing is looked up and no socket is opened [RUN-158]", async () => {
		const connect = vi.spyOn(Socket.prototype, "connect");
		const lookup = vi.spyOn(dns.promises, "lookup");
		syncBuiltinESMExports();
		for (const url of ["http://a.invalid/", "http://127.0.0.1:1/"]) {
			const { action } = await running({ url }, local, { allowNetwork: false });
			expect(action).toMatchObject({ ok: false, error: { code: "NETWORK_DISABLED" } });
		}
		for (const spy of [connect, lookup]) expect(spy).not.toHaveBeenCalled();
		const tools = [{ ...httpConnector(local), retry: { maxAttempts: 1 } }];
		await made([use("http", { url: "http://a.invalid/" }), finish], { tools, allowNetwork: true }).runOnce();
		for (const spy of [connect, lookup]) expect(spy).toHaveBeenCalledTimes(1);
	});
});

test("a body over the limit is not read further: RESPONSE_TOO_LARGE, measured after decompression [RUN-077]", async () => {
	const listener: RequestListener = ({ url }, response) => {
		if (url === "/gzip")
			response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync(Buffer.alloc(2_000_000)));
		else if (url === "/exact") response.end(Buffer.alloc(1_048_576, "a"));
		else response.end(Buffer.alloc(1_048_577, "a"));
	};
	await serving(listener, async (base) => {
		for (const path of ["/gzip", "/plain"])
			expect(await call({ url: base + path })).toMatchObject({
				ok: false,
				meta: { code: "RESPONSE_TOO_LARGE", status: 200 },
			});
		expect((await call({ url: `${base}/exact` })).ok).toBe(true);
		expect((await call({ url: `${base}/exact` }, { ...local, maxResponseBytes: 10 })).meta?.code).toBe(
			"RESPONSE_TOO_LARGE",
		);
	});
});

describe("never reaches", () => {
	const isRefused = (code: string) => async (url: string) => {
		const connect = vi.spyOn(Socket.prototype, "connect");
		const result = await call({ url }, {});
		expect(result).toMatchObject({ ok: false, meta: { code } });
		expect(result.meta?.retriable).toBe(false);
		expect(result.meta?.message).not.toContain("hunter2");
		expect(connect).not.toHaveBeenCalled();
	};

	test.each(["file:///etc/passwd", "http://user:hunter2@a.example/"])(
		"%s, which is rejected [RUN-078]",
		isRefused("URL_REFUSED"),
	);

	test.each([
		...["http://127.0.0.1/", "http://[::1]/", "http://10.0.0.1/", "http://100.64.0.1/"],
		...["http://169.254.169.254/", "http://[fe80::1]/", "http://0.0.0.0/", "http://[::]/"],
	])("%s, which is internal [RUN-079]", isRefused("SSRF_BLOCKED"));

	test.each([
		...["http://2130706433/", "http://0177.0.0.1/", "http://0x7f.1/", "http://[::ffff:127.0.0.1]/"],
		"http://localhost./",
	])("%s, which is another spelling of an internal address [RUN-080]", isRefused("SSRF_BLOCKED"));

	test("a name with an internal address, or with a second answer that differs [RUN-081]", async () => {
		const answers = [["127.0.0.1"], ["127.0.0.2"]];
		const resolve = vi.fn(async () => answers.shift() ?? []);
		await serving(
			(_, response) => void response.end("first"),
			async (base) => {
				const url = base.replace("127.0.0.1", "rebind.example");
				const result = await call({ url }, { ...local, resolve });
				expect(result).toMatchObject({ ok: true, output: { body: "first" } });
				expect(resolve).toHaveBeenCalledTimes(1);
				expect(await call({ url }, { ...local, resolve })).toMatchObject({ meta: { code: "SSRF_BLOCKED" } });
			},
		);
	});

	test("the address of a redirect [RUN-082]", async () => {
		const connect = vi.spyOn(Socket.prototype, "connect");
		const listener: RequestListener = (_, response) => {
			response.writeHead(302, { location: "http://169.254.169.254/latest/" }).end();
		};
		await serving(listener, async (base) => {
			expect(await call({ url: base })).toMatchObject({ ok: false, meta: { code: "SSRF_BLOCKED" } });
			expect(connect).toHaveBeenCalledTimes(1);
		});
	});
});

test("credentials of an origin are sent only to it; a redirect elsewhere drops them and those of the input [RUN-083]", async () => {
	const seen: unknown[] = [];
	const look: RequestListener = ({ headers, url }, response) => {
		seen.push([headers.authorization, headers["x-api-key"], headers["x-mine"], headers.cookie]);
		if (url?.startsWith("/to="))
			response.writeHead(307, { location: decodeURIComponent(url.slice(4)) }).end();
		else response.end();
	};
	await serving(look, (first) =>
		serving(look, async (second) => {
			const options = {
				...local,
				credentials: { [first]: { Authorization: "Bearer secret", "X-Api-Key": "key" } },
				credentialHeaders: ["X-Mine"],
			};
			const input = { headers: { Cookie: "c", "x-mine": "m", authorization: "of the model" } };
			await call({ ...input, url: first }, options);
			await call({ url: second }, options);
			await call({ ...input, url: `${first}/to=${encodeURIComponent(second)}` }, options);
			await call({ url: `${second}/to=${encodeURIComponent(first)}` }, options);
			expect(seen).toEqual([
				["Bearer secret", "key", "m", "c"],
				[undefined, undefined, undefined, undefined],
				["Bearer secret", "key", "m", "c"],
				[undefined, undefined, undefined, undefined],
				[undefined, undefined, undefined, undefined],
				[undefined, undefined, undefined, undefined],
			]);
		}),
	);
});

test("invalid options are rejected", () => {
	for (const options of [
		{ timeoutMs: 0 },
		{ maxResponseBytes: 1.5 },
		{ methods: [] },
		{ methods: ["TRACE" as never] },
		{ credentials: { "example.com": {} } },
		{ credentials: { "https://a.example/path": {} } },
	])
		expect(() => httpConnector(options)).toThrow(expect.objectContaining({ code: "CONFIG_INVALID" }));
	expect(httpConnector({ methods: ["GET", "HEAD"] }).idempotent).toBe(true);
	expect(httpConnector().idempotent).toBeUndefined();
});
