// A remote A2A agent as a tool: a sub-agent that works elsewhere.
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
	checkOptionNames,
	cutText,
	HoldfastError,
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
	/** Where its card is: the address of the agent, below which `/.well-known/agent-card.json` lies. */
	readonly url: string | URL;
	/** The tool name for the model. Default: derived from the name in the agent's card. */
	readonly name?: string;
	/** When the model should use it. Default: what its card says, which the model then believes. */
	readonly description?: string;
	/**
	 * Sent with the request for the card and with every other one to the origin of `url`, such as an `Authorization`. A card that names
	 * an address of another origin does not get them.
	 */
	readonly headers?: Readonly<Record<string, string>>;
	/** Further addresses whose origins get `headers`, for an agent that works at another one than its card. Default: none. */
	readonly headersFor?: readonly (string | URL)[];
	/**
	 * Milliseconds in which the remote agent has to begin an answer, and to send each next piece of it. A stream that falls silent is
	 * left, and its task asked for. Default 120,000.
	 */
	readonly silenceMs?: number;
	/** Bytes of one answer at most, a stream of events among them; more fails the request. Default 16 MiB. */
	readonly maxAnswerBytes?: number;
	/** Makes the requests, for example one that reaches public addresses only. Default: the global `fetch`. */
	readonly fetch?: typeof globalThis.fetch;
	/**
	 * Where ids of tasks under way are kept, such as `records` of the agent's host: an attempt after a crash then continues with
	 * the task of the one before, also where the remote agent lists no tasks and knows no message again. Default: nowhere, and
	 * the remote agent is asked.
	 */
	readonly records?: RecordSpace;
	/** Whether each call requires approval. Default false. */
	readonly needsApproval?: boolean;
}

/** A remote agent as a tool, for `tools` of an agent. */
export interface RemoteAgent extends AnyTool {
	readonly name: string;
	readonly description: string;
	readonly parameters: JSONSchema;
	run(params: RemoteCall, context: ToolContext): Promise<unknown>;
	/** The agent's card, if it was fetched. */
	readonly card: AgentCard;
}

const parameters = {
	type: "object",
	properties: {
		prompt: { type: "string", minLength: 1, description: "The task, with all that is needed to do it." },
		task: {
			type: "string",
			description: "Only to answer a task that asked for input: its id. The prompt is then the answer.",
		},
	},
	required: ["prompt"],
} as const satisfies JSONSchema;

const remoteAgentNames = optionNames<RemoteAgentOptions>({
	url: true,
	name: true,
	description: true,
	headers: true,
	headersFor: true,
	silenceMs: true,
	maxAnswerBytes: true,
	fetch: true,
	records: true,
	needsApproval: true,
	pollEveryMs: true,
	maxFailures: true,
	deadlineMs: true,
});

/**
 * Makes a tool of a remote agent. Its card is read once, now.
 *
 * Rejects with `a2a_unreachable` where there is no card, or none that can be used.
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
	checkOptionNames(options, remoteAgentNames, { of: "remoteAgent()" });
	readDuration("pollEveryMs", options.pollEveryMs, 0, { least: 0 });
	readDuration("deadlineMs", options.deadlineMs, 0, { most: Number.POSITIVE_INFINITY });
	readDuration("silenceMs", options.silenceMs, 0, { most: Number.POSITIVE_INFINITY });
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
		throw new HoldfastError("a2a_unreachable", `There is no A2A agent that can be used at ${url}: ${why}`, {
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
