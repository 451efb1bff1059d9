// What a project means to its threads.
import { UserMessage } from "@holdfast/upp";
import type { Entry } from "holdfast/host";
import { expect, test } from "vitest";
import { initialFlow } from "./flow.ts";
import { withData } from "./message-data.ts";
import { ProjectIndex } from "./project-index.ts";
import { projectOf } from "./threads.fixture.ts";

test("an entry is folded from each folded position, and once from the same position", () => {
	const index = new ProjectIndex(projectOf({}), 10);
	const message = new UserMessage("Hello", { metadata: withData({ to: "b" }) });
	const entry = { seq: 7, at: 0, runId: "r", fact: { kind: "input", message } } as unknown as Entry;
	const fresh = index.flowAfter(initialFlow, entry);
	expect(fresh).toMatchObject({ side: "b", turnSeq: 7, turns: 0 });
	expect(index.flowAfter(initialFlow, entry)).toBe(fresh);
	const elsewhere = { ...initialFlow, turns: 3, turnSeq: 4 };
	expect(index.flowAfter(elsewhere, entry)).toMatchObject({ side: "b", turnSeq: 4, turns: 3 });
});
