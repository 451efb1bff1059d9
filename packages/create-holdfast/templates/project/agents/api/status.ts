import { defineThreadEndpoint } from "@holdfast/threads";

// GET …/threads/{threadId}/status
export default defineThreadEndpoint(async (_request, state) => {
	const { total } = await state.getMessages({ limit: 1 });
	return Response.json({ messages: total, toolCalls: (await state.getValue("tool_calls")) ?? 0 });
});
