import { join } from "node:path";
import { FileSessionStore, storedValues } from "@holdfast/stores";
import { type ScriptedCall, scriptedModel } from "@holdfast/testing";
import { isToolResultMessage } from "@holdfast/upp";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../../../test/shared/temporary-folder.fixture.ts";
import { Agent } from "../../agent/agent.ts";
import { memoryValues, type ValueStore } from "../../host/values.ts";
import { sqliteHost } from "../../sqlite.ts";
import { memory } from "./memory.ts";
import { eventsOf } from "./plugins.fixture.ts";

/** Lets the model make one call in a session and returns the result. */
async function calling(store: ValueStore | undefined, key: string, call: ScriptedCall): Promise<unknown> {
	const plugins = [memory(store === undefined ? {} : { store })];
	const model = scriptedModel([{ toolCalls: [call] }, "done"]);
	const agent = await Agent.create({ model, plugins });
	await eventsOf(agent, "go", key);
	const results = model.requests[1]?.messages.at(-1);
	return isToolResultMessage(results) ? results.results[0]?.result : undefined;
}

const set = (name: string, text: string): ScriptedCall => ({
	name: "memory_set",
	arguments: { name, text },
});
const load = (name: string): ScriptedCall => ({
	name: "memory_load",
	arguments: { name },
});
const search = (query?: string): ScriptedCall => ({
	name: "memory_search",
	arguments: query === undefined ? {} : { query },
});

describe("memory", () => {
	test("lets the model set, load and search notes of its session; other sessions do not see them [SES-139]", async () => {
		const store = memoryValues();
		expect(await calling(store, "ann", set("colour", "Green, like her bike"))).toBe('Kept as "colour".');
		await calling(store, "ann", set("pet", "a cat"));
		expect(await calling(store, "ann", load("colour"))).toBe("Green, like her bike");
		expect(await calling(store, "ann", search("bike green"))).toEqual([
			{ name: "colour", text: "Green, like her bike" },
		]);
		expect(await calling(store, "ann", search())).toHaveLength(2);
		expect(await calling(store, "bob", load("colour"))).toBe('There is no note "colour".');
		expect(await calling(store, "bob", search())).toEqual([]);
	});

	test("in files, notes are available after the folder is opened again [SES-139]", async () => {
		const folder = temporaryFolder();
		await calling(storedValues(new FileSessionStore(folder)), "ann", set("colour", "green"));
		expect(await calling(storedValues(new FileSessionStore(folder)), "ann", load("colour"))).toBe("green");
	});

	test("with its own store, notes are deleted with their session [SES-139]", async () => {
		const store = memoryValues();
		const model = scriptedModel([{ toolCalls: [set("colour", "green")] }, "done"]);
		const agent = await Agent.create({ model, plugins: [memory({ store })] });
		await calling(store, "bob", set("colour", "blue"));
		await eventsOf(agent, "go", "ann");
		expect(await calling(store, "ann", load("colour"))).toBe("green");
		await agent.session("ann").delete();
		expect(await calling(store, "ann", load("colour"))).toBe('There is no note "colour".');
		expect(await calling(store, "bob", load("colour"))).toBe("blue");
	});

	test("in the sessions' SQLite file, notes survive a restart and are deleted with their session [SES-139]", async () => {
		const folder = temporaryFolder();
		const asked = async (
			call: ScriptedCall,
			afterwards?: (agent: Agent) => Promise<void>,
			key = "ann",
		): Promise<unknown> => {
			const host = sqliteHost(join(folder, "journal.db"));
			const model = scriptedModel([{ toolCalls: [call] }, "done"]);
			const agent = await Agent.create({ model, host, namespace: "clerk", plugins: [memory()] });
			await eventsOf(agent, "go", key);
			await afterwards?.(agent);
			await agent.close();
			await host.close();
			return model.requests[1]?.messages.at(-1)?.text;
		};
		await asked(set("colour", "green"));
		expect(await asked(load("colour"), undefined, "bob")).toBe('There is no note "colour".');
		expect(await asked(load("colour"), (agent) => agent.session("ann").delete())).toBe("green");
		expect(await asked(load("colour"))).toBe('There is no note "colour".');
	});

	test("next to the sessions, notes are deleted with their session [SES-139]", async () => {
		const model = scriptedModel([
			{ toolCalls: [set("colour", "green")] },
			"done",
			{ toolCalls: [load("colour")] },
			"done",
			{ toolCalls: [load("colour")] },
			"done",
		]);
		const agent = await Agent.create({ model, plugins: [memory()] });
		await eventsOf(agent, "go", "ann");
		await eventsOf(agent, "go", "ann");
		expect(model.requests[3]?.messages.at(-1)?.text).toBe("green");
		await agent.session("ann").delete();
		await eventsOf(agent, "go", "ann");
		expect(model.requests[5]?.messages.at(-1)?.text).toBe('There is no note "colour".');
	});
});
