// The entry point of schemas: JSON Schema validation and Standard Schema support.
export { compileSchema } from "./compile-schema.ts";
export { formatIssues, type Issue } from "./issue.ts";
export {
	isStandardSchema,
	type StandardOutcome,
	type StandardSchema,
	toJsonSchema,
	validateStandard,
} from "./standard-schema.ts";
