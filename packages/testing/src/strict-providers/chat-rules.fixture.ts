// Rules of the chat completions of OpenAI, Groq and Mistral.
import { eachOf, firstOf, type Json, parametersFault } from "./json-rules.fixture.ts";

/** The differences between the three. */
interface ChatRules {
	readonly callId: RegExp;
	/** Which roles may follow which. */
	readonly follows?: Readonly<Record<string, readonly string[]>>;
}

const openai: ChatRules = { callId: /^.{1,40}$/ };
const mistral: ChatRules = {
	callId: /^[a-zA-Z0-9]{9}$/,
	follows: {
		start: ["system", "user"],
		system: ["system", "user", "assistant"],
		user: ["system", "user", "assistant"],
		assistant: ["assistant", "user", "tool"],
		tool: ["assistant", "tool"],
	},
};

export const openaiChatFault = (body: Json): string | undefined => chatFault(body, openai);
export const groqFault = (body: Json): string | undefined => chatFault(body, openai);
export const mistralFault = (body: Json): string | undefined => chatFault(body, mistral);

function chatFault(body: Json, rules: ChatRules): string | undefined {
	return firstOf(
		() => eachOf(body.tools, toolFault),
		() => (body.messages?.length > 0 ? undefined : "there are no messages"),
		() => orderFault(body.messages, rules),
		() => eachOf(body.messages, contentFault),
		() => callsFault(body.messages, rules),
	);
}

function toolFault(tool: Json, index: number): string | undefined {
	const { name, parameters } = tool.function;
	if (!/^[a-zA-Z0-9_-]{1,64}$/.test(name)) return `tools[${index}].function.name is ${JSON.stringify(name)}`;
	return parametersFault(parameters, `tools[${index}].function.parameters`);
}

function orderFault(messages: readonly Json[], { follows }: ChatRules): string | undefined {
	if (follows === undefined) return undefined;
	let before = "start";
	for (const { role } of messages) {
		if (!follows[before]?.includes(role)) return `unexpected role ${role} after ${before}`;
		before = role;
	}
	return before === "assistant" && messages.at(-1)?.prefix !== true
		? "the last message is the assistant's"
		: undefined;
}

function contentFault(message: Json, index: number): string | undefined {
	const { role, content, tool_calls: calls } = message;
	const at = `messages[${index}].content`;
	if (role === "assistant") {
		if (calls !== undefined && calls.length === 0) return `messages[${index}].tool_calls is empty`;
		return calls === undefined && (content ?? "") === "" ? `${at} is empty, without calls` : undefined;
	}
	if (typeof content === "string") return undefined;
	if (!Array.isArray(content) || content.length === 0) return `${at} is empty`;
	return eachOf(content, (part: Json) =>
		part.type === "text" && part.text === "" ? `${at} has an empty text` : undefined,
	);
}

function callsFault(messages: readonly Json[], { callId }: ChatRules): string | undefined {
	let open = new Set<string>();
	for (const [index, message] of messages.entries()) {
		if (message.role === "tool") {
			const id = message.tool_call_id;
			if (!open.delete(id)) return `messages[${index}]: no call ${id} comes before its result`;
			continue;
		}
		if (open.size > 0) return `messages[${index}]: the calls ${[...open]} have no results`;
		const calls: Json[] = message.tool_calls ?? [];
		open = new Set(calls.map(({ id }) => id));
		if (open.size < calls.length) return `messages[${index}]: an id is used twice`;
		const fault = eachOf(calls, ({ id, function: called }) => {
			if (!callId.test(id)) return `messages[${index}]: the id ${JSON.stringify(id)} of a call`;
			if (!/^[a-zA-Z0-9_-]{1,64}$/.test(called.name))
				return `messages[${index}]: the name ${JSON.stringify(called.name)}`;
			return isObjectText(called.arguments) ? undefined : `messages[${index}]: arguments that are no object`;
		});
		if (fault !== undefined) return fault;
	}
	return open.size > 0 ? `the calls ${[...open]} have no results` : undefined;
}

function isObjectText(text: string): boolean {
	try {
		const value: unknown = JSON.parse(text);
		return typeof value === "object" && value !== null && !Array.isArray(value);
	} catch {
		return false;
	}
}
