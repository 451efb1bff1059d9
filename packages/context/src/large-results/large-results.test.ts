import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type ScriptedReply, scriptedModel } from "@holdfast/testing";
import { isToolResultMessage } from "@holdfast/upp";
import { Agent, type AgentOptions, createSubAgentTool, memoryHost, tool } from "holdfast";
import type { Interceptor } from "holdfast/middleware";
import { sqliteHost } from "holdfast/sqlite";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../../test/shared/temporary-folder.fixture.ts";
import { largeResults } from "./large-results.ts";

const lines = Array.from({ length: 2_000 }, (_, at) => `line ${at + 1} of the log`);
const log = lines.join("\n");
const readLog = tool({
	name: "read_log",
	description: "Reads the log.",
	retryPolicy: "pure",
	run: () => log,
});
const ask = (id: string, name: string, args: object = {}): ScriptedReply => ({
	toolCalls: [{ id, name, arguments: args } as never],
});
const plugins = [largeResults({ limit: 2_000, head: 100, tail: 50 })];

/** The results that the model has seen last. */
function results(messages: readonly unknown[]): readonly unknown[] {
	return messages
		.filter((message) => isToolResultMessage(message as never))
		.flatMap((message) =>
			(message as { results: { result: unknown }[] }).results.map(({ result }) => result),
		);
}

function agentOf(script: readonly (string | ScriptedReply)[], more: Partial<AgentOptions> = {}) {
	const model = scriptedModel(script);
	return { model, agent: new Agent({ model, tools: [readLog], plugins, host: memoryHost(), ...more }) };
}

async function turn(agent: Agent, key = "default", input = "go"): Promise<readonly unknown[]> {
	await (await agent.session(key).send(input)).result();
	return results((await agent.session(key).state()).messages);
}

