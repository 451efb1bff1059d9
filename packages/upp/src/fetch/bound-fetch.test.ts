// What an untrusted server gets from its client: no foreign credentials, no endless waiting, no endless memory.
import { expect, test } from "vitest";
import { boundFetch } from "./bound-fetch.ts";

type Answer = (url: URL, init: RequestInit) => Response | Promise<Response>;

/** A bound fetch to a server with this answer, and the headers of each of its requests. */
function to(answer: Answer, options: Partial<Parameters<typeof boundFetch>[0]> = {}) {
	const seen: { readonly url: string; readonly method: string; readonly headers: Record<string, string> }[] =
		[];
	const bound = boundFetch({
		fetch: async (input, init = {}) => {
			seen.push({
				url: `${input}`,
				method: init.method ?? "GET",
				headers: Object.fromEntries(new Headers(init.headers)),
			});
			return answer(new URL(`${input}`), init);
		},
		headers: { "x-key": "secret", authorization: "Bearer secret" },
		origins: ["https://good.example/agents"],
		silenceMs: 50,
		maxBytes: 1_000,
		...options,
	});
	return { bound, seen };
}

const redirect = (location: string, status = 307): Response =>
	new Response(null, { status, headers: { location } });

test.each([
	"https://evil.example/",
	"http://good.example/",
	"https://good.example:8443/",
	"https://good.example.evil.example/",
	"https://sub.good.example/",
	"https://good.example@evil.example/",
	"https://evil.example/https://good.example/",
	"https://evil.example#https://good.example/",
	"https://127.0.0.1/",
	"https://[::1]/",
])("credentials do not reach another origin, asked or redirected to: %s", async (address) => {
	const { bound, seen } = to((url) => (url.pathname === "/away" ? redirect(address) : new Response("ok")));
	// URLs with a user are refused by `fetch` itself.
	await bound(address).catch(() => {});
	await bound("https://good.example/away", { headers: { cookie: "a=b" }, method: "POST", body: "x" }).catch(
		() => {},
	);
	const others = seen.filter(({ url }) => new URL(url).origin !== "https://good.example");
	expect(others.length).toBeGreaterThan(0);
	for (const { headers } of others) {
		expect(headers).not.toHaveProperty("x-key");
		expect(headers).not.toHaveProperty("authorization");
		expect(headers).not.toHaveProperty("cookie");
	}
});

test.each(["\n", "\r\n", "\r"])(
	"each event of a stream is counted separately, in any pieces, with lines that end in %j",
	async (end) => {
		const event = (length: number): string => `data: ${"x".repeat(length)}${end}${end}`;
		const answer = (text: string, size: number) => () => {
			const pieces = text.match(new RegExp(`[\\s\\S]{1,${size}}`, "g")) ?? [];
			const body = new ReadableStream<Uint8Array>({
				start(controller) {
					for (const piece of pieces) controller.enqueue(new TextEncoder().encode(piece));
					controller.close();
				},
			});
			return new Response(body, { headers: { "content-type": "text/event-stream; charset=utf-8" } });
		};
		for (const size of [1, 7, 5_000]) {
			let cut = 0;
			const options = { eventStreams: "each-event", onTooLarge: () => void cut++ } as const;
			const fits = event(900).repeat(5);
			const { bound } = to(answer(fits, size), options);
			expect(await (await bound("https://good.example/")).text()).toBe(fits);
			const { bound: tooLarge } = to(answer(event(900) + event(1_000) + event(1), size), options);
			expect(cut).toBe(0);
			await expect((await tooLarge("https://good.example/")).text()).rejects.toMatchObject({
				code: "answer_too_large",
			});
			expect(cut).toBe(1);
			const lines = `data: x${end}`.repeat(200);
			const { bound: endless } = to(answer(lines, size), options);
			await expect((await endless("https://good.example/")).text()).rejects.toMatchObject({
				code: "answer_too_large",
			});
		}
	},
);

