// What the tests of the service say: a user's message, a tool that the client has, its call and its result.

/** A tool whose function runs elsewhere. */
export const locate = {
	name: "locate",
	label: "Locate",
	description: "Where somebody is.",
	parameters: { type: "object", properties: { of: { type: "string" } } },
};

/** A call of it. */
export const asks = (id: string) => ({ name: "locate", id, arguments: { of: id } });

/** Its result. */
export const toolResult = (toolCallId: string, output: unknown = `at ${toolCallId}`) =>
	({ role: "tool", toolCallId, output }) as const;

/** A user's message. */
export const says = (content: string) => ({ role: "user", content }) as const;
