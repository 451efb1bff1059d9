// Inputs that wait in a session's inbox when another worker takes over its run are reported as early as possible.
import { scriptedModel } from "@holdfast/testing";
import { UserMessage } from "@holdfast/upp";
import { expect, test } from "vitest";
import { lines } from "../agent/agent.fixture.ts";
import { Agent } from "../agent/agent.ts";
import { storedInput } from "../facts/input.ts";
import { journalHost } from "../host/host-port.ts";
import { memoryJournal } from "../host/memory-journal.ts";
import { gate, never } from "./sessions.fixture.ts";

test.each(["notice", "steer"] as const)(
	"a %s that waits when a run is taken over precedes the model's next call [SES-072]",
	async (kind) => {
		const store = memoryJournal();
		const dying = store.worker("dying");
		const asked = gate();
		const dead = new Agent({
			model: scriptedModel(() => {
				asked.open();
				return { gate: never, text: "never" };
			}),
			host: journalHost(dying),
		});
		const run = await dead.session("s").send("one");
		void run.result();
		await asked.promise;
		dying.die();
		const living = store.worker("living");
		const body = storedInput({ shape: "text", message: new UserMessage("It is done.", { id: "n" }) });
		const about = kind === "notice" ? {} : { runId: run.runId };
		await living.submit("s", { id: "n", kind, ...about, body });
		const model = scriptedModel(["Yes."]);
		const agent = new Agent({ model, host: journalHost(living) });
		const result = await (await agent.session("s").resume())?.result();
		expect([result?.outcome, result?.runId]).toEqual(["completed", run.runId]);
		expect(model.requests.map(({ messages }) => lines(messages))).toEqual([
			["user: one", "user: It is done."],
		]);
	},
);
