// A remote A2A agent as a tool: a sub-agent that runs elsewhere.
import type { AgentCard } from "@a2a-js/sdk";
import {
	type Client,
	ClientFactory,
	DefaultAgentCardResolver,
	JsonRpcTransportFactory,
	RestTransportFactory,
} from "@a2a-js/sdk/client";
import {
	boundFetch,
	checkOptions,
	cutText,
	HoldfastError,
	HoldfastTypeError,
	type JSONSchema,
	messageOf,
	optionNames,
	readDuration,
} from "@holdfast/upp";
import { type AnyTool, type ToolContext, tool } from "holdfast";
import type { RecordSpace } from "holdfast/host";
import { KeptTasks } from "./kept-tasks.ts";
import { type FollowTaskOptions, type RemoteCall, RemoteRun } from "./remote-run.ts";

/** Options of `remoteAgent`. */
export interface RemoteAgentOptions extends FollowTaskOptions {
	/** URL of the agent, below which its card is at `/.well-known/agent-card.json`. */
	readonly url: string | URL;
	/** The tool name for the model. Default: derived from the name in the agent's card. */
	readonly name?: string;
	/** When the model should use it. Default: the description in its card, which the model then trusts. */
	readonly description?: string;
	/**
	 * Sent with the request for the card and with every other request to the origin of `url`, such as an `Authorization`.
	 * If the card names an address of another origin, requests to it do not include them.
	 */
	readonly headers?: Readonly<Record<string, string>>;
	/**
	 * Additional addresses whose origins receive `headers`, for an agent that runs at a different address than its card.
	 * Default: none.
	 */
	readonly headersFor?: readonly (string | URL)[];
	/**
	 * Milliseconds within which the remote agent has to start a response, and to send each further piece of it. A stream
	 * that falls silent is closed, and its task is polled. Default 120,000.
	 */
	readonly silenceMs?: number;
	/**
	 * Maximum size in bytes of one response, including a stream of events; the request fails beyond it. Default 16 MiB.
	 */
	readonly maxAnswerBytes?: number;
	/** Sends the requests, for example only to public addresses. Default: the global `fetch`. */
	readonly fetch?: typeof globalThis.fetch;
	/**
	 * Where to store ids of tasks in progress, such as `records` of the agent's host: a retry after a crash then
	 * continues the task of the previous attempt. This works even if the remote agent neither lists tasks nor
	 * recognises repeated messages. Default: nowhere, and the remote agent is asked.
	 */
	readonly records?: RecordSpace;
	/** Whether each call requires approval. Default false. */
	readonly needsApproval?: boolean;
}

/** A remote agent as a tool, for `tools` of an agent. */
export interface RemoteAgent extends AnyTool {
	/** The name by which the model calls it. */
	readonly name: string;
	/** The description in the agent's card, for the model. */
	readonly description: string;
	/** The schema of a `RemoteCall`. */
	readonly parameters: JSONSchema;
	/** Sends the message, waits for the end of the task, and returns its answer. */
	run(params: RemoteCall, context: ToolContext): Promise<unknown>;
	/** The agent's card, if it was fetched. */
	readonly card: AgentCard;
}

const parameters = {
	type: "object",
	properties: {
		prompt: { type: "string", minLength: 1, description: "The task, with everything needed to do it." },
		task: {
			type: "string",
			description: "To answer a task that requires input: the task's id. The prompt is the answer.",
		},
	},
	required: ["prompt"],
} as const satisfies JSONSchema;

const remoteAgentNames = optionNames<RemoteAgentOptions>({
	url: true,
	name: "text",
	description: "text",
	headers: "object",
	headersFor: "list",
	silenceMs: "number",
	maxAnswerBytes: "number",
	fetch: "function",
	records: "object",
	needsApproval: "flag",
	pollEveryMs: true,
	maxFailures: "number",
	deadlineMs: true,
});

/**
 * Creates a tool from a remote agent. Its card is read once, at this point.
 *
 * Rejects with `a2a_unreachable` if there is no card, or none that can be used.
 *
 * @example
 * import { openai } from "@ai-sdk/openai";
 * import { agent } from "holdfast";
 *
 * const researcher = await remoteAgent({ url: "https://research.example" }).catch(() => undefined);
 * const clerk = agent({ model: openai("gpt-5.2"), tools: researcher === undefined ? [] : [researcher] });
 * console.log(clerk.id);
 */
export async function remoteAgent(options: RemoteAgentOptions): Promise<RemoteAgent> {
	checkOptions(options, remoteAgentNames, { of: "remoteAgent()" });
	readDuration("pollEveryMs", options.pollEveryMs, 0, { least: 0 });
	readDuration("deadlineMs", options.deadlineMs, 0, { most: Number.POSITIVE_INFINITY });
	readDuration("silenceMs", options.silenceMs, 0, { most: Number.POSITIVE_INFINITY });
	if (!URL.canParse(String(options.url)))
		throw new HoldfastTypeError(
			"invalid_option",
			'The option `url` of remoteAgent() must be an address, such as "https://agents.example".',
		);
	const { client, card } = await connect(options);
	const { name = nameOf(card), description = describe(card), needsApproval, records } = options;
	const kept = records === undefined ? undefined : new KeptTasks(records);
	const made = tool<RemoteCall, string, Promise<unknown>>({
		name,
		label: card.name,
		description,
		parameters,
		retryPolicy: "idempotent",
		...(needsApproval === undefined ? {} : { needsApproval }),
		run: (params, context) => new RemoteRun(client, card, options, params, context, kept).run(),
	});
	return { ...(made as unknown as RemoteAgent), card };
}

async function connect({
	url,
	headers,
	headersFor = [],
	fetch,
	silenceMs = 120_000,
	maxAnswerBytes = 16 * 1024 * 1024,
}: RemoteAgentOptions): Promise<{
	readonly client: Client;
	readonly card: AgentCard;
}> {
	const origins = [url, ...headersFor];
	const fetchImpl = boundFetch({ fetch, headers, origins, silenceMs, maxBytes: maxAnswerBytes });
	const factory = new ClientFactory({
		transports: [new JsonRpcTransportFactory({ fetchImpl }), new RestTransportFactory({ fetchImpl })],
		cardResolver: new DefaultAgentCardResolver({ fetchImpl }),
	});
	try {
		const client = await factory.createFromUrl(`${url}`.replace(/\/?$/, "/"));
		return { client, card: await client.getAgentCard() };
	} catch (error) {
		const why = messageOf(error);
		throw new HoldfastError("a2a_unreachable", `There is no usable A2A agent at ${url}: ${why}`, {
			cause: error,
			retryable: true,
			data: { url: `${url}` },
		});
	}
}

function nameOf({ name }: AgentCard): string {
	const plain = name
		.toLowerCase()
		.replace(/[^a-z0-9]+/g, "_")
		.replace(/^_|_$/g, "")
		.slice(0, 52);
	return `ask_${plain === "" ? "agent" : plain}`;
}

function describe({ description, skills }: AgentCard): string {
	const list = skills.map((skill) => `- ${skill.name}: ${skill.description}`);
	return cutText([`A remote agent. ${description}`, ...list].join("\n"), 4000);
}
