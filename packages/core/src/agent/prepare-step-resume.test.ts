// Steps changed by `prepareStep` when runs are interrupted, repeated, steered, forked and waiting.
import { manualTime, scriptedModel } from "@holdfast/testing";
import { type LLMRequest, UPPError } from "@holdfast/upp";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";
import type { AssistantSaid, Entry } from "../facts/fact.ts";
import { cutOff } from "../host/cut-off.fixture.ts";
import { type Host, journalHost } from "../host/host-port.ts";
import { memoryHost } from "../host/memory-host.ts";
import { memoryJournal } from "../host/memory-journal.ts";
import { fallback } from "../policy/middleware/fallback.ts";
import type { Session } from "../sessions/session.ts";
import { settled } from "../sessions/sessions.fixture.ts";
import { sqliteHost } from "../sqlite.ts";
import { anyTool, contentOf } from "./agent.fixture.ts";
import { Agent } from "./agent.ts";

const pure = { retryPolicy: "pure" } as const;

/** Depends only on the request: the same request gets the same answer. */
function answerTo({ messages, tools = [] }: LLMRequest) {
	if (messages.length >= 7) return "Done.";
	const at = messages.length;
	return {
		text: `With ${tools.map(({ name }) => name).join("+")}.`,
		toolCalls: [
			{ name: "look", id: `l${at}` },
			{ name: "delete", id: `d${at}` },
		],
	};
}

/** The second of three steps may only look. */
function agentOver(host: Host, asked: number[] = [], deleted: string[] = []): Agent {
	return new Agent({
		model: scriptedModel(answerTo),
		tools: [
			anyTool("look", () => "seen", pure),
			anyTool(
				"delete",
				(_, { toolCallId }) => {
					deleted.push(toolCallId);
					return "gone";
				},
				pure,
			),
		],
		host,
		prepareStep({ step }) {
			asked.push(step);
			return step === 2 ? { activeTools: ["look"], instructions: "Only look." } : undefined;
		},
	});
}

function answersOf(entries: readonly Entry[]): AssistantSaid[] {
	return entries.map(({ fact }) => fact).filter((fact): fact is AssistantSaid => fact.kind === "assistant");
}

/** Plays it without a crash, then resumes it from each of its entries with `restored`. */
async function resumeEach(restored: (entries: readonly Entry[]) => Promise<Host> | Host): Promise<void> {
	const journal = memoryJournal();
	const deleted: string[] = [];
	const alone = agentOver(journalHost(journal), [], deleted);
	const { state } = await (await alone.session("k").send("go")).result();
	expect(deleted).toEqual(["d1", "d5"]);
	const entries = await journal.read("k");
	for (let kept = 2; kept < entries.length; kept++) {
		const [asked, again]: [number[], string[]] = [[], []];
		const host = await restored(entries.slice(0, kept));
		const next = agentOver(host, asked, again);
		const found = await (await next.session("k").resume())?.result();
		expect(contentOf(found?.state as never), `cut after entry ${kept}`).toEqual(contentOf(state));
		// The call of the second step is refused from the record: the step is not prepared again.
		expect(again).not.toContain("d3");
		const known = answersOf(entries.slice(0, kept)).length;
		expect(asked).toEqual([1, 2, 3, 4].slice(known));
		const fingerprints = answersOf(await host.journal.read("k")).map(({ prepared }) => prepared);
		expect(fingerprints).toEqual(answersOf(entries).map(({ prepared }) => prepared));
		await next.close();
		await (host as { close?(): Promise<void> }).close?.();
	}
	await alone.close();
}

describe("a run with prepared steps", () => {
	test("resumed from every entry, it ends the same and is called only for steps without a recorded answer", () =>
		resumeEach((entries) => journalHost(cutOff(entries))));

	test("the same in SQLite", async () => {
		const folder = temporaryFolder();
		let count = 0;
		await resumeEach(async (entries) => {
			const path = `${folder}/${++count}.db`;
			const before = sqliteHost(path);
			const acquired = await before.journal.acquire("k");
			if (!acquired.ok) throw new Error("a new session is free");
			for (const { at, runId, fact } of entries) await acquired.lease.append({ at, runId, facts: [fact] });
			await acquired.lease.release();
			await before.close();
			return sqliteHost(path);
		});
	});

	test("a steering message is part of the history of the next step", async () => {
		const seen: (string | undefined)[] = [];
		const session: Session = new Agent({
			model: scriptedModel([{ toolCalls: [{ name: "look" }] }, "Done."]),
			tools: [anyTool("look", () => session.steer("Faster."))],
			prepareStep: ({ messages }) => void seen.push((messages.at(-1) as { text?: string }).text),
		}).session("s");
		await (await session.send("Go.")).result();
		expect(seen).toEqual(["Go.", "Faster."]);
	});

	test("a fork keeps the record of prepared steps, and its next request records the return", async () => {
		const host = memoryHost();
		const agent = new Agent({
			model: scriptedModel(() => "Done."),
			host,
			prepareStep: ({ messages }) => (messages.length === 1 ? { instructions: "First." } : undefined),
		});
		await (await agent.session("a").send("Go.")).result();
		await agent.session("a").fork("b");
		const { cacheReport } = await (await agent.session("b").send("On.")).result();
		expect(cacheReport?.calls[0]?.cacheBreak).toEqual({ reasons: ["instructions"], from: 0 });
	});

	test("the model of a step can be a fallback", async () => {
		const down = scriptedModel(() => ({ error: new UPPError("down", "NETWORK_ERROR", "x", "llm") }));
		const up = scriptedModel(["Done."], { modelId: "up" });
		const model = fallback(down, up);
		const agent = new Agent({ model: scriptedModel([]), prepareStep: () => ({ model }) });
		expect((await agent.query("Go.")).response.text).toBe("Done.");
	});

	test("a step whose model is unreachable is prepared again after the wait", async () => {
		const time = manualTime();
		let isDown = true;
		const asked: number[] = [];
		const unreachable = new UPPError("down", "NETWORK_ERROR", "x", "llm");
		const model = scriptedModel(() => (isDown ? { error: unreachable } : "Done."));
		const agent = new Agent({
			model,
			modelWait: {},
			ports: time.ports,
			host: memoryHost({ clock: time.ports.clock }),
			prepareStep({ step }) {
				asked.push(step);
				if (asked.length > 1) isDown = false;
				return { instructions: `Time ${asked.length}.` };
			},
		});
		const left = await (await agent.session("s").send("Go.")).result();
		expect(left.outcome).toBe("waiting");
		time.pass(60_000);
		await settled();
		expect((await agent.session("s").state()).messages.at(-1)?.text).toBe("Done.");
		expect(asked).toEqual([1, 1]);
		expect(model.requests.map(({ system }) => system)).toEqual(["Time 1.", "Time 2."]);
	});

	test("an interrupted run does not wait for prepareStep", async () => {
		const { promise, resolve } = Promise.withResolvers<void>();
		const agent = new Agent({
			model: scriptedModel([]),
			prepareStep({ signal }) {
				resolve();
				return new Promise<undefined>((end) => signal.addEventListener("abort", () => end(undefined)));
			},
		});
		const run = await agent.session("s").send("Go.");
		await promise;
		await run.interrupt();
		expect((await run.result()).outcome).toBe("aborted");
	});
});
