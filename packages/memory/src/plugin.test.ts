// Memory of an agent over its sessions: the plugin of the engine over database clients.
import { type ScriptedCall, scriptedModel } from "@holdfast/testing";
import { Agent, memoryHost } from "holdfast";
import { type MemoryOptions, memory } from "holdfast/plugins";
import { expect, test } from "vitest";
import { inMemoryClients } from "./index.ts";

/** Lets the model make one call in a session; returns the result that it receives. */
async function calling(
	options: MemoryOptions,
	key: string,
	call: ScriptedCall,
	end = false,
): Promise<unknown> {
	const model = scriptedModel([{ toolCalls: [call] }, "done"]);
	const agent = await Agent.create({ model, host: memoryHost(), plugins: [memory(options)] });
	await (await agent.session(key).send("go")).result();
	if (end) await agent.session(key).delete();
	await agent.close();
	return model.requests[1]?.messages.at(-1)?.text;
}

const set = (name: string, text: string): ScriptedCall => ({ name: "memory_set", arguments: { name, text } });
const load = (name: string): ScriptedCall => ({ name: "memory_load", arguments: { name } });
const search = (query: string): ScriptedCall => ({ name: "memory_search", arguments: { query } });

test("notes in a database are shared by the sessions of an agent, and outlive them", async () => {
	const { database } = inMemoryClients();
	await calling({ database }, "ann", set("colour", "Green, like her bike"), true);
	await calling({ database }, "bob", set("pet", "a cat on a bike, and many other animals"));
	expect(await calling({ database }, "cid", load("colour"))).toBe("Green, like her bike");
	expect(await calling({ database }, "cid", load("size"))).toBe('There is no note "size".');
	const found = JSON.parse(String(await calling({ database }, "cid", search("bike green"))));
	expect(found.map(({ name }: { name: string }) => name)).toEqual(["colour", "pet"]);
	expect(JSON.parse(String(await calling({ database }, "cid", search(""))))).toHaveLength(2);
});

test("a collection for each user keeps the notes of users separate", async () => {
	const { database } = inMemoryClients();
	const options = { database, collection: (key: string) => `notes of ${key.split("/")[0]}` };
	await calling(options, "ann/1", set("colour", "green"));
	expect(await calling(options, "ann/2", load("colour"))).toBe("green");
	expect(await calling(options, "bob/1", load("colour"))).toBe('There is no note "colour".');
	expect(JSON.parse(String(await calling(options, "bob/1", search("green"))))).toEqual([]);
	expect(() => memory({ database, store: {} as never })).toThrow(
		expect.objectContaining({ code: "invalid_option" }),
	);
});
