// Prompts that are edited while a project runs.
import { memoryHost } from "holdfast";
import { sqliteHost } from "holdfast/sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { definePrompt } from "../define/index.ts";
import { temporaryFolder } from "../files/files.fixture.ts";
import type { PromptEdits } from "./index.ts";
import { oneAgent, scripted, start } from "./threads.fixture.ts";

const others = { toolDescription: "x", model: "main" };
const secretName = "API_KEY";

/** A project with a prompt in a string, which its agent has, and others in parts. */
function project(provider = scripted([])) {
	return oneAgent(provider, {
		prompt: { prompt: "As the project has it {{x." },
		prompts: [
			definePrompt({ ...others, name: "plain", prompt: "Plain." }),
			definePrompt({
				...others,
				name: "parts",
				prompt: [
					{ type: "text", content: "In " },
					{ type: "env", property: "PLACE" },
					{ type: "include", prompt: "plain" },
				],
			}),
			definePrompt({ ...others, name: "marked", prompt: [{ type: "text", content: "Say {{env PLACE}}" }] }),
		],
	});
}

function editsOf({ prompts }: { readonly prompts: PromptEdits | undefined }): PromptEdits {
	if (prompts === undefined) throw new Error("Prompts cannot be edited.");
	return prompts;
}

describe("edited prompts", () => {
	let made: ReturnType<typeof start>;
	let prompts: PromptEdits;
	beforeEach(() => {
		made = start(project(), { editablePrompts: true });
		prompts = editsOf(made.threads);
	});
	afterEach(async () => {
		await made.threads.close();
		await made.host.close();
	});

	test("start with those of the project, which are version 0", async () => {
		const own = (await prompts.list()).map(({ id, version, text }) => [id, version, text]);
		expect(own).toEqual(
			expect.arrayContaining([
				["plain", "0", "Plain."],
				["parts", "0", "In {{env PLACE}}{{include plain}}"],
			]),
		);
		expect(await prompts.get("nobody")).toBeNull();
		expect(await prompts.get("plain", "1")).toBeNull();
		expect(await prompts.get("plain", "x")).toBeNull();
	});

	test("are permanent versions, each with its author and time", async () => {
		await prompts.put({ id: "plain", text: "One." }, { author: "ann" });
		await prompts.put({ id: "plain", text: "Two." });
		expect(await prompts.get("plain")).toMatchObject({ version: "2", text: "Two." });
		expect(await prompts.get("plain", "1")).toMatchObject({
			text: "One.",
			createdBy: "ann",
			createdAt: expect.stringMatching(/^\d{4}-.*Z$/),
		});
		expect(await prompts.get("plain", "0")).toMatchObject({ text: "Plain." });
	});

	test("that are written at once get a version each", async () => {
		const texts = Array.from({ length: 20 }, (_, at) => `Text ${at}.`);
		const written = await Promise.all(texts.map((text) => prompts.put({ id: "plain", text })));
		expect(new Set(written.map(({ version }) => version)).size).toBe(20);
		for (const { version, text } of written)
			expect(await prompts.get("plain", version)).toMatchObject({ text });
	});

	test("can name only prompts they can see and values the project names", async () => {
		const put = (id: string, text: string): Promise<unknown> => prompts.put({ id, text });
		await put("parts", "{{include plain}} at {{env PLACE}}");
		await expect(put("parts", `{{env ${secretName}}}`)).rejects.toMatchObject({ code: "PROMPT_INVALID" });
		await expect(put("parts", "{{include nobody}}")).rejects.toMatchObject({ code: "PROMPT_INVALID" });
		await expect(put("marked", "else")).rejects.toMatchObject({ code: "PROMPT_INVALID" });
		await expect(put("plain", "a".repeat(100_001))).rejects.toMatchObject({ code: "PROMPT_INVALID" });
		await expect(put("nobody", "else")).rejects.toMatchObject({ code: "PROMPT_NOT_FOUND" });
	});
});

/** The instructions of the model in a thread that is made and asked now. */
async function instructionsIn(
	{ threads }: ReturnType<typeof start>,
	provider: ReturnType<typeof scripted>,
): Promise<string | undefined> {
	await threads.createThread({ agentId: "helper", message: "Hi" });
	await threads.quiet();
	const [message] = provider.requests.at(-1)?.messages ?? [];
	return message?.role === "system" ? message.content : undefined;
}

test("an edit applies from the next model call on, also for others on the same host, until the project's text is restored", async () => {
	const path = `${temporaryFolder()}/threads.db`;
	const provider = scripted(["Hello.", "Hello.", "Hello.", "Hello."]);
	const made = [0, 1].map(() => start(project(provider), { host: sqliteHost(path), editablePrompts: true }));
	const [one, other] = made as [(typeof made)[0], (typeof made)[0]];
	try {
		const prompts = editsOf(one.threads);
		const agentsPrompt = (await prompts.list()).find(({ text }) => text.startsWith("As the project"));
		const id = agentsPrompt?.id ?? "";
		const own = agentsPrompt?.text ?? "";
		expect(await instructionsIn(one, provider)).toBe(own);
		await prompts.put({ id, text: "Edited {{env NO}} {{" });
		expect(await instructionsIn(one, provider)).toBe("Edited {{env NO}} {{");
		expect(await instructionsIn(other, provider)).toBe("Edited {{env NO}} {{");
		await prompts.put({ id, text: own });
		expect(await prompts.get(id)).toMatchObject({ version: "2", followsProject: true });
		expect(await instructionsIn(other, provider)).toBe(own);
	} finally {
		for (const { threads, host } of made) {
			await threads.close();
			await host.close();
		}
	}
});

test("prompts in parts keep their parts when they are edited", async () => {
	const provider = scripted(["Hello."]);
	const { threads, host } = start(
		oneAgent(provider, {
			prompt: {
				prompt: [
					{ type: "env", property: "PLACE" },
					{ type: "text", content: "!" },
				],
			},
			prompts: [definePrompt({ ...others, name: "plain", prompt: "Plain." })],
		}),
		{ editablePrompts: true, env: { PLACE: { value: "Rome", type: "text" } } },
	);
	const prompts = editsOf(threads);
	const agents = (await prompts.list()).find(({ text }) => text === "{{env PLACE}}!");
	await prompts.put({ id: agents?.id ?? "", text: "To {{env PLACE}}: {{include plain}}" });
	expect(await instructionsIn({ threads } as ReturnType<typeof start>, provider)).toBe("To Rome: Plain.");
	await threads.close();
	await host.close();
});

test("without the option there is nothing to edit", async () => {
	const { threads, host } = start(project(), { host: memoryHost() });
	expect(threads.prompts).toBeUndefined();
	await threads.close();
	await host.close();
});
