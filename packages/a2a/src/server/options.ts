// The options of `a2aServer`, and the card derived from them.

import {
	A2A_PROTOCOL_VERSION,
	type AgentCard,
	type SecurityRequirement,
	type SecurityScheme,
} from "@a2a-js/sdk";
import type { Authenticate, ServedCaller, SessionService } from "@holdfast/server";
import { HoldfastError } from "@holdfast/upp";

/** Something an agent can do, as others see it. */
export interface A2ASkill {
	readonly id: string;
	readonly name: string;
	readonly description: string;
	readonly tags?: readonly string[];
	readonly examples?: readonly string[];
}

/** Options of `a2aServer`. */
export interface A2AServerOptions {
	/** The sessions that tasks run in: what `sessionService()` of `@holdfast/server` gave. */
	readonly service: SessionService;
	/** The agent's name, for people and other agents. */
	readonly name: string;
	/** A description of its purpose. */
	readonly description: string;
	/** Where others reach it: the address that this server's `fetch` is mounted at. */
	readonly url: string;
	/** Version of the agent. Default "1.0.0". */
	readonly version?: string;
	/** Its skills. Default: one skill with its name and description. */
	readonly skills?: readonly A2ASkill[];
	readonly provider?: { readonly organization: string; readonly url: string };
	readonly documentationUrl?: string;
	/** How others show who they are, as their clients see it. Default: nothing is asked. */
	readonly security?: {
		readonly schemes: Readonly<Record<string, SecurityScheme>>;
		readonly requirements: readonly SecurityRequirement[];
	};
	/** Identifies the caller; undefined refuses the request. Default: callers on loopback are accepted. */
	readonly authenticate?: Authenticate;
	/** Whose the tasks of unauthenticated requests are. Default `{ tenant: "local" }`. */
	readonly caller?: ServedCaller;
	/** Most bytes of a request. Default 4 MiB. */
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
