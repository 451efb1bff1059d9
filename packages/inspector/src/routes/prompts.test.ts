// Who may read and write prompts through their routes, and what a server reports about itself.
import { memoryPromptStore } from "@holdfast/runner/prompts";
import { scriptedModel } from "@holdfast/testing";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Inspected, inspect } from "./inspected.fixture.ts";

const secret = "sk-abcDEF0123456789abcDEF0123456789";

describe("prompts", () => {
	let prompts: ReturnType<typeof memoryPromptStore>;
	let served: Inspected;

	beforeEach(async () => {
		prompts = memoryPromptStore();
		await prompts.put({ id: "hello/you", text: "Hello {{name}}.", name: "Hello", requiredVars: ["name"] });
		served = inspect([], { inspector: { prompts } });
	});
	afterEach(() => served.close());

	const path = "prompts/hello%2Fyou";

	test("are listed with their latest version, and shown in all versions", async () => {
		await prompts.put({ id: "hello/you", text: "Hi {{name}}.", name: "Hello" });
		expect((await served.get("about")).body).toMatchObject({
			kind: "sessions",
			models: [],
			hasPrompts: true,
		});
		const { body } = await served.get("prompts");
		expect(body.prompts).toMatchObject([{ id: "hello/you", version: "2", name: "Hello" }]);
		const one = await served.get(path);
		expect(one.body.versions.map(({ version, text }: Record<string, string>) => [version, text])).toEqual([
			["2", "Hi {{name}}."],
			["1", "Hello {{name}}."],
		]);
		expect(await served.get("prompts/none")).toMatchObject({
			status: 404,
			body: { code: "PROMPT_NOT_FOUND" },
		});
	});

	test("get a new version by an edit, which keeps the prompt's other data and records the author", async () => {
		const written = await served.post(path, { text: "Hey {{name}}!", after: "1" });
		expect(written).toMatchObject({ status: 200, body: { version: { version: "2", createdBy: "default" } } });
		expect(await prompts.get("hello/you")).toMatchObject({
			text: "Hey {{name}}!",
			name: "Hello",
			requiredVars: ["name"],
		});
	});

	test("reject an edit of an outdated version, and text that is not a template", async () => {
		await served.post(path, { text: "Hey {{name}}!" });
		for (const [body, code] of [
			[{ text: "Late.", after: "1" }, "invalid_input"],
			[{ text: "Hey {{#if}}" }, "PROMPT_INVALID"],
			[{ text: 7 }, "invalid_input"],
			[{ text: "x", more: 1 }, "invalid_input"],
		] as const)
			expect(await served.post(path, body)).toMatchObject({ status: 400, body: { code } });
		expect((await prompts.get("hello/you"))?.version).toBe("2");
		expect(await served.post("prompts/none", { text: "x" })).toMatchObject({ status: 404 });
	});

	test("are shown with credentials masked, and the mask is never stored", async () => {
		await prompts.put({ id: "hello/you", text: `Use ${secret}.` });
		const { body } = await served.get(path);
		expect(JSON.stringify(body)).not.toContain(secret);
		expect(await served.post(path, { text: body.versions[0].text })).toMatchObject({ status: 400 });
		expect((await prompts.get("hello/you"))?.text).toContain(secret);
	});

	test("are available only to those who may inspect", async () => {
		const closed = inspect([], { inspector: { prompts, mayInspect: () => false } });
		for (const asked of [
			closed.get("prompts"),
			closed.get(path),
			closed.post(path, { text: "x" }),
			closed.get("about"),
		])
			expect(await asked).toMatchObject({ status: 403, body: { code: "inspector_closed" } });
		await closed.close();
		expect((await prompts.get("hello/you"))?.version).toBe("1");
		const without = inspect([]);
		expect((await without.get("about")).body.hasPrompts).toBe(false);
		expect(await without.get("prompts")).toMatchObject({ status: 404, body: { code: "route_not_found" } });
		await without.close();
	});
});

describe("models by name", () => {
	const other = () => scriptedModel([{ text: "From the other." }], { modelId: "wise-2" });

	test("are listed for forks, and used by them", async () => {
		const served = inspect([{ text: "Hello." }], { models: { wise: other() } });
		expect((await served.get("about")).body.models).toEqual(["wise"]);
		await served.say("one", "Hi");
		expect((await served.post("session/one/fork", { to: "two", model: "wise" })).status).toBe(200);
		await served.say("two", "Again");
		const { body } = await served.get("session/two/entries");
		const answers = body.entries.filter(({ kind }: { kind: string }) => kind === "assistant");
		expect(answers.at(-1).body.modelId).toBe("wise-2");
		for (const model of ["constructor", "nobody"])
			expect(await served.post("session/one/fork", { model })).toMatchObject({
				status: 400,
				body: { code: "unknown_model" },
			});
		await served.close();
	});

	test("are not listed if a function resolves them", async () => {
		const served = inspect([], { models: (name) => (name === "wise" ? other() : undefined) });
		expect((await served.get("about")).body).toEqual({
			kind: "sessions",
			hasPrompts: false,
			hasSkills: false,
			playground: "models",
		});
		await served.close();
	});

	test("are rejected at construction if they are invalid", () => {
		for (const models of [[], { wise: undefined }, "wise"])
			expect(() => inspect([], { models: models as never })).toThrow(/The option `models`/);
	});
});

test("the skills of the agent's plugins are listed and masked", async () => {
	const skill = {
		name: "refunds",
		description: `Rules for refunds, with ${secret}.`,
		hash: "ab",
		allowedTools: ["pay"],
		files: ["rules.md"],
	};
	const plugins = [{ name: "one", skills: async () => [skill] }, { name: "two" }];
	const served = inspect([], { agent: { plugins } });
	const { body } = await served.get("skills");
	expect(body.skills).toEqual([{ ...skill, description: expect.not.stringContaining(secret) }]);
	await served.close();
	const none = inspect([], {});
	expect((await none.get("skills")).body).toEqual({ skills: [] });
	await none.close();
});
