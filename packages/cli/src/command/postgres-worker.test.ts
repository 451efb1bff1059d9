// `holdfast run` and `holdfast worker` over Postgres, in separate processes.
import { mkdtempSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startPostgresServer } from "@holdfast/testing/postgres-server";
import { afterAll, beforeAll, expect, test } from "vitest";
import { commandsOfATest, modelOf } from "./commands-of-a-test.fixture.ts";
import { type Finished, run, slowness } from "./spawn.fixture.ts";

const ownAgent = join(import.meta.dirname, "own-agent.fixture.ts");
let postgres: Awaited<ReturnType<typeof startPostgresServer>>;
let db: string;
const commands = commandsOfATest();
const { begin } = commands;

beforeAll(async () => {
	postgres = await startPostgresServer();
	// The server accepts any password here: this one only has to be hidden.
	const address = new URL(postgres.url);
	address.password ||= "hunter2";
	db = address.href;
});
afterAll(() => postgres.stop());

test("a worker takes over a session of a killed process, and the password is never shown", async () => {
	const server = await commands.serveModel(["hang", { text: "There are 7." }]);
	const worker = begin(["worker", "--agent", ownAgent, "--db", db], modelOf(server));
	await worker.until(/worker \d+/);
	const left = begin([
		"run",
		"How many parcels?",
		"--session",
		"parcels",
		"--model",
		server.model,
		"--db",
		db,
	]);
	await server.asked(1);
	left.child.kill("SIGKILL");
	await left.finished;
	await worker.until(/completed session parcels/);
	worker.child.kill("SIGTERM");
	const ended = await worker.finished;
	expect(ended.code).toBe(0);
	const { password } = new URL(db);
	expect(ended.stdout + ended.stderr).not.toContain(password);
	const shown = await run(["show", "parcels", "--db", db], { folder: commands.folder });
	expect(shown.stdout).toContain("There are 7.");
	// The session's settings are in Holdfast's own folder, which is not part of the user's project.
	const kept = readdirSync(join(commands.folder, ".holdfast"));
	expect(kept).toEqual([".gitignore", expect.stringMatching(/^postgres-[0-9a-f]+\.settings$/)]);
});

/** Events of a session as its clients get them, with their ids. */
interface Streamed {
	readonly id: string;
	readonly data: string;
}

/** Reads a stream of events until it ends or breaks, and reports each on arrival. */
async function readStream(
	response: Response,
	came: (event: Streamed) => void = () => {},
): Promise<readonly Streamed[]> {
	const events: Streamed[] = [];
	let text = "";
	try {
		for await (const piece of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
			text += piece;
			const blocks = text.split("\n\n");
			text = blocks.pop() ?? "";
			for (const block of blocks) {
				const [, id] = /^id: ?(.*)$/m.exec(block) ?? [];
				const [, data] = /^data: ?(.*)$/m.exec(block) ?? [];
				if (id === undefined || data === undefined) continue;
				events.push({ id, data });
				came({ id, data });
			}
		}
	} catch {
		// Its server was killed.
	}
	return events;
}

/** Starts a server, and resolves to its address. */
async function serve(argv: readonly string[], environment: Record<string, string> = {}) {
	const begun = begin(["serve", "--port", "0", "--json", "--db", db, ...argv], environment);
	await begun.until(/"type":"begin".*\n/);
	const { url } = JSON.parse(begun.output().split("\n")[0] as string) as { url: string };
	return { ...begun, url };
}

function post(url: string, body: object): Promise<Response> {
	return fetch(url, {
		method: "POST",
		headers: { "content-type": "application/json" },
		body: JSON.stringify(body),
	});
}

test("a run that a killed server left is finished by a worker with the same agent, and its client sees every event once", async () => {
	const models = await commands.serveModel([
		{ tool: "count", arguments: {} },
		"hang",
		{ text: "There are 7." },
	]);
	const environment = modelOf(models);
	const worker = begin(["worker", "--agent", ownAgent, "--db", db], environment);
	await worker.until(/worker \d+/);
	const first = await serve(["--agent", ownAgent], environment);
	const answered = await post(`${first.url}/api/agent/execute`, {
		sessionId: "s",
		input: { role: "user", content: "How many parcels?" },
		context: {},
	});
	const begun = Promise.withResolvers<void>();
	const reading = readStream(answered, () => begun.resolve());
	await models.asked(2);
	await begun.promise;
	first.child.kill("SIGKILL");
	const killedAt = performance.now();
	await first.finished;
	await worker.until(/works on {2}session default\/s/);
	const took = performance.now() - killedAt;
	console.log(`the run of a killed server was resumed by a worker after ${Math.round(took)} ms`);
	expect(took).toBeLessThan(2_000 * slowness());
	await worker.until(/completed session default\/s/);
	const seen = await reading;
	expect(seen.length).toBeGreaterThan(0);
	const second = await serve(["--agent", ownAgent], environment);
	const events = (after?: string) =>
		fetch(`${second.url}/api/agent/session/s/events?until=complete`, {
			headers: after === undefined ? {} : { "last-event-id": after },
		}).then((response) => readStream(response));
	const whole = await events();
	expect([...seen, ...(await events(seen.at(-1)?.id))]).toEqual(whole);
	expect(new Set(whole.map(({ id }) => id)).size).toBe(whole.length);
	expect(whole.at(-1)?.data).toBe('{"type":"execute_complete","status":"completed"}');
	expect(models.requests).toHaveLength(3);
	expect(JSON.stringify(whole)).toContain("There are 7.");
});

/** Begun with the other tests, because the command waits ten seconds for a server. */
let unavailable: Promise<Finished>;
beforeAll(() => {
	unavailable = run(["worker", "--agent", ownAgent, "--db", "postgres://somebody:hunter2@127.0.0.1:1/none"], {
		folder: mkdtempSync(join(tmpdir(), "holdfast-")),
	});
});

test("an unavailable server is reported in one line, without its password", async () => {
	const { code, stderr } = await unavailable;
	expect(code).toBe(2);
	expect(stderr).toContain("postgres://somebody:***@127.0.0.1:1/none cannot be used");
	expect(stderr).not.toContain("hunter2");
});
