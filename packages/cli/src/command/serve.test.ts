// `holdfast serve` in separate processes: its output, its curl command, keys, and how it ends.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { commandsOfATest, modelOf } from "./commands-of-a-test.fixture.ts";
import { readServeOptions } from "./serve-options.ts";
import { type Started, start } from "./spawn.fixture.ts";

// Every test starts real processes, which takes its time on a busy machine.
const ownAgent = join(import.meta.dirname, "own-agent.fixture.ts");
const commands = commandsOfATest();

/** Starts a server; returns it with its address. */
async function serve(
	argv: readonly string[],
	environment: Record<string, string> = {},
): Promise<Started & { readonly url: string }> {
	const begun = commands.begin(["serve", "--port", "0", "--json", ...argv], environment);
	let text = "";
	begun.child.stdout?.on("data", (more: string) => {
		text += more;
	});
	await begun.until(/"type":"begin".*\n/);
	return { ...begun, url: (JSON.parse(text.split("\n")[0] as string) as { url: string }).url };
}

function ask(url: string, headers: Record<string, string> = {}): Promise<Response> {
	return fetch(`${url}/api/agent/execute`, {
		method: "POST",
		headers: { "content-type": "application/json", ...headers },
		body: JSON.stringify({
			sessionId: "s",
			input: { role: "user", content: "What does notes.md say about lamps?" },
			context: {},
		}),
	});
}

