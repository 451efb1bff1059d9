// Servers send what the protocol's authors did not foresee. The official client refuses a whole list for one of its tools, and
// a whole result for one of its blocks, so what arrives is repaired before the client reads it. A transport is changed in
// place: the client looks at its class.
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { repairCallResult } from "./repair-result.ts";
import { repairTools } from "./repair-tool.ts";

/** Called with each tool that is left out. */
export type LeftOut = (tool: string, reason: string) => void;

type Receive = NonNullable<Transport["onmessage"]>;

/** The requests whose results are repaired, until their answers arrive. */
const repaired: ReadonlySet<string> = new Set(["tools/list", "tools/call"]);

/** The transport, which repairs the results of `tools/list` and `tools/call`. */
export function repairing(transport: Transport, leftOut: LeftOut): Transport {
	const methods = new Map<unknown, string>();
	const send = transport.send.bind(transport);
	transport.send = (message, options) => {
		for (const each of [message].flat()) {
			const { id, method } = each as { id?: unknown; method?: string };
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
			receive = given && ((message, extra) => given(repair(message, methods, leftOut), extra));
		},
	});
	return transport;
}

function repair<Message extends JSONRPCMessage>(
	message: Message,
	methods: Map<unknown, string>,
	leftOut: LeftOut,
): Message {
	if (!("id" in message) || "method" in message) return message;
	const method = methods.get(message.id);
	methods.delete(message.id);
	if (method === undefined || !("result" in message)) return message;
	const result: unknown = message.result;
	const made = method === "tools/list" ? repairTools(result, leftOut) : repairCallResult(result);
	return made === result ? message : ({ ...message, result: made } as Message);
}
