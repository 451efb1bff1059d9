// Every action of the page on every kind of session, in each state: it works, or is refused with a code and a sentence.
import { sessionService } from "@holdfast/server";
import { scriptedModel } from "@holdfast/testing";
import { Agent, type AnyTool, memoryHost, tool } from "holdfast";
import { workflow } from "holdfast/workflow";
import { expect, onTestFinished, test } from "vitest";
import { type Inspected, inspect } from "./inspected.fixture.ts";

const pay = tool({
	name: "pay",
	description: "Pays.",
	parameters: { type: "object", required: ["amount"], properties: { amount: { type: "number" } } },
	needsApproval: true,
	editableApproval: true,
	run: ({ amount }: { amount: number }) => ({ paid: amount }),
});
const where: AnyTool = { name: "where", description: "Asks.", parameters: { type: "object" } };

/** An agent that does what the message says: `hang` waits until the run ends. */
const model = scriptedModel(({ messages }) => {
	const last = messages.at(-1);
	if (last?.type !== "user") return `Heard ${JSON.stringify(last).slice(0, 400)}`;
	const { text } = last;
	if (text === "pay") return { toolCalls: [{ name: "pay", arguments: { amount: 1 } }] };
	if (text === "where") return { toolCalls: [{ name: "where" }] };
	if (text === "helper") return { toolCalls: [{ name: "delegate_to_helper", arguments: { prompt: "pay" } }] };
	if (text === "hang") return { text: "slow", gate: new Promise(() => {}) };
	return text === "fail" ? { error: new Error("It is broken.") } : "Yes.";
});

const shipping = workflow({ name: "shipping" }, async (flow, given: unknown) => {
	if (given === "fail") throw new Error("The box is broken.");
	if (given === "hang") await flow.step("hang", () => new Promise(() => {}));
	if (given === "event") return flow.event("reply", { timeout: "7 days" });
	return given === "pay" ? flow.approve("send it") : "sent";
});

const helper = new Agent({ name: "helper", description: "Helps.", model, tools: [pay] });

interface Stage extends Inspected {
	/** Requests a route; returns the status and the code, or `ok`. A stream is not read to its end. */
	does(method: string, path: string, body?: object): Promise<string>;
}