describe("holdfast serve", () => {
	test("serves the assistant of a folder and explains how to try it", async () => {
		writeFileSync(join(commands.folder, "notes.md"), "# Notes\n\nLamps are in the cellar.\n");
		const served = commands.begin(["serve", "--port", "0", "--model", "offline"]);
		await served.until(/curl -N http:\/\/127\.0\.0\.1:\d+\/api\/agent\/execute /);
		served.child.kill("SIGTERM");
		const { code, stdout, stderr } = await served.finished;
		expect([code, stderr]).toEqual([0, ""]);
		expect(stdout).toContain(`the assistant of ${commands.folder} with offline`);
		expect(stdout).toContain("no key is required");
	});

	test("has the inspector at / with its script, and not if it is switched off", async () => {
		const { url } = await serve(["--model", "offline"]);
		const page = await fetch(`${url}/`);
		expect(page.headers.get("content-type")).toContain("text/html");
		expect(await page.text()).toContain("Holdfast inspector");
		const script = await fetch(`${url}/inspector/app.js`);
		expect([script.status, (await script.text()).length > 10_000]).toEqual([200, true]);
		expect((await fetch(`${url}/api/inspect/sessions`)).status).toBe(200);
		const without = await serve(["--model", "offline", "--no-inspector", "--db", "other.db"]);
		expect((await fetch(`${without.url}/`)).status).toBe(404);
		expect((await fetch(`${without.url}/api/inspect/sessions`)).status).toBe(404);
	});

	test("streams a run, keeps the session across a kill without an offset, and logs none of its text [API-055]", async () => {
		writeFileSync(join(commands.folder, "notes.md"), "# Notes\n\nLamps are in the cellar.\n");
		const first = await serve(["--model", "offline"]);
		const text = await (await ask(first.url)).text();
		expect(text).toContain("cellar");
		expect(text).toMatch(/data: \{"type":"execute_complete","status":"completed"\}\n\n$/);
		const before = await (await fetch(`${first.url}/api/agent/session/s`)).json();
		first.child.kill("SIGKILL");
		const { stderr } = await first.finished;
		const entries = stderr.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line)]));
		const about = { tenant: "default", sessionId: "s" };
		expect(entries.slice(0, 2)).toMatchObject([
			{ type: "run", outcome: "completed", answers: expect.any(Number), ...about },
			{ type: "request", status: 200, stream: "complete", ...about },
		]);
		expect(stderr).not.toMatch(/lamps|cellar/i);
		const listed = await start(["sessions"], { folder: commands.folder }).finished;
		expect(listed.stdout).toMatch(/^default\/s {2}/m);
		const shown = await start(["show", "default/s"], { folder: commands.folder }).finished;
		expect(shown.stdout).toMatch(/^session default\/s\n/);
		expect(shown.stdout).toContain("lamps");
		const forked = await start(["fork", "default/s", "copy"], { folder: commands.folder }).finished;
		expect([forked.code, forked.stderr]).toEqual([
			2,
			expect.stringContaining('"default/s" belongs to a server'),
		]);
		const second = await serve(["--model", "offline"]);
		expect(await (await fetch(`${second.url}/api/agent/session/s`)).json()).toEqual(before);
	});

	test("leaves an interrupted run to a server: the assistant neither resumes it nor starts another under its name", async () => {
		const models = await commands.serveModel(["hang"]);
		const first = await serve(["--model", models.model]);
		const cut = ask(first.url).then((answer) => answer.text());
		cut.catch(() => {});
		await models.asked(1);
		first.child.kill("SIGKILL");
		await first.finished;
		const command = (...argv: string[]) => start(argv, { folder: commands.folder }).finished;
		const resumed = await command("resume");
		expect([resumed.code, resumed.stdout]).toEqual([
			0,
			expect.stringContaining("No session was interrupted"),
		]);
		for (const argv of [
			["resume", "default/s"],
			["run", "And the lamps?", "--session", "default/s"],
		]) {
			const { code, stderr } = await command(...argv);
			expect([code, stderr]).toEqual([2, expect.stringContaining('"default/s" belongs to a server')]);
		}
		expect((await command("sessions")).stdout.match(/^default\/s .*$/gm)).toEqual([
			expect.stringContaining("interrupted"),
		]);
	});

	test("serves the user's own agent to callers with a key from the environment", async () => {
		const models = await commands.serveModel([{ tool: "count", arguments: {} }, { text: "There are 7." }]);
		const environment = {
			...modelOf(models),
			HOLDFAST_AGENT: ownAgent,
			HOLDFAST_API_KEYS: "acme=key-of-acme, key-of-anybody",
		};
		const { url } = await serve([], environment);
		expect((await ask(url)).status).toBe(401);
		// A probe has no key.
		expect(await (await fetch(`${url}/healthz`)).json()).toEqual({ status: "ok" });
		const answered = await ask(url, { authorization: "Bearer key-of-acme" });
		expect(await answered.text()).toContain("There are 7.");
		const other = { headers: { authorization: "Bearer key-of-anybody" } };
		expect((await fetch(`${url}/api/agent/session/s`, other)).status).toBe(404);
	});

	test("counts failed keys by the address that the proxy reports", async () => {
		writeFileSync(join(commands.folder, "notes.md"), "# Notes\n");
		const argv = ["--model", "offline", "--api-key", "key-of-anybody", "--peer-header", "X-Real-IP"];
		const { url } = await serve(argv);
		const status = async (key: string, from: string): Promise<number> => {
			const headers = { "x-api-key": key, "x-real-ip": from };
			return (await fetch(`${url}/api/agent/sessions`, { headers })).status;
		};
		for (let at = 0; at < 100; at++) expect(await status(`guess-${at}`, "192.0.2.1")).toBe(401);
		expect(await status("key-of-anybody", "192.0.2.1")).toBe(429);
		expect(await status("key-of-anybody", "192.0.2.2")).toBe(200);
	});

	test("lets clients set only what the option lists", async () => {
		const { url } = await serve(["--model", "offline", "--clients-may-set", "tools"]);
		const status = async (context: object): Promise<number> => {
			const response = await fetch(`${url}/api/agent/execute`, {
				method: "POST",
				headers: { "content-type": "application/json" },
				body: JSON.stringify({ input: "What is here?", context }),
			});
			await response.text();
			return response.status;
		};
		expect(await status({ tools: [{ name: "locate" }] })).toBe(200);
		expect(await status({ systemPrompt: "You are a pirate." })).toBe(403);
	});

	test("serves clients that define their sessions with --clients bring-context", async () => {
		const { url } = await serve(["--model", "offline", "--clients", "bring-context"]);
		const answer = async (body: object): Promise<unknown> => {
			// A string without a content type is sent as plain text.
			const response = await fetch(`${url}/api/agent/execute`, {
				method: "POST",
				body: JSON.stringify(body),
			});
			const text = await response.text();
			return response.ok ? response.status : [response.status, JSON.parse(text).code];
		};
		const input = "What is here?";
		expect(await answer({ input, context: { messages: [], tools: [{ name: "locate" }] } })).toBe(200);
		expect(await answer({ input })).toEqual([400, "context_required"]);
	});

	test("finds models by name: of a file, of the agent's own module, and names a wrong one", async () => {
		const { folder } = commands;
		const models = await commands.serveModel([{ text: "Quick." }]);
		writeFileSync(join(folder, "notes.md"), "# Notes\n\nLamps are in the cellar.\n");
		writeFileSync(join(folder, "models.json"), JSON.stringify({ quick: models.model }));
		const { url } = await serve(["--model", "offline", "--models", "models.json"]);
		const about = await (await fetch(`${url}/api/inspect/about`)).json();
		expect(about).toMatchObject({ models: ["quick"] });
		await (await ask(url)).text();
		const forked = await fetch(`${url}/api/inspect/session/s/fork`, {
			method: "POST",
			headers: { "content-type": "application/json" },
			body: JSON.stringify({ to: "copy", model: "quick" }),
		});
		expect(await forked.json()).toMatchObject({ sessionId: "copy" });
		const said = await fetch(`${url}/api/agent/execute`, {
			method: "POST",
			headers: { "content-type": "application/json" },
			body: JSON.stringify({ sessionId: "copy", input: "And now?" }),
		});
		expect(await said.text()).toContain("Quick.");
		writeFileSync(join(folder, "models.json"), JSON.stringify({ quick: "no model" }));
		const { code, stderr } = await start(["serve", "--models", "models.json"], { folder }).finished;
		expect([code, stderr]).toEqual([2, expect.stringContaining('"no model" is not a model')]);
		const own = await serve(["--agent", ownAgent, "--db", "own.db"], { STUB_MODEL: "http://127.0.0.1:1/v1" });
		expect(await (await fetch(`${own.url}/api/inspect/about`)).json()).toMatchObject({ models: ["other"] });
	});

	test("limits a tenant's streams to the option's value", async () => {
		const { url } = await serve(["--model", "offline", "--max-streams", "1"]);
		await (await ask(url)).text();
		const streams = [1, 2].map(() => fetch(`${url}/api/agent/session/s/events?follow=1`));
		const statuses = await Promise.all(streams.map(async (stream) => (await stream).status));
		expect(statuses.sort()).toEqual([200, 429]);
	});

	test("rejects what it cannot serve in one line", async () => {
		for (const [argv, message] of [
			[["--host", "0.0.0.0"], /Give a key in HOLDFAST_API_KEYS or with --api-key/],
			[["--cors", "everybody"], /which is not an origin/],
			[["--port", "x"], /The port is "x"/],
			[["--api-key", "short"], /at least 8 characters/],
			[["--agent", "none.ts"], /The file .*none\.ts does not exist/],
			[["--models", "none.json"], /The file .*none\.json does not exist/],
			[["--models", "agent.txt", "--project", "."], /which define their own models/],
			[["--clients-may-set", "tools", "--project", "."], /clients of a project cannot set/],
			[["--clients", "bring-context", "--project", "."], /clients of a project cannot set/],
			[["extra", "more"], /takes one project; remove "more"/],
		] as const) {
			const { code, stderr } = await start(["serve", ...argv], { folder: commands.folder }).finished;
			expect([argv, code === 0]).toEqual([argv, false]);
			expect(stderr).toMatch(message);
			expect(stderr.trim().split("\n")).toHaveLength(1);
		}
	});
});

