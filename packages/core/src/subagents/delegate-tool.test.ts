import { scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { Agent } from "../agent/agent.ts";
import { createSubAgentTool } from "../agent/create-sub-agent-tool.ts";
import { memoryJournal } from "../host/memory-journal.ts";
import { calls, eventsOf, family, gate, helper, outputsOf, until } from "./delegate.fixture.ts";

/** A sub-agent that answers with all prompts of its session. */
function listener(name = "helper"): Agent {
	return helper(name, ({ messages }) => {
		const asked = messages.filter(({ type }) => type === "user") as unknown as { text: string }[];
		return asked.map(({ text }) => text).join(" + ");
	});
}

const ask = (prompt: string, more: Record<string, unknown> = {}): [string, Record<string, unknown>] => [
	"delegate_to_helper",
	{ prompt, ...more },
];

describe("the tool of a sub-agent", () => {
	test("accepts a prompt, and optionally a description, a session key and the background [SES-052]", async () => {
		const { parent, model } = family(["said"], [helper("my-helper", [])]);
		await (await parent.send("go")).result();
		const tool = model.requests[0]?.tools?.[0];
		expect(tool).toMatchObject({ name: "delegate_to_my_helper", parameters: { required: ["prompt"] } });
		expect(tool?.description).toContain("Works as my-helper.");
		const { properties = {} } = (tool?.parameters ?? {}) as { properties?: object };
		expect(Object.keys(properties)).toEqual(["prompt", "description", "sessionKey", "run_in_background"]);
	});

	test("returns an error and starts nothing without a prompt [SES-052]", async () => {
		const child = listener();
		const { parent, journal } = family(
			[calls(["delegate_to_helper", { description: "x" }]), "said"],
			[child],
		);
		const events = await eventsOf(await parent.send("go"));
		expect(events).toContainEqual(expect.objectContaining({ type: "tool-result", isError: true }));
		expect(outputsOf(events)[0]).toContain("prompt");
		expect(journal.list()).toHaveLength(1);
	});

	test("returns the last text and the status, and nothing else of its work [SES-053]", async () => {
		const secret = { name: "look", description: "Looks.", run: () => "secret trace" };
		const child = helper("helper", [{ text: "I look.", ...calls(["look", {}]) }, "Four."], {
			tools: [secret],
		});
		const { parent, journal } = family([calls(ask("2+2?")), "It is four."], [child]);
		const events = await eventsOf(await parent.send("go"));
		expect(outputsOf(events)).toEqual([{ status: "completed", text: "Four." }]);
		const kept = JSON.stringify([events, journal.read("default"), await parent.session("default").state()]);
		expect(kept).not.toContain("secret trace");
		expect(kept).not.toContain("I look.");
	});

	test("returns the checked output of a sub-agent that has one, with the defaults of its schema", async () => {
		const output = z.object({ sum: z.number(), unit: z.string().default("apples") });
		const child = (): Agent => helper("helper", ['{"sum":4}'], { output });
		const { parent } = family([calls(ask("2+2?")), "said"], [child()]);
		const sum = { sum: 4, unit: "apples" };
		expect(outputsOf(await eventsOf(await parent.send("go")))).toEqual([
			{ status: "completed", output: sum },
		]);

		const parameters = { type: "object", properties: { query: { type: "string" } } } as const;
		const count = createSubAgentTool({ agent: child(), name: "count", description: "Counts.", parameters });
		const inSession = family([calls(["count", { query: "2+2?" }]), "said"], [], { tools: [count] });
		const events = await eventsOf(await inSession.parent.send("go"));
		expect(outputsOf(events)).toEqual([JSON.stringify(sum)]);
		const called = await new Agent({
			model: scriptedModel([calls(["count", { query: "2+2?" }]), "said"]),
			tools: [createSubAgentTool({ agent: child(), name: "count", description: "Counts.", parameters })],
		}).generate("go");
		expect(called.turn.toolExecutions[0]?.result).toBe(JSON.stringify(sum));
	});

	test("emits the start and the end of the job between call and result [SES-054]", async () => {
		const { parent } = family(
			[calls(ask("2+2?", { description: "sum" })), "said"],
			[helper("helper", ["4"])],
		);
		const events = await eventsOf(await parent.send("go"));
		const at = events.findIndex(({ type }) => type === "tool-call");
		expect(events.slice(at, at + 4)).toEqual([
			expect.objectContaining({ type: "tool-call", toolCallId: "call_0_0" }),
			{
				type: "subagent-job-start",
				subagent: "helper",
				run_in_background: false,
				description: "sum",
				delegateToolCallId: "call_0_0",
			},
			{
				type: "subagent-job-end",
				subagent: "helper",
				status: "completed",
				// user-text, turn-start, step-start, assistant-text, step-end, turn-end
				eventCount: 6,
				delegateToolCallId: "call_0_0",
			},
			expect.objectContaining({ type: "tool-result", toolCallId: "call_0_0" }),
		]);
	});

	test("returns an error that names a sub-agent that failed, and the turn continues [SES-055]", async () => {
		const { parent } = family(
			[calls(ask("2+2?")), "So be it."],
			[helper("helper", [{ error: new Error("out of numbers") }])],
		);
		const events = await eventsOf(await parent.send("go"));
		expect(events).toContainEqual(
			expect.objectContaining({
				type: "tool-result",
				isError: true,
				output: 'The sub-agent "helper" failed: out of numbers',
			}),
		);
		expect(events).toContainEqual(
			expect.objectContaining({ type: "subagent-job-end", status: "error", error: "out of numbers" }),
		);
		expect(events.slice(-3).map(({ type }) => type)).toEqual(["assistant-text", "step-end", "turn-end"]);
	});

	test("runs blocking if the host offers no background, regardless of what the model requests [SES-074]", async () => {
		const script = [calls(ask("a", { run_in_background: true })), "said"];
		const { parent, model } = family(script, [helper("helper", ["done"])], { hostIs: "blocking" });
		expect(outputsOf(await eventsOf(await parent.send("go")))).toEqual([
			{ status: "completed", text: "done" },
		]);
		const tools = model.requests[0]?.tools ?? [];
		expect(tools.map(({ name }) => name)).toEqual(["delegate_to_helper"]);
		expect(JSON.stringify(tools)).not.toContain("background");
	});
});

describe("the session of a sub-agent", () => {
	test("continues under the same key, and is shared by all calls without a key [SES-056]", async () => {
		const script = [
			calls(ask("a", { sessionKey: "x" })),
			calls(ask("b", { sessionKey: "x" })),
			calls(ask("c")),
			calls(ask("d")),
			"said",
		];
		const events = await eventsOf(await family(script, [listener()]).parent.send("go"));
		expect(outputsOf(events).map((output) => (output as { text: string }).text)).toEqual([
			"a",
			"a + b",
			"c",
			"c + d",
		]);
	});

	test("runs two calls of one key one after the other", async () => {
		const script = [calls(ask("a"), ask("b")), "said"];
		const events = await eventsOf(await family(script, [listener()]).parent.send("go"));
		expect(outputsOf(events).map((output) => (output as { text: string }).text)).toEqual(["a", "a + b"]);
	});

	test("differs for another parent session, and for another sub-agent [SES-057]", async () => {
		const key = { sessionKey: "x" };
		const script = [
			calls(ask("a", key)),
			calls(["delegate_to_other", { prompt: "b", ...key }]),
			"said",
			calls(ask("c", key)),
			"said",
		];
		const { parent } = family(script, [listener(), listener("other")]);
		const first = await eventsOf(await parent.session("one").send("go"));
		const second = await eventsOf(await parent.session("two").send("go"));
		const texts = [...outputsOf(first), ...outputsOf(second)].map(
			(output) => (output as { text: string }).text,
		);
		expect(texts).toEqual(["a", "b", "c"]);
	});

	test("is within the scope of parent and sub-agent, for any key that the model chooses [SES-058]", async () => {
		const journal = memoryJournal();
		const spy = family(["I am private."], [], { journal }).parent;
		await (await spy.session("other").send("mine")).result();
		const plain = family([calls(ask("a")), "said"], [listener()], { journal }).parent;
		await (await plain.session("victim").send("go")).result();
		const storeKeys = journal.list().map(({ key }) => key);
		const known = storeKeys.map((place) => journal.head(place)?.seq);
		const hostile = ["../x", "default\u0000", "\u0000", "\u0000task\u0000bg_1", ...storeKeys];
		const script = [...hostile.map((sessionKey) => calls(ask("evil", { sessionKey }))), "said"];
		const { parent } = family(script, [listener()], { journal });
		const events = await eventsOf(await parent.session("attacker").send("go"));
		expect(outputsOf(events)).toEqual(hostile.map(() => ({ status: "completed", text: "evil" })));
		expect(storeKeys.map((place) => journal.head(place)?.seq)).toEqual(known);
		const scope = "\u0000sub\u00008\u0000attacker\u00006\u0000helper\u0000";
		const added = journal.list().filter(({ key }) => !storeKeys.includes(key) && key !== "attacker");
		expect(added.filter(({ key }) => !key.startsWith(scope))).toEqual([]);
		expect(added).toHaveLength(hostile.length);
	});

	test("of a sub-agent's own sub-agent is within the sub-agent's, on the same host", async () => {
		const inner = helper("inner", ["deep"]);
		const middle = helper("helper", [calls(["delegate_to_inner", { prompt: "dig" }]), "found it"], {
			subagents: [inner],
		});
		const { parent, journal } = family([calls(ask("go deep")), "said"], [middle]);
		expect(outputsOf(await eventsOf(await parent.send("go")))).toEqual([
			{ status: "completed", text: "found it" },
		]);
		expect(journal.list()).toHaveLength(3);
	});
});

describe("a parent that stops while its sub-agent works", () => {
	/** A parent whose sub-agent has started a tool that only ends by its signal. */
	async function withWorkingChild(journal = memoryJournal()) {
		const begun = gate();
		let signal: AbortSignal | undefined;
		const wait = {
			name: "wait",
			description: "Waits.",
			run: (_: unknown, context: { signal: AbortSignal }) => {
				signal = context.signal;
				begun.open();
				return new Promise(() => {});
			},
		};
		const child = helper("helper", [calls(["wait", {}]), "never"], { tools: [wait] });
		const { parent } = family([calls(ask("wait")), "never", "next"], [child], { journal });
		const session = parent.session("s");
		const run = await session.send("go");
		const events = eventsOf(run);
		await begun.promise;
		const place = journal.list().find(({ key }) => key !== "s")?.key as string;
		return { session, run, events, journal, place, signal: signal as unknown as AbortSignal, parent };
	}

	test("by an interrupt aborts it: its run and the call are cancelled [SES-059]", async () => {
		const { session, events, journal, place, signal } = await withWorkingChild();
		session.interrupt();
		expect(await events).toContainEqual({
			type: "tool-result",
			toolCallId: "call_0_0",
			toolName: "delegate_to_helper",
			output: expect.stringContaining("cancelled"),
			isError: true,
		});
		expect(signal.aborted).toBe(true);
		await until(journal, place, () => journal.head(place)?.openRunId === undefined);
		expect(journal.read(place).at(-1)?.fact).toMatchObject({ kind: "run.ended", outcome: "aborted" });
		expect((await events).at(-1)).toEqual({ type: "turn-abort" });
	});

	test.each(["kill", "delete"] as const)(
		"by %s() has recorded the end of the child's run when its signal aborts [SES-111]",
		async (how) => {
			const { session, events, journal, place, signal } = await withWorkingChild();
			const atAbort: unknown[] = [];
			signal.addEventListener("abort", () => atAbort.push(journal.read(place).at(-1)?.fact));
			await session[how]();
			expect(atAbort).toEqual([expect.objectContaining({ kind: "run.ended", outcome: "killed" })]);
			expect((await events).at(-1)).toMatchObject({ type: "turn-error", code: "session_killed" });
			if (how === "delete") expect(journal.list()).toEqual([]);
		},
	);

	test.each(["kill", "delete"] as const)(
		"also stops it if the end cannot be recorded, and %s() reports the reason [SES-114]",
		async (how) => {
			const journal = memoryJournal();
			const { session, signal, events } = await withWorkingChild(journal);
			const isGone = (): never => {
				throw new Error("the store is gone");
			};
			Object.assign(journal, { acquire: isGone, delete: isGone });
			await expect(session[how]()).rejects.toThrow("the store is gone");
			await expect.poll(() => signal.aborted).toBe(true);
			expect((await events).at(-1)).toMatchObject({ type: "turn-error", code: "session_killed" });
		},
	);

	test("also ends a child's child [SES-112]", async () => {
		const begun = gate();
		const deep = helper("inner", () => {
			begun.open();
			return { gate: new Promise(() => {}) };
		});
		const middle = helper("helper", [calls(["delegate_to_inner", { prompt: "dig" }]), "never"], {
			subagents: [deep],
		});
		const { parent, journal } = family([calls(ask("go")), "never"], [middle]);
		const session = parent.session("s");
		void (await session.send("go")).result();
		await begun.promise;
		expect(journal.list({ state: "open" })).toHaveLength(3);
		await session.kill();
		expect(journal.list({ state: "open" })).toEqual([]);
		const ends = journal.list().map(({ key }) => journal.read(key).at(-1)?.fact);
		expect(ends).toEqual(
			[1, 2, 3].map(() => expect.objectContaining({ kind: "run.ended", outcome: "killed" })),
		);
	});

	test("by a suspension also leaves it open, and both continue when it is resumed", async () => {
		const journal = memoryJournal();
		const held = gate();
		const child = helper("helper", () => {
			held.open();
			return { gate: new Promise(() => {}) };
		});
		const { parent } = family([calls(ask("work"))], [child], { journal });
		const session = parent.session("s");
		const run = await session.send("go");
		const result = run.result();
		await held.promise;
		run.suspend();
		expect(await result).toMatchObject({ outcome: "suspended" });
		await parent.close();
		expect(journal.list({ state: "open" })).toHaveLength(2);
		const next = family(["All done."], [helper("helper", ["done"])], { journal: journal.worker("next") });
		const resumed = await next.parent.session("s").resume();
		expect(await resumed?.result()).toMatchObject({ outcome: "completed", text: "All done." });
		expect(journal.list()).toHaveLength(2);
	});
});

/** The session of "helper" under the session "s". */
const place = "\u0000sub\u00001\u0000s\u00006\u0000helper\u0000default";

describe("work that is stopped while it is accepted", () => {
	/**
	 * A parent whose call submits work to the sub-agent: the store accepts it, or answers, only when `comes` is called.
	 */
	async function accepting(held: "input" | "answer" = "answer") {
		const journal = memoryJournal();
		const [begun, mayCome] = [gate(), gate()];
		const submit = journal.submit.bind(journal);
		journal.submit = async (key, input) => {
			const taken = held === "answer" ? submit(key, input) : undefined;
			begun.open();
			await mayCome.promise;
			return taken ?? submit(key, input);
		};
		const wakes: (() => void)[] = [];
		const calledOff: unknown[] = [];
		const after = (_: number, wake: () => void): (() => void) => {
			wakes.push(wake);
			return () => calledOff.push(wake);
		};
		const child = helper("helper", ["never"], { ports: { timers: { after } } });
		const { parent } = family([calls(ask("work")), "never"], [child], { journal });
		const session = parent.session("s");
		const run = await session.send("go");
		const result = run.result();
		await begun.promise;
		return {
			journal,
			session,
			run,
			result,
			wakes,
			calledOff,
			close: () => parent.close(),
			comes: mayCome.open,
			waiting: () => journal.head(place)?.waiting,
		};
	}

	test.each(["interrupt", "kill", "delete"] as const)(
		"and arrives after %s() ended the requesting run is rejected, and leaves nothing",
		async (how) => {
			const { journal, session, result, comes } = await accepting("input");
			const ended = session[how]();
			if (how === "interrupt") await result;
			await ended;
			comes();
			await new Promise((resolve) => setImmediate(resolve));
			expect(journal.list().map(({ key }) => key)).toEqual(how === "delete" ? [] : ["s"]);
		},
	);

	test("by an interrupt is withdrawn", async () => {
		const { session, result, comes, waiting } = await accepting();
		session.interrupt();
		expect((await result).outcome).toBe("aborted");
		comes();
		await expect.poll(waiting).toBe(0);
	});

	test("by an interrupt is withdrawn together with leftovers of an ended run", async () => {
		const { journal, session, result, comes, waiting } = await accepting();
		const other = journal.worker("other");
		await other.submit(place, { id: "over.1.0", kind: "message", workerId: "other", body: {} });
		session.interrupt();
		await result;
		comes();
		await expect.poll(waiting).toBe(0);
	});

	test("by an interrupt is withdrawn as soon as the store is writable again", async () => {
		const { journal, session, result, comes, waiting, wakes } = await accepting();
		session.interrupt();
		await result;
		const acquire = journal.acquire.bind(journal);
		let refusals = 2;
		journal.acquire = (key, options) => {
			if (refusals-- > 0) throw new Error("not now");
			return acquire(key, options);
		};
		comes();
		for (const count of [1, 2]) {
			await expect.poll(() => wakes.length).toBe(count);
			expect(waiting()).toBe(1);
			wakes[count - 1]?.();
		}
		await expect.poll(waiting).toBe(0);
	});

	test("by another process that ended the parent's run is withdrawn, and left to its other owner", async () => {
		for (const ends of [true, false]) {
			const { journal, run, result, comes, waiting, wakes } = await accepting();
			const other = await journal.worker("other").acquire("s", { mode: "seize" });
			if (!other.ok) throw new Error("it could not be taken");
			const ended = { kind: "run.ended", outcome: "aborted" } as const;
			const resumed = { kind: "run.resumed", attempt: 2, fingerprint: "f", reason: "lease-lost" } as const;
			await other.lease.append({ at: 0, runId: run.runId, facts: [ends ? ended : resumed] });
			expect(await result).toMatchObject({ error: { code: "lease_lost" } });
			comes();
			await expect.poll(() => wakes.length).toBe(1);
			wakes[0]?.();
			await new Promise((resolve) => setImmediate(resolve));
			expect(waiting()).toBe(ends ? 0 : 1);
		}
	});

	test("does not keep the process alive to be withdrawn when the agent is closed", async () => {
		const { journal, session, result, comes, wakes, calledOff, close } = await accepting();
		session.interrupt();
		await result;
		journal.acquire = () => {
			throw new Error("not now");
		};
		comes();
		await expect.poll(() => wakes.length).toBe(1);
		await close();
		expect(calledOff).toEqual(wakes);
	});
});

describe("a crash while a sub-agent works", () => {
	test("is counted for the run that waits for it: that one is parked, and both continue after its release", async () => {
		const options = { maxRestarts: 0 };
		const dead = memoryJournal();
		const stuck = helper("helper", [{ gate: new Promise(() => {}) }], options);
		const first = family([calls(ask("deadly"))], [stuck], { journal: dead, ...options });
		void (await first.parent.session("s").send("go")).result();
		await until(dead, place, () => dead.head(place)?.openRunId !== undefined);
		dead.close();
		const journal = dead.worker("living");
		const { parent } = family(["So be it."], [helper("helper", ["done"], options)], { journal, ...options });
		const session = parent.session("s");
		await expect(session.resume()).rejects.toMatchObject({ code: "run_parked" });
		const released = await eventsOf((await session.release()) as never);
		expect(outputsOf(released)).toEqual([{ status: "completed", text: "done" }]);
	});

	test("resumes the same child when the parent continues, and never a second one [SES-103]", async () => {
		const dead = memoryJournal();
		const child = helper("helper", [{ gate: new Promise(() => {}), text: "never" }]);
		const first = family([calls(ask("work"))], [child], { journal: dead });
		void (await first.parent.session("s").send("go")).result();
		await until(dead, place, () => dead.head(place)?.openRunId !== undefined);
		dead.die();
		const journal = dead.worker("living");
		const second = family(["All done."], [helper("helper", ["done"])], { journal });
		const run = await second.parent.session("s").resume();
		expect(outputsOf(await eventsOf(run as never))).toEqual([{ status: "completed", text: "done" }]);
		const facts = journal.read(place).map(({ fact }) => fact.kind);
		expect(facts.filter((kind) => kind === "run.started")).toHaveLength(1);
		expect(facts.filter((kind) => kind === "input")).toHaveLength(1);
		expect(facts).toContain("run.resumed");
		expect(journal.list()).toHaveLength(2);
	});

	test("after which only the parent is found interrupted ends the child, and revives nothing", async () => {
		const dead = memoryJournal();
		const stuck = helper("helper", [{ gate: new Promise(() => {}) }]);
		const first = family([calls(ask("work"))], [stuck], { journal: dead });
		const run = await first.parent.session("s").send("go");
		void run.result();
		await until(dead, place, () => dead.head(place)?.openRunId !== undefined);
		dead.die();
		const journal = dead.worker("living");
		const parent = await journal.acquire("s", { mode: "seize" });
		if (!parent.ok) throw new Error("it could not be taken");
		const ended = { kind: "run.ended", outcome: "aborted" } as const;
		await parent.lease.append({ at: 0, runId: run.runId, facts: [ended] });
		const idle = helper("helper", []);
		for await (const _ of family([], [idle], { journal }).parent.recover()) throw new Error("it was revived");
		expect(journal.read(place).at(-1)?.fact).toMatchObject({ kind: "run.ended", outcome: "killed" });
		expect(journal.list({ state: "orphaned" })).toEqual([]);
	});

	test("finds a child that ended in the meantime, and does not call its model again", async () => {
		const dead = memoryJournal();
		const first = family([calls(ask("work"))], [helper("helper", ["done"])], { journal: dead });
		const run = await first.parent.session("s").send("go");
		await new Promise<void>((resolve) => {
			// The process dies with the child's last commit: nothing that follows is committed.
			const stop = dead.watch(place, () => {
				if (dead.read(place).at(-1)?.fact.kind !== "run.ended") return;
				stop();
				dead.close();
				resolve();
			});
			void run.result();
		});
		const journal = dead.worker("living");
		const model = scriptedModel([]);
		const idle = new Agent({ model, name: "helper", description: "Helps." });
		const second = family(["All done."], [idle], { journal });
		const resumed = await second.parent.session("s").resume();
		const result = await resumed?.result();
		expect(result?.text).toBe("All done.");
		expect(model.requests).toEqual([]);
		expect(journal.read(place).filter(({ fact }) => fact.kind === "run.started")).toHaveLength(1);
	});
});
