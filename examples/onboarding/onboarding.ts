// The first ten days of a customer, as one function. It waits for days without occupying a process.
import { scriptedModel } from "@holdfast/testing";
import { agent, tool } from "holdfast";
import { workflow } from "holdfast/workflow";
import { z } from "zod";

/** Mails that were sent, by the key of their call: a mail provider recognizes the key as well. */
export const outbox: Map<string, string> = new Map();

const sendMail = tool({
	name: "send_mail",
	description: "Sends a mail.",
	parameters: z.object({ to: z.string(), body: z.string() }),
	// If the process dies while the mail is sent, the call runs again with the same key.
	retryPolicy: "idempotent",
	run: ({ to, body }, { idempotencyKey }) => {
		outbox.set(idempotencyKey, `${to}: ${body}`);
		return "sent";
	},
});

// One rule in place of a language model. Put `openai("gpt-5.2")` of "@ai-sdk/openai" here.
const model = scriptedModel(({ messages }) => {
	const task = messages.at(-1)?.text ?? "";
	const { name = "" } = /to (?<name>\w+)/.exec(task)?.groups ?? {};
	return task.includes("reminder") ? `${name}, your first project is waiting.` : `Welcome, ${name}!`;
});
const writer = agent({ name: "writer", description: "Writes short mails.", model });

export const onboarding = workflow(
	{
		name: "onboarding",
		tools: [sendMail],
		subagents: [writer],
		input: z.object({ name: z.string(), email: z.string() }),
	},
	async (flow, { name, email }) => {
		const user = await flow.step("create account", () => ({ id: `user of ${email}` }), {
			retryPolicy: "idempotent",
			retries: 3,
		});
		await flow.tool(sendMail, {
			to: email,
			body: await flow.agent(writer, `Write a welcome mail to ${name}.`),
		});
		const project = await flow.event<string>("project created", { timeout: "3 days" });
		if (project === undefined) {
			const reminder = await flow.agent(writer, `Write a reminder to ${name}.`);
			await flow.tool(sendMail, { to: email, body: reminder });
		}
		await flow.sleep("7 days");
		await flow.tool(sendMail, { to: email, body: `${name}, how was your first week?` });
		return { user: user.id, project: project ?? "none" };
	},
);
