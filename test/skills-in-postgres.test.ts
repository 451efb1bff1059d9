// Skills in a table of Postgres, as the guide on skills describes it: a changed row takes effect with the next run, and a
// query that fails stops a run before anything is sent.
import { skills } from "@holdfast/context";
import { postgresHost } from "@holdfast/postgres";
import { scriptedModel } from "@holdfast/testing";
import { startPostgresServer } from "@holdfast/testing/postgres-server";
import { isToolResultMessage, type LLMRequest } from "@holdfast/upp";
import { Agent } from "holdfast";
import { Pool } from "pg";
import { expect, onTestFinished, test } from "vitest";

const skill = (body: string): string => `---\nname: refunds\ndescription: Rules for refunds.\n---\n${body}\n`;

test("the rows of a table are skills, in sessions that Postgres stores as well", async () => {
	const server = await startPostgresServer();
	onTestFinished(() => server.stop());
	const pool = new Pool({ connectionString: server.url });
	onTestFinished(() => pool.end());
	await pool.query("CREATE TABLE skills (name TEXT PRIMARY KEY, text TEXT NOT NULL)");
	await pool.query("INSERT INTO skills VALUES ($1, $2)", ["refunds", skill("Refund within 30 days.")]);
	const rows = async () => (await pool.query<{ text: string }>("SELECT text FROM skills ORDER BY name")).rows;

	const host = postgresHost({ connectionString: server.url, schema: server.schema() });
	const load = { toolCalls: [{ name: "load_skill", arguments: { name: "refunds" } }] };
	const model = scriptedModel(({ messages }) =>
		isToolResultMessage(messages.at(-1) as never) ? "Done." : load,
	);
	const agent = new Agent({ model, host, plugins: [skills({ sources: [rows], reload: "each-run" })] });
	onTestFinished(() => agent.close());
	onTestFinished(() => host.close());
	const loaded = ({ messages }: LLMRequest): string => {
		const message = messages.findLast(isToolResultMessage);
		return String(message?.results[0]?.result);
	};
	const run = async (key: string) => (await agent.session(key).send("Refund it.")).result();

	expect((await run("ann")).outcome).toBe("completed");
	expect(model.requests[0]?.system).toContain("- refunds: Rules for refunds.");
	expect(loaded(model.requests[1] as LLMRequest)).toContain("Refund within 30 days.");

	await pool.query("UPDATE skills SET text = $1", [skill("Refund within 14 days.")]);
	expect((await run("ann")).outcome).toBe("completed");
	expect(loaded(model.requests[3] as LLMRequest)).toMatch(/has changed.*Refund within 14 days\./s);

	await pool.query("DELETE FROM skills");
	await run("bob");
	expect(model.requests[4]?.system ?? "").not.toContain("refunds");
	await pool.query("DROP TABLE skills");
	const sent = model.requests.length;
	expect(await run("cid")).toMatchObject({ outcome: "error" });
	expect(model.requests.length).toBe(sent);
});
