// A scorer that validates outputs against a schema.
import { compileSchema } from "holdfast/execution";
import type { Scorer } from "./scenario.ts";

/**
 * Scores whether the output matches this JSON Schema.
 * @throws HoldfastError `invalid_schema`.
 */
export function matchesSchema(schema: Readonly<Record<string, unknown>>): Scorer {
	const validate = compileSchema(schema);
	return { name: "schema", score: ({ output }) => validate(output).length === 0 };
}
