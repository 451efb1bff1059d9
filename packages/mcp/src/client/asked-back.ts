// Requests that servers send during a call: for input of the user, or for an answer of a model. Each request waits here,
// in memory, until it is answered or its call is cancelled.
//
// A request is open until `answer`, its signal or `close` settles it; each settles once.

import type { JSONValue } from "@holdfast/upp";
import { HoldfastError, uuid } from "@holdfast/upp";

/** A tool call of a run that is in progress at a server. */
export interface CallUnderWay {
	readonly toolCallId: string;
	/** The tool that was called. */
	readonly toolName: string;
	/** Key of the session; absent in a call without a session. */
	readonly sessionKey?: string;
	readonly runId: string;
}

/** The common fields of a request. */
interface AskedBack {
	/** Identifies the request in `answer`. */
	readonly id: string;
	/** Name of the server. */
	readonly server: string;
	/** The calls in progress at the server; a request does not identify the call that it belongs to. */
	readonly calls: readonly CallUnderWay[];
}

/** A server requests input from the user. */
export interface ElicitationRequest extends AskedBack {
	readonly kind: "elicitation";
	/** The question to the user. */
	readonly message: string;
	/** JSON Schema of the form to fill in; absent if the user should open `url`. */
	readonly schema?: Readonly<Record<string, unknown>>;
	/** The page that the user should open; absent if there is a form. */
	readonly url?: string;
}

/** A server requests an answer from a model. The server wrote the prompt: review it before you allow it. */
export interface SamplingRequest extends AskedBack {
	readonly kind: "sampling";
	/** The system prompt, if any. */
	readonly system?: string;
	/** The prompt. */
	readonly messages: readonly { readonly role: "user" | "assistant"; readonly text: string }[];
	/** Maximum number of output tokens. */
	readonly maxTokens: number;
}

/** A request from a server during one of its calls. */
export type McpRequest = ElicitationRequest | SamplingRequest;

/** The answer to a request. `content` is the user's input, or for sampling the text that replaces the model's answer. */
export type McpAnswer =
	| { readonly action: "accept"; readonly content?: Readonly<Record<string, JSONValue>> | string }
	| { readonly action: "decline" }
	| { readonly action: "cancel" };

type Unnumbered<Request> = Request extends unknown ? Omit<Request, "id"> : never;

interface Open {
	readonly request: McpRequest;
	readonly settle: (answer: McpAnswer) => void;
}

export class AskedBackDesk {
	readonly #open = new Map<string, Open>();
	readonly #most: number;

	/** @param most maximum number of open requests; further ones are cancelled at once (keeps I7). */
	constructor(most = 1000) {
		this.#most = most;
	}

	/** Returns the requests that wait for an answer, oldest first. */
	list(): readonly McpRequest[] {
		return [...this.#open.values()].map(({ request }) => request);
	}

	/** Resolves with the answer, or with `cancel` when the signal fires. */
	ask(request: Unnumbered<McpRequest>, signal: AbortSignal, changed: () => void): Promise<McpAnswer> {
		if (signal.aborted || this.#open.size >= this.#most) return Promise.resolve({ action: "cancel" });
		const id = uuid();
		return new Promise((resolve) => {
			const settle = (answer: McpAnswer): void => {
				if (!this.#open.delete(id)) return;
				signal.removeEventListener("abort", cancel);
				resolve(answer);
				changed();
			};
			const cancel = (): void => settle({ action: "cancel" });
			signal.addEventListener("abort", cancel);
			this.#open.set(id, { request: { ...request, id } as McpRequest, settle });
			changed();
		});
	}

	/** @throws HoldfastError `unknown_mcp_request` for a request that is not open. */
	answer(id: string, answer: McpAnswer): void {
		const open = this.#open.get(id);
		if (open === undefined) {
			throw new HoldfastError(
				"unknown_mcp_request",
				`No request of an MCP server is open under the id ${JSON.stringify(id)}: it was answered, or its call has ended. See \`requests()\`.`,
				{ data: { id } },
			);
		}
		open.settle(answer);
	}

	/** Cancels the requests of a server's calls that have all ended. */
	callsOver(server: string, underWay: readonly CallUnderWay[]): void {
		const open = new Set(underWay);
		for (const { request, settle } of [...this.#open.values()]) {
			const isOver = !request.calls.some((call) => open.has(call));
			if (request.server === server && isOver) settle({ action: "cancel" });
		}
	}

	/** Cancels the open requests of one server or of all. */
	close(server?: string): void {
		for (const { request, settle } of [...this.#open.values()])
			if (server === undefined || request.server === server) settle({ action: "cancel" });
	}
}
