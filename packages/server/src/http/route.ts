// A route: its path, its OpenAPI description, and its request handler.
import type { Exchange } from "../exchange.ts";

/** A JSON Schema, or a reference to one in the document. */
export type Schema = Readonly<Record<string, unknown>>;

/** A response as the document describes it. */
export interface DescribedAnswer {
	/** When the route answers with this status. */
	readonly description: string;
	/** Media type and schema of the body; absent for routes without one. */
	readonly content?: Readonly<Record<string, Schema>>;
}

/** A route. */
export interface Route {
	/** `ALL` takes requests that no earlier route took. */
	readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | "ALL";
	/** Path with its parameters as `:name`; `*` at the end matches the rest of the path. */
	readonly path: string;
	/** Name of the operation, unique in the document. */
	readonly name: string;
	/** A one-line description. */
	readonly summary: string;
	/** Query parameters and headers that the route reads; those of the path are derived. */
	readonly parameters?: readonly {
		readonly in: "query" | "header";
		readonly name: string;
		readonly description: string;
		readonly schema: Schema;
	}[];
	/** Schema of the JSON body. */
	readonly body?: Schema;
	/** Responses that are not errors, by status. */
	readonly answers: Readonly<Record<number, DescribedAnswer>>;
	/** Error codes that are the route's own; those common to all routes are added. */
	readonly errors?: readonly string[];
	/**
	 * Statuses of codes that are not the server's own; their errors keep their message. Default: such errors become
	 * `internal_error`.
	 */
	readonly statuses?: Readonly<Record<string, number>>;
	/** Omitted from the OpenAPI document. Default `false`. */
	readonly hidden?: boolean;
	/** Answers a request; errors it throws are answered by their code. */
	readonly handle: (exchange: Exchange) => Response | Promise<Response>;
}
