// The stage `admitWaiting`: a store contains only its result until a run accepts the input.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { scriptedModel } from "@holdfast/testing";
import { messageFromJSON, messageToJSON, UserMessage } from "@holdfast/upp";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";
import { Agent } from "../agent/agent.ts";
import type { AgentOptions } from "../agent/options.ts";
import type { Fact } from "../facts/fact.ts";
import { type Host, journalHost } from "../host/host-port.ts";
import { memoryHost } from "../host/memory-host.ts";
import { memoryJournal } from "../host/memory-journal.ts";
import { sqliteHost } from "../sqlite.ts";
import { held, redacting } from "./interceptor.fixture.ts";
import type { Interceptor } from "./interceptor.ts";

const secret = "sk-1234567890";
const masked = (text: string): string => text.replaceAll(secret, "[redacted]");

/** Masks what is committed, and what waits to be committed. */
function hiding(asked: Fact[] = []): Interceptor {
	return {
		...redacting(secret),
		admitWaiting(fact) {
			asked.push(fact);
			if (fact.kind === "run.started") {
				const { parent } = fact;
				return parent?.description === undefined
					? undefined
					: { ...fact, parent: { ...parent, description: masked(parent.description) } };
			}
			if (!("message" in fact)) return;
			const { id, type, timestamp, ...said } = messageToJSON(fact.message as UserMessage);
			const hidden = JSON.parse(masked(JSON.stringify(said)));
			return { ...fact, message: messageFromJSON({ ...hidden, id, type, timestamp }) } as Fact;
		},
	};
}

/** A run that is in progress until `end` is called, and its agent. */
async function busy(options: Partial<AgentOptions>, host: Host) {
	const [entered, left] = [Promise.withResolvers<void>(), Promise.withResolvers<string>()];
	const wait = {
		name: "wait",
		description: "Waits.",
		parameters: { type: "object" },
		run() {
			entered.resolve();
			return left.promise;
		},
	};
	const model = scriptedModel([{ toolCalls: [{ name: "wait" }] }, "one", "two", "three"]);
	const agent = new Agent({ model, tools: [wait], host, middleware: [hiding()], ...options });
	const session = agent.session("s");
	const run = await session.send("go");
	void run.result();
	await entered.promise;
	return { agent, session, run, model, end: () => left.resolve("done") };
}

interface Kept {
	readonly host: Host;
	/** Returns everything that the host has stored. */
	kept(): Promise<string>;
}

function inSQLite(): Kept {
	const folder = temporaryFolder();
	const read = (name: string): string => readFileSync(join(folder, name), "latin1");
	return {
		host: sqliteHost(join(folder, "s.db")),
		kept: async () => readdirSync(folder).map(read).join("\n"),
	};
}

const hosts: Readonly<Record<string, () => Kept>> = {
	memory() {
		const host = memoryHost();
		return {
			host,
			kept: async () => JSON.stringify([await host.journal.inbox("s"), await held(host.journal)]),
		};
	},
	SQLite: inSQLite,
};

describe.each(Object.entries(hosts))("in %s", (_, make) => {
	test("a secret is not stored in any byte while an input waits, or after it was delivered", async () => {
		const { host, kept } = make();
		const { agent, session, run, model, end } = await busy({}, host);
		const queued = await session.send(`first ${secret}`, {
			dedupeKey: `key-${secret.slice(-4)}`,
			messageId: "m",
		});
		const steered = session.steer([{ type: "text", text: `second ${secret}` }]);
		await session.edit({ kind: "add", message: new UserMessage(`third ${secret}`) });
		await expect.poll(async () => (await host.journal.inbox("s")).length).toBe(3);
		const waiting = await kept();
		for (const text of ["first", "second", "third"]) expect(waiting).toContain(`${text} [redacted]`);
		expect(waiting).not.toContain(secret);
		expect((await host.journal.inbox("s")).map(({ id, kind }) => [kind, id === "m"])).toEqual([
			["message", true],
			["steer", false],
			["edit", false],
		]);
		end();
		await steered;
		await run.result();
		expect((await queued.result()).text).not.toBe("");
		await expect(session.send("again", { dedupeKey: "key-7890" })).rejects.toMatchObject({
			code: "duplicate_input",
		});
		const sent = JSON.stringify(model.requests.at(-1)?.messages);
		for (const text of ["first", "second", "third"]) expect(sent).toContain(`${text} [redacted]`);
		expect(await kept()).not.toContain(secret);
		await agent.close();
		await host.close();
	});

	test("an input that waited for a process that died is masked for the next process", async () => {
		const { host, kept } = make();
		const first = await busy({}, host);
		void (await first.session.send(`Use ${secret}`)).result();
		await first.agent.close();
		const model = scriptedModel(["resumed", "taken"]);
		const second = new Agent({ model, host, middleware: [hiding()] });
		await (await second.session("s").resume())?.result();
		await expect.poll(() => JSON.stringify(model.requests)).toContain("Use [redacted]");
		await second.close();
		expect(await kept()).not.toContain(secret);
		await host.close();
	});
});

