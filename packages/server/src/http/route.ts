// A route: its path, its OpenAPI description, and its request handler.
import type { Exchange } from "../exchange.ts";

/** A JSON Schema, or a reference to one of the document's. */
export type Schema = Readonly<Record<string, unknown>>;

/** An answer as the document describes it. */
export interface DescribedAnswer {
	readonly description: string;
	/** Media type and schema of the body; absent for routes without one. */
	readonly content?: Readonly<Record<string, Schema>>;
}

/** A route. */
export interface Route {
	/** `ALL` takes what no route before it took. */
	readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | "ALL";
	/** Path with its parameters as `:name`; `*` at its end takes the rest of the path. */
	readonly path: string;
	/** Name of the operation, unique in the document. */
	readonly name: string;
	/** A one-line description. */
	readonly summary: string;
	/** Parameters of the query and headers it reads; those of the path are known. */
	readonly parameters?: readonly {
		readonly in: "query" | "header";
		readonly name: string;
		readonly description: string;
		readonly schema: Schema;
	}[];
	/** Schema of its JSON body. */
	readonly body?: Schema;
	/** Its answers that are no errors, by status. */
	readonly answers: Readonly<Record<number, DescribedAnswer>>;
	/** The codes of the errors that are its own; those that any route may answer are known. */
	readonly errors?: readonly string[];
	/** Statuses of codes that are not the server's own; they keep their message. Default: they are `internal_error`. */
	readonly statuses?: Readonly<Record<string, number>>;
	/** Left out of the OpenAPI document. Default `false`. */
	readonly hidden?: boolean;
	/** Answers a request; what it throws is answered by its code. */
	readonly handle: (exchange: Exchange) => Response | Promise<Response>;
}
