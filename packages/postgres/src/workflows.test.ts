// Workflows in Postgres: two workers, events from another process, and a wait that another worker continues.

import { type Workflow, workflow } from "holdfast/workflow";
import { expect, onTestFinished, test } from "vitest";
import { everyOutcome, outcomeOnTwoHosts } from "../../../test/shared/workflow-operations.fixture.ts";
import { type PostgresHost, postgresHost } from "./index.ts";
import { testServer } from "./test-server.fixture.ts";

async function newHost(schema: string): Promise<PostgresHost> {
	const { url } = await testServer();
	const host = postgresHost({ connectionString: url, schema, leaseTtlMs: 120_000 });
	onTestFinished(() => host.close());
	return host;
}

function onboarding(host: PostgresHost, done: string[]): Workflow<{ email: string }, unknown> {
	const made = workflow({ name: "onboarding", host }, async (flow, { email }: { email: string }) => {
		const user = await flow.step("create", () => {
			done.push("create");
			return `user of ${email}`;
		});
		const reply = await flow.event<string>("reply", { timeout: "1 hour" });
		await flow.step("greet", () => void done.push("greet"));
		return { user, reply };
	});
	onTestFinished(() => made.close());
	return made;
}

test("a workflow that one process started is continued by the process that sends the event", async () => {
	const schema = (await testServer()).schema();
	const done: Record<"one" | "two", string[]> = { one: [], two: [] };
	const one = onboarding(await newHost(schema), done.one);
	const run = await one.session("ada").send({ email: "ada@example.com" });
	expect((await run.run.result()).outcome).toBe("waiting");
	const two = onboarding(await newHost(schema), done.two);
	await two.session("ada").signal("reply", "Thanks!");
	// The process that started it receives the result, too.
	expect(await run.result()).toEqual({
		runId: run.runId,
		outcome: "completed",
		output: { user: "user of ada@example.com", reply: "Thanks!" },
	});
	expect(done).toEqual({ one: ["create"], two: ["greet"] });
});

test("a workflow uses every operation, and another process continues it", async () => {
	const schema = (await testServer()).schema();
	const outcome = await outcomeOnTwoHosts(await newHost(schema), await newHost(schema));
	expect(outcome).toEqual(everyOutcome);
});
