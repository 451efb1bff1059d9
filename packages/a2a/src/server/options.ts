// The options of `a2aServer`, and the card derived from them.

import {
	A2A_PROTOCOL_VERSION,
	type AgentCard,
	type SecurityRequirement,
	type SecurityScheme,
} from "@a2a-js/sdk";
import type { Authenticate, ServedCaller, SessionService } from "@holdfast/server";
import { HoldfastError } from "@holdfast/upp";

/** A skill of the agent, as other agents see it. */
export interface A2ASkill {
	/** Unique among the skills of the agent. */
	readonly id: string;
	/** A name for people. */
	readonly name: string;
	/** The purpose of the skill. */
	readonly description: string;
	/** Keywords. Default: none. */
	readonly tags?: readonly string[];
	/** Prompts that use the skill. Default: none. */
	readonly examples?: readonly string[];
}

/** Options of `a2aServer`. */
export interface A2AServerOptions {
	/** The session service in which tasks run, from `sessionService()` of `@holdfast/server`. */
	readonly service: SessionService;
	/** The agent's name, for people and other agents. */
	readonly name: string;
	/** A description of its purpose. */
	readonly description: string;
	/** The public URL: the address at which this server's `fetch` is mounted. */
	readonly url: string;
	/** Version of the agent. Default "1.0.0". */
	readonly version?: string;
	/** Its skills. Default: one skill with its name and description. */
	readonly skills?: readonly A2ASkill[];
	/** The organization that offers the agent, as declared in the card. Default: absent from the card. */
	readonly provider?: { readonly organization: string; readonly url: string };
	/** A page about the agent, as declared in the card. Default: absent from the card. */
	readonly documentationUrl?: string;
	/** How clients have to authenticate, as declared in the card. Default: no authentication. */
	readonly security?: {
		readonly schemes: Readonly<Record<string, SecurityScheme>>;
		readonly requirements: readonly SecurityRequirement[];
	};
	/** Identifies the caller; undefined refuses the request. Default: callers on loopback are accepted. */
	readonly authenticate?: Authenticate;
	/** The owner of the tasks of unauthenticated requests. Default `{ tenant: "local" }`. */
	readonly caller?: ServedCaller;
	/** Maximum size of a request in bytes. Default 4 MiB. */
	readonly maxRequestBytes?: number;
}

/** @throws HoldfastError `invalid_a2a_card`. */
export function cardOf(options: A2AServerOptions): AgentCard {
	const { name, description, url, version = "1.0.0", provider, documentationUrl, security } = options;
	const skills = options.skills ?? [{ id: "agent", name, description }];
	for (const [field, value] of Object.entries({ name, description }))
		if (typeof value !== "string" || value === "") throw invalid(`\`${field}\` is empty`);
	if (!/^https?:$/.test(URL.parse(url)?.protocol ?? ""))
		throw invalid("`url` is not an address with http or https");
	return {
		name,
		description,
		version,
		supportedInterfaces: [
			{ url, protocolBinding: "JSONRPC", tenant: "", protocolVersion: A2A_PROTOCOL_VERSION },
			{ url, protocolBinding: "HTTP+JSON", tenant: "", protocolVersion: A2A_PROTOCOL_VERSION },
		],
		provider,
		...(documentationUrl === undefined ? {} : { documentationUrl }),
		capabilities: { streaming: true, pushNotifications: false, extensions: [], extendedAgentCard: false },
		securitySchemes: { ...security?.schemes },
		securityRequirements: [...(security?.requirements ?? [])],
		defaultInputModes: ["text/plain", "application/json"],
		defaultOutputModes: ["text/plain", "application/json"],
		skills: skills.map(({ tags = [], examples = [], ...skill }) => ({
			...skill,
			tags: [...tags],
			examples: [...examples],
			inputModes: [],
			outputModes: [],
			securityRequirements: [],
		})),
		signatures: [],
	};
}

function invalid(why: string): HoldfastError {
	return new HoldfastError("invalid_a2a_card", `The agent cannot be offered over A2A: ${why}.`);
}
