// Cases of a session with a full inbox, for any store.
import { scriptedModel } from "@holdfast/testing";
import { UserMessage } from "@holdfast/upp";
import { describe, expect, test } from "vitest";
import { Agent } from "../agent/agent.ts";
import type { ExecutionHost } from "../execution-host/execution-host.ts";
import type { Host } from "../host/host-port.ts";
import { mostWaiting } from "./inbox-limit.ts";

const full = { code: "inbox_full", retryable: true };

/** Describes sessions with a full inbox on a store. */
export function inboxLimitCases(name: string, makeHost: () => Host | ExecutionHost): void {
	describe(`on ${name}, a session with a full inbox`, () => {
		test("rejects changes of its history until a run has applied some", async () => {
			const host = makeHost();
			const agent = new Agent({ model: scriptedModel(() => "Noted."), host });
			const session = agent.session("s");
			const add = () => session.edit({ kind: "add", message: new UserMessage("x") });
			for (let at = 0; at < mostWaiting; at++) await add();
			await expect(add()).rejects.toMatchObject(full);
			await expect(add()).rejects.toMatchObject(full);
			await (await session.send("Go.")).result();
			await add();
			expect((await session.state()).messages).toHaveLength(mostWaiting + 2);
			await agent.close();
			if ("close" in host) await host.close();
		});

		test("rejects turns and messages to its run", async () => {
			const host = makeHost();
			const open = Promise.withResolvers<string>();
			const agent = new Agent({ model: scriptedModel(() => open.promise), host });
			const session = agent.session("s");
			await session.send("Go.");
			for (let at = 0; at < mostWaiting; at++) await session.send("More.");
			await expect(session.send("One more.")).rejects.toMatchObject(full);
			await expect(session.steer("One more.")).rejects.toMatchObject(full);
			await session.kill();
			open.resolve("Done.");
			await agent.close();
			if ("close" in host) await host.close();
		});
	});
}
