// Servers that ask who is there: tokens, and the OAuth clients of the official package against an authorisation server.
import { ClientCredentialsProvider, type OAuthClientProvider } from "@modelcontextprotocol/client";
import { afterEach, beforeEach, expect, test } from "vitest";
import { listen } from "../../../../test/shared/listen.fixture.ts";
import { startServer, type TestServer } from "../http-server.fixture.ts";
import { connectMcp } from "./index.ts";

let server: TestServer;
let issuer: Awaited<ReturnType<typeof listen>>;
let tokenRequests: URLSearchParams[];
let valid: Set<string>;

beforeEach(async () => {
	tokenRequests = [];
	valid = new Set(["static"]);
	server = await startServer({ who: { description: "Who.", run: () => "you" } });
	issuer = await listen(async (request) => {
		const { pathname } = new URL(request.url);
		if (pathname === "/.well-known/oauth-authorization-server") {
			return Response.json({
				issuer: issuer.url,
				authorization_endpoint: `${issuer.url}/authorize`,
				token_endpoint: `${issuer.url}/token`,
				registration_endpoint: `${issuer.url}/register`,
				response_types_supported: ["code"],
				grant_types_supported: ["authorization_code", "refresh_token", "client_credentials"],
				code_challenge_methods_supported: ["S256"],
				token_endpoint_auth_methods_supported: ["client_secret_basic", "none"],
			});
		}
		if (pathname === "/register") {
			const metadata = (await request.json()) as object;
			return Response.json({ ...metadata, client_id: "registered" }, { status: 201 });
		}
		if (pathname !== "/token") return new Response(undefined, { status: 404 });
		const body = new URLSearchParams(await request.text());
		tokenRequests.push(body);
		const grant = body.get("grant_type");
		if (grant === "authorization_code" && body.get("code") !== "good")
			return Response.json({ error: "invalid_grant" }, { status: 400 });
		const token = `${grant}-${tokenRequests.length}`;
		valid.add(token);
		const refresh = grant === "client_credentials" ? {} : { refresh_token: "again" };
		return Response.json({ access_token: token, token_type: "Bearer", expires_in: 3600, ...refresh });
	});
	server.before = (request) => {
		const origin = new URL(server.url).origin;
		if (new URL(request.url).pathname.startsWith("/.well-known/oauth-protected-resource"))
			return Response.json({ resource: server.url, authorization_servers: [issuer.url] });
		const token = request.headers.get("authorization")?.replace("Bearer ", "");
		if (token !== undefined && valid.has(token)) return undefined;
		const metadata = `${origin}/.well-known/oauth-protected-resource/mcp`;
		const challenge = `Bearer error="invalid_token", resource_metadata="${metadata}"`;
		return new Response(undefined, { status: 401, headers: { "www-authenticate": challenge } });
	};
});
afterEach(async () => {
	await server.stop();
	await issuer.close();
});

const context = { signal: new AbortController().signal, idempotencyKey: "1", emit() {} } as never;

test.each(["2025", "2026"] as const)(
	"a token is sent with every request, with protocol %s",
	async (protocol) => {
		const auth = { token: async () => "static" };
		await using mcp = await connectMcp({ who: { url: server.url, auth, protocol } });
		expect(await mcp.tools()[0]?.run({}, context)).toBe("you");
		const headers = { authorization: "Bearer static" };
		await using other = await connectMcp({ who: { url: server.url, headers, protocol } });
		expect(await other.tools()[0]?.run({}, context)).toBe("you");
	},
);

test("without one, or with a wrong one, connecting reports it", async () => {
	await expect(connectMcp({ who: { url: server.url } })).rejects.toMatchObject({ code: "mcp_unauthorized" });
	const auth = { token: async () => "wrong" };
	await expect(connectMcp({ who: { url: server.url, auth } })).rejects.toMatchObject({
		code: "mcp_unauthorized",
		data: { server: "who" },
	});
});

test("a machine gets its token automatically", async () => {
	const auth = new ClientCredentialsProvider({
		clientId: "machine",
		clientSecret: "secret",
		expectedIssuer: issuer.url,
	});
	await using mcp = await connectMcp({ who: { url: server.url, auth } });
	expect(await mcp.tools()[0]?.run({}, context)).toBe("you");
	expect(tokenRequests[0]?.get("grant_type")).toBe("client_credentials");
});

function userClient(): OAuthClientProvider & { asked: URL[] } {
	let information: Awaited<ReturnType<OAuthClientProvider["clientInformation"]>>;
	let tokens: Awaited<ReturnType<OAuthClientProvider["tokens"]>>;
	let verifier = "";
	let discovered: Awaited<ReturnType<NonNullable<OAuthClientProvider["discoveryState"]>>>;
	const asked: URL[] = [];
	return {
		asked,
		redirectUrl: "http://127.0.0.1/callback",
		clientMetadata: { redirect_uris: ["http://127.0.0.1/callback"], client_name: "test" },
		clientInformation: () => information,
		saveClientInformation: (given) => {
			information = given;
		},
		tokens: () => tokens,
		saveTokens: (given) => {
			tokens = given;
		},
		redirectToAuthorization: (url) => void asked.push(url),
		saveCodeVerifier: (given) => {
			verifier = given;
		},
		codeVerifier: () => verifier,
		saveDiscoveryState: (given) => {
			discovered = given;
		},
		discoveryState: () => discovered,
		invalidateCredentials: (scope) => {
			if (scope === "tokens" || scope === "all") tokens = undefined;
		},
	};
}

test("a user signs in first: the server waits unauthorised, and connects with the browser's code", async () => {
	const auth = userClient();
	await using mcp = await connectMcp({ who: { url: server.url, auth } });
	expect(mcp.servers()).toEqual([{ name: "who", status: "unauthorized", tools: [] }]);
	expect(auth.asked.at(-1)?.searchParams.get("code_challenge_method")).toBe("S256");

	await expect(mcp.finishAuth("who", new URLSearchParams({ code: "bad" }))).rejects.toThrow();
	await mcp.refresh().catch(() => {}); // asks the user again
	await mcp.finishAuth("who", new URLSearchParams({ code: "good" }));
	expect(mcp.servers()[0]?.status).toBe("connected");
	expect(await mcp.tools()[0]?.run({}, context)).toBe("you");

	valid.clear(); // the token is over; there is one to get another with
	expect(await mcp.tools()[0]?.run({}, context)).toBe("you");
	expect(tokenRequests.at(-1)?.get("grant_type")).toBe("refresh_token");
});

test("a server without a pending sign-in accepts no callback", async () => {
	const { command } = { command: process.execPath };
	const program = { command, args: ["-e", ""], optional: true };
	await using mcp = await connectMcp({ program });
	await expect(mcp.finishAuth("program", new URLSearchParams())).rejects.toMatchObject({
		code: "mcp_no_authorization",
	});
});
