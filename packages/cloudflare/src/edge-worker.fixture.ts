// A Worker with sessions in objects, as an application would write it, with a model that follows a script.
import { scriptedModel } from "@holdfast/testing";
import { directoryObject } from "./directory.ts";
import { edgeHandler } from "./edge-handler.ts";
import type { ObjectNamespace } from "./platform.ts";
import { sessionObject } from "./session-object.ts";

interface Env {
	readonly SESSIONS: ObjectNamespace;
	readonly DIRECTORY: ObjectNamespace;
	/** `yes`: the model never answers after its tool has run. */
	readonly HOLD: string;
}

const add = {
	name: "add",
	description: "Adds two numbers.",
	parameters: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } } },
	retryPolicy: "pure" as const,
	run: ({ a, b }: { a: number; b: number }) => a + b,
};

export const Session: ReturnType<typeof sessionObject<Env>> = sessionObject((env: Env) => ({
	agent: {
		model: scriptedModel(({ messages }) => {
			const last = messages.at(-1);
			if (last?.type !== "tool_result")
				return { toolCalls: [{ name: "add", arguments: { a: 1, b: 2 }, id: `call_${messages.length}` }] };
			return env.HOLD === "yes" ? { gate: new Promise(() => {}), text: "never" } : "It is three indeed.";
		}),
		tools: [add],
	},
	directory: env.DIRECTORY,
}));

export const Directory: ReturnType<typeof directoryObject> = directoryObject();

export default edgeHandler<Env>((env) => ({
	sessions: env.SESSIONS,
	directory: env.DIRECTORY,
	apiKeys: { "key-one": "one", "key-two": "two" },
}));
