// The system message that a prompt becomes.
import { expect, test } from "vitest";
import { definePrompt } from "../define/index.ts";
import type { PromptContent } from "../types/index.ts";
import { oneAgent, scripted, start } from "./threads.fixture.ts";

const plain = " {{name}}\n $1 ";
const others = { toolDescription: "x", model: "main" };

/** The system message that the model gets, or the run's error where it was not asked. */
async function systemOf(prompt: PromptContent, env: Record<string, string> = {}): Promise<string> {
	const provider = scripted(["Hello."]);
	const project = oneAgent(provider, {
		prompt: { prompt },
		prompts: [
			definePrompt({ ...others, name: "plain", prompt: plain }),
			definePrompt({
				...others,
				name: "both",
				prompt: [
					{ type: "include", prompt: "plain" },
					{ type: "text", content: "|" },
				],
			}),
		],
	});
	const { threads, host } = start(project, { env });
	const { threadId } = await threads.createThread({ agentId: "helper", message: "Hi" });
	await threads.quiet();
	await threads.close();
	const [message] = provider.requests[0]?.messages ?? [];
	if (message?.role === "system") return message.content;
	expect(provider.requests).toHaveLength(0);
	const ended = (await host.journal.read(threadId)).at(-1)?.fact as {
		readonly error?: { readonly message: string };
	};
	return `error: ${ended.error?.message}`;
}

test("a prompt in a string is the system message unchanged [SA-017]", async () => {
	expect(await systemOf(" a {{b}} $&\n")).toBe(" a {{b}} $&\n");
});

test("parts are rendered in order with nothing between them [SA-017]", async () => {
	const text = await systemOf(
		[
			{ type: "text", content: "a" },
			{ type: "env", property: "B" },
			{ type: "text", content: "" },
			{ type: "text", content: "c " },
			{ type: "include", prompt: "plain" },
			{ type: "text", content: "d" },
		],
		{ B: "b\n" },
	);
	expect(text).toBe(`ab\nc ${plain}d`);
});

test("an include is the other prompt as rendered, any number of times [SA-018]", async () => {
	const text = await systemOf([
		{ type: "include", prompt: "both" },
		{ type: "include", prompt: "both" },
		{ type: "include", prompt: "plain" },
	]);
	expect(text).toBe(`${plain}|${plain}|${plain}`);
});

test("an undefined value fails before the model is called, and is named [SA-019]", async () => {
	const parts: PromptContent = [
		{ type: "text", content: "In " },
		{ type: "env", property: "CITY" },
	];
	expect(await systemOf(parts)).toMatch(/^error: .*"CITY"/);
	expect(await systemOf(parts, { CITY: "Rome" })).toBe("In Rome");
	expect(await systemOf(parts, { CITY: "" })).toBe("In ");
});
