import { join } from "node:path";
import { scriptedModel } from "@holdfast/testing";
import { UserMessage } from "@holdfast/upp";
import { expect, test } from "vitest";
import { Agent } from "../agent/agent.ts";
import { storedInput } from "../facts/input.ts";
import { noticeIdentity } from "../sessions/child-records.ts";
import { foldHistory } from "../sessions/fold-history.ts";
import { sqliteHost } from "../sqlite.ts";
import { temporaryFolder } from "../temporary-folder.fixture.ts";

/** A session with a notice in its inbox, which is scheduled beside it, as it is when work in the background is over. */
async function withNotice() {
	const host = sqliteHost(join(temporaryFolder(), "sessions.db"));
	const { store } = host.execution as NonNullable<typeof host.execution>;
	const agent = new Agent({ model: scriptedModel(() => "said"), host });
	const ids = { notificationId: "k", idempotencyKey: "k", runId: noticeIdentity("k").id };
	const { id, dedupeKey } = noticeIdentity("k");
	await (await agent.session("s").send("first")).result();
	await store.notifications.enqueue({ ...ids, sessionKey: "s", input: "It is done." });
	const body = storedInput({ shape: "text", message: new UserMessage("It is done.", { id }) });
	await host.journal.submit("s", { id, kind: "notice", dedupeKey, body });
	const states = async () => ({
		notification: (await store.notifications.getByIdempotencyKey("k"))?.status,
		run: (await store.runs.get(ids.runId))?.status,
	});
	const close = async (): Promise<void> => {
		await agent.close();
		await host.close();
	};
	return { host, agent, session: agent.session("s"), runId: ids.runId, states, close };
}

test("a notification that was delivered in entries folded since counts as delivered", async () => {
	const { host, agent, session, runId, states, close } = await withNotice();
	await (await session.send("second")).result();
	expect(JSON.stringify((await session.state()).messages)).toContain("It is done.");
	await foldHistory(host.journal, "s", { before: Number.POSITIVE_INFINITY });
	expect(await agent.resume(runId)).toBeNull();
	expect(await states()).toEqual({ notification: "acked", run: "completed" });
	await close();
});

test("a notification that a kill took out of the inbox is delivered no more", async () => {
	const { agent, session, runId, states, close } = await withNotice();
	await session.kill();
	expect(await agent.resume(runId)).toBeNull();
	expect(await states()).toEqual({ notification: "acked", run: "cancelled" });
	await close();
});
