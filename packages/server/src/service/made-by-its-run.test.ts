// A session that its first run makes: what it is made with and the beginning of the run are one commit (keeps I3).
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { scriptedModel } from "@holdfast/testing";
import { type AgentOptions, HoldfastError, type Host } from "holdfast";
import type { LoggedEvent } from "holdfast/execute";
import { type SqliteJournal, sqliteHost } from "holdfast/sqlite";
import { afterEach, beforeEach, expect, test } from "vitest";
import { everyField } from "../every-field.fixture.ts";
import { servedKey } from "./served-key.ts";
import type { SessionService } from "./service-types.ts";
import { sessionService } from "./session-service.ts";

const open: (SessionService | Host)[] = [];
let folder = "";
beforeEach(() => {
	folder = mkdtempSync(join(tmpdir(), "holdfast-"));
});
afterEach(async () => {
	for (const each of open.splice(0)) await each.close();
	rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
});

/** A server of its own over a file; it waits after it has found no session. */
function serve(
	path: string,
	agent: AgentOptions,
	found: () => Promise<unknown> = async () => {},
): SessionService & { readonly host: Host } {
	const host = sqliteHost(path);
	const values: Host["values"] = {
		...host.values,
		values(key, owner) {
			const own = host.values.values(key, owner);
			const get = async (name: string): Promise<unknown> => {
				const value = await own.get(name);
				if (name === "session" && value === undefined) await found();
				return value;
			};
			return { ...own, get };
		},
	};
	const service = sessionService({ host: { ...host, values }, agent, clientsMaySet: everyField });
	open.push(service, host);
	return Object.assign(service, { host });
}

async function read(events: AsyncIterable<readonly LoggedEvent[]>): Promise<void> {
	for await (const _ of events);
}

const never = { text: "", beforeDelta: () => new Promise<void>(() => {}) };
const prompted = (systemPrompt: string) => ({ input: "Hi.", context: { systemPrompt } });

test("the initial data of a session is one transaction with the start of its first run", async () => {
	const model = scriptedModel([never]);
	const service = serve(join(folder, "s.db"), { model });
	const journal = service.host.journal as SqliteJournal;
	const { transactions } = journal;
	await service.submit("t", "s", {
		...prompted("Be brief."),
		options: { temperature: 0.5, maxTokens: 7 },
	});
	expect(journal.transactions).toBe(transactions + 1);
	const key = servedKey("t", "s");
	expect(await service.host.values.values(key, "holdfast.serving").list()).toEqual([
		{ name: "session", value: { tools: [], systemPrompt: "Be brief.", temperature: 0.5, maxTokens: 7 } },
	]);
	await expect.poll(() => model.requests).toHaveLength(1);
	expect(model.requests[0]).toMatchObject({
		system: "Be brief.",
		params: { temperature: 0.5, maxOutputTokens: 7 },
	});
});

test.each(["under way", "over"] as const)(
	"of two servers that find no session the first creates it, and the other adds to it: its run is %s",
	async (state) => {
		const path = join(folder, "s.db");
		const gate = Promise.withResolvers<void>();
		const held = { text: "One.", beforeDelta: () => gate.promise };
		const one = serve(path, { model: scriptedModel([held]) });
		const models = scriptedModel(() => "Two.");
		const first = Promise.withResolvers<void>();
		const other = serve(path, { model: models }, () => first.promise);
		const second = other.submit("t", "s", prompted("second"));
		expect(await one.submit("t", "s", prompted("first"))).toMatchObject({ created: true });
		if (state === "over") {
			gate.resolve();
			await read(one.follow("t", "s", { until: "idle" }));
		}
		first.resolve();
		expect(await second).toMatchObject({ created: false, attached: false });
		gate.resolve();
		await expect
			.poll(async () => (await one.get("t", "s"))?.messages.map(({ role }) => role))
			.toEqual(["user", "assistant", "user", "assistant"]);
		const { values } = one.host;
		expect(await values.values(servedKey("t", "s"), "holdfast.serving").get("session")).toEqual({
			tools: [],
			systemPrompt: "first",
		});
	},
);

test("a session with a new id is created and followed without a lookup", async () => {
	let looks = 0;
	const host = sqliteHost(join(folder, "s.db"));
	const values: Host["values"] = {
		...host.values,
		values(key, owner) {
			const own = host.values.values(key, owner);
			return {
				...own,
				get: (name) => {
					looks++;
					return own.get(name);
				},
			};
		},
	};
	const service = sessionService({ host: { ...host, values }, agent: { model: scriptedModel(["One."]) } });
	open.push(service, host);
	const { after, created } = await service.submit("t", "s", { input: "Hi.", context: {}, isNew: true });
	expect(created).toBe(true);
	await read(service.follow("t", "s", { after, isKnown: true }));
	expect(looks).toBe(0);
});

test("an existing session is continued even if its id was declared new", async () => {
	const service = serve(join(folder, "s.db"), { model: scriptedModel(["One.", "Two."]) });
	await service.submit("t", "s", prompted("first"));
	await read(service.follow("t", "s"));
	const submitted = await service.submit("t", "s", { ...prompted("second"), isNew: true });
	expect(submitted).toMatchObject({ created: false, attached: false });
	await read(service.follow("t", "s"));
	expect((await service.get("t", "s"))?.messages).toHaveLength(4);
});

test("a follower of a deleted session is notified, even if it was declared to exist", async () => {
	const service = serve(join(folder, "s.db"), { model: scriptedModel(["One."]) });
	const { after } = await service.submit("t", "s", prompted("x"));
	await read(service.follow("t", "s"));
	const { lastEventId } = (await service.get("t", "s")) ?? {};
	await service.delete("t", "s");
	for (const known of [after, lastEventId, undefined]) {
		const events = service.follow("t", "s", { after: known, until: "never", isKnown: true });
		await expect(read(events)).rejects.toMatchObject({ code: "session_not_found" });
	}
});

test("a session that was started differently is not created", async () => {
	const service = serve(join(folder, "s.db"), { model: scriptedModel([]) });
	const taken = await service.host.journal.acquire(servedKey("t", "s"));
	if (!taken.ok) throw new Error("a new session is free");
	const facts = [{ kind: "run.started", runKind: "user-turn", agentId: "", fingerprint: "" } as const];
	await taken.lease.append({ at: 1, runId: "r", facts });
	await taken.lease.release();
	await expect(service.submit("t", "s", prompted("x"))).rejects.toMatchObject({ code: "session_exists" });
	expect(await service.get("t", "s")).toBeUndefined();
});

test("a session whose first message policy rejects still exists and continues", async () => {
	let refuses = true;
	const service = serve(join(folder, "s.db"), {
		model: scriptedModel(["Yes."]),
		middleware: [
			{
				name: "refusing",
				admitWaiting: "as-is",
				begin: () => ({
					admit: () => {
						if (refuses) throw new HoldfastError("not_here", "Not here.");
					},
				}),
			},
		],
	});
	await service.submit("t", "s", prompted("Be brief."));
	await read(service.follow("t", "s", { until: "idle" }));
	refuses = false;
	expect(await service.submit("t", "s", { input: "Again." })).toMatchObject({ created: false });
	await read(service.follow("t", "s", { until: "idle" }));
	expect((await service.get("t", "s"))?.messages.at(-1)).toMatchObject({ role: "assistant" });
});