test("the intended origins get them, also after a redirect, and the body is sent again", async () => {
	const bodies: string[] = [];
	const { bound, seen } = to(async (url, init) => {
		bodies.push(init.body === undefined ? "" : await new Response(init.body as BodyInit).text());
		return url.pathname === "/one" ? redirect("/two") : new Response("ok");
	});
	const response = await bound("https://good.example/one", { method: "POST", body: "said" });
	expect(await response.text()).toBe("ok");
	expect(seen.map(({ headers }) => headers["x-key"])).toEqual(["secret", "secret"]);
	expect(bodies).toEqual(["said", "said"]);
	expect(seen.map(({ method }) => method)).toEqual(["POST", "POST"]);
});

test("a redirect to another resource is requested without the body", async () => {
	const { bound, seen } = to((url) => (url.pathname === "/one" ? redirect("/two", 303) : new Response("ok")));
	await bound("https://good.example/one", { method: "POST", body: "said" });
	expect(seen.map(({ method }) => method)).toEqual(["POST", "GET"]);
});

test("endless redirects are followed a few times", async () => {
	const { bound, seen } = to(() => redirect("/again"));
	await expect(bound("https://good.example/")).rejects.toMatchObject({ code: "too_many_redirects" });
	expect(seen).toHaveLength(6);
});

test("a server that never answers is abandoned, whether its request respects the signal or not", async () => {
	const { bound } = to(() => new Promise<Response>(() => {}));
	await expect(bound("https://good.example/")).rejects.toMatchObject({
		code: "server_silent",
		retryable: true,
	});
});

test("one that falls silent within its answer is abandoned, and one that sends occasionally is not", async () => {
	let pieces = 0;
	const slow = (most: number): Response =>
		new Response(
			new ReadableStream({
				async pull(controller) {
					if (pieces++ >= most) return new Promise(() => {});
					await new Promise((resolve) => setTimeout(resolve, 20));
					controller.enqueue(new TextEncoder().encode("x"));
				},
			}),
		);
	const { bound } = to(() => slow(5));
	const response = await bound("https://good.example/");
	await expect(response.text()).rejects.toMatchObject({ code: "server_silent" });
	expect(pieces).toBe(6);
});

test("an endless answer is cut off, and its source is cancelled", async () => {
	let isCancelled = false;
	const { bound } = to(
		() =>
			new Response(
				new ReadableStream({
					pull: (controller) => controller.enqueue(new Uint8Array(300)),
					cancel: () => {
						isCancelled = true;
					},
				}),
			),
	);
	const response = await bound("https://good.example/");
	await expect(response.arrayBuffer()).rejects.toMatchObject({ code: "answer_too_large" });
	expect(isCancelled).toBe(true);
});

test("the caller can leave before the answer and during it", async () => {
	const { bound } = to((url) =>
		url.pathname === "/never"
			? new Promise<Response>(() => {})
			: new Response(new ReadableStream({ pull: () => new Promise(() => {}) })),
	);
	for (const path of ["/never", "/within"]) {
		const leave = new AbortController();
		const asked = bound(`https://good.example${path}`, { signal: leave.signal }).then((response) =>
			response.text(),
		);
		setTimeout(() => leave.abort(new Error("left")), 5);
		await expect(asked).rejects.toThrow("left");
	}
});

const complete = { origins: [], silenceMs: 50, maxBytes: 1_000 };
test.each([
	["no options", undefined, "takes an object of options"],
	["no origins", { ...complete, origins: undefined }, "needs the option `origins`"],
	["no time limit", { ...complete, silenceMs: undefined }, "needs the option `silenceMs`"],
	["no size limit", { ...complete, maxBytes: undefined }, "needs the option `maxBytes`"],
	["an origin that is not a URL", { ...complete, origins: ["good.example"] }, "`origins`"],
])("refuses %s", (_, options, message) => {
	expect(() => boundFetch(options as never)).toThrow(
		expect.objectContaining({ code: "invalid_option", message: expect.stringContaining(message) }),
	);
});
