import { defineHook } from "@holdfast/threads";

export default defineHook({
	hook: "after_tool_call_success",
	id: "count_tool_calls",
	execute: async (state) => {
		await state.setValue("tool_calls", ((await state.getValue<number>("tool_calls")) ?? 0) + 1);
		return null; // Keeps the result unchanged.
	},
});
