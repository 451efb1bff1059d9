import { defineHook } from "@holdfast/threads";

/** Each new thread gets its nightly report. */
export default defineHook({
	hook: "after_thread_created",
	id: "open_desk",
	execute: async (state) => {
		await state.scheduleEffect("nightly", {}, 24 * 60 * 60 * 1000);
	},
});
