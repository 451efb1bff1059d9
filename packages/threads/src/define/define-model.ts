// `defineModel`: validates a model of a project.
import type { ModelDefinition, ProviderFactoryWithOptions } from "../types/index.ts";
import {
	checkFunction,
	checkIsObject,
	checkKind,
	checkNames,
	checkText,
	checkTexts,
	isRecord,
} from "./check-fields.ts";
import { invalidDefinition, type Subject } from "./invalid-definition.ts";

const known = [
	"name",
	"provider",
	"model",
	"fallbacks",
	"includedProviders",
	"inputPrice",
	"outputPrice",
	"cachedPrice",
	"capabilities",
	"providerOptions",
	"providerTools",
];

/**
 * Defines a model: the default export of a file in `agents/models/`.
 *
 * @throws HoldfastError `invalid_definition`, naming the field, for a provider's option its path
 */
export function defineModel<const Name extends string, P extends ProviderFactoryWithOptions>(
	options: ModelDefinition<Name, P>,
): ModelDefinition<Name, P> {
	const subject: Subject = { kind: "model", name: options?.name };
	checkIsObject(subject, options);
	checkNames(subject, options, known);
	checkText(subject, "name", options.name);
	checkText(subject, "model", options.model);
	checkFunction(subject, "provider", options.provider);
	for (const field of ["inputPrice", "outputPrice", "cachedPrice"] as const) {
		const price: unknown = options[field];
		if (price !== undefined && !(typeof price === "number" && Number.isFinite(price) && price >= 0))
			throw invalidDefinition(subject, field, "must be a number, 0 or more");
	}
	checkTexts(subject, "fallbacks", options.fallbacks);
	checkTexts(subject, "includedProviders", options.includedProviders);
	checkTexts(subject, "providerTools", options.providerTools);
	checkKind(subject, options, "object", ["capabilities"]);
	checkProviderOptions(subject, options.provider, options.providerOptions);
	return Object.freeze({ ...options });
}

interface Issue {
	readonly path: readonly PropertyKey[];
	readonly message: string;
}

function checkProviderOptions(subject: Subject, provider: ProviderFactoryWithOptions, given: unknown): void {
	if (given !== undefined && !isRecord(given))
		throw invalidDefinition(subject, "providerOptions", "must be an object");
	const schema = provider.providerOptions;
	if (schema === undefined || given === undefined) return;
	const result = schema.safeParse(given);
	if (result.success) return;
	const issue: Issue | undefined = result.error.issues[0];
	const path = ["providerOptions", ...(issue?.path ?? []).map(String)].join(".");
	throw invalidDefinition(subject, path, `is not accepted by the provider: ${issue?.message ?? "invalid"}`);
}
