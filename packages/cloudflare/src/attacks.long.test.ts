// Attacks on sessions in objects, in the real runtime: whatever a caller sends, it reaches only its own session, every
// response has a status that explains the error, and the session still works afterwards.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Miniflare } from "miniflare";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bundleWorker, startWorkerd } from "./workerd.fixture.ts";

let persist: string;
let runtime: Miniflare;

beforeAll(async () => {
	persist = mkdtempSync(join(tmpdir(), "attacked-objects-"));
	runtime = startWorkerd({
		script: await bundleWorker("attacks-worker.fixture.ts"),
		persist,
		objects: { SESSIONS: "Session", DIRECTORY: "Directory" },
	});
	await runtime.ready;
});

afterAll(async () => {
	await runtime?.dispose();
	rmSync(persist, { recursive: true, force: true });
});

interface Call {
	readonly user?: string;
	readonly body?: unknown;
	readonly method?: string;
	readonly headers?: Readonly<Record<string, string>>;
}

async function call(path: string, { user = "one", body, method, headers = {} }: Call = {}) {
	const text = typeof body === "string" ? body : JSON.stringify(body);
	const answer = await runtime.dispatchFetch(`http://localhost${path}`, {
		method: method ?? (body === undefined ? "GET" : "POST"),
		headers: {
			"x-user": user,
			...(body === undefined ? {} : { "content-type": "application/json" }),
			...headers,
		},
		...(body === undefined ? {} : { body: text }),
	});
	return { status: answer.status, text: await answer.text(), headers: answer.headers };
}

const question = (sessionId: string, text = "hello") => ({
	sessionId,
	context: {},
	input: { role: "user", content: text },
});
const execute = (sessionId: string, text?: string, user?: string) =>
	call("/api/agent/execute", { body: question(sessionId, text), ...(user === undefined ? {} : { user }) });
const session = (id: string, user?: string) =>
	call(`/api/agent/session/${encodeURIComponent(id)}`, user === undefined ? {} : { user });
const remove = (id: string, user?: string) =>
	call(`/api/agent/session/${encodeURIComponent(id)}`, {
		method: "DELETE",
		...(user === undefined ? {} : { user }),
	});
async function listed(user?: string): Promise<string[]> {
	const { text } = await call("/api/agent/sessions?limit=100", user === undefined ? {} : { user });
	return (JSON.parse(text) as { sessions: { sessionId: string }[] }).sessions.map(
		({ sessionId }) => sessionId,
	);
}

/** Whether a failure explains the error, and is not a failure of the object or the server. */
function isCoded({ status, text }: { readonly status: number; readonly text: string }): void {
	expect([status, text]).not.toEqual([expect.toSatisfy((each: number) => each >= 500), expect.anything()]);
	if (status >= 400) expect(JSON.parse(text)).toMatchObject({ code: expect.stringMatching(/^(?!internal)/) });
}

describe("another caller's session", () => {
	const secret = "the password is swordfish";
	const strangers = ["two", "ann", "bob", "shop", "odd", "quote", "nul", "half", "other", "proto"];

	beforeAll(async () => {
		expect((await execute("secret", secret)).text).toContain("swordfish");
		expect((await execute("secret", secret, "ann")).text).toContain("swordfish");
	});

	test.each(strangers)("is neither read, followed, stopped, deleted nor listed by %s", async (user) => {
		const owns = user === "ann";
		const attempts = [
			session("secret", user),
			call("/api/agent/session/secret/events", { user }),
			call("/api/agent/session/secret/events?follow=1&after=1", {
				user,
				headers: { "last-event-id": "1.0" },
			}),
			call("/api/agent/session/secret/stop", { user, body: {} }),
		];
		for (const { status, text } of owns ? [] : await Promise.all(attempts)) {
			expect([status, text.includes("swordfish")]).toEqual([404, false]);
		}
		if (owns) return;
		expect((await remove("secret", user)).status).toBe(404);
		expect(await listed(user)).toEqual([]);
		expect((await session("secret")).text).toContain("swordfish");
		expect((await session("secret", "ann")).text).toContain("swordfish");
	});

	test.each([
		'one",null,"secret',
		"one/secret",
		"%2e%2e/one/secret",
		"../secret",
		"..%2Fsecret",
		"one%00secret",
		"secret\0",
		"one%40ann/secret",
		"shop@ann/secret",
		"__proto__",
		"secret ",
		"ｓecret",
		"secret%ud800",
	])("is not reached under the name %j", async (name) => {
		for (const user of ["two", "shop", "bob"]) {
			const [read, stopped] = [await session(name, user), await call(`/api/agent/session/${name}`, { user })];
			for (const { status, text } of [read, stopped]) {
				expect(text).not.toContain("swordfish");
				expect([400, 404, 405, 308, 301]).toContain(status);
			}
		}
	});

	test.each([
		'"tenant":"one"',
		'"caller":{"tenant":"one"}',
		'"owner":{"tenant":"one"}',
		'"user":"ann"',
		'"storeKey":"one/secret"',
		'"__proto__":{"tenant":"one"},"constructor":{"tenant":"one"}',
	])("is not reached by a body with %s", async (more) => {
		const answer = await call("/api/agent/execute", {
			user: "two",
			body: `{"sessionId":"secret","input":{"role":"user","content":"again"},${more}}`,
		});
		expect(answer.text).not.toContain("swordfish");
		expect(answer.status).toBeGreaterThanOrEqual(400);
		isCoded(answer);
	});

	test.each(["", "nobody", "one ", "ONE", "one,two", "constructor", "__proto__", "toString"])(
		"is not reached as the user %j",
		async (user) => {
			expect((await session("secret", user)).status).toBe(user === "one " ? 200 : 401); // a header's blanks go
		},
	);

	test.each([
		"/submit",
		"/get",
		"/delete",
		"/follow",
		"/begun",
		"/alarm",
		"/list",
		"/note",
		"/take",
		"/count",
	])("is not reached by the path of an object, %s", async (path) => {
		const body = { sessionId: "secret", caller: { tenant: "one" }, id: "secret" };
		const { status, text } = await call(path, { user: "two", body });
		expect([status, text.includes("swordfish")]).toEqual([404, false]);
	});
});

