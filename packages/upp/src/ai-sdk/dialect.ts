// Differences between models in the form of a request: the version of the AI SDK's interface, and the special
// requirements of Mistral and Anthropic. One object for each, so that values converted for one are not used for another.

import { nineCharacterId, wireCallId } from "../wire/index.ts";
import type { SpecificationVersion } from "./file-parts.ts";
import type { LanguageModel } from "./language-model-types.ts";

export interface Dialect {
	readonly version: SpecificationVersion;
	/** The id of a call as the provider accepts it. */
	readonly callId: (id: string) => string;
	/** Whether the provider accepts any name of a tool's property. Anthropic's models accept some. */
	readonly properties: "any" | "some";
	readonly turns: Turns;
}

/** Which turns a provider demands beyond those that every provider does. */
export interface Turns {
	/** A conversation begins with a user. */
	readonly startsWithUser: boolean;
	/** Results of tools are followed by an answer before a user may speak. */
	readonly answersTools: boolean;
}

const userFirst = /^(?:anthropic|google|vertex|amazon-bedrock|bedrock|mistral)\b/i;

const someProperties = /\b(?:anthropic|amazon-bedrock|bedrock)\b/i;

const dialects = new Map<string, Dialect>();

/** The dialect of a model. */
export function dialectOf({ specificationVersion: version, provider }: LanguageModel): Dialect {
	const isMistral = /^mistral\b/i.test(provider);
	const startsWithUser = userFirst.test(provider);
	const properties = someProperties.test(provider) ? "some" : "any";
	const name = `${version} ${startsWithUser} ${isMistral} ${properties}`;
	let dialect = dialects.get(name);
	if (dialect === undefined) {
		const turns = { startsWithUser, answersTools: isMistral };
		dialect = { version, callId: isMistral ? nineCharacterId : wireCallId, properties, turns };
		dialects.set(name, dialect);
	}
	return dialect;
}
