import { UserMessage } from "@holdfast/upp";
import { expect, test } from "vitest";
import { acceptInput, storedInput } from "../facts/input.ts";
import type { StoredInput } from "../host/journal.ts";
import { memoryJournal } from "../host/memory-journal.ts";
import { AgentRun } from "./agent-run.ts";
import { localStore } from "./local-store.ts";
import { Mailbox, storedMessage } from "./mailbox.ts";

test("if a worker dies while its inbox is read, either all inputs are awaited or all are adopted", async () => {
	const journal = memoryJournal();
	const answers = [true, false];
	journal.isAlive = () => answers.shift() ?? false;
	const queue = new Mailbox(journal, "s", localStore(journal), {
		admitWaiting: undefined,
		engine: {} as never,
	});
	const inbox = ["one", "two"].map(
		(text, order): StoredInput => ({
			id: new UserMessage(text).id,
			kind: "message",
			workerId: "another",
			runId: text,
			order,
			at: 0,
			body: storedInput(acceptInput(text)),
		}),
	);
	const adopted: string[] = [];
	const look = () =>
		queue.align(inbox, new Set(), undefined, (input) => {
			adopted.push(input.runId ?? "");
			const run = new AgentRun(input.runId ?? "", "s");
			return { run, input: storedMessage(input), inputId: input.id, origin: "adopted", stage: "seen" };
		});
	expect(await look()).toEqual({ gone: [], ahead: inbox[1]?.id });
	expect(adopted).toEqual([]);
	expect(await look()).toEqual({ gone: [] });
	expect(adopted).toEqual(["one", "two"]);
});
