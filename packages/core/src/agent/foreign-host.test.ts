import { scriptedModel } from "@holdfast/testing";
import { afterEach, expect, test, vi } from "vitest";
import type { SessionStore } from "../host/session-store.ts";
import { Agent } from "./agent.ts";
import { storeHost } from "./foreign-host.ts";

vi.mock("@holdfast/stores", async (load) => {
	if (missing) throw new Error("Cannot find package");
	return load();
});

let missing = true;
afterEach(() => {
	missing = true;
});

const store: SessionStore = {
	load: async () => null,
	commit: async () => ({ ok: true, version: "1" }),
	delete: async () => {},
};

test("without the stores package, code that uses the host reports what to install, and the agent closes", async () => {
	const agent = new Agent({ model: scriptedModel([]), host: { sessionStore: store } });
	await expect(agent.session("s").send("go")).rejects.toMatchObject({ code: "stores_missing" });
	await expect(storeHost(store).journal.head("s")).rejects.toMatchObject({
		code: "stores_missing",
		message: expect.stringContaining("npm install @holdfast/stores"),
	});
	await expect(storeHost(store).values.values("s", "mine").get("a")).rejects.toMatchObject({
		code: "stores_missing",
	});
	await agent.close();
});

test("the package is loaded when the host is first used after its installation", async () => {
	const host = storeHost(store);
	await expect(host.journal.head("s")).rejects.toMatchObject({ code: "stores_missing" });
	missing = false;
	expect(await host.journal.head("s")).toBeUndefined();
	expect(host.journal.name).toBe("store");
});
