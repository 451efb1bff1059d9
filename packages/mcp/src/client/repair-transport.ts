// Repairs unexpected output of servers. The official client refuses a whole list because of one invalid tool, and a
// whole result because of one invalid block. Messages are therefore repaired before the client reads them. A transport
// is modified in place, because the client checks its class.
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { repairCallResult } from "./repair-result.ts";
import { type LeftOut, repairTools } from "./repair-tool.ts";

type Receive = NonNullable<Transport["onmessage"]>;

/** The requests whose results are repaired, until their answers arrive. */
const repaired: ReadonlySet<string> = new Set(["tools/list", "tools/call"]);

/** Returns the transport, which now repairs the results of `tools/list` and `tools/call`. */
export function repairing(transport: Transport, leftOut: LeftOut): Transport {
	const methods = new Map<unknown, string>();
	const list = new ToolList(leftOut);
	const send = transport.send.bind(transport);
	transport.send = (message, options) => {
		for (const each of [message].flat()) {
			const { id, method, params } = each as {
				id?: unknown;
				method?: string;
				params?: { cursor?: unknown };
			};
			if (method === "tools/list" && params?.cursor === undefined) list.begin();
			if (id !== undefined && method !== undefined && repaired.has(method)) methods.set(id, method);
		}
		return send(message, options);
	};
	let receive: Receive | undefined = transport.onmessage;
	Object.defineProperty(transport, "onmessage", {
		configurable: true,
		enumerable: true,
		get: () => receive,
		set: (given: Receive | undefined) => {
			receive = given && ((message, extra) => given(repair(message, methods, list), extra));
		},
	});
	return transport;
}

function repair<Message extends JSONRPCMessage>(
	message: Message,
	methods: Map<unknown, string>,
	list: ToolList,
): Message {
	if (!("id" in message) || "method" in message) return message;
	const method = methods.get(message.id);
	methods.delete(message.id);
	if (method === undefined || !("result" in message)) return message;
	const result: unknown = message.result;
	const made = method === "tools/list" ? list.page(result) : repairCallResult(result);
	return made === result ? message : ({ ...message, result: made } as Message);
}

/** Maximum number of characters of all pages of a tool list, as JSON. */
const longestList = 16 * 1024 * 1024;

/** The pages of a tool list. Pages beyond the limit are omitted, and the list ends there (keeps I7). */
class ToolList {
	readonly #leftOut: LeftOut;
	#length = 0;

	constructor(leftOut: LeftOut) {
		this.#leftOut = leftOut;
	}

	begin(): void {
		this.#length = 0;
	}

	page(result: unknown): unknown {
		this.#length += JSON.stringify(result)?.length ?? 0;
		if (this.#length <= longestList) return repairTools(result, this.#leftOut);
		this.#leftOut("the rest of its list", `the list is longer than ${longestList} characters`);
		return { tools: [] };
	}
}
