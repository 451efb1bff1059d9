import { MemorySessionStore } from "@holdfast/stores";
import { scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { memoryHost } from "../host/host-port.ts";
import { Agent } from "./agent.ts";
import { resolveHost } from "./resolve-host.ts";

const sessionStore = new MemorySessionStore();
const execution = { capabilities: {}, scheduler: {}, store: {} };

describe("a host", () => {
	test("of ours is used as it is, a session store gets a journal", () => {
		const host = memoryHost();
		expect(resolveHost(host)).toBe(host);
		const capable = { ...host, capabilities: {} };
		expect(resolveHost(capable)).toBe(capable);
		expect(resolveHost({ sessionStore }).journal.name).toBe("store");
	});

	test("with an execution store goes to whoever adapts it", () => {
		const host = memoryHost();
		expect(resolveHost(execution, (given) => (given === execution ? host : memoryHost()))).toBe(host);
	});

	test.each([
		[undefined, "`host`"],
		[null, "`host`"],
		["memory", "`host`"],
		["./my.db", '`sqliteHost("./my.db")`'],
		[{}, "`host.sessionStore`"],
		[{ sessionStore: null }, "`host.sessionStore`"],
		[{ sessionStore: { load() {}, delete() {} } }, "`host.sessionStore.commit`"],
		[{ sessionStore, journal: memoryHost().journal }, "`host.journal`"],
		[{ sessionStore, store: {} }, "`host.store`"],
		[{ sessionStore, ...execution }, "`host.sessionStore`"],
		[{ sessionStore, scheduler: {} }, "`host.scheduler`"],
		[{ sessionStore, capabilities: {} }, "`host.capabilities`"],
		[{ journal: memoryHost().journal, store: {} }, "`host.store`"],
		[{ journal: {} }, "`host.journal.acquire`"],
		[{ journal: memoryHost().journal }, "`host.close`"],
		[{ capabilities: {}, store: {} }, "`host.scheduler`"],
		[{ scheduler: {}, store: {} }, "`host.capabilities`"],
	])("that is none, or two, is refused by the name of its field: %j", (given, field) => {
		const resolve = (): unknown => resolveHost(given, () => memoryHost());
		expect(resolve).toThrow(TypeError);
		expect(resolve).toThrow(field);
	});

	test("is checked when the agent is made", () => {
		const model = scriptedModel([]);
		const make = (): unknown => new Agent({ model, host: { sessionStore, scheduler: {} } as never });
		expect(make).toThrow(TypeError);
		expect(make).toThrow("`host.scheduler`");
	});
});