test("work for a sub-agent and the notification of its end are stored masked", async () => {
	const host = memoryHost();
	const submitted: unknown[] = [];
	const { submit } = host.journal;
	host.journal.submit = (key, input) => {
		submitted.push(input);
		return submit.call(host.journal, key, input);
	};
	const helper = new Agent({
		name: "helper",
		description: "Helps.",
		model: scriptedModel(["It is done."]),
		middleware: [hiding()],
	});
	const call = { prompt: `Use ${secret}`, description: `with ${secret}`, run_in_background: true };
	const parent = new Agent({
		model: scriptedModel([
			{ toolCalls: [{ name: "delegate_to_helper", arguments: call }] },
			"begun",
			"heard",
		]),
		subagents: [helper],
		host,
		middleware: [{ ...hiding(), begin: () => undefined }],
	});
	await (await parent.session("s").send("go")).result();
	await expect.poll(() => submitted.length).toBe(2);
	expect(submitted).toMatchObject([{ kind: "message" }, { kind: "notice" }]);
	const text = JSON.stringify(submitted);
	expect(text).toContain("Use [redacted]");
	expect(text.split("with [redacted]").length).toBeGreaterThan(2);
	expect(text).not.toContain(secret);
	await parent.close();
});

test("it is not called for a turn that starts at once", async () => {
	const asked: Fact[] = [];
	const agent = new Agent({ model: scriptedModel(["one"]), middleware: [hiding(asked)] });
	await (await agent.session("s").send("go")).result();
	expect(asked).toEqual([]);
	await agent.close();
});

const admitting = (more: Partial<Interceptor>, admits?: readonly Fact["kind"][]): Interceptor => ({
	name: "plain",
	begin: () => ({ admit: () => undefined, deltas: "as-is", ...(admits && { admits }) }),
	...more,
});

test("an admit that handles inputs, without admitWaiting, rejects each input, and nothing of it is stored", async () => {
	const { host, kept } = inSQLite();
	const model = scriptedModel(["one"]);
	const { admitWaiting, ...plainly } = redacting(secret);
	const agent = new Agent({ model, host, middleware: [plainly] });
	const result = await (await agent.session("s").send(`Use ${secret}`)).result();
	expect(result).toMatchObject({ outcome: "error", error: { code: "policy_invalid" } });
	expect(result.error?.message).toContain("admitWaiting");
	expect(model.requests).toEqual([]);
	expect(await kept()).not.toContain(secret);
	await agent.close();
	await host.close();
});

test.each([
	["states that it changes no input", admitting({ admitWaiting: "as-is" })],
	["is not asked about inputs", admitting({}, ["assistant", "tool.settled"])],
])("an admit that %s needs no function", async (_, plain) => {
	const { agent, session, run, end } = await busy({ middleware: [plain] }, memoryHost());
	const queued = await session.send("more");
	end();
	await run.result();
	expect((await queued.result()).text).toBe("two");
	await agent.close();
});

test("a call stores nothing while it waits, and an admit needs no admitWaiting there", async () => {
	const agent = new Agent({ model: scriptedModel(["one"]), middleware: [admitting({})] });
	expect((await agent.generate("go")).turn.response.text).toBe("one");
	await agent.close();
});

