// The support desk, driven over HTTP while its process is killed again and again.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";

const deaths = 10;

/** A desk that dies ten times, and is started again each time. */
class MortalDesk {
	readonly #database: string;
	#child: ReturnType<typeof spawn> | undefined;
	#url: Promise<string> = Promise.resolve("");
	#isOver = false;
	died = 0;

	constructor(database: string) {
		this.#database = database;
		this.#start();
	}

	/** Asks until a process answers: each request is one that may be sent again. */
	async ask(method: string, path: string, body?: object, key?: string): Promise<Response> {
		for (;;) {
			const url = await this.#url;
			try {
				const response = await fetch(url + path, {
					method,
					headers: {
						...(body === undefined ? {} : { "content-type": "application/json" }),
						...(key === undefined ? {} : { "idempotency-key": key }),
					},
					...(body === undefined ? {} : { body: JSON.stringify(body) }),
				});
				const answer = await response.arrayBuffer();
				if (response.status !== 409) return new Response(answer, response);
			} catch {
				// It has died; the next one is starting.
			}
			// Asking all the time would take the processor from the one that is starting.
			await setTimeout(5);
		}
	}

	/** Kills the process that lives now. */
	async kill(): Promise<void> {
		const before = this.died;
		await this.#url;
		this.#child?.kill("SIGKILL");
		await expect.poll(() => this.died, { timeout: 60_000 }).toBeGreaterThan(before);
	}

	async end(): Promise<void> {
		this.#isOver = true;
		if (this.#child === undefined || this.#child.exitCode !== null || this.#child.signalCode !== null) return;
		const gone = once(this.#child, "exit");
		this.#child.kill("SIGKILL");
		await gone;
	}

	#start(): void {
		const script = join(import.meta.dirname, "support-desk-process.fixture.ts");
		const facts = this.died < deaths ? 6 : 0;
		const child = spawn(
			process.execPath,
			["--conditions=holdfast-source", "--no-warnings", script, this.#database, String(facts)],
			{ stdio: ["ignore", "pipe", "inherit"] },
		);
		this.#child = child;
		const lines = createInterface({ input: child.stdout as NonNullable<typeof child.stdout> });
		this.#url = new Promise((resolve) => {
			lines.once("line", resolve);
			// One that dies before it listens has no address: whoever asks waits for the next.
			child.once("exit", () => resolve("http://127.0.0.1:9"));
		});
		child.once("exit", () => {
			this.died++;
			if (!this.#isOver) this.#start();
		});
	}
}

test("a desk that is killed ten times books the refund once and ends as if nothing had happened", {
	timeout: 300_000,
}, async () => {
	const folder = mkdtempSync(join(tmpdir(), "holdfast-desk-"));
	const database = join(folder, "desk.db");
	const desk = new MortalDesk(database);
	onTestFinished(async () => {
		await desk.end();
		rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
	});
	const { id } = (await (
		await desk.ask("POST", "/api/threads", { agent_id: "triage" }, "thread")
	).json()) as {
		id: string;
	};
	const path = `/api/threads/${id}`;
	type Message = { role: string; content: string; name: string | null; attachments: { path: string }[] };
	const messages = async (): Promise<readonly Message[]> =>
		((await (await desk.ask("GET", `${path}/messages?limit=1000`)).json()) as { messages: Message[] })
			.messages;
	const last = async (): Promise<string | undefined> => (await messages()).at(-1)?.content;
	const patience = { timeout: 120_000, interval: 20 };

	await desk.ask("POST", `${path}/messages`, { content: "I want a refund for A-7" }, "ask");
	await expect.poll(last, patience).toBe("Your refund of A-7 waits for approval.");
	await desk.kill();
	expect((await desk.ask("POST", `${path}/approve`, { order: "B-1" })).status).toBe(404);
	expect((await desk.ask("POST", `${path}/approve`, { order: "A-7" })).status).toBe(200);
	await expect.poll(last, patience).toBe("Refunded A-7. Good-bye.");
	while (desk.died < deaths) await desk.kill();

	expect(readFileSync(`${database}.ledger`, "utf8")).toBe("A-7\n");
	const said = await messages();
	expect(said.filter(({ role }) => role === "user").map(({ content }) => content)).toEqual([
		"I want a refund for A-7",
		"The refund of A-7 is approved.",
	]);
	expect(
		said
			.filter(({ role, content }) => role === "assistant" && content !== null)
			.map(({ content }) => content),
	).toEqual(["Your refund of A-7 waits for approval.", "Refunded A-7. Good-bye."]);
	expect(((await (await desk.ask("GET", path)).json()) as { agent_id: string }).agent_id).toBe("billing");
	for (const name of ["billing", "receipt", "review", "refund"])
		expect(said.map((each) => each.name)).toContain(name);

	const files = (await (await desk.ask("GET", `${path}/fs/attachments`)).json()) as {
		entries: { path: string }[];
	};
	expect(files.entries.length).toBeGreaterThanOrEqual(1);
	const picture = files.entries[0]?.path ?? "";
	const thumbnail = await desk.ask("GET", `${path}/fs${picture}/A-7.png?thumbnail=1`);
	expect([thumbnail.status, thumbnail.headers.get("content-type")]).toEqual([200, "image/webp"]);

	type Effect = { id: string; name: string; status: string };
	const effects = async (name: string): Promise<readonly Effect[]> =>
		((await (await desk.ask("GET", `${path}/effects`)).json()) as { effects: Effect[] }).effects.filter(
			(effect) => effect.name === name,
		);
	// A process may have died in the middle of it: then it says so, and is not started again.
	await expect
		.poll(
			async () =>
				(await effects("@desk/returns/remind")).every(({ status }) => /completed|failed/.test(status)),
			patience,
		)
		.toBe(true);
	const [nightly] = await effects("nightly");
	expect(nightly?.status).toBe("pending");
	await desk.ask("POST", `${path}/effects/${nightly?.id}/run`);
	await expect
		.poll(async () => (await effects("nightly")).map(({ status }) => status), patience)
		.toEqual(["completed", "pending"]);
	const report = await desk.ask("GET", `${path}/fs/reports/nightly.md`);
	expect(await report.text()).toContain(`${said.length} messages`);
	expect(desk.died).toBeGreaterThanOrEqual(deaths);
});
