// A bot behind a webhook like Slack's: requests are signed, repeated deliveries are processed once, and each thread is a session.
// The bot acknowledges each delivery at once, and posts the reply when the agent has finished, even after a crash.
import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer, type Route, readSessionKey, type Server, sessionService } from "@holdfast/server";
import { scriptedModel } from "@holdfast/testing";
import { type Host, tool } from "holdfast";
import { z } from "zod";

/** Posts a reply, for example with `chat.postMessage` of Slack's Web API. `key` is the same for each attempt. */
export type Post = (message: { channel: string; thread: string; text: string; key: string }) => Promise<void>;

export interface BotOptions {
	readonly host: Host;
	readonly secret: string;
	readonly post: Post;
}

/** Returns the signature of a body in Slack's format. */
export function sign(secret: string, timestamp: string, body: string): string {
	return `v0=${createHmac("sha256", secret).update(`v0:${timestamp}:${body}`).digest("hex")}`;
}

function isSigned(secret: string, { headers }: Request, body: string): boolean {
	const timestamp = headers.get("x-slack-request-timestamp") ?? "";
	const expected = Buffer.from(sign(secret, timestamp, body));
	const given = Buffer.from(headers.get("x-slack-signature") ?? "");
	// A recorded request is also signed, so old ones are rejected.
	const isRecent = Math.abs(Date.now() / 1000 - Number(timestamp)) < 300;
	return isRecent && given.length === expected.length && timingSafeEqual(given, expected);
}

// A few rules in place of a language model. Put `openai("gpt-5.2")` of "@ai-sdk/openai" here.
const model = scriptedModel(({ messages }) => {
	if (messages.at(-1)?.type === "tool_result") return "Replied.";
	const asked = messages.filter(({ type }) => type === "user");
	const text = `You said: ${asked.at(-1)?.text} (message ${asked.length} of this thread)`;
	return { toolCalls: [{ name: "reply", arguments: { text } }] };
});

const Delivery = z.object({
	type: z.string(),
	challenge: z.string().optional(),
	event_id: z.string().optional(),
	event: z
		.object({ text: z.string(), channel: z.string(), ts: z.string(), thread_ts: z.string().optional() })
		.optional(),
});

export function slackBot({ host, secret, post }: BotOptions): Server {
	const reply = tool({
		name: "reply",
		description: "Posts a reply to the thread.",
		parameters: z.object({ text: z.string() }),
		retryPolicy: "idempotent",
		async run({ text }, { sessionKey = "", idempotencyKey }) {
			const [channel = "", thread = ""] = readSessionKey(sessionKey).sessionId.split(":");
			await post({ channel, thread, text, key: idempotencyKey });
			return "posted";
		},
	});
	const service = sessionService({
		host,
		agent: { model, tools: [reply], instructions: "Answer with `reply`." },
	});

	const events: Route = {
		method: "POST",
		path: "/slack/events",
		name: "slackEvents",
		summary: "Takes what Slack delivers.",
		answers: { 200: { description: "It was accepted." }, 401: { description: "The signature is wrong." } },
		async handle({ request }) {
			const body = await request.text();
			if (!isSigned(secret, request, body)) return new Response("The signature is wrong.", { status: 401 });
			const { success, data } = Delivery.safeParse(JSON.parse(body));
			if (!success) return new Response("This is no delivery.", { status: 400 });
			if (data.type === "url_verification") return new Response(data.challenge);
			const { event, event_id: idempotencyKey } = data;
			if (event === undefined || idempotencyKey === undefined) return new Response();
			const thread = `${event.channel}:${event.thread_ts ?? event.ts}`;
			// The message is durable when this resolves; a repeated delivery attaches to the first one.
			await service.submit("slack", thread, { input: event.text, context: {} }, { idempotencyKey });
			return new Response();
		},
	};
	return createServer({ service, routes: [events], publicPaths: ["/slack/events"] });
}