function open(kind: "session" | "workflow"): Stage {
	const host = memoryHost();
	const agent = kind === "session" ? { model, tools: [pay, where], subagents: [helper] } : shipping.agent;
	const service = sessionService({ host, agent, deltaFlushMs: 1 });
	const made = inspect(() => "", { host, handler: { service } });
	onTestFinished(async () => {
		await service.close();
		await made.close();
	});
	const does: Stage["does"] = async (method, path, body) => {
		const json = { headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
		const response = await made.fetch(path, { method, ...(body === undefined ? {} : json) });
		if (response.headers.get("content-type")?.startsWith("text/event-stream")) {
			await response.body?.cancel();
			return `${response.status} ok`;
		}
		const { code, error } = await response.json();
		if (code !== undefined) {
			expect(error).toMatch(/^[A-Z].*\.$|^Session not found$/);
			expect(error).not.toMatch(/\\u0000|\0/);
		}
		return `${response.status} ${code ?? "ok"}`;
	};
	return { ...made, does };
}

const inspected = (id: string, rest: string) => `/api/inspect/session/${id}/${rest}`;
const acts: Readonly<Record<string, (id: string, does: Stage["does"]) => Promise<string>>> = {
	entries: (id, does) => does("GET", inspected(id, "entries")),
	send: (id, does) =>
		does("POST", "/api/agent/execute", { sessionId: id, input: id.includes("workflow") ? "fail" : "Hello" }),
	steer: (id, does) => does("POST", inspected(id, "steer"), { input: "Be brief." }),
	fork: (id, does) => does("POST", inspected(id, "fork"), {}),
	"fork from the beginning": (id, does) => does("POST", inspected(id, "fork"), { at: 0 }),
	"fork to a taken id": (id, does) => does("POST", inspected(id, "fork"), { at: 0, to: id }),
	release: (id, does) => does("POST", inspected(id, "release")),
	stop: (id, does) => does("POST", `/api/agent/session/${id}/stop`),
	delete: (id, does) => does("DELETE", `/api/agent/session/${id}`),
};

const ok = "200 ok";
const usual = Object.fromEntries(Object.keys(acts).map((name) => [name, ok]));
const always = { ...usual, "fork to a taken id": "409 session_exists" };
const unsettled = { ...always, fork: "409 fork_unsettled" };

test.each([
	["session", "Hello", "completed", always],
	["session", "fail", "error", always],
	["session", "hang", "running", unsettled],
	["session", "pay", "waiting", { ...unsettled, send: "409 pending_tool_calls" }],
	["session", "where", "waiting", { ...unsettled, send: "409 pending_tool_calls" }],
	["session", "helper", "waiting", { ...unsettled, send: "409 pending_tool_calls" }],
	["workflow", "Hello", "completed", always],
	["workflow", "fail", "error", always],
	["workflow", "hang", "running", unsettled],
	["workflow", "pay", "waiting", unsettled],
	["workflow", "event", "waiting", unsettled],
] as const)("each action on a %s after %j, which is %s", async (kind, input, status, expected) => {
	const { does, get } = open(kind);
	const found: Record<string, string> = {};
	for (const [name, act] of Object.entries(acts)) {
		const id = `${kind}-${name.replaceAll(" ", "-")}`;
		expect(await does("POST", "/api/agent/execute", { sessionId: id, input, context: {} })).toBe(ok);
		await expect.poll(async () => (await get(`session/${id}`)).body.status).toBe(status);
		found[name] = await act(id, does);
	}
	expect(found).toEqual(expected);
});

test.each(["session", "workflow"] as const)(
	"a run of a %s that is in progress needs no release",
	async (kind) => {
		const { does, get, post } = open(kind);
		await does("POST", "/api/agent/execute", { sessionId: "s", input: "hang", context: {} });
		await expect.poll(async () => (await get("session/s")).body.status).toBe("running");
		expect(await post("session/s/release")).toEqual({
			status: 200,
			body: { sessionId: "s", released: false },
		});
	},
);

test.each([
	["session", "pay", { role: "approval", approved: true }, ok],
	["session", "pay", { role: "approval", approved: true, input: { amount: 9 } }, ok],
	["session", "pay", { role: "approval", approved: false, reason: "Too much." }, ok],
	["session", "helper", { role: "approval", approved: true, input: { amount: 9 } }, ok],
	["session", "helper", { role: "approval", approved: false, reason: "Too much." }, ok],
	["session", "where", { role: "tool", output: { city: "Rome" } }, ok],
	["session", "where", { role: "tool", output: "No.", isError: true }, ok],
	["workflow", "pay", { role: "approval", approved: true }, ok],
	["workflow", "pay", { role: "approval", approved: false, reason: "Too much." }, ok],
	["workflow", "pay", { role: "approval", approved: true, input: { a: 1 } }, "400 invalid_input"],
] as const)("a call of a %s after %j is answered with %j", async (kind, input, answer, expected) => {
	const { does, fetch } = open(kind);
	await does("POST", "/api/agent/execute", { sessionId: "s", input, context: {} });
	const state = async () => (await fetch("/api/agent/session/s")).json();
	await expect.poll(async () => (await state()).pendingToolCalls?.length).toBe(1);
	const [{ id: toolCallId, runId }] = (await state()).pendingToolCalls;
	const about = runId === undefined ? { toolCallId } : { toolCallId, runId };
	const answers = [{ ...answer, ...about }];
	expect(await does("POST", "/api/agent/execute", { sessionId: "s", input: answers })).toBe(expected);
	await expect.poll(async () => (await state()).pendingToolCalls?.length ?? 0).toBe(expected === ok ? 0 : 1);
});

test.each([
	["session", "pay", "approval"],
	["session", "helper", "approval"],
	["session", "where", "result"],
	["workflow", "pay", "approval"],
	["workflow", "event", "reply"],
	["session", "Hello", undefined],
] as const)("the list names what a %s waits for after %j: %s", async (kind, input, waitsFor) => {
	const { does, get } = open(kind);
	await does("POST", "/api/agent/execute", { sessionId: "s", input, context: {} });
	await expect.poll(async () => (await get("sessions")).body.sessions[0].status).toMatch(/waiting|completed/);
	expect((await get("sessions")).body.sessions[0].waitsFor).toBe(waitsFor);
});
