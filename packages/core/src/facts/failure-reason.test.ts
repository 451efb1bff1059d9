import { scriptedModel } from "@holdfast/testing";
import { ErrorCode, UPPError } from "@holdfast/upp";
import { createSession, execute, memoryHost } from "holdfast";

import { expect, test } from "vitest";
import { failureReason } from "./index.ts";

test.each([
	["RATE_LIMITED", "provider"],
	["CONTENT_FILTERED", "content_filter"],
	["content_filtered", "content_filter"],
	["CONTEXT_LENGTH_EXCEEDED", "length"],
	["max_steps_exceeded", "limit"],
	["budget_exceeded", "limit"],
	["policy_refused", "policy"],
	["session_killed", "killed"],
	["plugin_failed", "error"],
	["constructor", "error"],
])("the error %s has the reason %s", (code, reason) => {
	expect(failureReason(code)).toBe(reason);
});

test.each([
	["provider", { error: new UPPError("No.", ErrorCode.RATE_LIMITED, "p", "llm") }, {}],
	["length", { error: new UPPError("No.", ErrorCode.CONTEXT_LENGTH_EXCEEDED, "p", "llm") }, {}],
	["limit", { toolCalls: [{ name: "look", id: "c" }] }, { maxSteps: 1 }],
] as const)("executions fail with the reason %s", async (reason, reply, more) => {
	const look = { name: "look", description: "", parameters: { type: "object" as const }, run: () => "seen" };
	const options = { model: scriptedModel(() => reply), tools: [look], modelWait: "never" as const, ...more };
	const { tools, ...rest } = options;
	const session = createSession("s", { tools }, { ...rest, host: memoryHost() });
	const failed: object[] = [];
	for await (const event of execute(session, "Go.")) if (event.type === "error") failed.push(event);
	expect(failed).toMatchObject([{ type: "error", reason }]);
});
