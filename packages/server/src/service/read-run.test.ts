// A run as its log shows it: as it is now, at rest, and over its waits.
import { scriptedModel } from "@holdfast/testing";
import { memoryHost } from "holdfast";
import { afterEach, expect, test } from "vitest";
import { followRun, readRun } from "./read-run.ts";
import type { SessionService } from "./service-types.ts";
import { sessionService } from "./session-service.ts";

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
	for (const end of ends.splice(0).reverse()) await end();
});

function serviceWith(model: ReturnType<typeof scriptedModel>, tools: readonly object[] = []): SessionService {
	const host = memoryHost();
	const service = sessionService({ host, agent: { model, tools } });
	ends.push(
		() => host.close(),
		() => service.close(),
	);
	return service;
}

const begin = async (service: SessionService, input: string) => {
	const { after } = await service.submit("t", "s", { input, context: {} });
	return { owner: "t", sessionId: "s", after };
};

test("it is the agent's last text, once it has ended", async () => {
	const service = serviceWith(scriptedModel(["One.", "Two."]));
	const first = await begin(service, "?");
	expect(await readRun(service, first, "rest")).toMatchObject({ status: "completed", text: "One." });
	const second = await begin(service, "!");
	expect(await readRun(service, second, "rest")).toMatchObject({ status: "completed", text: "Two." });
	expect(await readRun(service, first, "now")).toMatchObject({ text: "One.", updatedAt: expect.any(Number) });
});

test("it waits, and stops waiting once it was answered", async () => {
	const ask = { name: "ask", description: "Asks.", parameters: { type: "object" } };
	const service = serviceWith(scriptedModel([{ toolCalls: [{ name: "ask", id: "1" }] }, "Blue."]), [ask]);
	const run = await begin(service, "?");
	const waiting = await readRun(service, run, "rest");
	expect(waiting).toMatchObject({ status: "input_required", pending: [{ id: "1", name: "ask" }] });
	await service.submit("t", "s", { input: [{ role: "tool", toolCallId: "1", output: "blue" }] });
	const over = await readRun(service, run, "rest");
	expect(over).toMatchObject({ status: "completed", text: "Blue." });
	expect(over.pending).toBeUndefined();
});

test("it is running, and a reader that does not wait can leave at any time", async () => {
	const model = scriptedModel(() => new Promise<string>(() => {}));
	const service = serviceWith(model);
	const run = await begin(service, "?");
	expect(await readRun(service, run, "now")).toMatchObject({ status: "working", text: "" });
	const left = new AbortController();
	const reading = readRun(service, { ...run, signal: left.signal }, "rest");
	left.abort(new Error("left"));
	await expect(reading).rejects.toThrow("left");
	await service.stop("t", "s");
	expect(await readRun(service, run, "rest")).toMatchObject({ status: "cancelled" });
});

test("a failure has the text that clients may read", async () => {
	const service = serviceWith(scriptedModel([{ error: new Error("secret") }]));
	const failed = await readRun(service, await begin(service, "?"), "rest");
	expect(failed).toMatchObject({ status: "failed", error: { code: expect.any(String) } });
	expect(JSON.stringify(failed)).not.toContain("secret");
});

test("events arrive in the order in which they happened, and end with the run", async () => {
	const service = serviceWith(scriptedModel(["One.", "Two."]));
	const first = await begin(service, "?");
	await readRun(service, first, "rest");
	await readRun(service, await begin(service, "!"), "rest");
	const types: string[] = [];
	for await (const { events, view } of followRun(service, first)) {
		types.push(...events.map(({ event }) => event.type));
		expect(view.text).not.toBe("Two.");
	}
	expect(types[0]).toBe("session_start");
	expect(types.at(-1)).toBe("execute_complete");
	expect(types.filter((type) => type === "execute_complete")).toHaveLength(1);
	const gone = readRun(service, { ...first, sessionId: "gone" }, "now");
	await expect(gone).rejects.toMatchObject({ code: "session_not_found" });
});