describe("a position to resume from", () => {
	beforeAll(async () => {
		await execute("resumed");
	});

	test.each([
		"0",
		"-1",
		"1.5",
		"NaN",
		"1e400",
		"9".repeat(400),
		"1.0.0",
		"' OR 1=1 --",
		"\u00ff",
		"{}",
		"null",
	])("%j is rejected, or read from, without a failure", async (position) => {
		for (const answer of [
			await call(`/api/agent/session/resumed/events?after=${encodeURIComponent(position)}`),
			await call("/api/agent/session/resumed/events", { headers: { "last-event-id": position } }),
		])
			isCoded(answer);
	});

	test.each(["-1", "0", "1e9", "NaN", "abc", "9".repeat(30)])(
		"a list with limit=%s has no failure",
		async (limit) => {
			isCoded(await call(`/api/agent/sessions?limit=${limit}`));
			isCoded(await call(`/api/agent/sessions?after=${limit}${"'".repeat(40)}`));
		},
	);
});

describe("values that are too large", () => {
	test.each([
		["a message of 1 MB", "m".repeat(1_000_000), 200],
		["a message of 1.9 MB", "m".repeat(1_900_000), 200],
		["a message of 2.5 MB", "m".repeat(2_500_000), "value_too_large"],
		["a message of 1.2 MB in characters of three bytes", "\u4e2d".repeat(1_200_000), "value_too_large"],
		["a message of 5 MB", "m".repeat(5_000_000), 413],
	] as const)("%s", async (_, text, end) => {
		const id = `size-${text.length}-${text.charCodeAt(0)}`;
		const answer = await execute(id, text);
		if (typeof end === "number")
			expect([answer.status, answer.text.slice(0, 300)]).toEqual([end, expect.anything()]);
		else expect(answer.text).toContain(`"code":"${end}"`);
		isCoded(answer);
		expect((await execute(id)).text).toContain("You said: hello");
	});

	test.each([
		["an answer", "say 2500000"],
		["a tool's result", "tool 2500000"],
	])("%s of 2.5 MB ends its run with a code, and the session continues", async (_, text) => {
		const id = text.replaceAll(" ", "-");
		const { status, text: events } = await execute(id, text);
		expect(status).toBe(200);
		expect(events).toMatch(/"code":"(?!internal)/);
		expect(events).not.toContain("SQLITE");
		expect(JSON.parse((await session(id)).text)).toMatchObject({ sessionId: id });
		expect((await execute(id, "hello again")).text).toContain("You said: hello again");
	});

	test.each([
		["a name of 128 characters", "n".repeat(128), 200],
		["a name of 129 characters", "n".repeat(129), 400],
		["a name of 100,000 characters", "n".repeat(100_000), 400],
		["a name with a half of a pair", "n\ud800", 400],
		["an empty name", "", 400],
		["a name of dots", "..", 400],
	])("%s", async (_, name, status) => {
		const answer = await execute(name);
		expect(answer.status).toBe(status);
		isCoded(answer);
	});

	test("ten thousand keys, or a depth of ten thousand, are rejected", async () => {
		const keys = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`k${index}`, 1]));
		isCoded(await call("/api/agent/execute", { body: { ...question("keys"), ...keys } }));
		const deep = `${"[".repeat(10_000)}${"]".repeat(10_000)}`;
		isCoded(await call("/api/agent/execute", { body: `{"sessionId":"deep","context":{},"input":${deep}}` }));
	});

	test.each([
		"{",
		"null",
		"[]",
		'"x"',
		"{}",
		'{"sessionId":1}',
		'{"input":{"role":"system","content":"x"},"context":{}}',
		"\0",
	])("the body %s is rejected with a code", async (body) => {
		const answer = await call("/api/agent/execute", { body });
		expect(answer.status).toBe(400);
		isCoded(answer);
	});
});

