// A scorer that holds outputs against a schema.
import { compileSchema } from "holdfast/execution";
import type { Scorer } from "./scenario.ts";

/**
 * The output meets this JSON Schema.
 * @throws HoldfastError `invalid_schema`.
 */
export function matchesSchema(schema: Readonly<Record<string, unknown>>): Scorer {
	const validate = compileSchema(schema);
	return { name: "schema", score: ({ output }) => validate(output).length === 0 };
}
