// Requests to the outside: no way of writing an address, no name server and no redirect leads inward.
import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import https from "node:https";
import { syncBuiltinESMExports } from "node:module";
import { type AddressInfo, Socket } from "node:net";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { afterEach, describe, expect, test, vi } from "vitest";
import { inwardUrls, refusedUrls } from "./hostile-urls.fixture.ts";
import { isPublicAddress, type OutboundOptions, type OutboundRequest, outbound } from "./index.ts";
import { nameServer } from "./name-server.fixture.ts";

const closing: (() => void)[] = [];
afterEach(() => {
	vi.restoreAllMocks();
	for (const close of closing.splice(0)) close();
});

async function serving(
	listener: RequestListener,
	host = "127.0.0.1",
): Promise<{ server: Server; port: number }> {
	const server = createServer(listener);
	server.listen(0, host);
	await once(server, "listening");
	closing.push(() => {
		server.closeAllConnections();
		server.close();
	});
	return { server, port: (server.address() as AddressInfo).port };
}

async function get(
	url: string,
	options: OutboundOptions = {},
	request: Partial<OutboundRequest> = {},
): Promise<{ status: number; url: string; text: string; complete: boolean }> {
	const response = await outbound(options)({ url, signal: AbortSignal.timeout(20_000), ...request });
	const { bytes, complete } = await response.read(100_000);
	return { status: response.status, url: response.url, text: Buffer.from(bytes).toString(), complete };
}

async function codeOf(work: Promise<unknown>): Promise<unknown> {
	return work.then(
		() => "none",
		(error) => error.code ?? error,
	);
}

