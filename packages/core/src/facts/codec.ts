// Encodes facts as text and decodes them (keeps I2). The kind and the version are stored next to the body, never in it,
// so that a body can be encrypted or erased without affecting order. Older versions are converted on read, newer ones
// refused.
import {
	type AnyMessage,
	decodeValue,
	encodeValue,
	HoldfastError,
	messageFromJSON,
	messageToJSON,
} from "@holdfast/upp";
import type { Fact, FactKind } from "./fact.ts";
import { journalCorrupt } from "./journal-errors.ts";
import { decodeMarks, encodeMarks } from "./marks.ts";

/** A fact in its stored form. */
export interface EncodedFact {
	/** The kind of fact. */
	readonly kind: string;
	/** The version of that kind's format. */
	readonly version: number;
	/** JSON text of everything except the kind. */
	readonly body: string;
}

type Body = Record<string, unknown>;

/** Converts a body from one version to the next. */
export type Upcaster = (body: Body) => Body;

/** How the facts of one kind are written. */
export interface FactFormat {
	/** The current version; each upcaster raises it by one. */
	readonly version: number;
	/** Members that hold a message. */
	readonly messages: readonly string[];
	/** Members that hold a user's value: anything `encodeValue` accepts. */
	readonly values: readonly string[];
	/** The first converts version 1 to 2, the second 2 to 3, and so on. */
	readonly upcasters: readonly Upcaster[];
}

/**
 * The formats of this release. If a body changes, it gets a new version and an upcaster; its meaning never changes within
 * a version.
 */
export const factFormats: Readonly<Record<FactKind, FactFormat>> = {
	"run.started": format({}),
	"run.resumed": format({ messages: ["partial"] }),
	"run.parked": format({}),
	input: format({ messages: ["message"] }),
	assistant: format({ messages: ["message"], values: ["data"] }),
	"tools.requested": format({ values: ["calls"] }),
	"tool.started": format({ values: ["input"] }),
	"tool.settled": format({ values: ["result", "details", "metadata"] }),
	decision: format({ values: ["answer"] }),
	note: format({ values: ["value"] }),
	// Version 1 had no `wait`: a release that supports only version 1 would wait indefinitely. Version 2 had no
	// `wait.model`: a release that supports only version 2 would show the wait to the strategy. Version 3 had no
	// `children` and no `input` of calls: a release that supports only version 3 would not continue the sub-agents, and
	// would run an input other than the approved one.
	waiting: format({ upcasters: [(body) => body, (body) => body, (body) => body] }),
	"tools.pending": format({}),
	"wait.ended": format({}),
	"message.added": format({ messages: ["message"] }),
	"message.updated": format({ messages: ["message"] }),
	"message.deleted": format({}),
	"history.cut": format({}),
	"run.ended": format({ messages: ["partial"] }),
	folded: format({}),
};

/**
 * Converts a fact to its stored form. Omits members that are `undefined`.
 * @throws HoldfastError `unserialisable_value` if a user's value cannot be represented in JSON.
 */
export function encodeFact(fact: Fact): EncodedFact {
	const { version, messages, values } = factFormats[fact.kind];
	const body: Body = { ...fact, kind: undefined }; // JSON omits undefined members
	for (const name of messages) {
		if (body[name] !== undefined) body[name] = messageToJSON(body[name] as AnyMessage);
	}
	for (const name of values) if (body[name] !== undefined) body[name] = encodeValue(body[name]);
	if (fact.marks !== undefined) body.marks = encodeMarks(fact.marks);
	return { kind: fact.kind, version, body: JSON.stringify(body) };
}

/**
 * Converts the output of `encodeFact`, of this release or an older one, back to a fact.
 * @throws HoldfastError `journal_newer` for a kind or version unknown to this release, `journal_corrupt` for a damaged
 * body.
 */
export function decodeFact(
	kind: string,
	version: number,
	body: string,
	formats: Readonly<Record<string, FactFormat>> = factFormats,
): Fact {
	const known = Object.hasOwn(formats, kind) ? formats[kind] : undefined;
	if (known === undefined || version > known.version) throw newer(kind, version);
	try {
		let members = JSON.parse(body) as Body;
		for (let from = version - 1; from < known.upcasters.length; from++)
			members = (known.upcasters[from] as Upcaster)(members);
		const fact: Body = { kind, ...members };
		for (const name of known.messages)
			if (fact[name] !== undefined) fact[name] = messageFromJSON(fact[name] as never);
		for (const name of known.values)
			if (fact[name] !== undefined) fact[name] = decodeValue(fact[name] as never);
		if (fact.marks !== undefined) fact.marks = decodeMarks(fact.marks as string);
		return fact as unknown as Fact;
	} catch (cause) {
		throw journalCorrupt(`a fact of kind "${kind}" cannot be read`, cause);
	}
}

function format(members: Partial<Omit<FactFormat, "version">>): FactFormat {
	const { messages = [], values = [], upcasters = [] } = members;
	return { version: upcasters.length + 1, messages, values, upcasters };
}

function newer(kind: string, version: number): HoldfastError {
	return new HoldfastError(
		"journal_newer",
		`The journal holds a fact "${kind}" of version ${version}, which this release does not support. ` +
			"A newer release wrote it. Upgrade to read it.",
		{ data: { kind, version } },
	);
}