test.each([
	["answers later", () => Promise.reject(new Error("no")) as never, "policy_invalid"],
	[
		"fails",
		(): never => {
			throw new Error("no");
		},
		"policy_failed",
	],
	[
		"changes an id",
		(fact: Fact) => ({ ...fact, inputId: "other", messageId: "other" }) as unknown as Fact,
		"policy_invalid",
	],
])("one that %s rejects the input, and nothing is stored", async (_, admitWaiting, code) => {
	const host = memoryHost();
	const { agent, session, run, end } = await busy(
		{ middleware: [{ name: "bad", begin: () => undefined, admitWaiting }] },
		host,
	);
	await expect(session.send("more")).rejects.toMatchObject({ code });
	await expect(session.steer("more")).rejects.toMatchObject({ code });
	await expect(session.edit({ kind: "add", message: new UserMessage("more") })).rejects.toMatchObject({
		code,
	});
	expect(await host.journal.inbox("s")).toEqual([]);
	end();
	expect((await run.result()).text).toBe("one");
	await agent.close();
});

describe("an answer from another process while a call of the same answer runs", () => {
	const deletes = {
		name: "delete",
		description: "Deletes.",
		parameters: { type: "object" },
		needsApproval: true,
		run: () => "deleted",
	};
	const masks = (fact: Fact): Fact =>
		fact.kind === "decision" ? (JSON.parse(masked(JSON.stringify(fact))) as Fact) : fact;
	const looks = (kinds: readonly Fact["kind"][], others: Partial<Interceptor> = {}): Interceptor => ({
		name: "looks",
		begin: () => ({
			admits: kinds,
			deltas: "as-is",
			admit: (fact) => (fact.kind === "assistant" ? undefined : { fact: masks(fact) }),
		}),
		...others,
	});

	/** A run with one call that waits and one that runs, in the session itself or in a sub-agent. */
	async function asked(where: "session" | "sub-agent", middleware: readonly Interceptor[]) {
		const journal = memoryJournal();
		const second = journal.worker("second");
		const slow = Promise.withResolvers<string>();
		const working = { ...deletes, name: "slow", needsApproval: false, run: () => slow.promise };
		const make = (of: typeof journal): Agent => {
			const model = scriptedModel([{ toolCalls: [{ name: "delete" }, { name: "slow" }] }, "done"]);
			const works = { model, tools: [deletes, working], middleware };
			const host = journalHost(of, { capabilities: {} });
			if (where === "session") return new Agent({ ...works, host });
			const worker = new Agent({ ...works, name: "worker", description: "Works." });
			const delegate = { toolCalls: [{ name: "delegate_to_worker", arguments: { prompt: "go" } }] };
			return new Agent({ model: scriptedModel([delegate, "done"]), subagents: [worker], host });
		};
		const [first, other] = [make(journal), make(second)];
		const run = await first.session("s").send("go");
		void run.result();
		await expect.poll(() => first.session("s").pending()).toHaveLength(1);
		const [call] = await first.session("s").pending();
		const answer = { toolCallId: call?.toolCallId ?? "", approved: true, reason: `see ${secret}` };
		const answered = other.session("s").answer([answer]);
		const end = async () => {
			slow.resolve("slowly");
			await run.result();
			await other.close();
			await first.close();
		};
		return { first, answered, answer, journal, end };
	}

	describe.each(["session", "sub-agent"] as const)("in a %s", (where) => {
		test("is stored as `admitWaiting` leaves it", async () => {
			const { answered, journal, end } = await asked(where, [looks(["decision"], { admitWaiting: masks })]);
			await answered;
			const waiting = JSON.stringify(journal.inbox("s"));
			expect(waiting).toContain("see [redacted]");
			expect(waiting).not.toContain(secret);
			await end();
			for (const { key } of journal.list()) expect(JSON.stringify(journal.read(key))).not.toContain(secret);
		});

		test.each(["decision", "tool.settled"] as const)(
			"is rejected if an `admit` handles %s and nothing declares what it does to waiting ones",
			async (kind) => {
				const { first, answered, answer, journal, end } = await asked(where, [looks([kind])]);
				await expect(answered).rejects.toMatchObject({ code: "policy_invalid" });
				expect(journal.inbox("s")).toEqual([]);
				await first.session("s").answer([answer]);
				await end();
				if (kind === "decision")
					for (const { key } of journal.list())
						expect(JSON.stringify(journal.read(key))).not.toContain(secret);
			},
		);

		test.each([
			["as-is", looks(["decision"], { admitWaiting: "as-is" })],
			["other", looks(["assistant"])],
		])("waits if no `admit` changes it: %s", async (_, interceptor) => {
			const { answered, end } = await asked(where, [interceptor]);
			await answered;
			await end();
		});
	});
});