describe("hostile addresses", () => {
	test("over 200 of them are rejected without a lookup or a connection [RUN-078] [RUN-079] [RUN-080]", async () => {
		expect(inwardUrls.length + refusedUrls.length).toBeGreaterThan(500);
		const connect = vi.spyOn(Socket.prototype, "connect");
		const resolve = vi.fn(async () => ["93.184.215.14"]);
		const wrong: string[] = [];
		for (const [urls, expected] of [
			[inwardUrls, "SSRF_BLOCKED"],
			[refusedUrls, "URL_REFUSED"],
		] as const)
			for (const url of urls) {
				const code = await codeOf(get(url, { resolve }));
				if (code !== expected) wrong.push(`${url}: ${code}`);
			}
		expect(wrong).toEqual([]);
		expect(resolve).not.toHaveBeenCalled();
		expect(connect).not.toHaveBeenCalled();
	});

	test("are also rejected from a name that resolves to one of them, even among public ones [RUN-081]", async () => {
		const connect = vi.spyOn(Socket.prototype, "connect");
		for (const address of [
			"127.0.0.1",
			"10.1.1.1",
			"169.254.169.254",
			"0.0.0.0",
			"::1",
			"fe80::1%lo",
			"::ffff:10.0.0.1",
			"nonsense",
		]) {
			const resolve = async () => ["93.184.215.14", address];
			expect([address, await codeOf(get("http://a.example/", { resolve }))]).toEqual([
				address,
				"SSRF_BLOCKED",
			]);
		}
		const attempts = connect.mock.results.length;
		// Sockets that were made wait for their look-up, and none of them got an address.
		expect(connect.mock.contexts.every((socket) => (socket as Socket).remoteAddress === undefined)).toBe(
			true,
		);
		expect(attempts).toBe(8);
	});

	test("are not public, and public ones are", () => {
		for (const address of ["8.8.8.8", "1.1.1.1", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"])
			expect([address, isPublicAddress(address)]).toEqual([address, true]);
		for (const address of [
			"",
			"x",
			"0177.0.0.1",
			"127.1",
			"::1",
			"2002:808:808::",
			"fe80::1%eth0",
			"168.63.129.16",
		])
			expect([address, isPublicAddress(address)]).toEqual([address, false]);
	});
});

describe("a name server that changes its answer", () => {
	test("leads to the checked address, never to its second answer [RUN-081]", async () => {
		const inside = vi.fn();
		const { port } = await serving((_, response) => {
			inside();
			response.end("inside");
		});
		// The first answer is listed as allowed and leads to the server; a second one would lead elsewhere.
		const names = await nameServer((_, before) => (before === 0 ? ["127.0.0.1"] : ["127.0.0.9"]));
		closing.push(names.close);
		const options = { resolve: names.resolve, allowPrivate: ["127.0.0.1"] };
		expect(await get(`http://rebind.example:${port}/`, options)).toMatchObject({
			status: 200,
			text: "inside",
		});
		expect(names.asked).toEqual(["rebind.example"]);
		expect(await codeOf(get(`http://rebind.example:${port}/`, options))).toBe("SSRF_BLOCKED");
		expect(inside).toHaveBeenCalledTimes(1);
	});

	test("reaches nothing internal if it first returns a public address and then a private one [RUN-081]", async () => {
		const inside = vi.fn();
		const { port } = await serving((_, response) => {
			inside();
			response.end();
		});
		const names = await nameServer((_, before) => (before % 2 === 0 ? ["192.0.2.1"] : ["127.0.0.1"]));
		closing.push(names.close);
		const leaving = new AbortController();
		// There is no server at the public address: the test leaves the first request once it is in flight.
		const resolve: OutboundOptions["resolve"] = async (name) => {
			const found = await names.resolve(name);
			setImmediate(() => leaving.abort());
			return found;
		};
		const options = { resolve, allowPrivate: ["192.0.2.0/24"] };
		await codeOf(get(`http://flip.example:${port}/`, options, { signal: leaving.signal }));
		expect(await codeOf(get(`http://flip.example:${port}/`, options))).toBe("SSRF_BLOCKED");
		expect(names.asked).toHaveLength(2);
		expect(inside).not.toHaveBeenCalled();
	});
});

describe("allowPrivate", () => {
	test("allows an address, a range, a name or one port, and nothing else [RUN-079]", async () => {
		const { port } = await serving((_, response) => void response.end("in"));
		const other = await serving((_, response) => void response.end("other"));
		const resolve = async () => ["127.0.0.1"];
		const url = `http://127.0.0.1:${port}/`;
		const named = `http://Intranet.example:${port}/`;
		for (const [entry, target, code] of [
			["127.0.0.1", url, undefined],
			["127.0.0.0/8", url, undefined],
			[`127.0.0.1:${port}`, url, undefined],
			["::ffff:127.0.0.1", url, undefined],
			["intranet.example", named, undefined],
			[`INTRANET.example.:${port}`, named, undefined],
			["127.0.0.1", named, undefined],
			["localhost", `http://localhost.:${port}/`, undefined],
			["10.0.0.0/8", url, "SSRF_BLOCKED"],
			["127.0.0.2", url, "SSRF_BLOCKED"],
			[`127.0.0.1:${port}`, `http://127.0.0.1:${other.port}/`, "SSRF_BLOCKED"],
			["intranet.example", `http://other.example:${port}/`, "SSRF_BLOCKED"],
			["intranet.example", `http://a.intranet.example:${port}/`, "SSRF_BLOCKED"],
			["127.0.0.1", `http://localhost:${port}/`, "SSRF_BLOCKED"],
		] as const) {
			const got = await get(target, { allowPrivate: [entry], resolve }).catch((error) => error.code);
			expect([entry, target, typeof got === "string" ? got : got.text]).toEqual([
				entry,
				target,
				code ?? "in",
			]);
		}
	});

	test.each(["", "/", "10.0.0.0/99", "http://a/", "a b", "a@b", "[::1", "a:123456", 5 as never])(
		"rejects %j",
		(entry) => {
			expect(() => outbound({ allowPrivate: [entry] })).toThrow(
				expect.objectContaining({ code: "DESTINATION_INVALID" }),
			);
		},
	);
});

describe("a redirect", () => {
	test("is checked again at every hop, and an internal one gets no request [RUN-082]", async () => {
		const inside = vi.fn();
		const { port } = await serving(({ url = "", headers }, response) => {
			if (headers.host?.startsWith("secret")) inside();
			const hops = Number(url.slice(1));
			const location = hops > 0 ? `/${hops - 1}` : `http://secret.example:${port}/`;
			response.writeHead(302, { location }).end();
		});
		const resolve = async (name: string) => [name === "open.example" ? "127.0.0.1" : "127.0.0.2"];
		const options = { resolve, allowPrivate: ["127.0.0.1"] };
		for (const start of [0, 1, 3])
			expect(await codeOf(get(`http://open.example:${port}/${start}`, options))).toBe("SSRF_BLOCKED");
		expect(inside).not.toHaveBeenCalled();
	});

	test("to any hostile address is rejected [RUN-082]", async () => {
		let location = "";
		const { port } = await serving((_, response) => void response.writeHead(307, { location }).end());
		const wrong: string[] = [];
		// A header cannot hold the others; a text without a scheme is an address of the same server.
		const inHeader = [...inwardUrls, "http://169.254.169.254/latest/"].filter((url) =>
			/^https?:\/\/[!-~]+$/i.test(url),
		);
		expect(inHeader.length).toBeGreaterThan(300);
		for (location of inHeader) {
			const code = await codeOf(get(`http://127.0.0.1:${port}/`, { allowPrivate: [`127.0.0.1:${port}`] }));
			if (code !== "SSRF_BLOCKED" && new URL(location).host !== `127.0.0.1:${port}`)
				wrong.push(`${location}: ${code}`);
		}
		expect(wrong).toEqual([]);
	});

	test("is followed five times and no more, and not to another scheme [RUN-082]", async () => {
		const { port } = await serving(({ url = "" }, response) => {
			const left = Number(url.slice(1));
			if (url === "/file") response.writeHead(302, { location: "file:///etc/passwd" }).end();
			else if (url === "/bad") response.writeHead(302, { location: "http://[" }).end();
			else if (url === "/user") response.writeHead(302, { location: "http://a:b@example.com/" }).end();
			else if (left > 0) response.writeHead(301, { location: `/${left - 1}` }).end();
			else response.end("end");
		});
		const options = { allowPrivate: ["127.0.0.1"] };
		const base = `http://127.0.0.1:${port}`;
		expect(await get(`${base}/5`, options)).toMatchObject({ url: `${base}/0`, text: "end" });
		expect(await codeOf(get(`${base}/6`, options))).toBe("TOO_MANY_REDIRECTS");
		for (const path of ["/file", "/bad", "/user"])
			expect(await codeOf(get(base + path, options))).toBe("URL_REFUSED");
	});

	test("to another origin drops credentials permanently; to the same one keeps them [RUN-083]", async () => {
		const seen: Record<string, unknown>[] = [];
		const look: RequestListener = ({ url, headers }, response) => {
			seen.push({
				url,
				auth: headers.authorization,
				cookie: headers.cookie,
				key: headers["x-key"],
				other: headers["x-other"],
			});
			const to: Record<string, string> = {
				"/same": "/end",
				"/other": `http://127.0.0.1:${second.port}/back`,
				"/back": `http://127.0.0.1:${first.port}/end`,
			};
			const location = to[url ?? ""];
			if (location === undefined) response.end();
			else response.writeHead(302, { location }).end();
		};
		const first = await serving(look);
		const second = await serving(look);
		const request = {
			headers: { Authorization: "a", Cookie: "c", "X-Key": "k", "X-Other": "o" },
			credentialHeaders: ["x-kEY"],
		};
		const all = { auth: "a", cookie: "c", key: "k", other: "o" };
		const dropped = { other: "o" };
		await get(`http://127.0.0.1:${first.port}/same`, { allowPrivate: ["127.0.0.1"] }, request);
		expect(seen.splice(0)).toEqual([
			{ url: "/same", ...all },
			{ url: "/end", ...all },
		]);
		await get(`http://127.0.0.1:${first.port}/other`, { allowPrivate: ["127.0.0.1"] }, request);
		expect(seen).toEqual([
			{ url: "/other", ...all },
			{ url: "/back", ...dropped },
			{ url: "/end", ...dropped },
		]);
	});

	test("to another scheme drops credentials, because that is another origin [RUN-083]", async () => {
		const { port } = await serving((_, response) => {
			response.writeHead(307, { location: `https://127.0.0.1:${port}/` }).end();
		});
		const secure = vi.spyOn(https, "request");
		syncBuiltinESMExports();
		try {
			const headers = { authorization: "a", "x-other": "o" };
			await codeOf(get(`http://127.0.0.1:${port}/`, { allowPrivate: ["127.0.0.1"] }, { headers }));
			expect(secure).toHaveBeenCalledTimes(1);
			const [, sent] = secure.mock.calls[0] as unknown as [URL, { headers: Record<string, string> }];
			expect([sent.headers.authorization, sent.headers["x-other"]]).toEqual([undefined, "o"]);
		} finally {
			secure.mockRestore();
			syncBuiltinESMExports();
		}
	});

	test("changes a POST to a GET as browsers do, without its body", async () => {
		const seen: string[] = [];
		const { port } = await serving(async (message, response) => {
			let body = "";
			for await (const chunk of message) body += chunk;
			seen.push(`${message.method} ${message.url} ${body} ${message.headers["content-type"] ?? "-"}`);
			const status = Number(message.url?.slice(1));
			if (status > 0) response.writeHead(status, { location: "/" }).end();
			else response.end();
		});
		for (const status of [301, 302, 303, 307, 308])
			await get(
				`http://127.0.0.1:${port}/${status}`,
				{ allowPrivate: ["127.0.0.1"] },
				{ method: "POST", body: "b", headers: { "content-type": "text/x" } },
			);
		expect(seen.filter((line) => / \/ /.test(line))).toEqual([
			"GET /  -",
			"GET /  -",
			"GET /  -",
			"POST / b text/x",
			"POST / b text/x",
		]);
	});
});

describe("a body", () => {
	test("is decompressed, and cut at the limit of its decompressed size [RUN-077]", async () => {
		const big = Buffer.alloc(50_000_000);
		const bomb = gzipSync(big);
		const bodies: Record<string, [string, Buffer]> = {
			"/gzip": ["gzip", gzipSync("hello")],
			"/br": ["br", brotliCompressSync("hello")],
			"/deflate": ["Deflate", deflateSync("hello")],
			"/twice": ["gzip, gzip", gzipSync(gzipSync("hello"))],
			"/none": ["identity", Buffer.from("hello")],
			"/bomb": ["gzip", bomb],
			"/broken": ["gzip", Buffer.from("no gzip at all")],
			"/short": ["gzip", gzipSync("hello").subarray(0, 12)],
			"/strange": ["rot13", Buffer.from("x")],
			"/many": ["gzip, gzip, gzip", gzipSync("x")],
		};
		const { port } = await serving(({ url = "" }, response) => {
			const [encoding, body] = bodies[url] ?? ["", Buffer.alloc(0)];
			response.writeHead(200, { "content-encoding": encoding }).end(body);
		});
		const options = { allowPrivate: ["127.0.0.1"] };
		const base = `http://127.0.0.1:${port}`;
		for (const path of ["/gzip", "/br", "/deflate", "/twice", "/none"])
			expect([path, (await get(base + path, options)).text]).toEqual([path, "hello"]);
		const cut = await get(`${base}/bomb`, options);
		expect([cut.text.length, cut.complete]).toEqual([100_000, false]);
		for (const path of ["/broken", "/short", "/strange", "/many"])
			expect([path, await codeOf(get(base + path, options))]).toEqual([path, "RESPONSE_INVALID"]);
	});

	test("that breaks off is a failed connection, which can be retried", async () => {
		const { port } = await serving((_, response) => {
			response.writeHead(200, { "content-length": 10 });
			response.write("half");
			setImmediate(() => response.destroy());
		});
		const failed = get(`http://127.0.0.1:${port}/`, { allowPrivate: ["127.0.0.1"] });
		await expect(failed).rejects.toMatchObject({ code: "CONNECTION_FAILED", retryable: true });
	});
});

test("an abort closes the connection at once, also while the body is read", async () => {
	let closed = 0;
	const { port } = await serving(({ url }, response) => {
		response.on("close", () => closed++);
		if (url === "/body") response.write("start");
	});
	for (const path of ["/silent", "/body"]) {
		const controller = new AbortController();
		const reason = new Error("enough");
		setTimeout(() => controller.abort(reason), 100);
		const work = get(
			`http://127.0.0.1:${port}${path}`,
			{ allowPrivate: ["127.0.0.1"] },
			{ signal: controller.signal },
		);
		await expect(work).rejects.toBe(reason);
	}
	await vi.waitFor(() => expect(closed).toBe(2));
});

test("no connection is shared with unchecked requests", async () => {
	const sockets = new Set<unknown>();
	const { port } = await serving(({ socket }, response) => {
		sockets.add(socket);
		response.end();
	});
	for (let at = 0; at < 3; at++) await get(`http://127.0.0.1:${port}/`, { allowPrivate: ["127.0.0.1"] });
	expect(sockets.size).toBe(3);
});