test("options take precedence over the environment, and a key can name its tenant", () => {
	const environment = {
		HOLDFAST_PORT: "1",
		HOLDFAST_HOST: "::1",
		HOLDFAST_CORS: "https://a.example, https://b.example",
	};
	expect(
		readServeOptions({ port: "2", "api-key": ["acme=k=ey-with-sign", "12345678"] }, environment),
	).toEqual({
		agent: undefined,
		models: undefined,
		port: 2,
		host: "::1",
		cors: ["https://a.example", "https://b.example"],
		apiKeys: { "k=ey-with-sign": "acme", "12345678": "default" },
		allowUnauthenticated: false,
		inspector: true,
		peerHeader: undefined,
		maxStreams: undefined,
		clientsMaySet: [],
		clients: undefined,
	});
	expect(readServeOptions({ "no-inspector": true }, {}).inspector).toBe(false);
	expect(readServeOptions({}, { HOLDFAST_PEER_HEADER: "X-Real-IP" }).peerHeader).toBe("X-Real-IP");
	expect(readServeOptions({}, { HOLDFAST_MAX_STREAMS: "unlimited" }).maxStreams).toBe("unlimited");
	expect(readServeOptions({ "max-streams": "2" }, { HOLDFAST_MAX_STREAMS: "3" }).maxStreams).toBe(2);
	const fields = { HOLDFAST_CLIENTS_MAY_SET: "tools, prompt" };
	expect(readServeOptions({}, fields).clientsMaySet).toEqual(["tools", "prompt"]);
	expect(readServeOptions({ "clients-may-set": ["model"] }, fields).clientsMaySet).toEqual(["model"]);
	expect(() => readServeOptions({ "clients-may-set": ["system"] }, {})).toThrow(
		'"system" is not one of them',
	);
	expect(readServeOptions({ clients: "bring-context" }, {}).clients).toBe("bring-context");
	expect(readServeOptions({}, { HOLDFAST_CLIENTS: "bring-context" }).clients).toBe("bring-context");
	expect(() => readServeOptions({ clients: "all" }, {})).toThrow('"all" is something else');
	expect(() => readServeOptions({ clients: "bring-context" }, fields)).toThrow("Omit --clients-may-set");
	expect(() => readServeOptions({ "max-streams": "0" }, {})).toThrow("--max-streams takes a number");
	expect(readServeOptions({ "peer-header": "X-B" }, { HOLDFAST_PEER_HEADER: "X-A" }).peerHeader).toBe("X-B");
});
