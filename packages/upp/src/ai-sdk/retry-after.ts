// How long a provider asks to wait: in headers, or, for Google, in the body.

interface Answer {
	responseHeaders?: Record<string, string>;
	responseBody?: string;
}

/** Returns the wait that an API error asks for, in milliseconds, if any. */
export function retryAfterMs(thrown: unknown): number | undefined {
	if (typeof thrown !== "object" || thrown === null) return undefined;
	const { responseHeaders, responseBody } = thrown as Answer;
	return fromHeaders(responseHeaders ?? {}) ?? fromBody(responseBody);
}

function fromHeaders(headers: Record<string, string>): number | undefined {
	const precise = Number.parseFloat(headers["retry-after-ms"] ?? "");
	if (precise >= 0) return precise;
	const given = headers["retry-after"];
	if (given === undefined) return undefined;
	const seconds = Number(given);
	if (seconds >= 0) return seconds * 1000;
	const wait = Date.parse(given) - Date.now();
	return Number.isNaN(wait) ? undefined : Math.max(0, wait);
}

// google.rpc.RetryInfo: {"retryDelay": "34.4s"} among the error's details.
function fromBody(body: unknown): number | undefined {
	if (typeof body !== "string" || !body.includes("retryDelay")) return undefined;
	const seconds = /"retryDelay"\s*:\s*"(\d+(?:\.\d+)?)s"/.exec(body)?.[1];
	return seconds === undefined ? undefined : Math.round(Number(seconds) * 1000);
}
