// The connector for keys and values in memory. Values are stored as JSON, so that they share nothing with the caller's
// objects.
import { checkOptions, optionNames } from "@holdfast/upp";
import type { ToolOutput } from "../contract/index.ts";
import { type Connector, connector, failed, inputInvalid, limit } from "./connector.ts";

const kvConnectorNames = optionNames<KvConnectorOptions>({
	id: "text",
	maxKeys: true,
	maxValueCharacters: true,
});

/** Options of `kvConnector()`. */
export interface KvConnectorOptions {
	/** Default: `kv`. */
	readonly id?: string;
	/** Maximum number of keys; one more is refused with `KV_FULL`. Default: 10000. */
	readonly maxKeys?: number;
	/** Maximum length of a value as JSON, in characters; a longer one is refused with `KV_FULL`. Default: 1048576. */
	readonly maxValueCharacters?: number;
}

interface KvInput {
	readonly operation: "get" | "set" | "delete" | "list";
	readonly key?: string;
	readonly value?: unknown;
	readonly prefix?: string;
	readonly after?: string;
	readonly limit?: number;
}

/**
 * A tool that stores values in memory, for its own lifetime and for all sessions that use it: `get` returns the value or
 * null, `set` and `delete` return whether the key existed, `list` returns the sorted keys.
 *
 * Error codes: `KV_FULL`, `TOOL_INPUT_INVALID`.
 * @throws HoldfastError `CONFIG_INVALID`.
 */
export function kvConnector(options: KvConnectorOptions = {}): Connector {
	checkOptions(options, kvConnectorNames, { of: "kvConnector()" });
	const { id = "kv" } = options;
	const maxKeys = limit("maxKeys", options.maxKeys, 10_000);
	const maxCharacters = limit("maxValueCharacters", options.maxValueCharacters, 1_048_576);
	const values = new Map<string, string>();
	return connector({
		id,
		description: "Stores values by key: get, set, delete, list.",
		safeByDefault: true,
		idempotent: true,
		schema: {
			type: "object",
			properties: {
				operation: { enum: ["get", "set", "delete", "list"] },
				key: { type: "string", maxLength: 1_000 },
				value: {},
				prefix: { type: "string", description: "The prefix of the keys to list." },
				after: { type: "string", description: "The last key of the previous list." },
				limit: { type: "integer", minimum: 1, maximum: 1_000 },
			},
			required: ["operation"],
			additionalProperties: false,
		},
		carryOut(input: KvInput): ToolOutput {
			if (input.operation === "list") return { ok: true, output: listed(values, input) };
			const { key } = input;
			if (key === undefined) throw inputInvalid(`"${input.operation}" needs a \`key\`.`);
			const kept = values.get(key);
			if (input.operation === "get")
				return { ok: true, output: kept === undefined ? null : JSON.parse(kept) };
			if (input.operation === "delete") return { ok: true, output: { existed: values.delete(key) } };
			const text = JSON.stringify(input.value);
			if (text === undefined) throw inputInvalid('"set" needs a `value`.');
			if (text.length > maxCharacters)
				return failed("KV_FULL", `The value has ${text.length} characters; the limit is ${maxCharacters}.`);
			if (kept === undefined && values.size >= maxKeys)
				return failed("KV_FULL", `There are already ${maxKeys} keys, which is the limit. Delete some.`);
			values.set(key, text);
			return { ok: true, output: { existed: kept !== undefined } };
		},
	});
}

function listed(
	values: ReadonlyMap<string, string>,
	{ prefix = "", after, limit: most = 1_000 }: KvInput,
): readonly string[] {
	const keys = [...values.keys()].filter(
		(key) => key.startsWith(prefix) && (after === undefined || key > after),
	);
	return keys.sort().slice(0, most);
}
