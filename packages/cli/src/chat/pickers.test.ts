import { scriptedModel } from "@holdfast/testing";
import { Agent, memoryHost } from "holdfast";
import { expect, test } from "vitest";
import { sessionChoices, sessionMentioned, withSessions } from "./pickers.ts";

async function opened() {
	const host = memoryHost();
	const agent = new Agent({ model: scriptedModel(() => "It is green."), host });
	await agent
		.session("lamps")
		.send("Which colour has the lamp?")
		.then((run) => run.result());
	await agent
		.session("here")
		.send("Hello.")
		.then((run) => run.result());
	return { host, agent, setup: { key: "here" } as never };
}

test("other sessions are offered with their date and their first message", async () => {
	const choices = await sessionChoices(await opened());
	expect(choices).toEqual([
		{
			text: "lamps",
			label: "lamps",
			detail: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d {2}Which colour has the lamp\?$/),
		},
	]);
});

test("a session that a message mentions is attached; other words after # are unchanged", async () => {
	const current = await opened();
	const said = await withSessions("As in #lamps, not #123 or #here.", current);
	expect(said.keys).toEqual(["lamps"]);
	expect(said.text).toBe(
		"As in #lamps, not #123 or #here.\n\nSession lamps:\nuser: Which colour has the lamp?\nassistant: It is green.",
	);
});

test("a message that is only a mention names a session to continue", async () => {
	const current = await opened();
	expect(await sessionMentioned(current, "#lamps")).toBe("lamps");
	expect(await sessionMentioned(current, "#unknown")).toBeUndefined();
	expect(await sessionMentioned(current, "see #lamps")).toBeUndefined();
});
