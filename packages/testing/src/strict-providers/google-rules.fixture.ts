// Rules of Google's generateContent.
import { eachOf, firstOf, type Json, schemaFault } from "./json-rules.fixture.ts";

const functionName = /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$/;

export function googleFault(body: Json): string | undefined {
	const declared = (body.tools ?? []).flatMap((tool: Json) => tool.functionDeclarations ?? []);
	return firstOf(
		() => eachOf(declared, declarationFault),
		() => (body.contents?.length > 0 ? undefined : "there are no contents"),
		() => (body.contents[0].role === "user" ? undefined : "the first content is not the user's"),
		() => eachOf(body.contents, partsFault),
		() => turnsFault(body.contents),
	);
}

function declarationFault({ name, parametersJsonSchema: schema }: Json, index: number): string | undefined {
	if (!functionName.test(name)) return `function_declarations[${index}].name is ${JSON.stringify(name)}`;
	if (schema?.type !== "object") return `function_declarations[${index}] has parameters of no object`;
	return schemaFault(schema, `function_declarations[${index}].parameters`);
}

function partsFault({ parts }: Json, index: number): string | undefined {
	if (!Array.isArray(parts) || parts.length === 0) return `contents[${index}].parts is empty`;
	return eachOf(parts, (part: Json) => {
		if (part.functionCall !== undefined && !functionName.test(part.functionCall.name))
			return `contents[${index}] calls ${JSON.stringify(part.functionCall.name)}`;
		if (Object.keys(part).length === 0) return `contents[${index}] has an empty part`;
		return part.text === "" && part.thoughtSignature === undefined
			? `contents[${index}] has an empty text`
			: undefined;
	});
}

/** A call comes right after a user message or results; its results come right after it, one per call. */
function turnsFault(contents: readonly Json[]): string | undefined {
	for (const [index, { role, parts }] of contents.entries()) {
		const calls = parts.filter((part: Json) => part.functionCall !== undefined).length;
		if (calls === 0) continue;
		if (role !== "model") return `contents[${index}]: a call of the ${role}`;
		const results = (contents[index + 1]?.parts ?? []).filter(
			(part: Json) => part.functionResponse !== undefined,
		);
		if (results.length !== calls)
			return `contents[${index}]: ${calls} calls are followed by ${results.length} responses`;
	}
	return undefined;
}
