/**
 * The tool `fetch_url`: returns the text of a public web page. It exists only if the network is allowed, and never
 * reaches loopback, private or link-local addresses, not even through a name or a redirect.
 */

import { type OutboundResponse, outbound, type SendRequest } from "@holdfast/outbound";
import { cutText, readDuration, timeoutSignal } from "@holdfast/upp";
import { type AssistantTool, grouped, ToolRefusal, textArgument } from "./assistant-tool.ts";

const TIME_LIMIT = 20_000;
const SIZE_LIMIT = 2 * 1024 * 1024;
const SHOWN_CHARACTERS = 80_000;

/** Where the tool may connect; tests and closed networks can allow private addresses. */
export interface FetchUrlOptions {
	/** Private destinations to allow, such as `127.0.0.1`. Default: none. */
	readonly allowPrivate?: readonly string[];
	/** Milliseconds for one fetch including its redirects. Default 20,000. */
	readonly timeLimit?: number;
}

/** Creates `fetch_url`. */
export function createFetchUrl(options: FetchUrlOptions = {}): AssistantTool {
	const { allowPrivate } = options;
	const send = outbound(allowPrivate === undefined ? {} : { allowPrivate });
	const patience = readDuration("timeLimit", options.timeLimit, TIME_LIMIT);
	return {
		name: "fetch_url",
		description:
			"Fetch a public http or https address and answer with its text (HTML without its tags). Up to " +
			`${grouped(SIZE_LIMIT)} bytes; local and private addresses are refused.`,
		parameters: {
			type: "object",
			properties: { url: { type: "string", description: "The address, starting with http:// or https://." } },
			required: ["url"],
			additionalProperties: false,
		},
		retryPolicy: "pure",
		maxModelCharacters: SHOWN_CHARACTERS + 1_000,
		async run(params, context) {
			const given = textArgument(params, "url");
			if (given === undefined) throw new ToolRefusal("tool_input_invalid", '"url" is missing.');
			const limit = timeoutSignal(patience);
			const signal = context?.signal ? AbortSignal.any([context.signal, limit]) : limit;
			try {
				return await fetchText(await send(requestOf(given, signal)));
			} catch (error) {
				if (context?.signal?.aborted || error instanceof ToolRefusal) throw error;
				if (limit.aborted) throw new ToolRefusal("fetch_timed_out", `"${given}" did not answer in time.`);
				const { code, message } = error as { code?: unknown; message: string };
				if (code === "SSRF_BLOCKED")
					throw new ToolRefusal(
						"fetch_private_address",
						`"${given}" leads to a local or private address; it is not fetched.`,
					);
				if (code === "URL_REFUSED") throw new ToolRefusal("tool_input_invalid", message);
				throw new ToolRefusal("fetch_failed", `"${given}" could not be fetched: ${message}.`);
			}
		},
	};
}

function requestOf(url: string, signal: AbortSignal): Parameters<SendRequest>[0] {
	return { url, signal, headers: { accept: "text/*, application/json;q=0.9, */*;q=0.1" } };
}

async function fetchText(response: OutboundResponse): Promise<string> {
	const type = response.headers["content-type"] ?? "text/plain";
	if (!/^text\/|json|xml|javascript|yaml|x-www-form/i.test(type)) {
		response.cancel();
		throw new ToolRefusal(
			"fetch_not_text",
			`${response.url} answers with ${type}; fetch_url reads text only.`,
		);
	}
	const { bytes, complete } = await response.read(SIZE_LIMIT);
	const text = new TextDecoder().decode(bytes);
	const plain = /html/i.test(type) ? await textOfHtml(text) : text;
	const cut = plain.length > SHOWN_CHARACTERS;
	const note = cut || !complete ? " (cut, the page is longer)" : "";
	return `${response.url}: HTTP ${response.status}, ${type}${note}\n${cutText(plain, SHOWN_CHARACTERS)}`;
}

/** The HTML parser is loaded for the first page only. */
async function textOfHtml(html: string): Promise<string> {
	const { htmlText } = await import("./html-text.ts");
	return htmlText(html);
}