describe("deletion", () => {
	test("during an active run, repeatedly, leaves nothing that is listed", async () => {
		for (let round = 0; round < 5; round++) {
			const id = `deleted-${round}`;
			const running = execute(id, "hang").catch(() => undefined);
			await expect.poll(async () => (await session(id)).status).toBe(200);
			const outcomes = await Promise.all([remove(id), remove(id), remove(id)]);
			for (const outcome of outcomes) isCoded(outcome);
			expect(outcomes.some(({ status }) => status === 200)).toBe(true);
			await running;
			expect((await session(id)).status).toBe(404);
		}
		expect((await listed()).filter((id) => id.startsWith("deleted-"))).toEqual([]);
	});

	test("racing with new runs, stops and reads: listed sessions exist, and existing sessions are complete", async () => {
		let seed = 7;
		const random = (below: number): number => {
			seed = (seed * 48_271) % 2_147_483_647;
			return seed % below;
		};
		const ids = ["race-0", "race-1", "race-2"];
		const statuses = new Map<number, number>();
		for (let round = 0; round < 12; round++) {
			const work = Array.from({ length: 10 }, () => {
				const id = ids[random(ids.length)] as string;
				const act = [
					() => execute(id),
					() => execute(id),
					() => remove(id),
					() => session(id),
					() => call(`/api/agent/session/${id}/stop`, { body: {} }),
				][random(5)] as () => ReturnType<typeof call>;
				return act();
			});
			for (const answer of await Promise.all(work)) {
				statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
				isCoded(answer);
			}
		}
		await expect
			.poll(
				async () => {
					const there = [];
					for (const id of ids) if ((await session(id)).status === 200) there.push(id);
					return [there, (await listed()).filter((id) => id.startsWith("race-"))];
				},
				{ timeout: 20_000 },
			)
			.toSatisfy(([there, list]: string[][]) => JSON.stringify(there) === JSON.stringify(list));
		expect(statuses.get(200)).toBeGreaterThan(10);
		for (const id of ids) expect((await execute(id)).text).toContain("You said: hello");
	});

	test("whose directory was unavailable is completed by the next attempt", async () => {
		await execute("phantom");
		expect(await listed()).toContain("phantom");
		await call("/fail?count=1");
		expect((await remove("phantom")).status).toBeGreaterThanOrEqual(400);
		await remove("phantom");
		await call("/fail?count=0");
		expect((await session("phantom")).status).toBe(404);
		expect(await listed()).not.toContain("phantom");
	});

	test("an unavailable directory fails no run, and is notified of the session later", async () => {
		await call("/fail?count=4");
		const { status, text } = await execute("unheard");
		expect([status, text.includes("You said: hello")]).toEqual([200, true]);
		await call("/fail?count=0");
		await execute("unheard");
		await expect.poll(() => listed()).toContain("unheard");
	});
});

describe("an evicted object", () => {
	test.each([0, 1, 2, 3])(
		"in the middle of a run continues it, or ends it with a code: %i",
		async (round) => {
			const id = `moved-${round}`;
			const running = execute(id, round % 2 === 0 ? "tool 1000" : "hello").catch(() => undefined);
			await call(`/evict?session=${id}`);
			await running;
			await expect
				.poll(async () => (await execute(id, "and now?")).text, { timeout: 30_000 })
				.toContain("and now?");
		},
	);
});

test("readers who do not read delay no one", async () => {
	const slow = await Promise.all(
		Array.from({ length: 5 }, () =>
			runtime.dispatchFetch("http://localhost/api/agent/execute", {
				method: "POST",
				headers: { "x-user": "one", "content-type": "application/json" },
				body: JSON.stringify(question(`slow-${Math.random()}`, "say 1000000")),
			}),
		),
	);
	expect((await execute("quick")).text).toContain("You said: hello");
	for (const each of slow) await each.body?.cancel();
});

test.each([
	[
		"a WebSocket of another's session",
		"/api/agent/session/secret/events",
		{ upgrade: "websocket", connection: "Upgrade" },
	],
	["a WebSocket of the execution", "/api/agent/execute", { upgrade: "websocket", connection: "Upgrade" }],
	[
		"a forged peer",
		"/api/agent/session/secret",
		{ "x-forwarded-for": "127.0.0.1", "cf-connecting-ip": "127.0.0.1" },
	],
	["a forged method", "/api/agent/session/secret", { "x-http-method-override": "DELETE" }],
	["a foreign origin", "/api/agent/session/secret", { origin: "https://evil.test" }],
])("%s reads nothing", async (_, path, headers) => {
	const { status, text } = await call(path, { user: "two", headers });
	expect(status).toBeGreaterThanOrEqual(400);
	expect(text).not.toContain("swordfish");
	expect((await session("secret")).status).toBe(200);
});
