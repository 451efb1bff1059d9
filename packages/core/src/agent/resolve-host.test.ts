import { MemorySessionStore } from "@holdfast/stores";
import { scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { memoryHost } from "../host/memory-host.ts";
import type { PluginHost } from "../policy/plugins/plugin.ts";
import { Agent } from "./agent.ts";
import { type AgentHost, resolveHost } from "./resolve-host.ts";

const sessionStore = new MemorySessionStore();
const execution = { capabilities: {}, scheduler: {}, store: {} };

describe("a host", () => {
	test("from Holdfast is used directly, a session store gets a journal", () => {
		const host = memoryHost();
		expect(resolveHost(host)).toBe(host);
		const capable = { ...host, capabilities: {} };
		expect(resolveHost(capable)).toBe(capable);
		expect(resolveHost({ sessionStore }).journal.name).toBe("store");
	});

	test("with an execution store is passed to its adapter", () => {
		const host = memoryHost();
		expect(resolveHost(execution, (given) => (given === execution ? host : memoryHost()))).toBe(host);
	});

	test.each([
		[undefined, "`host`"],
		[null, "`host`"],
		["memory", "`host`"],
		["./my.db", '`sqliteHost("./my.db")`'],
		[{ what: 1 }, "`host.sessionStore`"],
		[{ sessionStore: null }, "`host.sessionStore`"],
		[{ sessionStore: { load() {}, delete() {} } }, "`host.sessionStore.commit`"],
		[{ sessionStore, journal: memoryHost().journal }, "`host.journal`"],
		[{ sessionStore, store: {} }, "`host.store`"],
		[{ sessionStore, ...execution }, "`host.sessionStore`"],
		[{ sessionStore, scheduler: {} }, "`host.scheduler`"],
		[{ sessionStore, capabilities: "durable" }, "`host.capabilities`"],
		[{ journal: memoryHost().journal, store: {} }, "`host.store`"],
		[{ journal: {} }, "`host.journal.acquire`"],
		[{ journal: memoryHost().journal }, "`host.close`"],
		[{ capabilities: {}, store: {} }, "`host.scheduler`"],
		[{ scheduler: {}, store: {} }, "`host.capabilities`"],
	])("that is invalid, or that is two hosts, is rejected by the name of its field: %j", (given, field) => {
		const resolve = (): unknown => resolveHost(given, () => memoryHost());
		expect(resolve).toThrow(TypeError);
		expect(resolve).toThrow(field);
	});

	test.each([{}, { sessionStore: undefined }, { capabilities: undefined }])(
		"without any member is the default one: %j",
		async (host) => {
			const given = scriptedModel(() => "Hi.");
			const setup = (to: PluginHost): void => to.sessionStore(new MemorySessionStore());
			const agent = await Agent.create({ model: given, host, plugins: [{ name: "store", setup }] });
			expect((await (await agent.send("hi")).result()).text).toBe("Hi.");
			await agent.close();
		},
	);

	test.each<[string, AgentHost]>([
		["in memory", {}],
		["over a session store", { sessionStore }],
	])("%s may declare its capabilities", async (_, host) => {
		const asked = async (capabilities: AgentHost["capabilities"]): Promise<readonly string[]> => {
			const model = scriptedModel(() => "Hi.");
			const helper = new Agent({ name: "helper", description: "Helps.", model });
			const given = { ...host, ...(capabilities === undefined ? {} : { capabilities }) } as AgentHost;
			const agent = new Agent({ model, subagents: [helper], host: given });
			await (await agent.send("hi")).result();
			return (model.requests.at(-1)?.tools ?? []).map(({ name }) => name);
		};
		const inBackground = ["delegate_to_helper", "background_output", "background_cancel"];
		expect(await asked({})).toEqual(["delegate_to_helper"]);
		expect(await asked({ backgroundSubagents: "in-process" })).toEqual(inBackground);
		expect(await asked(undefined)).toEqual(inBackground);
	});

	test("is checked when the agent is created", () => {
		const model = scriptedModel([]);
		const make = (): unknown => new Agent({ model, host: { sessionStore, scheduler: {} } as never });
		expect(make).toThrow(TypeError);
		expect(make).toThrow("`host.scheduler`");
	});
});
