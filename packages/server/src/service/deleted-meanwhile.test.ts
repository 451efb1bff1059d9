// A request that reaches a session while it is deleted leaves nothing that is listed and answers that there is no such session.
import { scriptedModel } from "@holdfast/testing";
import { memoryHost } from "holdfast";
import { expect, onTestFinished, test } from "vitest";
import type { WhileRunning } from "./service-types.ts";
import { sessionService } from "./session-service.ts";

const message = { role: "user", content: "Hello" };

test.each(["queue", "steer"] as const)(
	"a message that waits for a run of a session that is deleted at that moment is rejected, and leaves no session: %s",
	async (whileRunning: WhileRunning) => {
		const host = memoryHost();
		const gate = Promise.withResolvers<void>();
		const model = scriptedModel(() => ({ text: "word ".repeat(4), gate: gate.promise }));
		const service = sessionService({ host, agent: { model }, whileRunning });
		onTestFinished(async () => {
			gate.resolve();
			await service.close();
			await host.close();
		});
		await service.submit("t", "s", { input: message, context: {} });
		// The deletion comes after the session was found, and before the message is stored.
		const { submit } = host.journal;
		let isDeleted = false;
		host.journal.submit = async (key, input) => {
			if (!isDeleted) {
				isDeleted = true;
				await host.journal.delete(key);
			}
			return submit.call(host.journal, key, input);
		};
		await expect(service.submit("t", "s", { input: message })).rejects.toMatchObject({
			code: "session_not_found",
		});
		expect(await service.list("t")).toEqual({ sessions: [] });
		expect(await service.get("t", "s")).toBeUndefined();
	},
);
