/**
 * The tool `fetch_url`: the text of a public web page. It exists only when the network was allowed, and
 * never reaches loopback, private or link-local addresses: the address is checked at the very connection
 * that is used, on every redirect, so a name that resolves inward is refused as well.
 */
import { type LookupAddress, lookup } from "node:dns";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { BlockList, isIP, type LookupFunction } from "node:net";
import { type AssistantTool, grouped, ToolRefusal, textArgument } from "./assistant-tool.ts";
import { htmlText } from "./html-text.ts";

const TIME_LIMIT = 20_000;
const SIZE_LIMIT = 2 * 1024 * 1024;
const SHOWN_CHARACTERS = 80_000;
const REDIRECT_LIMIT = 5;

/** Where the tool may connect to; tests and closed networks may open private addresses. */
export interface FetchUrlOptions {
	/** "public" (the default) refuses loopback, private and link-local addresses. */
	readonly addresses?: "public" | "any";
	/** Milliseconds for one fetch with its redirects. Default 20,000. */
	readonly timeLimit?: number;
}

/** Makes `fetch_url`. */
export function createFetchUrl(options: FetchUrlOptions = {}): AssistantTool {
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
			const limit = AbortSignal.timeout(options.timeLimit ?? TIME_LIMIT);
			const signal = context?.signal ? AbortSignal.any([context.signal, limit]) : limit;
			try {
				return await fetchText(readUrl(given), options, signal);
			} catch (error) {
				if (context?.signal?.aborted || error instanceof ToolRefusal) throw error;
				if (limit.aborted) throw new ToolRefusal("fetch_timed_out", `"${given}" did not answer in time.`);
				throw new ToolRefusal(
					"fetch_failed",
					`"${given}" could not be fetched: ${(error as Error).message}.`,
				);
			}
		},
	};
}

async function fetchText(first: URL, options: FetchUrlOptions, signal: AbortSignal): Promise<string> {
	let url = first;
	for (let redirects = 0; redirects <= REDIRECT_LIMIT; redirects++) {
		const response = await connect(url, options, signal);
		const status = response.statusCode ?? 0;
		if (status >= 300 && status < 400 && response.headers.location) {
			response.destroy();
			url = readUrl(new URL(response.headers.location, url).href);
			continue;
		}
		const type = response.headers["content-type"] ?? "text/plain";
		if (!/^text\/|json|xml|javascript|yaml|x-www-form/i.test(type)) {
			response.destroy();
			throw new ToolRefusal("fetch_not_text", `${url.href} answers with ${type}; fetch_url reads text only.`);
		}
		const { text, complete } = await readBody(response);
		const plain = /html/i.test(type) ? htmlText(text) : text;
		const cut = plain.length > SHOWN_CHARACTERS;
		const note = cut || !complete ? " (cut, the page is longer)" : "";
		return `${url.href}: HTTP ${status}, ${type}${note}\n${plain.slice(0, SHOWN_CHARACTERS)}`;
	}
	throw new ToolRefusal("fetch_failed", `${first.href} redirects more than ${REDIRECT_LIMIT} times.`);
}

function readUrl(given: string): URL {
	if (!URL.canParse(given))
		throw new ToolRefusal("tool_input_invalid", `"${given}" is not an address. Start it with https://.`);
	const url = new URL(given);
	if (url.protocol !== "http:" && url.protocol !== "https:")
		throw new ToolRefusal("tool_input_invalid", `Only http and https can be fetched, not "${url.protocol}".`);
	if (url.username !== "" || url.password !== "")
		throw new ToolRefusal("tool_input_invalid", "An address with a user name or password is refused.");
	return url;
}

function connect(url: URL, options: FetchUrlOptions, signal: AbortSignal): Promise<IncomingMessage> {
	const host = url.hostname.replace(/^\[|\]$/g, "");
	const open = options.addresses === "any";
	// A literal address never reaches the lookup function below.
	if (!open && isIP(host) !== 0 && isPrivateAddress(host)) return Promise.reject(privateRefusal(url));
	return new Promise((resolve, reject) => {
		const request = (url.protocol === "https:" ? httpsRequest : httpRequest)(
			url,
			{
				signal,
				headers: { accept: "text/*, application/json;q=0.9, */*;q=0.1", "user-agent": "holdfast" },
				...(open ? {} : { lookup: publicLookup(url) }),
			},
			resolve,
		);
		request.on("error", reject);
		request.end();
	});
}

function publicLookup(url: URL): LookupFunction {
	return (hostname, options, callback) => {
		lookup(hostname, { ...options, all: true }, (error, addresses: LookupAddress[]) => {
			if (error) return callback(error, "", 0);
			if (addresses.some(({ address }) => isPrivateAddress(address)))
				return callback(privateRefusal(url), "", 0);
			if (options.all) return callback(null, addresses);
			const first = addresses[0];
			return first
				? callback(null, first.address, first.family)
				: callback(new Error("no address found"), "", 0);
		});
	};
}

function privateRefusal(url: URL): ToolRefusal {
	return new ToolRefusal(
		"fetch_private_address",
		`${url.host} is a local or private address; it is not fetched.`,
	);
}

const PRIVATE = new BlockList();
for (const [network, bits] of [
	["0.0.0.0", 8],
	["10.0.0.0", 8],
	["100.64.0.0", 10],
	["127.0.0.0", 8],
	["169.254.0.0", 16],
	["172.16.0.0", 12],
	["192.0.0.0", 24],
	["192.168.0.0", 16],
	["198.18.0.0", 15],
	["224.0.0.0", 3],
] as const)
	PRIVATE.addSubnet(network, bits, "ipv4");
for (const [network, bits] of [
	["::", 127],
	["64:ff9b::", 96],
	["fc00::", 7],
	["fe80::", 10],
	["ff00::", 8],
] as const)
	PRIVATE.addSubnet(network, bits, "ipv6");

/** Is this IP address loopback, private, link-local or otherwise not on the public internet? */
export function isPrivateAddress(address: string): boolean {
	// An IPv4 address written as IPv6 is judged by the rules for IPv4; the block list maps it itself.
	return PRIVATE.check(address, isIP(address) === 6 ? "ipv6" : "ipv4");
}

async function readBody(response: IncomingMessage): Promise<{ text: string; complete: boolean }> {
	const chunks: Buffer[] = [];
	let size = 0;
	for await (const chunk of response) {
		chunks.push(chunk as Buffer);
		size += (chunk as Buffer).length;
		if (size > SIZE_LIMIT) {
			response.destroy();
			return { text: decode(chunks), complete: false };
		}
	}
	return { text: decode(chunks), complete: true };
}

function decode(chunks: readonly Buffer[]): string {
	return new TextDecoder().decode(Buffer.concat(chunks));
}
