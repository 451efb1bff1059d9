// Differences between models in the form of a request: the version of the AI SDK's interface, and the special
// requirements of Mistral and Anthropic. Each combination is one object, so that values converted for one are not used
// for another.

import { nineCharacterId, wireCallId } from "../wire/index.ts";
import type { SpecificationVersion } from "./file-parts.ts";
import type { LanguageModel } from "./language-model-types.ts";

export interface Dialect {
	/** The name of the provider. */
	readonly provider: string;
	readonly version: SpecificationVersion;
	/** Converts the id of a call to one that the provider accepts. */
	readonly callId: (id: string) => string;
	/** Whether the provider accepts any property name of a tool. Anthropic's models accept only some. */
	readonly properties: "any" | "some";
	readonly turns: Turns;
	/** Whether the provider sends the files of earlier answers to its models. */
	readonly readsOwnFiles: boolean;
}

/** The turns that a provider requires in addition to those that all providers require. */
export interface Turns {
	/** A conversation starts with a user message. */
	readonly startsWithUser: boolean;
	/** An answer must separate tool results from the next user message. */
	readonly answersTools: boolean;
}

const userFirst = /^(?:anthropic|google|vertex|amazon-bedrock|bedrock|mistral)\b/i;

const ownFiles = /^(?:google|vertex)\b(?!.*anthropic)/i;

const someProperties = /\b(?:anthropic|amazon-bedrock|bedrock)\b/i;

const dialects = new Map<string, Dialect>();

/** Returns the dialect of a model. */
export function dialectOf({ specificationVersion: version, provider }: LanguageModel): Dialect {
	const isMistral = /^mistral\b/i.test(provider);
	const startsWithUser = userFirst.test(provider);
	const readsOwnFiles = ownFiles.test(provider);
	const properties = someProperties.test(provider) ? "some" : "any";
	const name = `${version} ${provider}`;
	let dialect = dialects.get(name);
	if (dialect === undefined) {
		const turns = { startsWithUser, answersTools: isMistral };
		dialect = {
			provider,
			version,
			callId: isMistral ? nineCharacterId : wireCallId,
			properties,
			turns,
			readsOwnFiles,
		};
		dialects.set(name, dialect);
	}
	return dialect;
}