describe("largeResults", () => {
	test("shows the beginning, the end, the size and the id, and records exactly that", async () => {
		const { agent, model } = agentOf([ask("c1", "read_log"), "done"]);
		const [recorded] = await turn(agent);
		expect(recorded).toBe(
			[
				`[This result is long: 40,892 characters in 2,000 lines. Read or search it with read_result and the id "c1".]`,
				log.slice(0, 100),
				`[Characters 100 to ${log.length - 50} are not shown.]`,
				log.slice(-50),
			].join("\n"),
		);
		expect(results(model.requests[1]?.messages ?? [])).toEqual([recorded]);
	});

	test("leaves short results and files unchanged", async () => {
		const image = [
			{ type: "image", mimeType: "image/png", source: { type: "base64", data: "A".repeat(4_000) } },
		];
		for (const output of ["x".repeat(2_000), { a: 1 }, image]) {
			const look = tool({ name: "look", description: "Looks.", run: () => output as never });
			const { agent } = agentOf([ask("c1", "look"), "done"], { tools: [look] });
			expect(await turn(agent)).toEqual([output]);
		}
	});

	test("reads by lines, by characters and by search, within the limit", async () => {
		const { agent } = agentOf([
			ask("c1", "read_log"),
			ask("c2", "read_result", { id: "c1", startLine: 1_000, endLine: 1_001 }),
			ask("c3", "read_result", { id: "c1", startCharacter: 100, endCharacter: 110 }),
			ask("c4", "read_result", { id: "c1", search: "LINE 1999 of" }),
			ask("c5", "read_result", { id: "c1" }),
			ask("c6", "read_result", { id: "c1", search: "of the log", startLine: 1_990 }),
			"done",
		]);
		const [, byLine, byCharacter, bySearch, all, many] = (await turn(agent)) as string[];
		const [start, end] = [log.indexOf(lines[999] as string), log.indexOf(lines[1_001] as string)];
		expect(byLine).toBe(
			`[Characters ${start} to ${end} of 40,892, lines 1000 to 1001 of 2,000. Continue with startCharacter ${end}.]\n${lines[999]}\n${lines[1_000]}\n`,
		);
		expect(byCharacter).toContain(`\n${log.slice(100, 110)}`);
		expect(bySearch).toMatch(/^\[1 match\.\]\nline 1999, character \d+: /);
		expect(all).toContain("Continue with startCharacter 1500.");
		expect(all?.length).toBeLessThanOrEqual(2_000);
		expect(many?.match(/^line \d+, /gm)).toEqual(many?.match(/^line (199\d|2000), /gm));
		expect(many?.length).toBeLessThanOrEqual(2_000);
	});

	test("searches for any text, not for a pattern", async () => {
		const text = String.raw`2026-11-29 /a-b/c: [x]{1} (y|z)* ^$ \d+? "q" é & ~ # , <t> !`;
		const look = tool({ name: "look", description: "Looks.", run: () => `${"-\n".repeat(2_000)}${text}` });
		for (const search of [text, ...new Set(text)]) {
			const { agent } = agentOf([ask("c1", "look"), ask("c2", "read_result", { id: "c1", search }), "done"], {
				tools: [look],
			});
			expect((await turn(agent))[1], search).toMatch(/^\[(?:\d+ match|First \d+ match)/);
		}
	});

	test.each([
		[{ id: "other" }, "no stored result"],
		[{ id: "c1", startLine: 1, startCharacter: 1 }, "not both"],
		[{ id: "c1", startLine: 3, endLine: 2 }, "before `startLine`"],
		[{ id: "c1", search: "a", endLine: 2 }, "cannot have an end"],
	])("answers %o with a sentence", async (input, sentence) => {
		const { agent } = agentOf([ask("c1", "read_log"), ask("c2", "read_result", input), "done"]);
		expect((await turn(agent))[1]).toContain(sentence);
	});

	test("works in calls, whose results end with them", async () => {
		const { agent } = agentOf([
			ask("c1", "read_log"),
			ask("c2", "read_result", { id: "c1", startLine: 2_000 }),
			"done",
			ask("c3", "read_result", { id: "c1" }),
			"done",
		]);
		const { state } = await agent.generate("go");
		expect(results(state.messages)[1]).toContain("\nline 2000 of the log");
		const later = await agent.generate("again", state);
		expect(results(later.state.messages).at(-1)).toContain("no stored result");
	});

	test("stores only what middleware masked", async () => {
		const mask: Interceptor = {
			name: "mask",
			admitWaiting: "as-is",
			begin: () => ({
				deltas: "as-is",
				admits: ["tool.settled"],
				admit: (fact) =>
					fact.kind === "tool.settled"
						? { fact: { ...fact, result: String(fact.result).replaceAll("line 1500", "[masked]") } }
						: undefined,
			}),
		};
		const script = [
			ask("c1", "read_log"),
			ask("c2", "read_result", { id: "c1", startLine: 1_500, endLine: 1_500 }),
			"done",
		];
		const { agent } = agentOf(script, { middleware: [mask] });
		expect((await turn(agent))[1]).toContain("\n[masked] of the log");
	});

	test("is not readable from another session, and is deleted with its own", async () => {
		const host = memoryHost();
		const { agent } = agentOf(
			[ask("c1", "read_log"), "done", ask("c2", "read_result", { id: "c1" }), "done"],
			{ host },
		);
		await turn(agent, "ann");
		expect(await host.files.of("ann", "large-results").list()).toHaveLength(1);
		expect((await turn(agent, "bob"))[0]).toContain("no stored result");
		await agent.session("ann").delete();
		expect(await host.files.of("ann", "large-results").list()).toEqual([]);
	});

	test("is readable in a fork that contains the result, and outlives the original", async () => {
		const { agent } = agentOf([
			"hello",
			ask("c1", "read_log"),
			"done",
			ask("c2", "read_result", { id: "c1", startLine: 2_000 }),
			"done",
			ask("c3", "read_result", { id: "c1" }),
			"done",
		]);
		const first = await agent.session("ann").send("hi");
		await first.result();
		await turn(agent, "ann");
		const early = await agent.session("ann").fork("early", { at: first.runId });
		await agent.session("ann").fork("late");
		await agent.session("ann").delete();
		expect((await turn(agent, "late"))[1]).toContain("\nline 2000 of the log");
		expect((await turn(agent, early.key))[0]).toContain("no stored result");
	});

	test("is readable in a new process on SQLite", async () => {
		const path = join(temporaryFolder(), "sessions.db");
		const before = agentOf([ask("c1", "read_log"), "done"], { host: sqliteHost(path) });
		const [shown] = await turn(before.agent);
		await before.agent.close();
		const now = agentOf([ask("c2", "read_result", { id: "c1", startLine: 2_000 }), "done"], {
			host: sqliteHost(path),
		});
		expect(await turn(now.agent)).toEqual([shown, expect.stringContaining("\nline 2000 of the log")]);
		await now.agent.close();
	});

	test("stores answers to remote tools, and results of sub-agents", async () => {
		const remote = tool({ name: "remote_log", description: "Reads the user's log." });
		const { agent } = agentOf(
			[ask("c1", "remote_log"), ask("c2", "read_result", { id: "c1", startLine: 2_000 }), "done"],
			{ tools: [remote] },
		);
		const run = await agent.session("ann").send("go");
		await run.result();
		await agent.session("ann").answer([{ toolCallId: "c1", output: log }]);
		await expect
			.poll(async () => results((await agent.session("ann").state()).messages)[1])
			.toContain("\nline 2000 of the log");

		const clerk = new Agent({ name: "clerk", description: "Knows the log.", model: scriptedModel([log]) });
		const parent = agentOf([ask("c1", "delegate_to_clerk", { prompt: "Tell it." }), "done"], {
			subagents: [clerk],
		});
		expect((await turn(parent.agent))[0]).toContain('read_result and the id "c1"');
	});

	test.each([[undefined], ["desk"]])(
		"is deleted with the parent of a sub-agent, in the namespace %s",
		async (namespace) => {
			const path = join(temporaryFolder(), "sessions.db");
			const host = sqliteHost(path);
			const of = { host, ...(namespace !== undefined && { namespace }) };
			const about = { name: "clerk", description: "Knows the log." };
			const script = [
				ask("s1", "read_log"),
				ask("s2", "read_result", { id: "s1", startLine: 2_000 }),
				"done",
			];
			const sub = agentOf(script, { ...of, ...about });
			const parent = agentOf([ask("c1", "delegate_to_clerk", { prompt: "Tell it." }), "done"], {
				...of,
				subagents: [sub.agent],
			});
			await turn(parent.agent, "ann");
			expect(results(sub.model.requests[2]?.messages ?? [])[1]).toContain("\nline 2000 of the log");
			const stored = () => {
				using database = new DatabaseSync(path);
				return database.prepare("SELECT name FROM files").all();
			};
			expect(stored()).toHaveLength(1);
			await parent.agent.session("ann").delete();
			expect(stored()).toEqual([]);
			await parent.agent.close();
		},
	);

	test.each([["own"], ["caller"]] as const)(
		"works in a call of a sub-agent under the policy: %s",
		async (policy) => {
			const script = [
				ask("s1", "read_log"),
				ask("s2", "read_result", { id: "s1", startLine: 2_000 }),
				"done",
			];
			const sub = agentOf(script);
			const parameters = { type: "object", properties: { task: { type: "string" } } };
			const described = { name: "clerk", description: "Knows the log.", parameters };
			const work = createSubAgentTool({ ...described, agent: sub.agent, policy });
			const parent = agentOf([ask("c1", "clerk", { task: "Tell it." }), "done"], { tools: [work] });
			await parent.agent.generate("go");
			expect(results(sub.model.requests[2]?.messages ?? [])[1]).toContain("\nline 2000 of the log");
		},
	);

	test("continues in a new process between the result and its reading", async () => {
		const path = join(temporaryFolder(), "sessions.db");
		const remote = tool({ name: "remote_log", description: "Reads the user's log." });
		const tools = [readLog, remote];
		const one = agentOf([ask("c1", "read_log"), ask("c2", "remote_log")], { host: sqliteHost(path), tools });
		await (await one.agent.session("ann").send("go")).result();
		await one.agent.close();
		const script = [
			ask("c3", "read_result", { id: "c2", search: "line 7 " }),
			ask("c4", "read_result", { id: "c1", startLine: 2_000 }),
			"done",
		];
		const two = agentOf(script, { host: sqliteHost(path), tools });
		await two.agent.session("ann").answer([{ toolCallId: "c2", output: log }]);
		await expect
			.poll(async () => results((await two.agent.session("ann").state()).messages).slice(2))
			.toEqual([
				expect.stringContaining("line 7, character 108"),
				expect.stringContaining("\nline 2000 of the log"),
			]);
		await two.agent.close();
	});

	test("rejects a host without files with a code", async () => {
		const { journal, values, close } = memoryHost();
		const { agent } = agentOf([ask("c1", "read_log"), "done"], { host: { journal, values, close } as never });
		const run = await agent.session("ann").send("go");
		expect(await run.result()).toMatchObject({ error: { code: "files_unavailable" } });
	});

	test.each([[{ limit: 10 }], [{ head: -1 }], [{ limit: 2_000, head: 1_500, tail: 501 }], [{ limits: 1 }]])(
		"rejects the options %o",
		(options) => {
			expect(() => largeResults(options as never)).toThrow(
				expect.objectContaining({ code: "invalid_option" }),
			);
		},
	);
});
