// Standard Schema (zod, valibot, arktype, …), typed structurally so that core depends on none of them.
// Owns recognising one, validating with it, and getting the JSON Schema that a model is shown.

/** A schema of any library that follows Standard Schema v1. @see https://standardschema.dev */
export interface StandardSchema<Input = unknown, Output = Input> {
	readonly "~standard": {
		readonly version: 1;
		readonly vendor: string;
		readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
		readonly types?: { readonly input: Input; readonly output: Output } | undefined;
	};
}

/** What a Standard Schema says of a value. */
export type StandardResult<Output> =
	| { readonly value: Output; readonly issues?: undefined }
	| { readonly issues: readonly StandardIssue[] };

/** An issue as Standard Schema libraries report it. */
export interface StandardIssue {
	readonly message: string;
	readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}
