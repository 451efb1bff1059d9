// A Worker in front of Durable Objects, one for each session: what you deploy with wrangler.
import { directoryObject, edgeHandler, type ObjectNamespace, sessionObject } from "@holdfast/cloudflare";
import { scriptedModel } from "@holdfast/testing";

interface Env {
	readonly SESSIONS: ObjectNamespace;
	readonly DIRECTORY: ObjectNamespace;
	readonly API_KEY: string;
}

export const Session = sessionObject((env: Env) => ({
	agent: {
		// A rule in place of a language model. Put `openai("gpt-5.2")` of "@ai-sdk/openai" here.
		model: scriptedModel(({ messages }) => `You said: ${messages.at(-1)?.text} (message ${messages.length})`),
	},
	directory: env.DIRECTORY,
}));

export const Directory = directoryObject();

export default edgeHandler<Env>((env) => ({
	sessions: env.SESSIONS,
	directory: env.DIRECTORY,
	apiKeys: { [env.API_KEY]: "my-team" },
}));
