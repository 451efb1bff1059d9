// The Worker: HTTP in front of the objects, one object per session.
import { directoryObject, edgeHandler, type ObjectNamespace, sessionObject } from "@holdfast/cloudflare";
import { assistant } from "./agent.ts";
import type { Secrets } from "./model.ts";

/** The bindings of wrangler.jsonc, and the secrets. */
interface Env extends Secrets {
	readonly SESSIONS: ObjectNamespace;
	readonly DIRECTORY: ObjectNamespace;
	/** The key that clients send as `Authorization: Bearer …`. */
	readonly API_KEY?: string;
}

export const Session = sessionObject((env: Env) => ({ agent: assistant(env), directory: env.DIRECTORY }));

export const Directory = directoryObject();

const sessions = edgeHandler<Env>((env) => ({
	sessions: env.SESSIONS,
	directory: env.DIRECTORY,
	apiKeys: { [env.API_KEY ?? ""]: "owner" },
}));

export default {
	fetch(request: Request, env: Env): Response | Promise<Response> {
		if (env.API_KEY) return sessions.fetch(request, env);
		return Response.json(
			{ error: "The secret API_KEY is not set. Run: npx wrangler secret put API_KEY" },
			{ status: 503 },
		);
	},
};
