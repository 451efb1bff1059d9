// The approved definitions of tools. A server may change a tool's description at any time, and a model trusts it, so a
// definition is compared with the approved one before each call.
import { createHash } from "node:crypto";
import { readFile, rename, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { HoldfastError, makeFolder } from "@holdfast/upp";
import type { Tool } from "@modelcontextprotocol/client";

/** Fingerprints of approved tools, by the tool's name on the server. */
export type ApprovedTools = Readonly<Record<string, string>>;

/** The store of approvals. */
export interface ToolApprovals {
	/** Returns the approved tools of a server; undefined if it was never seen. */
	read(server: string): Promise<ApprovedTools | undefined>;
	/** Replaces the approved tools of a server. */
	write(server: string, approved: ApprovedTools): Promise<void>;
}

/** Stores approvals for the lifetime of the process. */
export function memoryApprovals(): ToolApprovals {
	const servers = new Map<string, ApprovedTools>();
	return {
		read: async (server) => servers.get(server),
		async write(server, approved) {
			servers.set(server, approved);
		},
	};
}

/**
 * Stores approvals in a JSON file, for one process at a time. The file is replaced as a whole, so that a crash leaves
 * either the old or the new one. Reading rejects with `invalid_mcp_approvals` if the file has other content.
 */
export function fileApprovals(path: string): ToolApprovals {
	let last: Promise<unknown> = Promise.resolve();
	const inOrder = <Value>(work: () => Promise<Value>): Promise<Value> => {
		const next = last.then(work, work);
		last = next.catch(() => {});
		return next;
	};
	return {
		read: (server) =>
			inOrder(async () => {
				const servers = await readServers(path);
				return Object.hasOwn(servers, server) ? servers[server] : undefined;
			}),
		write: (server, approved) =>
			inOrder(async () => {
				const servers = { ...(await readServers(path)), [server]: approved };
				makeFolder(dirname(path));
				await writeFile(`${path}.new`, `${JSON.stringify(servers, undefined, "\t")}\n`, { mode: 0o600 });
				await rename(`${path}.new`, path);
			}),
	};
}

/** Returns a digest of the definition that a model and a user see: the same for the same definition. */
export function fingerprintOf({
	name,
	title,
	description,
	inputSchema,
	outputSchema,
	annotations,
}: Tool): string {
	const seen = { name, title, description, inputSchema, outputSchema, annotations };
	return createHash("sha256").update(JSON.stringify(seen, sorted)).digest("hex");
}

function sorted(_key: string, value: unknown): unknown {
	if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
	return Object.fromEntries(Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1)));
}

async function readServers(path: string): Promise<Record<string, ApprovedTools>> {
	let text: string;
	try {
		text = await readFile(path, "utf8");
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === "ENOENT") return {};
		throw error;
	}
	const parsed = parse(text);
	if (!isRecord(parsed) || !Object.values(parsed).every(isApproved)) {
		throw new HoldfastError(
			"invalid_mcp_approvals",
			`${path} does not contain approvals of MCP tools. Give another path, or remove the file and approve the tools again.`,
			{ data: { path } },
		);
	}
	return parsed as Record<string, ApprovedTools>;
}

function parse(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return undefined;
	}
}

function isRecord(value: unknown): value is Record<string, unknown> {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isApproved(value: unknown): boolean {
	return isRecord(value) && Object.values(value).every((fingerprint) => typeof fingerprint === "string");
}
