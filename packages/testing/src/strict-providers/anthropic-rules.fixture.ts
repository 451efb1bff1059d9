// Rules of Anthropic's Messages API.
import { eachOf, firstOf, type Json, parametersFault } from "./json-rules.fixture.ts";

export function anthropicFault(body: Json): string | undefined {
	return firstOf(
		() => eachOf(body.tools, toolFault),
		() =>
			eachOf(
				typeof body.system === "string" ? [{ type: "text", text: body.system }] : body.system,
				textFault,
			),
		() => (body.messages?.length > 0 ? undefined : "there are no messages"),
		() => (body.messages[0].role === "user" ? undefined : "the first message is not the user's"),
		() => eachOf(body.messages, contentFault),
		() => callsFault(body.messages),
		() => breakpointsFault(body),
	);
}

function breakpointsFault({ tools = [], system = [], messages }: Json): string | undefined {
	const blocks: Json[] = [
		...tools,
		...(typeof system === "string" ? [] : system),
		...messages.flatMap(blocksOf),
	];
	const marked = blocks.filter(({ cache_control: mark }) => mark !== undefined);
	if (marked.length > 4) return `there are ${marked.length} cache breakpoints`;
	const refused = marked.find(
		({ type, text }) => /thinking$/.test(type) || (type === "text" && text.trim() === ""),
	);
	if (refused !== undefined) return `a cache breakpoint on a block of the type ${refused.type}`;
	const lifetimes = marked.map(({ cache_control: mark }) => mark.ttl ?? "5m");
	return lifetimes.lastIndexOf("1h") > lifetimes.indexOf("5m") && lifetimes.includes("5m")
		? "a cache breakpoint of 1h after one of 5m"
		: undefined;
}

function toolFault(tool: Json, index: number): string | undefined {
	if (tool.type !== undefined && tool.type !== "custom") return undefined;
	if (!/^[a-zA-Z0-9_-]{1,128}$/.test(tool.name)) return `tools.${index}.name is ${JSON.stringify(tool.name)}`;
	const names = Object.keys(tool.input_schema?.properties ?? {});
	const refused = names.find((name) => !/^[a-zA-Z0-9_.-]{1,64}$/.test(name));
	if (refused !== undefined) return `tools.${index}.input_schema has a property ${JSON.stringify(refused)}`;
	return parametersFault(tool.input_schema, `tools.${index}.input_schema`);
}

function textFault(block: Json, index: number): string | undefined {
	if (block.type !== "text") return undefined;
	return block.text.trim() === "" ? `text block ${index} is blank` : undefined;
}

function blocksOf({ content }: Json): Json[] {
	return typeof content === "string" ? [{ type: "text", text: content }] : content;
}

function contentFault(message: Json, index: number): string | undefined {
	const blocks = blocksOf(message);
	if (blocks.length === 0) return `messages.${index} has no content`;
	return eachOf(blocks, (block) => {
		const inner = block.type === "tool_result" && Array.isArray(block.content) ? block.content : [];
		const fault = textFault(block, index) ?? eachOf(inner, textFault);
		return fault && `messages.${index}: ${fault}`;
	});
}

function callsFault(messages: readonly Json[]): string | undefined {
	let open = new Set<string>();
	const used = new Set<string>();
	for (const [index, message] of messages.entries()) {
		const blocks = blocksOf(message);
		const results = blocks
			.filter(({ type }) => type === "tool_result")
			.map(({ tool_use_id: id }) => id as string);
		const unknown = results.find((id) => !open.has(id));
		if (unknown !== undefined) return `messages.${index}: a result of the unknown call ${unknown}`;
		const missing = [...open].find((id) => !results.includes(id));
		if (missing !== undefined) return `messages.${index}: the call ${missing} has no result right after it`;
		if (new Set(results).size < results.length) return `messages.${index}: two results of one call`;
		const firstOther = blocks.findIndex(({ type }) => type !== "tool_result");
		if (results.length > 0 && firstOther >= 0 && firstOther < results.length)
			return `messages.${index}: results must come first`;
		open = new Set();
		for (const { type, id, name, input } of blocks) {
			if (type !== "tool_use") continue;
			if (!/^[a-zA-Z0-9_-]+$/.test(id)) return `messages.${index}: the id ${JSON.stringify(id)} of a call`;
			if (used.has(id)) return `messages.${index}: the id ${id} is used twice`;
			if (!/^[a-zA-Z0-9_-]{1,128}$/.test(name)) return `messages.${index}: the name ${JSON.stringify(name)}`;
			if (typeof input !== "object" || input === null) return `messages.${index}: an input that is no object`;
			used.add(id);
			open.add(id);
		}
	}
	return open.size > 0 ? `the calls ${[...open]} have no results` : undefined;
}
