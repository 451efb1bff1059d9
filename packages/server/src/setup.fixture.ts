// A handler over the fake service, and short ways to ask it.
import { createHandler, type Handler } from "./handler.ts";
import type { HandlerOptions } from "./options.ts";
import { deltas, type FakeService, fakeService } from "./service.fixture.ts";

/** A handler and what it uses. */
export interface Setup {
	readonly service: FakeService;
	readonly handler: Handler;
	post(path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<Response>;
	get(path: string, headers?: Readonly<Record<string, string>>): Promise<Response>;
	/** The value of a metric. */
	metric(name: string): Promise<number>;
}

/** Makes a handler. */
export function setUp(
	service: FakeService = fakeService({ say: () => deltas(3) }),
	options: Partial<HandlerOptions> = {},
): Setup {
	const handler = createHandler({ service, ...options });
	const get: Setup["get"] = (path, headers = {}) =>
		handler.fetch(new Request(`http://localhost${path}`, { headers }));
	return {
		service,
		handler,
		get,
		post: (path, body, headers = {}) =>
			handler.fetch(
				new Request(`http://localhost${path}`, {
					method: "POST",
					headers: { "content-type": "application/json", ...headers },
					...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
				}),
			),
		async metric(name) {
			const text = await (await get("/metrics")).text();
			return Number(new RegExp(`^${name} (.*)$`, "m").exec(text)?.[1]);
		},
	};
}

/** A body that begins a session. */
export const hello = { input: { role: "user", content: "Hello" }, context: {} };

/** Status and code of a refusal. */
export async function refusal(response: Response): Promise<readonly [number, string]> {
	return [response.status, ((await response.json()) as { code: string }).code];
}
